/**
 * Global setup: starts one service and one browser for all tests of the console, as processes of their own. Tests get
 * URLs and keys through `open-console.ts`.
 */

import { existsSync } from "node:fs";
import { chromium } from "playwright-core";
import type { TestProject } from "vitest/node";
import { startChild } from "../../server/src/store/testing/child.ts";
import { writeMicrophoneFile } from "./microphone-file.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Null: no browser is installed. */
    readonly console: RunningConsole | null;
  }
}

export interface RunningConsole {
  readonly url: string;
  /** Keyed by the names of `ACCOUNTS`. */
  readonly keys: Readonly<Record<string, string>>;
  /** The endpoint for `chromium.connect`. */
  readonly browser: string;
}

const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(
  existsSync,
);
/** Timeout: a build takes seconds, and longer on a machine that is busy with other tests. */
const BUILD_LIMIT_MS = 300_000;
const LOOK_EVERY_MS = 100;

const closing: (() => Promise<unknown>)[] = [];

export async function setup(project: TestProject): Promise<void> {
  if (CHROMIUM === undefined) {
    process.stderr.write("skipped: the console is tested in Chromium, which is not installed here\n");
    project.provide("console", null);
    return;
  }
  const service = await startService();
  await consoleIsThere(service.url);
  const microphone = await writeMicrophoneFile();
  closing.push(() => microphone.remove());
  const browser = await chromium.launchServer({
    executablePath: CHROMIUM,
    headless: true,
    host: "127.0.0.1",
    args: [
      "--no-sandbox",
      "--use-fake-ui-for-media-stream",
      "--use-fake-device-for-media-stream",
      `--use-file-for-fake-audio-capture=${microphone.path}%noloop`,
      "--autoplay-policy=no-user-gesture-required",
      "--allow-loopback-in-peer-connection",
    ],
  });
  closing.push(() => browser.close());
  project.provide("console", {
    ...service,
    browser: browser.wsEndpoint(),
  });
}

export async function teardown(): Promise<void> {
  for (const close of closing.toReversed()) await close();
}

/** @throws if the program ends before it has printed its line */
async function startService(): Promise<Omit<RunningConsole, "browser">> {
  const child = startChild(new URL("console-service.ts", import.meta.url).href, []);
  closing.push(() => child.finish());
  const line = await child.line();
  if (line === null) throw new Error("The service of the console tests ended before it was ready.");
  return JSON.parse(line) as Omit<RunningConsole, "browser">;
}

/** @throws with the page that was returned instead, if the console is not available in time */
async function consoleIsThere(url: string): Promise<void> {
  const endMs = performance.now() + BUILD_LIMIT_MS;
  for (;;) {
    const answer = await fetch(`${url}/`);
    const body = await answer.text();
    if (answer.ok) return;
    if (performance.now() > endMs || body.includes("could not be built")) {
      throw new Error(body.replaceAll(/<style>[\s\S]*?<\/style>|<[^>]+>/g, " ").trim());
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

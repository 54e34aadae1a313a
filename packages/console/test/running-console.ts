/**
 * One service with the offline engines and one browser for all tests of the console. Runs in vitest's own process; tests
 * get addresses and keys by `open-console.ts`.
 */

import { existsSync } from "node:fs";
import { pino } from "pino";
import { chromium } from "playwright-core";
import type { TestProject } from "vitest/node";
import { loadConfig } from "../../server/src/config.ts";
import { openEngines } from "../../server/src/engines.ts";
import { openRunningService } from "../../server/test/running-service.ts";
import { ACCOUNTS } from "./accounts.ts";
import { writeMicrophoneFile } from "./microphone-file.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Null: there is no browser here. */
    readonly console: RunningConsole | null;
  }
}

export interface RunningConsole {
  readonly url: string;
  /** By the names of `ACCOUNTS`. */
  readonly keys: Readonly<Record<string, string>>;
  /** Where `chromium.connect` finds the browser. */
  readonly browser: string;
}

const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(
  existsSync,
);
/** A build takes seconds; on a machine that is busy with other tests more. */
const BUILD_LIMIT_MS = 120_000;

const closing: (() => Promise<unknown>)[] = [];

export async function setup(project: TestProject): Promise<void> {
  if (CHROMIUM === undefined) {
    process.stderr.write("skipped: the console is tested in Chromium, which is not installed here\n");
    project.provide("console", null);
    return;
  }
  // Tools and webhooks of the tests are answered on loopback.
  const config = loadConfig({ ALLOW_PRIVATE_TARGETS: "127.0.0.1" });
  const engines = await openEngines(config, pino({ level: "silent" }));
  const { turnTaking, allowPrivateTargets } = config;
  const changes = { console: true, turnTaking, allowPrivateTargets };
  const service = await openRunningService(changes, engines, ACCOUNTS);
  closing.push(() => service.close());
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
    url: service.url,
    keys: Object.fromEntries(service.keys),
    browser: browser.wsEndpoint(),
  });
}

export async function teardown(): Promise<void> {
  for (const close of closing.toReversed()) await close();
}

/** @throws with the page that came instead, when there is no console in time */
async function consoleIsThere(url: string): Promise<void> {
  const endMs = performance.now() + BUILD_LIMIT_MS;
  for (;;) {
    const answer = await fetch(`${url}/`);
    const body = await answer.text();
    if (answer.ok) return;
    if (performance.now() > endMs || body.includes("could not be built")) {
      throw new Error(body.replaceAll(/<style>[\s\S]*?<\/style>|<[^>]+>/g, " ").trim());
    }
  }
}

/** The README's second command, stopped as a supervisor stops it: the signal goes to npm alone. */

import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { newDataDir } from "../src/store/testing/databases.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
/** A start takes seconds, also on a busy machine. */
const START_LIMIT_MS = 90_000;
/** There is no call to wait for. */
const STOP_LIMIT_MS = 15_000;

async function answers(url: string): Promise<boolean> {
  return fetch(url).then(
    (response) => response.ok,
    () => false,
  );
}

async function until(holds: () => Promise<boolean>, limitMs: number): Promise<boolean> {
  const endMs = performance.now() + limitMs;
  while (performance.now() < endMs) {
    if (await holds()) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}

test("a signal to npm reaches the service, which stops", async () => {
  const dataDir = await newDataDir();
  const secretsKey = randomBytes(32).toString("base64");
  const npm = spawn("npm", ["start"], {
    cwd: ROOT,
    env: { ...process.env, PORT: "0", DATA_DIR: dataDir, SECRETS_KEY: secretsKey, LOG_LEVEL: "info" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [npm.stdout, npm.stderr]) {
    stream.on("data", (text: Buffer) => (said += text.toString()));
  }
  const exited = new Promise<void>((resolve) => npm.once("exit", () => resolve()));
  const addressIn = () => /Service\s+(http:\/\/\S+)/.exec(said)?.[1] ?? null;
  try {
    const started = await until(() => Promise.resolve(addressIn() !== null), START_LIMIT_MS);
    expect({ started, said: started ? "" : said }).toEqual({ started: true, said: "" });
    const url = `${addressIn() ?? ""}/healthz`;
    expect(await answers(url)).toBe(true);
    npm.kill("SIGTERM");
    await exited;
    expect(await until(async () => !(await answers(url)), STOP_LIMIT_MS)).toBe(true);
  } finally {
    const left = /"pid":(\d+)/.exec(said)?.[1];
    // If the signal did not reach it, the service must still not outlive the test.
    if (left !== undefined && addressIn() !== null && (await answers(`${addressIn() ?? ""}/healthz`))) {
      process.kill(Number(left), "SIGKILL");
    }
    npm.kill("SIGKILL");
    await rm(dataDir, { recursive: true, force: true });
  }
});

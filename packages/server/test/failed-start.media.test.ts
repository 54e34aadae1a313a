import { randomBytes } from "node:crypto";
import { readdir, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { pino } from "pino";
import { afterEach, expect, it } from "vitest";
import type { Engines } from "../src/app/engines.ts";
import { openParley } from "../src/app/parley.ts";
import { loadConfig, type Config } from "../src/config/config.ts";
import { newDataDir } from "../src/store/testing/databases.ts";
import { openFaultyEngines } from "./faulty-engines.ts";

const cleanUp: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const undo of cleanUp.splice(0).toReversed()) await undo();
});

async function takenPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanUp.push(() => new Promise((resolve) => server.close(resolve)));
  return (server.address() as AddressInfo).port;
}

async function newConfig(port: number): Promise<Config> {
  const dataDir = await newDataDir();
  cleanUp.push(() => rm(dataDir, { recursive: true, force: true }));
  return loadConfig({
    HOST: "127.0.0.1",
    PORT: String(port),
    DATA_DIR: dataDir,
    SECRETS_KEY: randomBytes(32).toString("base64"),
    CONSOLE: "false",
    DRAIN_TIMEOUT_MS: "0",
  });
}

/** Engines whose voice activity detection counts its calls of `close`. */
function countedEngines(): { readonly engines: Engines; readonly closings: () => number } {
  const engines = openFaultyEngines();
  let closings = 0;
  const close = async (): Promise<void> => {
    closings += 1;
    await engines.vad.close();
  };
  const vad = Object.create(engines.vad, { close: { value: close } }) as Engines["vad"];
  return { engines: { ...engines, vad }, closings: () => closings };
}

it("closes everything that is open when the port is in use, so that the next start succeeds", async () => {
  const config = await newConfig(await takenPort());
  const logger = pino({ level: "silent" });
  const { engines, closings } = countedEngines();
  const before = await readdir(config.dataDir);
  await expect(openParley(config, engines, logger)).rejects.toThrow(
    `Another program listens on port ${String(config.port)} of 127.0.0.1. Choose another port: PORT=${String(config.port + 1)} npm start`,
  );
  expect(closings()).toBe(1);
  // Nothing is made before the port is taken, so the first key is made by the start that prints it.
  expect(await readdir(config.dataDir)).toEqual(before);
  const parley = await openParley({ ...config, port: 0 }, countedEngines().engines, logger);
  expect(parley.port).toBeGreaterThan(0);
  expect(parley.newApiKey).not.toBeNull();
  await Promise.all([parley.close(), parley.close()]);
});

it("makes a new first key until a request has used it", async () => {
  const config = await newConfig(0);
  const logger = pino({ level: "silent" });
  const start = async (use: boolean): Promise<string | null> => {
    const parley = await openParley(config, countedEngines().engines, logger);
    const headers = { "X-API-Key": parley.newApiKey?.secret ?? "" };
    if (use) await fetch(`${parley.publicUrl}/api/accounts/me`, { headers });
    await parley.close();
    return parley.newApiKey?.secret ?? null;
  };
  const lost = await start(false);
  const second = await start(true);
  expect(second).not.toBeNull();
  expect(second).not.toBe(lost);
  expect(await start(false)).toBeNull();
});

it.each([
  [{ host: "192.0.2.1" }, "HOST (192.0.2.1) is not an address of this machine"],
  [{ dataDir: "/proc/nope" }, "DATA_DIR (/proc/nope) cannot be used"],
  [{ dataDir: "/dev/null/x" }, "DATA_DIR (/dev/null/x) cannot be used: /dev/null is not a folder"],
])("refuses %j with a sentence", async (change, sentence) => {
  const config = { ...(await newConfig(0)), ...change, secretsKey: null };
  const opening = openParley(config, countedEngines().engines, pino({ level: "silent" }));
  await expect(opening).rejects.toThrow(sentence);
  // Of every other error `npm start` prints the stack.
  await expect(opening).rejects.toMatchObject({ name: expect.stringMatching(/^(Config|StoreStart)Error$/) });
});

it("closes the store when an engine cannot be opened", async () => {
  const config = await newConfig(0);
  const logger = pino({ level: "silent" });
  await expect(openParley(config, Promise.reject(new Error("no model")), logger)).rejects.toThrow("no model");
  const parley = await openParley(config, countedEngines().engines, logger);
  await parley.close();
});

it("refuses an alias of a voice that the engine does not have, and closes what was open", async () => {
  const config = await newConfig(0);
  const logger = pino({ level: "silent" });
  const { engines, closings } = countedEngines();
  const aliases = { voices: [{ name: "Mark", target: "Ada" }], models: [] };
  const attempt = openParley({ ...config, aliases }, engines, logger);
  await expect(attempt).rejects.toThrow(/^VOICE_ALIASES must point to a voice of this deployment/);
  expect(closings()).toBe(1);
});

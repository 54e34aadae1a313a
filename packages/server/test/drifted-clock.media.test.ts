/** The assembled service on a machine whose clock drifts while it runs. */

import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { pino } from "pino";
import { afterEach, expect, test, vi } from "vitest";
import { openParley } from "../src/app/parley.ts";
import { loadConfig } from "../src/config/config.ts";
import { newDataDir } from "../src/store/testing/databases.ts";
import { openFaultyEngines } from "./faulty-engines.ts";

const HOUR_MS = 3_600_000;

afterEach(() => {
  vi.restoreAllMocks();
});

test("is ready, and names its clock in /readyz", async () => {
  const dataDir = await newDataDir();
  const config = loadConfig({
    PORT: "0",
    DATA_DIR: dataDir,
    SECRETS_KEY: randomBytes(32).toString("base64"),
    CONSOLE: "false",
    DRAIN_TIMEOUT_MS: "0",
  });
  const parley = await openParley(config, openFaultyEngines(), pino({ level: "silent" }));
  try {
    const readiness = async () => {
      const answer = await fetch(`${parley.publicUrl}/readyz`);
      return { status: answer.status, body: (await answer.json()) as { degraded?: readonly string[] } };
    };
    expect(await readiness()).toEqual({ status: 200, body: { status: "ready" } });
    const now = Date.now.bind(Date);
    // The first sweep is a second after the start, the second a minute later: a busy machine may have begun the first.
    // The database has a thread and a clock of its own.
    vi.spyOn(Date, "now").mockImplementation(() => now() + HOUR_MS);
    const degraded = [
      "the clock of this machine differs from the clock of the database by more than five minutes: " +
        "this node deletes nothing by its age",
    ];
    await expect
      .poll(readiness, { timeout: 150_000 })
      .toEqual({ status: 200, body: { status: "ready", degraded } });
  } finally {
    vi.restoreAllMocks();
    await parley.close();
    await rm(dataDir, { recursive: true, force: true });
  }
});

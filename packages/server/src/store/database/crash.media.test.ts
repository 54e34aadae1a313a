import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { sql } from "kysely";
import { expect, it } from "vitest";
import { ensureDefaultAccount } from "../accounts/accounts.ts";
import { getAgent } from "../agents/agents.ts";
import { embeddedDatabaseDir } from "./data-dir.ts";
import type { StoreOptions } from "../opening/open-database.ts";
import { openStore } from "../opening/open-store.ts";
import { startChild } from "../testing/child.ts";
import { newDataDir } from "../testing/databases.ts";

const secretsKey = randomBytes(32);
const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const optionsFor = (dataDir: string): StoreOptions => ({ dataDir, databaseUrl: null, secretsKey, log });

/** Each kill comes after another number of acknowledged rows. */
const KILLS_AFTER = [1, 40, 250, 777];

/** Polls of 5 ms each: creating a database takes seconds. */
const MAX_POLLS = 6_000;

it("loses nothing that was acknowledged when the process is killed", async () => {
  const dataDir = await newDataDir();
  const acknowledged: string[] = [];
  for (const count of KILLS_AFTER) {
    const writer = startChild("./writer.ts", [dataDir, secretsKey.toString("base64")]);
    expect(await writer.line()).toBe("ready");
    for (let read = 0; read < count; read += 1) acknowledged.push((await writer.line()) ?? "");
    await writer.kill();
    // Lines that it printed before it was killed.
    for (let line = await writer.line(); line !== null; line = await writer.line()) {
      if (line.length === 36) acknowledged.push(line);
    }
  }
  const store = await openStore(optionsFor(dataDir));
  const { accountId } = await ensureDefaultAccount(store.db);
  for (const agentId of acknowledged) expect(await getAgent(store.db, accountId, agentId)).not.toBeNull();
  const counts = await sql<{ agents: number; revisions: number; whole: number }>`
    select (select count(*) from agents) as agents, (select count(*) from agent_revisions) as revisions,
      (select count(*) from agents join agent_revisions as r on r.id = published_revision_id) as whole`.execute(
    store.db.query,
  );
  const [row] = counts.rows;
  expect(row?.agents).toBeGreaterThanOrEqual(acknowledged.length);
  // Each of four callers may have stored one row without reporting it.
  expect(row?.agents).toBeLessThanOrEqual(acknowledged.length + 4 * KILLS_AFTER.length);
  expect(row).toEqual({ agents: row?.agents, revisions: row?.agents, whole: row?.agents });
  await store.close();
  rmSync(dataDir, { recursive: true, force: true });
});

it("refuses to open a folder that another process has open", async () => {
  const dataDir = await newDataDir();
  const writer = startChild("./writer.ts", [dataDir, secretsKey.toString("base64")]);
  expect(await writer.line()).toBe("ready");
  await expect(openStore(optionsFor(dataDir))).rejects.toThrow(
    `Process ${writer.pid} is using the data folder ${dataDir}; stop it or choose another DATA_DIR.`,
  );
  await writer.kill();
  rmSync(dataDir, { recursive: true, force: true });
});

it("starts again when the making of the database was cut off", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "parley-new-"));
  const databaseDir = embeddedDatabaseDir(dataDir);
  const first = startChild("./writer.ts", [dataDir, secretsKey.toString("base64")]);
  const half = (): boolean => existsSync(join(`${databaseDir}.new`, "PG_VERSION")) || existsSync(databaseDir);
  for (let polls = 0; polls < MAX_POLLS && !half(); polls += 1) await wait(5);
  await first.kill();
  const store = await openStore(optionsFor(dataDir));
  await store.ping();
  expect(existsSync(`${databaseDir}.new`)).toBe(false);
  await store.close();
  rmSync(dataDir, { recursive: true, force: true });
});

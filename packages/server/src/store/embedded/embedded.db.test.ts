import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Duplex } from "node:stream";
import { Worker } from "node:worker_threads";
import { sql } from "kysely";
import { Client } from "pg";
import { expect, it, vi } from "vitest";
import { createAgent, getAgent, getAgentForCall } from "../agents/agents.ts";
import { inTransaction, type Db } from "../database/db.ts";
import { MAXIMUM_WAITING_QUERIES } from "../database/pool.ts";
import { preparedStatement } from "../database/prepared-statements.ts";
import { embeddedDatabaseDir } from "../database/data-dir.ts";
import { StoreBusyError } from "../database/store-errors.ts";
import { describeOnBothDatabases, newAccount, newDataDir } from "../testing/databases.ts";
import { type EmbeddedEngine, startEmbeddedEngine } from "./embedded-engine.ts";

/** Fewer than the pool has connections: a query that waits too long for one fails, which a busy machine could cause. */
const CALLERS = 15;

async function newTable(db: Db): Promise<string> {
  const name = `t${Math.random().toString(36).slice(2)}`;
  await sql`create table ${sql.table(name)} (id bigint generated always as identity, who integer not null)`.execute(
    db.query,
  );
  return name;
}

describeOnBothDatabases("connections", (current) => {
  it("keep transactions whole: what one sees does not change under it, and nothing is lost", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const agent = await createAgent(db, accountId, { name: "counter", callTemplate: null });
    const add = async (): Promise<void> =>
      inTransaction(db, async (tx) => {
        const read = await sql<{ calls_count: number }>`
          select calls_count from agents where id = ${agent.agentId} for update`.execute(tx.query);
        await nextTurn();
        await sql`update agents set calls_count = ${(read.rows[0]?.calls_count ?? 0) + 1}
          where id = ${agent.agentId}`.execute(tx.query);
      });
    const addFourTimes = async (): Promise<void> => {
      for (let count = 0; count < 4; count += 1) await add();
    };
    await Promise.all(Array.from({ length: CALLERS }, addFourTimes));
    expect((await getAgent(db, accountId, agent.agentId))?.callsCount).toBe(4 * CALLERS);
  });

  it("roll back what fails and continue", async () => {
    const { db } = current();
    const table = sql.table(await newTable(db));
    const attempts = Array.from({ length: 30 }, async (_, who) =>
      inTransaction(db, async (tx) => {
        await sql`insert into ${table} (who) values (${who})`.execute(tx.query);
        if (who % 3 === 0) throw new Error("change of mind");
        if (who % 3 === 1) await sql`insert into ${table} (who) values (null)`.execute(tx.query);
      }),
    );
    const outcomes = await Promise.allSettled(attempts);
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(10);
    const kept = await sql<{ who: number }>`select who from ${table} order by who`.execute(db.query);
    expect(kept.rows.map(({ who }) => who % 3)).toEqual(Array.from({ length: 10 }, () => 2));
  });

  it("give an error to the one who made it", async () => {
    const { db } = current();
    const results = await Promise.allSettled(
      Array.from({ length: 50 }, async (_, index) =>
        sql<{ quotient: number }>`select 100 / ${index % 5}::int as quotient`.execute(db.query),
      ),
    );
    const divisionByZero = { status: "rejected", reason: { code: "22012" } };
    expect(results).toMatchObject(
      results.map((_, index) =>
        index % 5 === 0
          ? divisionByZero
          : { status: "fulfilled", value: { rows: [{ quotient: Math.floor(100 / (index % 5)) }] } },
      ),
    );
  });

  it("read the same values of the same types", async () => {
    const { db } = current();
    const read = await sql`select 1::int as int4, 9007199254740991::bigint as int8, 1.5::numeric as numeric,
      0.1::float8 as float8, true as bool, 'ä😀' as text, null as nothing,
      '2026-01-02T03:04:05.6+02'::timestamptz as timestamptz, 'infinity'::timestamptz as infinity,
      '{"b":[1,null],"a":"x"}'::json as json, '{"b":[1,null]}'::jsonb as jsonb, array['a','b'] as texts,
      '6f0c2f0e-3f6f-4b2e-9a55-0d9c1f6f6a11'::uuid as uuid, count(*) as count`.execute(db.query);
    expect(read.rows).toEqual([
      {
        int4: 1,
        int8: 9007199254740991,
        numeric: 1.5,
        float8: 0.1,
        bool: true,
        text: "ä😀",
        nothing: null,
        timestamptz: "2026-01-02T01:04:05.600Z",
        infinity: "infinity",
        json: { b: [1, null], a: "x" },
        jsonb: { b: [1, null] },
        texts: ["a", "b"],
        uuid: "6f0c2f0e-3f6f-4b2e-9a55-0d9c1f6f6a11",
        count: 1,
      },
    ]);
  });

  it("prepare marked statements once for each session, and go on after one that fails", async () => {
    const { db, kind } = current();
    const table = await newTable(db);
    const insert = async (who: string): Promise<unknown> =>
      sql`${preparedStatement} insert into ${sql.table(table)} (who) values (${who})`.execute(db.query);
    await Promise.all(Array.from({ length: CALLERS }, async (_, who) => insert(String(who))));
    await expect(insert("nobody")).rejects.toMatchObject({ code: "22P02" });
    await insert("99");
    await expect(
      inTransaction(db, async (tx) => {
        await sql`select 1 / 0`.execute(tx.query).catch(() => undefined);
        await sql`${preparedStatement} select count(*) from ${sql.table(table)}`.execute(tx.query);
      }),
    ).rejects.toMatchObject({ code: "25P02" });
    await insert("100");
    // Without parameters as well.
    const count = sql<{ count: number }>`${preparedStatement} select count(*) from ${sql.table(table)}`;
    for (let time = 0; time < 3; time += 1) {
      expect((await count.execute(db.query)).rows).toEqual([{ count: CALLERS + 2 }]);
    }
    const read = await sql<{ count: number; names: number }>`
      select (select count(*) from ${sql.table(table)}) as count, (select count(*) from pg_prepared_statements
        where statement like ${`%into ${JSON.stringify(table)}%`} or statement like ${`%(*) from ${JSON.stringify(table)}`})
        as names`.execute(db.query);
    expect(read.rows[0]?.count).toBe(CALLERS + 2);
    // On PostgreSQL it is the connection that counts, which has some or none.
    expect(kind === "postgresql" || read.rows[0]?.names === 2).toBe(true);
  });

  it("carry documents of several megabytes", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const callTemplate = { systemPrompt: "ä".repeat(2_000_000), sharedSecrets: ["s".repeat(1_000_000)] };
    const { agentId } = await createAgent(db, accountId, { name: "large", callTemplate });
    expect((await getAgentForCall(db, accountId, agentId))?.callTemplate).toEqual(callTemplate);
  });

  it("say that they are busy rather than queue without end, and recover", async () => {
    const { db, store } = current();
    const table = sql.table(await newTable(db));
    const { promise: locked, resolve: unlock } = Promise.withResolvers<void>();
    const { promise: began, resolve: begin } = Promise.withResolvers<void>();
    const holder = inTransaction(db, async (tx) => {
      await sql`lock table ${table} in access exclusive mode`.execute(tx.query);
      begin();
      await locked;
    });
    await began;
    const insert = async (): Promise<unknown> => sql`insert into ${table} (who) values (1)`.execute(db.query);
    const waiting = Array.from({ length: MAXIMUM_WAITING_QUERIES + 100 }, insert);
    const settled = Promise.allSettled(waiting);
    // The first refusal comes as soon as the queue is full, long before any queued query is done.
    const refusal = await Promise.any(
      waiting.map(async (query) => query.then(async () => Promise.reject(), String)),
    );
    unlock();
    expect(refusal).toMatch(/Too many queries are waiting/);
    await holder;
    const outcomes = await settled;
    const refused = outcomes.filter((outcome) => outcome.status === "rejected");
    for (const outcome of refused) expect(outcome.reason).toBeInstanceOf(StoreBusyError);
    const kept = await sql<{ count: number }>`select count(*) as count from ${table}`.execute(db.query);
    expect(kept.rows).toEqual([{ count: outcomes.length - refused.length }]);
    await store.ping();
  });
});

describeOnBothDatabases("transactions at the same time", (current) => {
  it("do not interleave on the embedded database", async () => {
    const { db, kind } = current();
    const table = sql.table(await newTable(db));
    const insert = async (query: Db["query"], who: number): Promise<unknown> =>
      sql`insert into ${table} (who) values (${who})`.execute(query);
    const work = Array.from({ length: 24 }, async (_, who) => {
      // Every third write is a single statement, between the transactions.
      if (who % 3 === 0) return insert(db.query, who);
      return inTransaction(db, async (tx) => {
        for (let step = 0; step < 4; step += 1) {
          await insert(tx.query, who);
          await nextTurn();
        }
      });
    });
    await Promise.all(work);
    const rows = await sql<{ who: number }>`select who from ${table} order by id`.execute(db.query);
    expect(rows.rows).toHaveLength(8 + 16 * 4);
    const order = rows.rows.map(({ who }) => who);
    const runs = order.filter((who, index) => who !== order[index - 1]);
    // A server may interleave them; one session must not, or they would be one transaction.
    expect(kind === "postgresql" || new Set(runs).size === runs.length).toBe(true);
  });
});

describeOnBothDatabases("a connection that breaks", (current) => {
  it("fails its transaction and nothing else", async () => {
    const { db, kind, store } = current();
    if (kind === "embedded") return;
    const table = sql.table(await newTable(db));
    const broken = inTransaction(db, async (tx) => {
      const own = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx.query);
      await sql`insert into ${table} (who) values (1)`.execute(tx.query);
      await sql`select pg_terminate_backend(${own.rows[0]?.pid})`.execute(db.query);
      await sql`insert into ${table} (who) values (2)`.execute(tx.query);
    });
    await expect(broken).rejects.toThrow(/\S/);
    await store.ping();
    const kept = await sql`select who from ${table}`.execute(db.query);
    expect(kept.rows).toEqual([]);
  });
});

async function openClient(engine: EmbeddedEngine): Promise<{ client: Client; stream: Duplex }> {
  const stream = engine.connect();
  const client = new Client({ stream: () => stream, user: "postgres", password: "" });
  client.on("error", () => undefined);
  await client.connect();
  return { client, stream };
}

it("the transaction of an embedded connection that breaks is rolled back", async () => {
  const dataDir = await newDataDir();
  const engine = await startEmbeddedEngine(embeddedDatabaseDir(dataDir), () => undefined);
  const [breaking, other] = [await openClient(engine), await openClient(engine)];
  await other.client.query("create table t (who integer)");
  await breaking.client.query("begin; insert into t values (1)");
  const waiting = other.client.query("select who from t");
  breaking.stream.destroy();
  expect((await waiting).rows).toEqual([]);
  await expect(breaking.client.query("select 1")).rejects.toThrow(/not queryable|closed/);
  await other.client.end();
  await engine.close();
  await expect(engine.close()).resolves.toBeUndefined();
  rmSync(dataDir, { recursive: true, force: true });
});

it("an embedded database whose thread is lost says so once, fails what runs, and does not start again", async () => {
  const dataDir = await newDataDir();
  const posted = vi.spyOn(Worker.prototype, "postMessage");
  const failures: string[] = [];
  const engine = await startEmbeddedEngine(embeddedDatabaseDir(dataDir), ({ message }) => {
    failures.push(message);
  });
  const [owner, other] = [await openClient(engine), await openClient(engine)];
  const thread = posted.mock.contexts[0] as Worker;
  posted.mockRestore();
  await owner.client.query("begin");
  const waiting = other.client.query("select 1");
  await Promise.all([expect(waiting).rejects.toThrow(/ended/), thread.terminate()]);
  await expect(openClient(engine)).rejects.toThrow("The embedded database is not running.");
  await engine.close();
  expect(failures).toEqual(["The embedded database has ended: the thread ended with code 1."]);
  rmSync(dataDir, { recursive: true, force: true });
});

it("an embedded database that cannot be opened is an error and not a wait", async () => {
  const dir = await mkdtemp(join(tmpdir(), "parley-broken-"));
  const databaseDir = join(dir, "database");
  mkdirSync(databaseDir);
  writeFileSync(join(databaseDir, "PG_VERSION"), "18\n");
  await expect(startEmbeddedEngine(databaseDir, () => undefined)).rejects.toThrow(/\S/);
  expect(existsSync(join(databaseDir, "base"))).toBe(false);
  rmSync(dir, { recursive: true, force: true });
});

/**
 * A real PostgreSQL database whose clock is the virtual one, and the connections of simulated processes to it. The SQL of
 * the product is not changed: a schema before `pg_catalog` in the search path has functions for the time.
 */

import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient } from "kysely";
import { Client, Pool, type PoolClient } from "pg";
import type { Database } from "../../src/store/database/database.ts";
import { valueParsers } from "../../src/store/database/value-parsers.ts";
import { runOutside } from "./process-time.ts";
import type { SimulatedProcess } from "./simulated-process.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** All processes together. Those that wait for locks of others hold one each. */
const CONNECTIONS = 20;
/** Real time, after which a statement that has no answer yet may wait for a lock of another one. */
const QUICK_MS = 20;
/** Real time; a statement that waits for no lock and takes longer than this is a fault. */
const STATEMENT_LIMIT_MS = 30_000;

/** Limits of the server are in real time, which means nothing here: `set_config` sets none. */
const CLOCK = `
  create schema sim;
  create table sim.clock (at timestamptz not null);
  insert into sim.clock values (clock_timestamp());
  create function sim.clock_timestamp() returns timestamptz language plpgsql volatile as
    'begin return (select at from sim.clock); end';
  create function sim.statement_timestamp() returns timestamptz language plpgsql volatile as
    'begin return (select at from sim.clock); end';
  create function sim.set_config(name text, value text, is_local boolean) returns text language sql as 'select value';
  create function sim.now() returns timestamptz language plpgsql volatile as
    'begin return (select at from sim.clock); end';
`;

/** Errors of a connection, of a limit of the server in real time, and of too many connections. */
const LOSSES = /^(?:08|57|53|25P03|ECONN|EPIPE|ETIMEDOUT)/;

interface Connection {
  readonly client: PoolClient;
  isInTransaction: boolean;
  isBroken: boolean;
  isBusy: boolean;
}

/** As of a connection that the network has lost. */
class ConnectionLost extends Error {
  readonly code = "ECONNRESET";
}

export class SimulatedDatabase {
  readonly #admin: Client;
  readonly #pool: Pool;
  readonly #time: VirtualTime;
  readonly #fromMs: number;
  readonly #connections = new Map<SimulatedProcess, Set<Connection>>();
  /** The process that has used a connection last. */
  readonly #users = new WeakMap<PoolClient, string>();
  readonly #underWay = new Set<Promise<unknown>>();
  #asked: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  #shownMs = -1;
  statements = 0;
  /** Connections that the real server has closed, which is no fault of the service. */
  readonly losses: string[] = [];

  constructor(admin: Client, url: string, time: VirtualTime, fromMs: number) {
    this.#admin = admin;
    this.#pool = new Pool({ connectionString: url, max: CONNECTIONS, types: valueParsers });
    this.#pool.on("error", (error) => this.#noteLoss(error));
    this.#time = time;
    this.#fromMs = fromMs;
  }

  /** @param url of a migrated database that nothing else uses */
  static async open(url: string, time: VirtualTime): Promise<SimulatedDatabase> {
    const admin = new Client({ connectionString: url });
    await admin.connect();
    await admin.query(CLOCK);
    const name = new URL(url).pathname.slice(1);
    await admin.query(`alter database ${name} set search_path = sim, public, pg_catalog`);
    await admin.query(`alter database ${name} set timezone = 'UTC'`);
    await admin.query(`alter database ${name} set datestyle = 'ISO, MDY'`);
    const { rows } = await admin.query<{ ms: string }>(
      "select extract(epoch from at) * 1000 as ms from sim.clock",
    );
    return new SimulatedDatabase(admin, url, time, Math.floor(Number(rows[0]?.ms)));
  }

  /** What its clock shows at the start of the cluster, ms since 1970. */
  get fromMs(): number {
    return this.#fromMs;
  }

  /** The connections of one process. */
  connect(process: SimulatedProcess): Kysely<Database> {
    const pool: PostgresPool = {
      options: {},
      connect: async () => this.#connection(process),
      end: async () => undefined,
    };
    return new Kysely<Database>({ dialect: new PostgresDialect({ pool }) });
  }

  /** For what is not part of a process: the checks. */
  async read<Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    await this.#showTime();
    return this.#ask<Row>(text, values);
  }

  /** One at a time, on a connection of the simulation. */
  #ask<Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    const asked = this.#asked.then(() =>
      runOutside(async () => (await this.#admin.query<Row>(text, [...values])).rows),
    );
    this.#asked = asked.catch(() => undefined);
    return asked;
  }

  /** The process has died, or the network between has: its transactions are rolled back, as the server does. */
  async drop(process: SimulatedProcess): Promise<void> {
    const connections = [...(this.#connections.get(process) ?? [])];
    for (const connection of connections) connection.isBroken = true;
    for (const connection of connections) if (!connection.isBusy) await rollBack(connection);
    if (!process.isDead) return;
    for (const connection of connections) if (!connection.isBusy) connection.client.release();
    this.#connections.delete(process);
  }

  isInTransaction(process: SimulatedProcess): boolean {
    return [...(this.#connections.get(process) ?? [])].some((connection) => connection.isInTransaction);
  }

  /** Until every statement that was sent is answered, or waits for a lock of one that is sent later. */
  async settled(): Promise<void> {
    const fromMs = performance.now();
    for (;;) {
      await someTurns();
      if (this.#underWay.size === 0) return;
      await Promise.race([...this.#underWay, new Promise((resolve) => setTimeout(resolve, QUICK_MS))]);
      if (performance.now() - fromMs < QUICK_MS) continue;
      const waiting = await this.#ask(
        "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      // Others wait for a connection, because all are used by processes that stand still.
      if (waiting.length + this.#pool.waitingCount >= this.#underWay.size) return;
      if (performance.now() - fromMs > STATEMENT_LIMIT_MS) throw new Error("a statement takes too long");
    }
  }

  /** Processes that still run are cut off. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const connections of this.#connections.values())
      for (const { client } of connections) client.release(true);
    await this.#admin.end();
    await this.#pool.end();
  }

  async #connection(process: SimulatedProcess): Promise<PostgresPoolClient> {
    await process.way();
    if (process.isCutOff()) throw new ConnectionLost("the database cannot be reached");
    const client = await this.#tracked(() => this.#pool.connect());
    if (process.isDead || this.#isClosed) {
      client.release();
      // Nothing of the process goes on.
      return new Promise(() => undefined);
    }
    // The triggers of the ledger note who has written.
    if (this.#users.get(client) !== process.name)
      await this.#tracked(() => client.query(`set application_name = '${process.name}'`));
    this.#users.set(client, process.name);
    const connection: Connection = { client, isInTransaction: false, isBroken: false, isBusy: false };
    const own = this.#connections.get(process) ?? new Set();
    this.#connections.set(process, own.add(connection));
    const query = (text: unknown, values: readonly unknown[] = []): Promise<unknown> =>
      this.#statement(process, connection, String(text), values);
    const release = (): void => {
      own.delete(connection);
      client.release();
    };
    return Object.create(client, { query: { value: query }, release: { value: release } }) as PoolClient &
      PostgresPoolClient;
  }

  async #statement(
    process: SimulatedProcess,
    connection: Connection,
    text: string,
    values: readonly unknown[],
  ): Promise<unknown> {
    if (text === "rollback") return rollBack(connection);
    await process.way();
    this.#check(process, connection);
    const answer = await this.#perform(process, connection, text, values);
    await process.way();
    this.#check(process, connection);
    return answer;
  }

  #check(process: SimulatedProcess, connection: Connection): void {
    if (process.isCutOff() || connection.isBroken) throw new ConnectionLost("the connection was lost");
  }

  async #perform(
    process: SimulatedProcess,
    connection: Connection,
    text: string,
    values: readonly unknown[],
  ): Promise<unknown> {
    connection.isBusy = true;
    this.statements += 1;
    try {
      await this.#showTime();
      if (/^(?:begin|start transaction)/.test(text)) connection.isInTransaction = true;
      return await this.#tracked(() => connection.client.query(text, [...values]));
    } catch (error) {
      this.#noteLoss(error);
      throw error;
    } finally {
      connection.isBusy = false;
      if (text === "commit") connection.isInTransaction = false;
      if (connection.isBroken) {
        await rollBack(connection);
        if (process.isDead) connection.client.release();
      }
    }
  }

  #noteLoss(error: unknown): void {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    const isOfServer = error instanceof Error && /Connection terminated/.test(error.message);
    if (isOfServer || LOSSES.test(code)) this.losses.push(String(error));
  }

  /** Virtual time stands still until it is done. */
  async #tracked<Result>(work: () => Promise<Result>): Promise<Result> {
    const working = runOutside(work);
    const done = working.then(
      () => undefined,
      () => undefined,
    );
    this.#underWay.add(done);
    try {
      return await working;
    } finally {
      this.#underWay.delete(done);
    }
  }

  async #showTime(): Promise<void> {
    const nowMs = this.#time.nowMs();
    if (nowMs === this.#shownMs) return;
    this.#shownMs = nowMs;
    await this.#tracked(() => this.#setTime(nowMs));
  }

  async #setTime(nowMs: number): Promise<void> {
    await this.#ask("update sim.clock set at = to_timestamp($1::float8 / 1000)", [this.#fromMs + nowMs]);
  }
}

async function rollBack(connection: Connection): Promise<void> {
  if (!connection.isInTransaction) return;
  connection.isInTransaction = false;
  await runOutside(() => connection.client.query("rollback"));
}

/** Work that needs no database, such as the compression of a snapshot, is done meanwhile. */
async function someTurns(): Promise<void> {
  for (let turn = 0; turn < 4; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

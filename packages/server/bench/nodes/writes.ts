/**
 * `npm run bench:writes`: what a call costs PostgreSQL, in transactions, rows, log and disk. The figures are counts, so
 * they hold on a busy machine too. The size of the log (WAL) counts everything on the server, so it starts one of its own;
 * TEST_DATABASE_URL names another one, which nothing else may use.
 *
 * BENCH_CALLS (20) and BENCH_TURNS (4) change the calls; `--no-page` leaves docs/benchmarks.md alone.
 */

import { randomBytes } from "node:crypto";
import { Client } from "pg";
import { makePostgresServer } from "../../demo/postgres-server.ts";
import { createDatabase } from "../jobs-store.ts";
import { makeAgent, pause, runLoad, speechClip } from "../load.ts";
import { publish } from "../report.ts";
import { startBenchService } from "../service.ts";

const CALLS = Number(process.env["BENCH_CALLS"] ?? 20);
const TURNS = Number(process.env["BENCH_TURNS"] ?? 4);
const TURN_EVERY_MS = 6_000;
/** All upkeep loops run at least once, the slowest of which is due each minute. */
const IDLE_MS = 65_000;
/** PostgreSQL publishes the figures of a connection that is idle by then; calls are settled and indexed. */
const SETTLED_AFTER_MS = 15_000;

interface Counts {
  readonly atMs: number;
  readonly transactions: number;
  readonly rows: number;
  readonly logBytes: number;
  readonly diskBytes: number;
  readonly connections: number;
}

const QUERY = `select
  (select xact_commit + xact_rollback from pg_stat_database where datname = current_database()) as transactions,
  (select tup_inserted + tup_updated + tup_deleted from pg_stat_database where datname = current_database()) as rows,
  pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') as "logBytes",
  pg_database_size(current_database()) as "diskBytes",
  (select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()) as connections`;

async function countsOf(client: Client): Promise<Counts> {
  const { rows } = await client.query<Record<keyof Counts, string>>(QUERY);
  const [row] = rows;
  if (row === undefined) throw new Error("The database has no figures.");
  return {
    atMs: performance.now(),
    transactions: Number(row.transactions),
    rows: Number(row.rows),
    logBytes: Number(row.logBytes),
    diskBytes: Number(row.diskBytes),
    connections: Number(row.connections),
  };
}

const KINDS = ["transactions", "rows", "logBytes", "diskBytes"] as const;
type Kind = (typeof KINDS)[number];

/** What came between the two, without what an idle service would have done in the time. */
function between(
  from: Counts,
  to: Counts,
  idlePerMs: Readonly<Record<Kind, number>> | null,
): Record<Kind, number> {
  const ms = to.atMs - from.atMs;
  const of = (kind: Kind): number => to[kind] - from[kind] - (idlePerMs === null ? 0 : idlePerMs[kind] * ms);
  return {
    transactions: of("transactions"),
    rows: of("rows"),
    logBytes: of("logBytes"),
    diskBytes: of("diskBytes"),
  };
}

interface Place {
  readonly url: string;
  readonly remove: () => Promise<void>;
}

async function openPlace(): Promise<Place> {
  const server = process.env["TEST_DATABASE_URL"] === undefined ? await makePostgresServer() : null;
  if (server === null) {
    const database = await createDatabase();
    return { url: database.url, remove: () => database.drop() };
  }
  await server.start();
  return server;
}

const place = await openPlace();
const databaseUrl = place.url;
const service = await startBenchService(
  { sttMs: 150, llmMs: 150, ttsMs: 80 },
  { DATABASE_URL: databaseUrl, SECRETS_KEY: randomBytes(32).toString("base64") },
);
const client = new Client({ connectionString: databaseUrl });
await client.connect();
try {
  await makeAgent(service.rest);
  // The first sweeps, and the analysis of new tables.
  await pause(SETTLED_AFTER_MS);
  const idleFrom = await countsOf(client);
  await pause(IDLE_MS);
  const idleTo = await countsOf(client);
  const idle = between(idleFrom, idleTo, null);
  const idleMs = idleTo.atMs - idleFrom.atMs;
  const idlePerMs = {
    transactions: idle.transactions / idleMs,
    rows: idle.rows / idleMs,
    logBytes: idle.logBytes / idleMs,
    diskBytes: 0,
  };
  const clip = await speechClip("cards_001");
  const from = await countsOf(client);
  const startedMs = performance.now();
  const load = await runLoad({
    rest: service.rest,
    calls: CALLS,
    turns: TURNS,
    turnEveryMs: TURN_EVERY_MS,
    spreadMs: TURN_EVERY_MS,
    clip,
  });
  const callSeconds = (performance.now() - startedMs) / 1000;
  const busy = await countsOf(client);
  await pause(SETTLED_AFTER_MS);
  const to = await countsOf(client);
  const all = between(from, to, idlePerMs);
  const { rows: tables } = await client.query<{ name: string; bytes: string }>(
    `select relname as name, pg_total_relation_size(relid) as bytes from pg_stat_user_tables
     where schemaname = 'public' order by 2 desc limit 6`,
  );
  const seconds = CALLS * TURNS * (TURN_EVERY_MS / 1000);
  const per = (kind: Kind, count: number): string =>
    (all[kind] / count).toFixed(all[kind] / count < 10 ? 2 : 0);
  const markdown = `${String(CALLS)} calls over \`serverWebSocket\` with ${String(TURNS)} turns of 6 s each, ${String(load.failedTurns + load.failedCalls)} failed; the whole took ${callSeconds.toFixed(0)} s. What an idle service does is subtracted.

| figure                        | per call | per second of a call |
| ----------------------------- | -------- | -------------------- |
| transactions                  | ${per("transactions", CALLS)} | ${per("transactions", seconds)} |
| rows written                  | ${per("rows", CALLS)} | ${per("rows", seconds)} |
| log of the server (WAL), kB   | ${(all.logBytes / CALLS / 1000).toFixed(0)} | ${(all.logBytes / seconds / 1000).toFixed(2)} |
| growth of the database, kB    | ${(all.diskBytes / CALLS / 1000).toFixed(0)} | ${(all.diskBytes / seconds / 1000).toFixed(2)} |

An idle process: ${(idlePerMs.transactions * 1000).toFixed(1)} transactions, ${(idlePerMs.rows * 1000).toFixed(2)} rows and ${idlePerMs.logBytes.toFixed(2)} kB of log a second, on ${String(idleTo.connections)} connections; ${String(busy.connections)} with these calls.

Largest tables afterwards, with their indexes: ${tables.map(({ name: table, bytes }) => `\`${table}\` ${(Number(bytes) / 1000).toFixed(0)} kB`).join(", ")}.`;
  if (process.argv.includes("--no-page")) console.log(markdown);
  else await publish("bench:writes", markdown);
} finally {
  await client.end();
  await service.stop();
  await place.remove();
}

/**
 * `npm run bench:rest`: lists, searches, look-ups and creation through the whole stack, on both databases, in an
 * account of a million calls and ten thousand agents, with other accounts. BENCH_CALLS and BENCH_EMBEDDED_CALLS change
 * the numbers.
 */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { startChildService } from "../demo/child-service.ts";
import { cursorSigner } from "../src/http/api/cursor.ts";
import { embeddedDatabaseDir } from "../src/store/database/data-dir.ts";
import { startEmbeddedEngine } from "../src/store/embedded/embedded-engine.ts";
import { publish } from "./report.ts";
import { seed, type Seeded, type SeedSize } from "./rest-data.ts";
import { heading, measureCase, type Case } from "./rest-load.ts";

const POSTGRES = process.env["TEST_DATABASE_URL"] ?? "postgres://postgres@127.0.0.1:5432/postgres";
const API_KEY = "restBnch.abcdefghijklmnopqrstuvwxyzABCDEF";
const SECRETS_KEY = Buffer.alloc(32, 1);
const ENV = {
  API_KEY,
  SECRETS_KEY: SECRETS_KEY.toString("base64"),
  RATE_LIMIT_PER_KEY: "0",
  RATE_LIMIT_PER_ACCOUNT: "0",
  // Calls that no one joins stay until their time to join is over.
  MAX_LIVE_CALLS: "100000",
};
const WEBSOCKET = { serverWebSocket: { inputSampleRate: 16_000 } };
const AGENT = {
  name: "bench",
  callTemplate: {
    systemPrompt: "You answer the telephone of a small hotel. ".repeat(8),
    medium: WEBSOCKET,
    vadSettings: { turnEndpointDelay: "0.384s" },
  },
};
const DAY_MS = 86_400_000;

function casesFor(seeded: Seeded): Case[] {
  const { accountId, agentIds, callIds, middle } = seeded;
  const get = (name: string, path: string | ((turn: number) => string), aim = ""): Case => ({
    name,
    aim,
    request: (turn) => ({ method: "GET", path: typeof path === "string" ? path : path(turn) }),
  });
  const oneOf = (ids: readonly string[], turn: number): string => ids[turn % ids.length] ?? "";
  const dayAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);
  const after = { sortValue: middle.createdAt, id: middle.callId };
  const scope = { path: "/api/calls", accountId, filters: {} };
  const cursor = cursorSigner(SECRETS_KEY).write({ after, direction: "forward" }, scope);
  const made = String(Date.now());
  return [
    get("calls", "/api/calls", "≤ 30"),
    get("calls, a page from the middle", `/api/calls?cursor=${cursor}`, "≤ 30"),
    ...["joined", "ended", "billedDuration", "endReason"].map((field) =>
      get(`calls by ${field}`, `/api/calls?sort=-${field}`, "≤ 30"),
    ),
    get("… of an agent", (turn) => `/api/calls?agentIds=${oneOf(agentIds, turn)}`, "≤ 100"),
    get("… of a month", `/api/calls?fromDate=${dayAgo(60)}&toDate=${dayAgo(30)}`, "≤ 100"),
    get(
      "… with metadata, 1 in 500",
      (turn) => `/api/calls?metadata.campaign=campaign-${String(turn % 500)}`,
      "≤ 100",
    ),
    get("… with metadata, one call", (turn) => `/api/calls?metadata.order=order-${String(turn)}`, "≤ 100"),
    get("… of 14:59 and longer", "/api/calls?durationMin=899s", "≤ 100"),
    get("… of a minute of the day", "/api/calls?timeOfDayStart=03:00:00&timeOfDayEnd=03:01:00", "≤ 100"),
    get("search, 1 in 4", "/api/calls?search=luggage", "≤ 500"),
    get("search, 1 in 20,000", "/api/calls?search=xylophone", "≤ 500"),
    get("search, an agent's name", (turn) => `/api/calls?search=agent+${String(turn % 10_000)}+`, "≤ 500"),
    get("search, nothing found", "/api/calls?search=qqqzzz", "≤ 500"),
    get("search, two letters", "/api/calls?search=zq", "≤ 500"),
    get("agents", "/api/agents", "≤ 30"),
    get("agents, search", (turn) => `/api/agents?search=agent+${String(turn % 1000)}`, "≤ 500"),
    get("one call", (turn) => `/api/calls/${oneOf(callIds, turn)}`),
    get("one agent", (turn) => `/api/agents/${oneOf(agentIds, turn)}`),
    {
      name: "create an agent",
      aim: "",
      request: () => ({ method: "POST", path: "/api/agents", body: JSON.stringify(AGENT) }),
    },
    {
      name: "create a call",
      aim: "",
      request: (turn) => ({
        method: "POST",
        path: "/api/calls",
        body: JSON.stringify({
          systemPrompt: AGENT.callTemplate.systemPrompt,
          medium: WEBSOCKET,
          metadata: { env: "production", order: `${made}-${String(turn)}` },
        }),
      }),
    },
  ];
}

interface Connected {
  readonly client: Client;
  readonly close: () => Promise<void>;
}

interface Place {
  readonly title: string;
  readonly dataDir: string;
  readonly env: Readonly<Record<string, string>>;
  readonly size: SeedSize;
  /** A separate connection, while the service is not running. */
  readonly connect: () => Promise<Connected>;
}

async function measure(place: Place): Promise<string> {
  const options = { dataDir: place.dataDir, env: { ...ENV, ...place.env } };
  // Creates the tables, the account and its key.
  await (await startChildService(options)).stop();
  const startedMs = performance.now();
  const { client, close } = await place.connect();
  const seeded = await seed(client, place.size);
  await close();
  const seedingS = (performance.now() - startedMs) / 1000;
  const service = await startChildService(options);
  const rows: string[] = [];
  try {
    for (const each of casesFor(seeded)) rows.push(await measureCase(service, each));
  } finally {
    await service.stop();
  }
  const { calls, agents, otherAccounts } = place.size;
  const count = (value: number): string => value.toLocaleString("en");
  return `${place.title}: ${count(calls)} calls and ${count(agents)} agents in the account that is asked, ${String(otherAccounts)} other accounts
with a twentieth of that each; made in ${seedingS.toFixed(0)} s.

${heading}
${rows.join("\n")}`;
}

async function onPostgres(): Promise<string> {
  const name = `parley_bench_${String(process.pid)}`;
  const admin = new Client({ connectionString: POSTGRES });
  await admin.connect();
  await admin.query(`create database ${name}`);
  const dataDir = await mkdtemp(join(tmpdir(), "parley-rest-"));
  const url = new URL(POSTGRES);
  url.pathname = `/${name}`;
  const connect = async (): Promise<Connected> => {
    const client = new Client({ connectionString: url.toString() });
    await client.connect();
    return { client, close: async () => client.end() };
  };
  const size = {
    calls: Number(process.env["BENCH_CALLS"] ?? 1_000_000),
    agents: 10_000,
    otherAccounts: 2,
    indexMemoryMb: 512,
  };
  try {
    return await measure({
      title: "PostgreSQL",
      dataDir,
      env: { DATABASE_URL: url.toString() },
      size,
      connect,
    });
  } finally {
    await admin.query(`drop database if exists ${name} with (force)`);
    await admin.end();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function onEmbedded(): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), "parley-rest-"));
  const connect = async (): Promise<Connected> => {
    const engine = await startEmbeddedEngine(embeddedDatabaseDir(dataDir), (error) =>
      console.error(String(error)),
    );
    const client = new Client({ stream: () => engine.connect(), user: "postgres", password: "", ssl: false });
    await client.connect();
    const close = async (): Promise<void> => {
      await client.end();
      await engine.close();
    };
    return { client, close };
  };
  const size = {
    calls: Number(process.env["BENCH_EMBEDDED_CALLS"] ?? 100_000),
    agents: 10_000,
    otherAccounts: 2,
    indexMemoryMb: 64,
  };
  try {
    return await measure({ title: "Embedded", dataDir, env: {}, size, connect });
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

const sections = [await onPostgres(), await onEmbedded()];
await publish("bench:rest", sections.join("\n\n"));

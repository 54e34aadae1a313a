/**
 * `npm run bench:call-search`: searches of transcripts and filters of the list of calls, by the functions of the store,
 * on PostgreSQL, in a database of its own that is removed at the end. BENCH_CALLS is the number of calls, a million
 * unless set; BENCH_RUNS how often each request is measured. The page with the figures changes only with a million.
 */

import { Client } from "pg";
import { indexDueTexts } from "../../src/store/call-texts/index-texts.ts";
import type { CallFilter } from "../../src/store/calls/call-filter.ts";
import { listCalls } from "../../src/store/calls/call-list.ts";
import { insertCall, markJoined, type CallRow } from "../../src/store/calls/calls.ts";
import { appendMessage } from "../../src/store/calls/messages.ts";
import type { Db } from "../../src/store/database/db.ts";
import type { PagePosition, PageRows } from "../../src/store/database/page.ts";
import { markEnded, newCall, newMessage } from "../../src/store/testing/calls.ts";
import { openBenchStore } from "../jobs-store.ts";
import { milliseconds, percentile, publish } from "../report.ts";
import { seed, type Seeded } from "../rest-data.ts";
import { addTexts, LONG_AGO } from "./call-texts-data.ts";

const WHOLE = 1_000_000;
const CALLS = Number(process.env["BENCH_CALLS"] ?? WHOLE);
const RUNS = Number(process.env["BENCH_RUNS"] ?? 100);
/** Runs that are not counted: plans and pages of the database are not in memory yet. */
const WARM_RUNS = 3;
const AIM_MS = 500;
const PAGE_SIZE = 20;
const INDEX_MEMORY_MB = 512;

interface Case {
  readonly name: string;
  /** @param run from 0, so that not all requests are the same. */
  readonly filter: (run: number) => CallFilter;
  readonly from?: PagePosition;
}

function casesFor({ agentIds, middle }: Seeded): Case[] {
  const oneOf = (run: number): string => agentIds[run % agentIds.length] ?? "";
  const said =
    (transcriptSearch: string, others: CallFilter = {}) =>
    (): CallFilter => ({
      ...others,
      transcriptSearch,
    });
  const after = { sortValue: middle.createdAt, id: middle.callId };
  const fromMiddle = { after, direction: "forward" } as const;
  return [
    { name: "a word of every call", filter: said("everywhere") },
    { name: "… from the middle of the list", filter: said("everywhere"), from: fromMiddle },
    { name: "… back from the middle", filter: said("everywhere"), from: { after, direction: "backward" } },
    { name: "a word of 1 call in 100", filter: said("hundredth") },
    { name: "a word of 1 call in 1,000", filter: said("thousandth") },
    { name: "a word of 1 call in 20,000", filter: said("rarest") },
    { name: "a word of none", filter: said("qqqzzz") },
    { name: "a word of the oldest fifth only", filter: said(LONG_AGO) },
    { name: "a common and a rare word", filter: said("everywhere rarest") },
    { name: "two common words that are never together", filter: said("second odd") },
    {
      name: "the beginning of many words",
      filter: (run) => ({ transcriptSearch: `w${String(10 + (run % 90))}` }),
    },
    {
      name: "a word, of an agent",
      filter: (run) => ({ agentIds: [oneOf(run)], transcriptSearch: "second" }),
    },
    { name: "a word, with an end reason", filter: said("second", { endReason: "timeout" }) },
    { name: "a word, with errors", filter: said("second", { hasErrors: true }) },
    {
      name: "a word, metadata of 1 call in 500",
      filter: said("second", { metadata: { campaign: "campaign-7" } }),
    },
    { name: "a word, metadata of 1 call in 10", filter: said("second", { metadata: { env: "staging" } }) },
    {
      name: "a rare word, metadata of 9 calls in 10",
      filter: said("rarest", { metadata: { env: "production" } }),
    },
    {
      name: "two words never together, metadata of 9 in 10",
      filter: said("second odd", { metadata: { env: "production" } }),
    },
    { name: "with errors", filter: () => ({ hasErrors: true }) },
    {
      name: "with errors, from the middle of the list",
      filter: () => ({ hasErrors: true }),
      from: fromMiddle,
    },
    { name: "without errors", filter: () => ({ hasErrors: false }) },
    { name: "with errors, of an agent", filter: (run) => ({ hasErrors: true, agentIds: [oneOf(run)] }) },
    { name: "an end reason", filter: () => ({ endReason: "timeout" }) },
    { name: "an end reason of none", filter: () => ({ endReason: "system_error" }) },
    { name: "ended", filter: () => ({ status: "ended" }) },
    { name: "running", filter: () => ({ status: "running" }) },
    { name: "metadata of one call", filter: (run) => ({ metadata: { order: `order-${String(run)}` } }) },
    { name: "part of a metadata value", filter: (run) => ({ search: `order-${String(run + 5_000)}` }) },
  ];
}

async function measure(db: Db, accountId: string, { name, filter, from }: Case): Promise<string> {
  const start: PagePosition = from ?? { after: null, direction: "forward" };
  const latenciesMs: number[] = [];
  let page: PageRows<CallRow> | null = null;
  for (let run = -WARM_RUNS; run < RUNS; run += 1) {
    const wanted = filter(Math.max(0, run));
    const startedMs = performance.now();
    const read = await listCalls(db, accountId, wanted, { ...start, limit: PAGE_SIZE });
    if (run >= 0) latenciesMs.push(performance.now() - startedMs);
    // The runs of one case can find different numbers of calls.
    if (page === null || read.total > page.total) page = read;
  }
  const total = `${(page?.total ?? 0).toLocaleString("en")}${page?.totalIsExact === false ? "+" : ""}`;
  const p99 = percentile(latenciesMs, 0.99);
  const cells = [
    name,
    total,
    String(page?.rows.length ?? 0),
    milliseconds(percentile(latenciesMs, 0.5)),
    milliseconds(p99),
    p99 <= AIM_MS ? "yes" : "no",
  ];
  return `| ${cells.join(" | ")} |`;
}

const heading = `| list of calls | largest total | rows of its page | p50, ms | p99, ms | p99 ≤ ${String(AIM_MS)} ms |
|---|---|---|---|---|---|`;

/** Calls that end now, with twenty messages of 25 words each. */
const NEW_CALLS = 200;
const NEW_MESSAGES = 20;

/** What the index costs after the end of a call, beside the other calls. */
async function measureIndexing(db: Db, accountId: string): Promise<string> {
  for (let index = 0; index < NEW_CALLS; index += 1) {
    const call = newCall();
    await insertCall(db, accountId, call);
    await markJoined(db, accountId, call.callId, { joinedAtMs: call.createdAtMs, clientVersion: null });
    for (let place = 0; place < NEW_MESSAGES; place += 1) {
      const rank = (): number => Math.floor(30_000 ** Math.random());
      const text = Array.from({ length: 25 }, () => `w${String(rank())}`).join(" ");
      const message = newMessage(place, { text, role: place % 2 === 0 ? "agent" : "user" });
      await appendMessage(db, accountId, call.callId, call.stage.stageId, message);
    }
    await markEnded(db, accountId, call.callId, { endReason: "hangup", endedAtMs: call.createdAtMs + 1 });
  }
  const startedMs = performance.now();
  while (await indexDueTexts(db));
  return milliseconds((performance.now() - startedMs) / NEW_CALLS);
}

async function sizesOf(client: Client): Promise<string> {
  const read = await client.query<{ rows: string; words: string }>(`
    select pg_size_pretty(pg_table_size('call_texts')) as rows,
      pg_size_pretty(pg_relation_size('call_texts_by_words')) as words`);
  return `The rows take ${read.rows[0]?.rows ?? "?"}, the index of their words ${read.rows[0]?.words ?? "?"}.`;
}

async function main(): Promise<void> {
  const store = await openBenchStore("postgresql");
  try {
    const client = new Client({ connectionString: store.databaseUrl ?? "" });
    await client.connect();
    await client.query(
      "insert into accounts (id, name, is_default, created_at) values (gen_random_uuid(), 'bench', true, now()) " +
        "on conflict do nothing",
    );
    const startedMs = performance.now();
    const size = { calls: CALLS, agents: 1_000, otherAccounts: 1, indexMemoryMb: INDEX_MEMORY_MB };
    const seeded = await seed(client, size);
    await addTexts(client, INDEX_MEMORY_MB);
    const sizes = await sizesOf(client);
    await client.end();
    const seedingS = ((performance.now() - startedMs) / 1000).toFixed(0);
    const rows: string[] = [];
    for (const each of casesFor(seeded)) rows.push(await measure(store.db, seeded.accountId, each));
    const perCall = await measureIndexing(store.db, seeded.accountId);
    const text = `${CALLS.toLocaleString("en")} calls in the account that is asked, made in ${seedingS} s. ${sizes}
Adding the words of a call after its end took ${perCall} ms.

${heading}
${rows.join("\n")}`;
    if (CALLS >= WHOLE) await publish("bench:call-search", text);
    else console.log(text);
  } finally {
    await store.close();
  }
}

await main();

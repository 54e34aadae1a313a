/**
 * `npm run bench:corpus-calls`: the same websocket calls alone and beside a service that loads corpora and answers
 * queries, by turns, so that a change of the machine's speed affects both. BENCH_CALLS is the number of calls, BENCH_ROUNDS
 * that of rounds, and BENCH_DATABASE the database (embedded or postgresql). The page with the figures changes only with
 * the usual numbers. The limits are those of `npm run bench:capacity`. The callers and
 * the server of embeddings run on the same machine and take their share of it.
 */

import { createDatabase } from "../jobs-store.ts";
import { runLoad, speechClip } from "../load.ts";
import { milliseconds, percentile, publish } from "../report.ts";
import { startBenchService, type BenchService } from "../service.ts";
import { openCorpusLoad, openQuickEmbedder, type CorpusLoad, type CorpusLoadFigures } from "./corpus-load.ts";

const DELAYS = { sttMs: 20, llmMs: 20, ttsMs: 20 };
const USUAL = { calls: 25, rounds: 3 };
const CALLS = Number(process.env["BENCH_CALLS"] ?? USUAL.calls);
const ROUNDS = Number(process.env["BENCH_ROUNDS"] ?? USUAL.rounds);
const DATABASE = process.env["BENCH_DATABASE"] === "postgresql" ? "postgresql" : "embedded";
const TURN_EVERY_MS = 6_000;
const TURNS = 5;
const JITTER_LIMIT_MS = 20;
const LOOP_LIMIT_MS = 10;

interface Measured {
  readonly jitterMs: number[];
  readonly loopMs: number[];
  readonly cpu: number[];
  failed: number;
  chunks: number;
  readonly queryMs: number[];
}

const empty = (): Measured => ({ jitterMs: [], loopMs: [], cpu: [], failed: 0, chunks: 0, queryMs: [] });

async function measure(service: BenchService, into: Measured, beside: CorpusLoad | null): Promise<void> {
  const clip = await speechClip("cards_001");
  const load = { rest: service.rest, turnEveryMs: TURN_EVERY_MS, spreadMs: TURN_EVERY_MS, clip };
  const ended = new AbortController();
  service.takeFigures();
  const loading: Promise<CorpusLoadFigures> | null = beside?.run(ended.signal) ?? null;
  const result = await runLoad({ ...load, calls: CALLS, turns: TURNS });
  for (const { loopP99Ms, cpuShare } of service.takeFigures()) {
    into.loopMs.push(loopP99Ms);
    into.cpu.push(cpuShare);
  }
  ended.abort();
  into.jitterMs.push(...result.jitterMs);
  into.failed += result.failedTurns + result.failedCalls;
  const figures = await loading;
  into.chunks += figures?.chunks ?? 0;
  into.queryMs.push(...(figures?.queryMs ?? []));
}

function row(name: string, { jitterMs, loopMs, cpu, failed }: Measured): string {
  const cells = [
    name,
    milliseconds(percentile(jitterMs, 0.5)),
    milliseconds(percentile(jitterMs, 0.99)),
    milliseconds(percentile(loopMs, 0.5)),
    milliseconds(percentile(loopMs, 0.99)),
    `${(percentile(cpu, 0.5) * 100).toFixed(0)} %`,
    String(failed),
  ];
  return `| ${cells.join(" | ")} |`;
}

function withinLimits({ jitterMs, loopMs }: Measured): string {
  const isWithin = percentile(jitterMs, 0.99) <= JITTER_LIMIT_MS && percentile(loopMs, 0.5) <= LOOP_LIMIT_MS;
  return isWithin ? "within the limits" : "beyond the limits";
}

const embedder = await openQuickEmbedder();
const database = DATABASE === "postgresql" ? await createDatabase() : null;
const service = await startBenchService(DELAYS, {
  EMBEDDINGS_BASE_URL: embedder.baseUrl,
  EMBEDDINGS_MODEL: "bench",
  CORPUS_QUERIES_PER_MINUTE: "0",
  LOG_LEVEL: "error",
  ...(database === null ? {} : { DATABASE_URL: database.url }),
});
try {
  const load = await openCorpusLoad(service.rest, service.baseUrl);
  const [alone, beside] = [empty(), empty()];
  // Code is compiled, and connections are open.
  await measure(service, empty(), null);
  for (let round = 1; round <= ROUNDS; round += 1) {
    await measure(service, alone, null);
    await measure(service, beside, load);
    console.log(
      `round ${String(round)} of ${String(ROUNDS)}\n${row("alone", alone)}\n${row("beside", beside)}`,
    );
  }
  const ratio = percentile(beside.jitterMs, 0.99) / percentile(alone.jitterMs, 0.99);
  const text = `${String(CALLS)} websocket calls with a turn every 6 s, ${DATABASE} database, ${String(ROUNDS)} rounds by turns. \
Meanwhile ${String(beside.chunks)} chunks with vectors of 384 dimensions were stored, and ${String(beside.queryMs.length)} \
queries were answered, one each 500 ms (p50 ${milliseconds(percentile(beside.queryMs, 0.5))} ms, \
p99 ${milliseconds(percentile(beside.queryMs, 0.99))} ms). The 99th percentile of the jitter is ${ratio.toFixed(2)} times \
that of the calls alone. Limits: ${String(JITTER_LIMIT_MS)} ms of jitter (p99) and ${String(LOOP_LIMIT_MS)} ms of the event \
loop; alone the calls are ${withinLimits(alone)}, beside loads and queries ${withinLimits(beside)}.

| The same calls | egress jitter p50, ms | p99, ms | event loop p99, ms (median second) | in the worst seconds | CPU (of one core) | failed |
| --- | --- | --- | --- | --- | --- | --- |
${row("alone", alone)}
${row("beside loads and queries", beside)}`;
  if (CALLS === USUAL.calls && ROUNDS === USUAL.rounds) await publish("corpus-calls", text);
  else console.log(text);
} finally {
  await service.stop();
  await embedder.close();
  await database?.drop();
}

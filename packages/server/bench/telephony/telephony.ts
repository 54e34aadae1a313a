/**
 * `npm run bench:telephony`: how many real-time calls of a carrier at 8 kHz, each with a turn every 6 s, one process
 * holds; the CPU and the statements of a call beside those of a call over `serverWebSocket` at the same rate; and the time
 * to the first word. The callers run on the same machine and take their share of it. A call that cannot be made or that
 * the service ends is counted, and the run goes on; it takes less than five minutes. BENCH_CALLS (such as 20,40),
 * BENCH_COMPARED_CALLS, BENCH_TURNS, BENCH_ROUNDS and BENCH_FIRST_WORDS change it: `BENCH_ROUNDS=0` leaves the comparison
 * out. With DATABASE_URL and SECRETS_KEY, PostgreSQL is the database: give it one of its own, and BENCH_FIRST_WORDS=0.
 * With BENCH_PROFILE, the folder for it, the service writes a CPU profile of each of its threads. Then, and with
 * `--no-page`, docs/benchmarks.md stays as it is.
 */

import { clipAtLineRate, measuredLoad, type LoadFigures } from "../lines/load.ts";
import type { LineMedium } from "../lines/recorded.ts";
import { endedCell } from "../lines/ended-calls.ts";
import { milliseconds, percentile, publish } from "../report.ts";
import { startBenchService, type BenchService } from "../service.ts";
import { firstWords } from "./first-word.ts";

const DELAYS = { sttMs: 20, llmMs: 20, ttsMs: 20 };
const TURNS = Number(process.env["BENCH_TURNS"] ?? 2);
const CALLS = (process.env["BENCH_CALLS"] ?? "50,100,150,200,250").split(",").map(Number);
/** Code is compiled, and buffers have grown. */
const WARM = { calls: Math.min(20, ...CALLS), turns: 1 };
/** Of the comparison; both media alternate, so that a change of the machine's speed affects both. */
const COMPARED_CALLS = Number(process.env["BENCH_COMPARED_CALLS"] ?? 100);
const ROUNDS = Number(process.env["BENCH_ROUNDS"] ?? 2);
const FIRST_WORDS = Number(process.env["BENCH_FIRST_WORDS"] ?? 20);
const PROFILE = process.env["BENCH_PROFILE"];
const HAS_PAGE = PROFILE === undefined && !process.argv.includes("--no-page");

const percent = (share: number): string => `${(share * 100).toFixed(0)} %`;

function rowOf(calls: number, figures: LoadFigures): string {
  const { jitterMs, unanswered, loopP99Ms, cpuShare, callers, statementsPerS, refused, ended } = figures;
  const cells = [
    String(calls),
    milliseconds(percentile(jitterMs, 0.5)),
    milliseconds(percentile(jitterMs, 0.99)),
    milliseconds(loopP99Ms),
    percent(cpuShare),
    milliseconds((cpuShare / calls) * 1_000),
    `${percent(callers.cpuShare)}, ${milliseconds(callers.loopP99Ms)} ms`,
    statementsPerS.toFixed(0),
    String(unanswered),
    String(refused.calls),
    endedCell(ended),
  ];
  return `| ${cells.join(" | ")} |`;
}

/** Threads that take more than a hundredth of a core. */
function threadsOf({ threads }: LoadFigures): string {
  return [...threads]
    .filter(([, share]) => share >= 0.01)
    .sort(([, one], [, other]) => other - one)
    .map(([name, share]) => `${name} ${percent(share)}`)
    .join(", ");
}

async function steps(service: BenchService, clip: Int16Array): Promise<string[]> {
  const rows: string[] = [];
  await measuredLoad(service, { medium: "telephony1", clip, ...WARM });
  for (const calls of CALLS) {
    const figures = await measuredLoad(service, { medium: "telephony1", calls, clip, turns: TURNS });
    rows.push(rowOf(calls, figures));
    console.log(rows.at(-1));
    console.log(`  ${threadsOf(figures)}`);
    if (figures.refused.cause !== null) console.log(`  a call could not be made: ${figures.refused.cause}`);
  }
  return rows;
}

/** CPU of a call over a carrier, in multiples of one over the plain websocket. */
async function comparison(service: BenchService, clip: Int16Array): Promise<string> {
  const shares: Record<LineMedium, number[]> = { telephony1: [], serverWebSocket: [] };
  const statements: Record<LineMedium, number[]> = { telephony1: [], serverWebSocket: [] };
  const load = { calls: COMPARED_CALLS, clip, turns: TURNS };
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const medium of ["serverWebSocket", "telephony1"] as const) {
      const figures = await measuredLoad(service, { medium, ...load });
      shares[medium].push(figures.cpuShare);
      statements[medium].push(figures.statementsPerCall);
      console.log(`  ${medium}: ${threadsOf(figures)}`);
    }
  }
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  const [carrier, plain] = [mean(shares.telephony1), mean(shares.serverWebSocket)];
  return (
    `${String(COMPARED_CALLS)} calls over \`telephony1\`: ${percent(carrier)} of a core; over ` +
    `\`serverWebSocket\` at 8 kHz: ${percent(plain)} (${(carrier / plain).toFixed(2)} ×; means of ` +
    `${String(ROUNDS)} runs by turns). Statements to the database for each call of ${String(TURNS + 1)} turns: ` +
    `${mean(statements.telephony1).toFixed(0)} and ${mean(statements.serverWebSocket).toFixed(0)}.`
  );
}

const profiling =
  PROFILE === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${PROFILE}`, "--cpu-prof-interval=500"];
const service = await startBenchService(DELAYS, {}, { nodeArguments: profiling });
try {
  const clip = await clipAtLineRate();
  const rows = await steps(service, clip);
  const compared = ROUNDS > 0 ? await comparison(service, clip) : "The media were not compared in this run.";
  const greeted = FIRST_WORDS > 0 ? await firstWords(FIRST_WORDS) : "";
  const page = `| calls at once | egress jitter p50, ms | p99, ms | event loop p99, ms | CPU (of one core) | per call and second, ms | callers: CPU, event loop p99 | statements a second | turns without an answer | calls not made | ended by the service |
|---|---|---|---|---|---|---|---|---|---|---|
${rows.join("\n")}

${compared}

From the start of the stream to the first word of a fixed greeting, with a voice that takes 400 ms for its first audio:

| instructions of the carrier by | calls | p50, ms | p95, ms | longest, ms |
|---|---|---|---|---|
${greeted}`;
  if (HAS_PAGE) await publish("bench:telephony", page);
  else console.log(page);
} finally {
  await service.stop();
}

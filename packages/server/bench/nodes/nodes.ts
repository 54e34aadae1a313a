/**
 * `npm run bench:nodes`: what it costs that calls survive their process. 100 calls, each with a turn every 6 s, without
 * snapshots and with them, by turns; on PostgreSQL, or embedded with BENCH_DATABASE=embedded.
 */

import { createDatabase } from "../jobs-store.ts";
import { pause, runLoad, speechClip } from "../load.ts";
import { milliseconds, percentile, publish } from "../report.ts";
import { startBenchService } from "../service.ts";

const DELAYS = { sttMs: 20, llmMs: 20, ttsMs: 20 };
const TURN_EVERY_MS = 6_000;
const TURNS = Number(process.env["BENCH_TURNS"] ?? 6);
const CALLS = Number(process.env["BENCH_CALLS"] ?? 100);
/** Both variants alternate, so that a change of the machine's speed affects both. */
const ROUNDS = Number(process.env["BENCH_ROUNDS"] ?? 3);

interface Cost {
  /** Of one core. */
  readonly cpuShare: number;
  readonly loopP99Ms: number;
  readonly failed: number;
}

async function costWith(resumeTimeoutMs: number, clip: Int16Array): Promise<Cost> {
  const database = process.env["BENCH_DATABASE"] === "embedded" ? null : await createDatabase();
  const service = await startBenchService(DELAYS, {
    RESUME_TIMEOUT_MS: String(resumeTimeoutMs),
    ...(database === null
      ? {}
      : { DATABASE_URL: database.url, SECRETS_KEY: Buffer.alloc(32, 1).toString("base64") }),
  });
  try {
    const load = { rest: service.rest, turnEveryMs: TURN_EVERY_MS, clip };
    await runLoad({ ...load, calls: 10, turns: 1, spreadMs: 1_000 });
    await pause(2_000);
    service.takeFigures();
    const { failedTurns, failedCalls } = await runLoad({
      ...load,
      calls: CALLS,
      turns: TURNS,
      spreadMs: TURN_EVERY_MS,
    });
    const figures = service.takeFigures();
    return {
      cpuShare: percentile(
        figures.map((second) => second.cpuShare),
        0.5,
      ),
      loopP99Ms: percentile(
        figures.map((second) => second.loopP99Ms),
        0.5,
      ),
      failed: failedTurns + failedCalls,
    };
  } finally {
    await service.stop();
    await database?.drop();
  }
}

const clip = await speechClip("cards_001");
const without: Cost[] = [];
const within: Cost[] = [];
for (let round = 0; round < ROUNDS; round += 1) {
  without.push(await costWith(0, clip));
  within.push(await costWith(30_000, clip));
}

function row(name: string, costs: readonly Cost[]): string {
  const cpu = percentile(
    costs.map(({ cpuShare }) => cpuShare),
    0.5,
  );
  const loop = percentile(
    costs.map(({ loopP99Ms }) => loopP99Ms),
    0.5,
  );
  const failed = costs.reduce((sum, cost) => sum + cost.failed, 0);
  return `| ${name} | ${(cpu * 100).toFixed(1)} % | ${milliseconds(loop)} | ${String(failed)} |`;
}

await publish(
  "bench:nodes",
  `${String(CALLS)} calls, medians of ${String(ROUNDS)} runs by turns.

| | CPU of the service (of one core) | event loop p99, ms | failed turns and calls |
|---|---|---|---|
${row("without snapshots", without)}
${row("with snapshots", within)}`,
);

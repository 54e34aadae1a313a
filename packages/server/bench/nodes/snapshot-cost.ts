/** What it costs that calls survive their process: the same calls without snapshots and with them, by turns. */

import { randomBytes } from "node:crypto";
import { createDatabase } from "../jobs-store.ts";
import { pause, runLoad } from "../load.ts";
import { milliseconds, percentile } from "../report.ts";
import { startBenchService, type BenchService } from "../service.ts";

export const DELAYS = { sttMs: 20, llmMs: 20, ttsMs: 20 };
export const TURN_EVERY_MS = 6_000;

export interface SnapshotCostOptions {
  readonly calls: number;
  readonly turns: number;
  readonly rounds: number;
  readonly isEmbedded: boolean;
  readonly clip: Int16Array;
}

interface Cost {
  /** Of one core. */
  readonly cpuShare: number;
  readonly statements: number;
  readonly loopP99Ms: number;
  readonly failed: number;
}

/** Both services run all the time, and one of them has calls: so a start and its warm-up are not in the figures. */
export async function snapshotCost(options: SnapshotCostOptions): Promise<string> {
  await using opened = new AsyncDisposableStack();
  const start = async (resumeTimeoutMs: number): Promise<BenchService> => {
    const database = options.isEmbedded ? null : await createDatabase();
    if (database !== null) opened.defer(() => database.drop());
    const service = await startBenchService(DELAYS, {
      RESUME_TIMEOUT_MS: String(resumeTimeoutMs),
      ...(database === null
        ? {}
        : { DATABASE_URL: database.url, SECRETS_KEY: randomBytes(32).toString("base64") }),
    });
    opened.defer(() => service.stop());
    return service;
  };
  const [without, within] = [await start(0), await start(30_000)];
  for (const { rest } of [without, within])
    await runLoad({
      rest,
      clip: options.clip,
      turnEveryMs: TURN_EVERY_MS,
      calls: 10,
      turns: 1,
      spreadMs: 1_000,
    });
  const costs: { readonly without: Cost; readonly within: Cost }[] = [];
  for (let round = 0; round < options.rounds; round += 1)
    costs.push({ without: await costOf(without, options), within: await costOf(within, options) });
  return table(options, costs);
}

async function costOf(service: BenchService, { calls, turns, clip }: SnapshotCostOptions): Promise<Cost> {
  await pause(1_100);
  service.takeFigures();
  const load = { rest: service.rest, clip, turnEveryMs: TURN_EVERY_MS, spreadMs: TURN_EVERY_MS };
  const { failedTurns, failedCalls } = await runLoad({ ...load, calls, turns });
  // While the calls begin and end, not all of them run.
  const edge = TURN_EVERY_MS / 1_000;
  const figures = service.takeFigures().slice(edge, -edge);
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
  return {
    cpuShare: mean(figures.map((second) => second.cpuShare)),
    statements: mean(figures.map((second) => second.statements)),
    loopP99Ms: percentile(
      figures.map((second) => second.loopP99Ms),
      0.5,
    ),
    failed: failedTurns + failedCalls,
  };
}

function table(
  { calls, rounds, isEmbedded }: SnapshotCostOptions,
  costs: readonly { readonly without: Cost; readonly within: Cost }[],
): string {
  const row = (name: string, of: readonly Cost[]): string => {
    const middle = (value: (cost: Cost) => number): number => percentile(of.map(value), 0.5);
    const failed = of.reduce((sum, cost) => sum + cost.failed, 0);
    return (
      `| ${name} | ${(middle(({ cpuShare }) => cpuShare) * 100).toFixed(1)} % | ` +
      `${middle(({ statements }) => statements).toFixed(0)} | ` +
      `${milliseconds(middle(({ loopP99Ms }) => loopP99Ms))} | ${String(failed)} |`
    );
  };
  const [without, within] = [costs.map((cost) => cost.without), costs.map((cost) => cost.within)];
  const more = percentile(
    costs.map((cost) => cost.within.cpuShare / cost.without.cpuShare - 1),
    0.5,
  );
  return `${String(calls)} calls on ${isEmbedded ? "the embedded database" : "PostgreSQL"}, medians of ${String(rounds)} runs by turns. With snapshots the process takes ${(more * 100).toFixed(1)} % more CPU (median of the pairs).

| | CPU of the service (of one core) | statements a second | event loop p99, ms | failed turns and calls |
|---|---|---|---|---|
${row("without snapshots", without)}
${row("with snapshots", within)}`;
}

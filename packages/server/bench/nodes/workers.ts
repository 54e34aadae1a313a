/** The same calls on one process and on two workers behind one port. */

import { randomBytes } from "node:crypto";
import { createDatabase } from "../jobs-store.ts";
import { pause, runLoad } from "../load.ts";
import { milliseconds, percentile } from "../report.ts";
import { startBenchService, type BenchService } from "../service.ts";
import { DELAYS, TURN_EVERY_MS } from "./snapshot-cost.ts";

/** As in `bench:capacity`: beyond these limits a service has too many calls. */
const JITTER_LIMIT_MS = 20;
const LOOP_LIMIT_MS = 10;
const TURNS = 3;

export async function workersAgainstOne(steps: readonly number[], clip: Int16Array): Promise<string> {
  await using opened = new AsyncDisposableStack();
  const start = async (workers: number): Promise<BenchService> => {
    const database = await createDatabase();
    opened.defer(() => database.drop());
    const service = await startBenchService(
      DELAYS,
      {
        WORKERS: String(workers),
        DATABASE_URL: database.url,
        SECRETS_KEY: randomBytes(32).toString("base64"),
        WEBRTC_PORT_RANGE: "",
        RTP_PORT_RANGE: "",
      },
      // The greeting of several workers has more lines.
      { onLine: (line) => !line.startsWith("{") },
    );
    opened.defer(() => service.stop());
    return service;
  };
  const services = [
    { name: "one process", workers: 1, service: await start(1) },
    { name: "two workers", workers: 2, service: await start(2) },
  ];
  for (const { service } of services)
    await runLoad({
      rest: service.rest,
      clip,
      turnEveryMs: TURN_EVERY_MS,
      calls: 20,
      turns: 1,
      spreadMs: 1_000,
    });
  const rows: string[] = [];
  for (const calls of steps)
    for (const { name, workers, service } of services)
      rows.push(`| ${String(calls)} | ${name} | ${await step(service, workers, calls, clip)} |`);
  return `Within the limits of \`bench:capacity\`: a jitter of at most ${String(JITTER_LIMIT_MS)} ms (p99) and an event loop of at most ${String(LOOP_LIMIT_MS)} ms (p99, median of the seconds). The callers run on the same machine.

| calls at once | processes | egress jitter p99, ms | event loop p99, ms | CPU of each process (of one core) | failed | within |
|---|---|---|---|---|---|---|
${rows.join("\n")}`;
}

async function step(
  service: BenchService,
  workers: number,
  calls: number,
  clip: Int16Array,
): Promise<string> {
  await pause(1_100);
  service.takeFigures();
  const load = { rest: service.rest, clip, turnEveryMs: TURN_EVERY_MS, spreadMs: TURN_EVERY_MS };
  const { jitterMs, failedTurns, failedCalls } = await runLoad({ ...load, calls, turns: TURNS });
  // Each worker writes a line every second. While the calls begin and end, not all of them run.
  const edge = (TURN_EVERY_MS / 1_000) * workers;
  const figures = service.takeFigures().slice(edge, -edge);
  const jitter = percentile(jitterMs, 0.99);
  const loop = percentile(
    figures.map((second) => second.loopP99Ms),
    0.5,
  );
  const cpu = percentile(
    figures.map((second) => second.cpuShare),
    0.5,
  );
  const failed = failedTurns + failedCalls;
  const isWithin = jitter <= JITTER_LIMIT_MS && loop <= LOOP_LIMIT_MS && failed === 0;
  return `${milliseconds(jitter)} | ${milliseconds(loop)} | ${(cpu * 100).toFixed(0)} % | ${String(failed)} | ${isWithin ? "yes" : "no"}`;
}

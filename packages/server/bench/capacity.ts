/**
 * `npm run bench:capacity`: how many real-time 16 kHz websocket calls, each with a turn every 6 s, one process holds
 * until its egress jitter or its event loop passes the limit; the memory of a call; and whether memory grows with the
 * number of short calls. The callers run on the same machine and take their share of it.
 */

import { openCaller } from "../demo/caller.ts";
import { endCall, makeAgent, pause, runLoad, SAMPLE_RATE_HZ, speechClip } from "./load.ts";
import { milliseconds, percentile, publish, slope } from "./report.ts";
import { startBenchService, type BenchService } from "./service.ts";

const DELAYS = { sttMs: 20, llmMs: 20, ttsMs: 20 };
const TURN_EVERY_MS = 6_000;
const TURNS = 6;
const CALLS = [25, 50, 75, 100, 125, 150, 200];
const JITTER_LIMIT_MS = 20;
const LOOP_LIMIT_MS = 10;

/** Everything above voice activity and the endpoint delay switched off; see docs/turn-taking.md. */
const BARE = {
  BENCH_BARE: "1",
  TURN_DETECTOR_TIMEOUT_MS: "0",
  TURN_UNFINISHED_EXTRA_MS: "0",
  TURN_CLEARLY_UNFINISHED_EXTRA_MS: "0",
  TURN_NOT_UNDERSTOOD_EXTRA_MS: "0",
  TURN_ADAPTIVE_ENDPOINT_MAX_MS: "0",
  TURN_INTERRUPTION_GRACE_MS: "0",
  TURN_BACKCHANNEL_MAX_MS: "0",
  TURN_ECHO_TAIL_MS: "0",
};
/** Both variants alternate, so that a change of the machine's speed affects both. */
const LAYER_ROUNDS = 3;
const LAYER_CALLS = 100;

const SHORT_CALLS = 2_000;
const SHORT_CALLS_AT_ONCE = 20;
const SHORT_CALLS_PER_SAMPLE = 100;
/** The first samples are warm-up: code is compiled, pools and caches fill. */
const WARM_SAMPLES = 5;

async function steps(service: BenchService): Promise<string[]> {
  const clip = await speechClip("cards_001");
  const rows: string[] = [];
  await runLoad({
    rest: service.rest,
    calls: 10,
    turns: 1,
    turnEveryMs: TURN_EVERY_MS,
    spreadMs: 1_000,
    clip,
  });
  await pause(3_000);
  const idle = service.takeFigures().at(-1)?.rssBytes ?? 0;
  for (const calls of CALLS) {
    const load = {
      rest: service.rest,
      calls,
      turns: TURNS,
      turnEveryMs: TURN_EVERY_MS,
      spreadMs: TURN_EVERY_MS,
      clip,
    };
    service.takeFigures();
    const result = await runLoad(load);
    const figures = service.takeFigures();
    const jitter = percentile(result.jitterMs, 0.99);
    const loop = percentile(
      figures.map((second) => second.loopP99Ms),
      0.5,
    );
    const rss = (Math.max(...figures.map((second) => second.rssBytes)) - idle) / calls / 2 ** 20;
    const cpu = percentile(
      figures.map((second) => second.cpuShare),
      0.5,
    );
    rows.push(
      `| ${String(calls)} | ${milliseconds(percentile(result.jitterMs, 0.5))} | ${milliseconds(jitter)} | ` +
        `${milliseconds(loop)} | ${(cpu * 100).toFixed(0)} % | ${rss.toFixed(2)} | ` +
        `${String(result.failedTurns + result.failedCalls)} |`,
    );
    console.log(rows.at(-1));
    if (jitter > JITTER_LIMIT_MS || loop > LOOP_LIMIT_MS) break;
  }
  return rows;
}

async function busyShare(service: BenchService): Promise<number> {
  const clip = await speechClip("cards_001");
  const load = { rest: service.rest, turnEveryMs: TURN_EVERY_MS, spreadMs: TURN_EVERY_MS, clip };
  await runLoad({ ...load, calls: 10, turns: 1, spreadMs: 1_000 });
  service.takeFigures();
  await runLoad({ ...load, calls: LAYER_CALLS, turns: TURNS });
  const shares = service.takeFigures().map((second) => second.cpuShare);
  return percentile(shares, 0.5);
}

/** Cost of the second layer of turn-taking: the same calls without and with it. */
async function secondLayer(): Promise<string> {
  const bare: number[] = [];
  const full: number[] = [];
  for (let round = 0; round < LAYER_ROUNDS; round += 1) {
    bare.push(await withService(BARE, busyShare));
    full.push(await withService({}, busyShare));
  }
  const [without, within] = [percentile(bare, 0.5), percentile(full, 0.5)];
  const perCall = ((within - without) * 1_000) / LAYER_CALLS;
  return (
    `${String(LAYER_CALLS)} calls without the second layer of turn-taking: ${(without * 100).toFixed(0)} % of a core; ` +
    `with it: ${(within * 100).toFixed(0)} % (${perCall.toFixed(2)} ms of CPU in each second of a call; medians of ` +
    `${String(LAYER_ROUNDS)} runs by turns).`
  );
}

/** Short calls: join, say something, hang up during the answer. */
async function churn(service: BenchService): Promise<string> {
  const agentId = await makeAgent(service.rest, {
    firstSpeakerSettings: { agent: { text: "Good evening to you." } },
  });
  const clip = (await speechClip("cards_001")).subarray(0, SAMPLE_RATE_HZ / 2);
  const samples: { rss: number; heap: number }[] = [];
  const shortCall = async (): Promise<void> => {
    const call = await service.rest<{ joinUrl: string }>("POST", `/api/agents/${agentId}/calls`, {});
    const caller = await openCaller({ joinUrl: call.joinUrl, sampleRateHz: SAMPLE_RATE_HZ });
    await caller.say(clip);
    await endCall(caller);
  };
  for (let done = 0; done < SHORT_CALLS; done += SHORT_CALLS_AT_ONCE) {
    await Promise.all(Array.from({ length: SHORT_CALLS_AT_ONCE }, shortCall));
    if (done % SHORT_CALLS_PER_SAMPLE !== 0) continue;
    await pause(1_100);
    const last = service.takeFigures().at(-1);
    if (last !== undefined) samples.push({ rss: last.rssBytes, heap: last.heapBytes });
  }
  const settled = samples.slice(WARM_SAMPLES);
  const perThousand = (values: readonly number[]): string =>
    ((slope(values) * (1_000 / SHORT_CALLS_PER_SAMPLE)) / 2 ** 20).toFixed(1);
  return (
    `${String(SHORT_CALLS)} short calls, ${String(SHORT_CALLS_AT_ONCE)} at once: RSS from ` +
    `${((settled[0]?.rss ?? 0) / 2 ** 20).toFixed(0)} MB to ${((settled.at(-1)?.rss ?? 0) / 2 ** 20).toFixed(0)} MB, slope ` +
    `${perThousand(settled.map((sample) => sample.rss))} MB per 1,000 calls (heap after a collection: ` +
    `${perThousand(settled.map((sample) => sample.heap))} MB per 1,000 calls).`
  );
}

async function withService<Result>(
  env: Readonly<Record<string, string>>,
  measure: (service: BenchService) => Promise<Result>,
): Promise<Result> {
  const service = await startBenchService(DELAYS, env);
  try {
    return await measure(service);
  } finally {
    await service.stop();
  }
}

const rows = await withService({}, steps);
const layer = await secondLayer();
const growth = await withService({ BENCH_COLLECT: "1" }, churn);
await publish(
  "bench:capacity",
  `| calls at once | egress jitter p50, ms | p99, ms | event loop p99, ms | CPU (of one core) | RSS per call, MB | failed |
|---|---|---|---|---|---|---|
${rows.join("\n")}

${layer}

${growth}`,
);

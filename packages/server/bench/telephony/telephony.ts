/**
 * `npm run bench:telephony`: how many real-time calls of a carrier at 8 kHz, each with a turn every 6 s, one process
 * holds until its egress jitter or its event loop passes the limit; the CPU of a call beside that of a call over
 * `serverWebSocket` at the same rate; and the time to the first word. The callers run on the same machine and take their
 * share of it. BENCH_CALLS (such as 20,40), BENCH_COMPARED_CALLS, BENCH_TURNS, BENCH_ROUNDS and BENCH_FIRST_WORDS change
 * the run: with 20 calls, 2 turns and 1 round it takes two minutes.
 */

import nodeProcess from "node:process";
import { initResampler, Resampler } from "../../src/media/resample.ts";
import { makeAgent, pause, SAMPLE_RATE_HZ, speechClip } from "../load.ts";
import { milliseconds, percentile, publish } from "../report.ts";
import { startBenchService, type BenchService } from "../service.ts";
import { firstWords } from "./first-word.ts";
import { LINE_RATE_HZ, openLine, type LineMedium } from "./line.ts";

const DELAYS = { sttMs: 20, llmMs: 20, ttsMs: 20 };
const TURN_EVERY_MS = 6_000;
const TURNS = Number(process.env["BENCH_TURNS"] ?? 6);
const CALLS = (process.env["BENCH_CALLS"] ?? "50,100,150,200,250,300").split(",").map(Number);
const JITTER_LIMIT_MS = 20;
const LOOP_LIMIT_MS = 10;
/** Of the comparison; both media alternate, so that a change of the machine's speed affects both. */
const COMPARED_CALLS = Number(process.env["BENCH_COMPARED_CALLS"] ?? 100);
const ROUNDS = Number(process.env["BENCH_ROUNDS"] ?? 3);
const FIRST_WORDS = Number(process.env["BENCH_FIRST_WORDS"] ?? 20);
/** A gap longer than this ends an utterance. */
const UTTERANCE_GAP_MS = 300;
/** The service sends this many frames of an utterance at once, to be 200 ms ahead. */
const BURST_FRAMES = 12;
const FRAME_MS = 20;
const MEDIA: Readonly<Record<LineMedium, object>> = {
  telephony1: { telephony1: {} },
  serverWebSocket: { serverWebSocket: { inputSampleRate: LINE_RATE_HZ, clientBufferSizeMs: 200 } },
};

interface Load {
  readonly jitterMs: number[];
  readonly unanswered: number;
}

async function clipAtLineRate(): Promise<Int16Array> {
  await initResampler(nodeProcess);
  const resampler = new Resampler(SAMPLE_RATE_HZ, LINE_RATE_HZ);
  const clip = resampler.push(await speechClip("cards_001")).slice();
  resampler.close();
  return clip;
}

async function load(
  service: BenchService,
  medium: LineMedium,
  calls: number,
  clip: Int16Array,
): Promise<Load> {
  const agentId = await makeAgent(service.rest, { medium: MEDIA[medium] });
  const jitterMs: number[] = [];
  let unanswered = 0;
  const one = async (index: number): Promise<void> => {
    await pause((TURN_EVERY_MS * index) / calls);
    const call = await service.rest<{ joinUrl: string }>("POST", `/api/agents/${agentId}/calls`, {});
    let lastMs = Number.NEGATIVE_INFINITY;
    let inUtterance = 0;
    let frames = 0;
    const line = await openLine(medium, call.joinUrl, (atMs) => {
      const gapMs = atMs - lastMs;
      lastMs = atMs;
      frames += 1;
      inUtterance = gapMs > UTTERANCE_GAP_MS ? 1 : inUtterance + 1;
      if (inUtterance > BURST_FRAMES) jitterMs.push(Math.abs(gapMs - FRAME_MS));
    });
    for (let turn = 0; turn < TURNS; turn += 1) {
      const before = frames;
      line.say(clip);
      await pause(TURN_EVERY_MS);
      if (frames === before) unanswered += 1;
    }
    await line.hangUp();
  };
  await Promise.all(Array.from({ length: calls }, (_, index) => one(index)));
  return { jitterMs, unanswered };
}

async function steps(service: BenchService, clip: Int16Array): Promise<string[]> {
  const rows: string[] = [];
  await load(service, "telephony1", 10, clip);
  for (const calls of CALLS) {
    service.takeFigures();
    const { jitterMs, unanswered } = await load(service, "telephony1", calls, clip);
    const figures = service.takeFigures();
    const median = (values: readonly number[]): number => percentile(values, 0.5);
    const [jitter, loop] = [percentile(jitterMs, 0.99), median(figures.map((second) => second.loopP99Ms))];
    const cpu = median(figures.map((second) => second.cpuShare));
    rows.push(
      `| ${String(calls)} | ${milliseconds(median(jitterMs))} | ${milliseconds(jitter)} | ${milliseconds(loop)} | ` +
        `${(cpu * 100).toFixed(0)} % | ${String(unanswered)} |`,
    );
    console.log(rows.at(-1));
    if (jitter > JITTER_LIMIT_MS || loop > LOOP_LIMIT_MS) break;
  }
  return rows;
}

/** CPU of a call over a carrier, in multiples of one over the plain websocket. */
async function comparison(service: BenchService, clip: Int16Array): Promise<string> {
  const shares: Record<LineMedium, number[]> = { telephony1: [], serverWebSocket: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const medium of ["serverWebSocket", "telephony1"] as const) {
      service.takeFigures();
      await load(service, medium, COMPARED_CALLS, clip);
      shares[medium].push(...service.takeFigures().map((second) => second.cpuShare));
    }
  }
  const [carrier, plain] = [percentile(shares.telephony1, 0.5), percentile(shares.serverWebSocket, 0.5)];
  return (
    `${String(COMPARED_CALLS)} calls over \`telephony1\`: ${(carrier * 100).toFixed(0)} % of a core; over ` +
    `\`serverWebSocket\` at 8 kHz: ${(plain * 100).toFixed(0)} % (${(carrier / plain).toFixed(2)} ×; medians of ` +
    `${String(ROUNDS)} runs by turns).`
  );
}

const service = await startBenchService(DELAYS);
try {
  const clip = await clipAtLineRate();
  const rows = await steps(service, clip);
  const compared = await comparison(service, clip);
  const greeted = await firstWords(FIRST_WORDS);
  await publish(
    "bench:telephony",
    `| calls at once | egress jitter p50, ms | p99, ms | event loop p99, ms | CPU (of one core) | turns without an answer |
|---|---|---|---|---|---|
${rows.join("\n")}

${compared}

From the start of the stream to the first word of a fixed greeting, with a voice that takes 400 ms for its first audio:

| instructions of the carrier by | calls | p50, ms | p95, ms | longest, ms |
|---|---|---|---|---|
${greeted}`,
  );
} finally {
  await service.stop();
}

/**
 * The whole service with real voice activity detection, and fakes with fixed delays for recogniser, model and voice.
 * The benchmarks start it as a separate program. It prints a line of figures every second; with WORKERS each worker does.
 */

import cluster from "node:cluster";
import { availableParallelism } from "node:os";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { loadConfig, type Config } from "../src/config/config.ts";
import { configOfWorker } from "../src/config/workers/worker-config.ts";
import { workerCount, type WorkerPlace } from "../src/config/workers/workers.ts";
import { MODEL_PATH, type Engines } from "../src/app/engines.ts";
import { openLog } from "../src/app/log.ts";
import { openParley, type Parley, type ParleyOptions } from "../src/app/parley.ts";
import { placeIn } from "../src/app/workers/messages.ts";
import { startPrimary } from "../src/app/workers/primary.ts";
import { openPrimaryLink, workerEnvironment } from "../src/app/workers/worker.ts";
import { openClock } from "../src/pacing/clock.ts";
import type { LlmRequest } from "../src/ports/llm.ts";
import type { SttEngine } from "../src/ports/stt.ts";
import { openFakeLlm } from "../src/ports/testing/fake-llm.ts";
import { openFakeStt } from "../src/ports/testing/fake-stt.ts";
import { openFakeTts } from "../src/ports/testing/fake-tts.ts";
import { openTextTurnDetector } from "../src/providers/turn-text/turn-text.ts";
import { openDeepgramStt } from "../src/providers/stt-deepgram/stt-deepgram.ts";
import { FakeDeepgram } from "../src/providers/stt-deepgram/testing/fake-deepgram.ts";
import { openSileroVad } from "../src/providers/vad-silero/vad-silero.ts";
import { markedTts, markedVad } from "./marks.ts";
import { countStatements } from "./lines/statements.ts";

export interface ServiceFigures {
  readonly rssBytes: number;
  readonly heapBytes: number;
  /** Of the last second. */
  readonly loopP99Ms: number;
  /** Share of one core, over the last second. */
  readonly cpuShare: number;
  /** Statements that were sent to the database in the last second. */
  readonly statements: number;
}

const delay = (name: string): number => Number(process.env[name] ?? "0");
/** About 2.5 s of speech, so that a turn every 6 s has time for speech, wait and answer. */
const REPLY = "That is noted, and here is the short answer.";
/** Resolution of the event loop's histogram; an idle timer reads at least this. */
const LOOP_RESOLUTION_MS = 1;

/** Where delays inside the service are measured, a text is answered with itself, and marks record when audio passes. */
const isMarked = process.env["BENCH_MARKS"] === "1";

function echo({ messages }: LlmRequest): string {
  const last = messages.findLast(({ role }) => role === "user");
  return last === undefined ? REPLY : last.text;
}

/** `BENCH_STT=streaming`: a recogniser on a websocket, whose server is in this process as well. */
async function openStt(): Promise<SttEngine> {
  const delayMs = delay("BENCH_STT_MS");
  if (process.env["BENCH_STT"] !== "streaming") return openFakeStt({ delayMs });
  const key = "bench";
  const server = await FakeDeepgram.open({
    key,
    answerDelayMs: delayMs,
    clock: openClock(),
    hear: (samples, sampleRateHz) => [
      { word: "hello", startMs: 0, endMs: (samples.length * 1_000) / sampleRateHz },
    ],
  });
  return openDeepgramStt({ baseUrl: server.baseUrl, apiKey: key, model: "nova-3" });
}

const takeStatements = countStatements();

async function open(config: Config, options: ParleyOptions = {}): Promise<Parley> {
  const vad = await openSileroVad({ modelPath: MODEL_PATH });
  const tts = openFakeTts({ firstAudioDelayMs: delay("BENCH_TTS_MS"), sampleRateHz: 16_000 });
  const engines: Engines = {
    vad: isMarked ? markedVad(vad) : vad,
    stt: await openStt(),
    llm: openFakeLlm({ firstTextDelayMs: delay("BENCH_LLM_MS"), reply: isMarked ? echo : REPLY }),
    tts: isMarked ? markedTts(tts) : tts,
    turnDetectors: process.env["BENCH_BARE"] === "1" ? [] : [openTextTurnDetector()],
  };
  return openParley(config, engines, openLog(config.logLevel, process.stdout), options);
}

/** Where growth is measured, garbage is collected before each sample; elsewhere that would be a pause of 50 ms. */
const collectGarbage = process.env["BENCH_COLLECT"] === "1" ? garbageCollector() : () => undefined;

function garbageCollector(): () => void {
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc") as () => void;
}

/** Returns what ends the figures. */
function printFigures(): () => void {
  const loop = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS });
  loop.enable();
  let cpu = process.cpuUsage();
  let atMs = performance.now();
  const timer = setInterval(() => {
    const used = process.cpuUsage(cpu);
    const nowMs = performance.now();
    collectGarbage();
    const { rss, heapUsed } = process.memoryUsage();
    const figures: ServiceFigures = {
      rssBytes: rss,
      heapBytes: heapUsed,
      loopP99Ms: Math.max(0, loop.percentile(99) / 1e6 - LOOP_RESOLUTION_MS),
      cpuShare: (used.user + used.system) / 1000 / (nowMs - atMs),
      statements: takeStatements(),
    };
    loop.reset();
    cpu = process.cpuUsage();
    atMs = nowMs;
    process.stdout.write(`BENCH ${JSON.stringify(figures)}\n`);
  }, 1000);
  return () => clearInterval(timer);
}

function closeOnce(parley: Parley): () => void {
  const stopFigures = printFigures();
  let closing = false;
  return () => {
    if (closing) return;
    closing = true;
    stopFigures();
    void parley.close().then(() => process.exit(0));
  };
}

async function serveAsWorker(place: WorkerPlace): Promise<void> {
  const link = openPrimaryLink();
  const config = configOfWorker(loadConfig(await workerEnvironment(process.env, place.number)), place);
  const parley = await open(config, { sharesPort: true, allMetrics: link.allMetrics });
  link.serve(parley, closeOnce(parley));
}

async function serve(config: Config): Promise<void> {
  const parley = await open(config);
  // The program prints the same line; the starter reads it.
  process.stdout.write(`  Service    ${parley.publicUrl}\n`);
  process.once("SIGTERM", closeOnce(parley));
}

const place = cluster.isWorker ? placeIn(process.argv) : null;
if (place !== null) await serveAsWorker(place);
else {
  const config = loadConfig(process.env);
  const count = workerCount(config.workers, availableParallelism());
  if (count === 1) await serve(config);
  else await startPrimary(config, count, openLog(config.logLevel, process.stdout));
}

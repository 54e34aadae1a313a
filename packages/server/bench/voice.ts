/**
 * `npm run bench:voice`: the caller's wait, from the last sound of the speech to the first sound of the reply, both
 * at the caller's end of the socket. The speech is cut inside loud vowels, so that its end is exact to the sample.
 * `npm run bench:voice -- --streaming` uses a recogniser on a websocket, and `--quick` engines that are quicker than the
 * endpoint delay. Both only print the figures.
 */

import { FRAME_MS, openCaller } from "../demo/caller.ts";
import {
  endCall,
  makeAgent,
  pause,
  SAMPLE_RATE_HZ,
  speechClip,
  turnFigures,
  type TurnFigures,
} from "./load.ts";
import { milliseconds, percentile, publish } from "./report.ts";
import { startBenchService, type BenchService, type FakeDelays } from "./service.ts";

/** Delays of good remote engines: 380 ms in sequence. */
const ENGINES: FakeDelays = { sttMs: 150, llmMs: 150, ttsMs: 80 };
/** 280 ms in sequence: the answer is there before the turn ends, so the wait is that of the endpoint alone. */
const QUICK_ENGINES: FakeDelays = { sttMs: 100, llmMs: 120, ttsMs: 60 };
const CLIPS = ["jfk", "austen_0930", "austen_0880", "goforward"];
/** Each piece is this long before its cut: time enough for the detector to be sure, short enough for many turns. */
const SPEECH_MS = 1_600;
/** Root mean square of 20 ms in units of s16: only a vowel is that loud in these clips. */
const LOUD = 3_000;
/** A frame below this is no voice; this many of them within a piece would be a pause that ends a separate turn. */
const QUIET = 400;
const QUIET_FRAMES_MAX = 7;
/** Cuts taken of each clip; they lie at different places of the detector's windows. */
const CUTS_PER_CLIP = 4;
const FRAME_SAMPLES = (SAMPLE_RATE_HZ * FRAME_MS) / 1_000;
/** A quiet room (-60 dB of full scale) in every second turn, digital silence in the others. */
const NOISE = 30;
const NOISE_MS = 2_500;
/** Time for speech, wait and reply (2.5 s). */
const TURN_EVERY_MS = 6_000;
const ROUNDS = [
  { calls: 1, turns: 14 },
  { calls: 50, turns: 4 },
];
/** A turn without an answer after this time has failed. */
const ANSWER_LIMIT_MS = 3_500;
/** The whole run takes two minutes; a hung run ends here. */
const BENCH_LIMIT_MS = 175_000;

interface Result {
  readonly waitsMs: number[];
  /** What the service says of each turn, in ms after the last sound that it heard. */
  readonly figures: TurnFigures[];
  failed: number;
}

setTimeout(() => {
  console.error("bench:voice did not end in time");
  process.exit(1);
}, BENCH_LIMIT_MS).unref();

const clips = (await Promise.all(CLIPS.map(speechClip))).flatMap(cutInVowels);
if (clips.length < CLIPS.length)
  throw new Error(`only ${String(clips.length)} pieces of speech could be cut`);
const rows: string[] = [];
const isStreaming = process.argv.includes("--streaming");
const isQuick = process.argv.includes("--quick");
const service = await startBenchService(
  isQuick ? QUICK_ENGINES : ENGINES,
  isStreaming ? { BENCH_STT: "streaming" } : {},
);
try {
  for (const { calls, turns } of ROUNDS) {
    service.takeFigures();
    const { waitsMs, failed, figures: steps } = await measure(service, calls, turns);
    const loopMs = percentile(
      service.takeFigures().map((second) => second.loopP99Ms),
      0.5,
    );
    const figures = [0.5, 0.95, 0.99].map((share) => milliseconds(percentile(waitsMs, share)));
    rows.push(
      `| ${String(calls)} | ${String(waitsMs.length)} | ${figures.join(" | ")} | ${milliseconds(loopMs)} | ${String(failed)} |`,
    );
    console.log(rows.at(-1));
    const medianOf = (read: (turn: TurnFigures) => number | null) =>
      milliseconds(
        percentile(
          steps.map(read).filter((ms) => ms !== null),
          0.5,
        ),
      );
    console.log(
      `  medians by the service: transcript ${medianOf((turn) => turn.transcriptFinalMs)}, end of turn ` +
        `${medianOf((turn) => turn.endOfTurnMs)}, first sound ${medianOf((turn) => turn.firstPlayedMs)}`,
    );
  }
} finally {
  await service.stop();
}

const table = `| calls at once | turns | p50, ms | p95, ms | p99, ms | event loop p99, ms | failed |
|---|---|---|---|---|---|---|
${rows.join("\n")}`;
// The page has the figures of a recogniser of whole utterances, and of the usual engines.
if (isStreaming || isQuick) console.log(table);
else await publish("bench:voice", table);

/** Pieces that end within a vowel, at the end of a frame. */
function cutInVowels(samples: Int16Array): Int16Array[] {
  const length = (SPEECH_MS / FRAME_MS) * FRAME_SAMPLES;
  const cuts: Int16Array[] = [];
  let next = length;
  for (let end = length; end <= samples.length && cuts.length < CUTS_PER_CLIP; end += FRAME_SAMPLES) {
    const piece = samples.subarray(end - length, end);
    if (end < next || loudness(piece.subarray(-FRAME_SAMPLES)) < LOUD || hasPause(piece)) continue;
    cuts.push(piece.slice());
    // The next cut belongs to another vowel.
    next = end + length / 2;
  }
  return cuts;
}

/** Also at its start: the piece is as long as it claims. */
function hasPause(piece: Int16Array): boolean {
  let quiet = 0;
  for (let from = 0; from < piece.length; from += FRAME_SAMPLES) {
    quiet = loudness(piece.subarray(from, from + FRAME_SAMPLES)) < QUIET ? quiet + 1 : 0;
    if (quiet > QUIET_FRAMES_MAX) return true;
  }
  return false;
}

function loudness(samples: Int16Array): number {
  return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
}

function quietRoom(): Int16Array {
  const length = (SAMPLE_RATE_HZ * NOISE_MS) / 1_000;
  return Int16Array.from({ length }, () => Math.round((Math.random() * 2 - 1) * NOISE));
}

async function measure({ rest }: BenchService, calls: number, turns: number): Promise<Result> {
  const agentId = await makeAgent(rest);
  const result: Result = { waitsMs: [], figures: [], failed: 0 };
  const one = async (index: number): Promise<void> => {
    await pause((TURN_EVERY_MS * index) / calls);
    try {
      const call = await rest<{ joinUrl: string }>("POST", `/api/agents/${agentId}/calls`, {});
      await talk(call.joinUrl, index, turns, result);
    } catch (error) {
      console.error(String(error));
      result.failed += turns;
    }
  };
  await Promise.all(Array.from({ length: calls }, (_, index) => one(index)));
  return result;
}

async function talk(joinUrl: string, index: number, turns: number, result: Result): Promise<void> {
  let heard: (atMs: number) => void = () => undefined;
  const caller = await openCaller({
    joinUrl,
    sampleRateHz: SAMPLE_RATE_HZ,
    onAudio(frame, atMs) {
      if (frame.some((byte) => byte !== 0)) heard(atMs);
    },
    onMessage(message) {
      const figures = turnFigures(message);
      if (figures !== null) result.figures.push(figures);
    },
  });
  for (let turn = 0; turn < turns; turn++) {
    const startedMs = performance.now();
    const clip = clips[(index + turn) % clips.length] ?? new Int16Array(0);
    const said = caller.say(clip);
    if (turn % 2 === 1) void caller.say(quietRoom());
    await said;
    // The frame with the last sound has just been sent; a microphone sends it when that sound has been made.
    const endMs = performance.now();
    const answer = new Promise<number>((resolve) => (heard = resolve));
    const late = pause(ANSWER_LIMIT_MS).then(() => Number.NaN);
    const firstMs = await Promise.race([answer, late, caller.closed.then(() => Number.NaN)]);
    if (Number.isNaN(firstMs)) result.failed += 1;
    else result.waitsMs.push(firstMs - endMs);
    await pause(TURN_EVERY_MS - (performance.now() - startedMs));
  }
  await endCall(caller);
}

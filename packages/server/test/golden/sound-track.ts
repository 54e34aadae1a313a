/** The received audio of a conversation, and the scores that the real detector gives to its windows. */

import { fileURLToPath } from "node:url";
import { VAD_WINDOW_MS, VAD_WINDOW_SAMPLES, type VadEngine } from "../../src/ports/vad.ts";
import { readSpeechFixture } from "../../src/ports/testing/speech-fixtures.ts";
import { openSileroVad } from "../../src/providers/vad-silero/vad-silero.ts";
import type { Sound } from "./conversations.ts";

const SAMPLES_PER_MS = 16;
/** Faint noise between two sentences, repeated where there is no clip. */
const QUIET = { clip: "austen_long_pauses.wav", fromMs: 3_300, toMs: 5_400 };
/** Windows in flight at once: well within the engine's queue for one stream. */
const WINDOWS_AHEAD = 50;
const DECIMALS = 4;

/**
 * How far a score may be from the stored one: half of the last stored decimal, and the drift that another
 * processor's arithmetic may cause in a recurrent network over some hundred windows.
 */
export const SCORE_TOLERANCE = 0.002;

export function openRealVad(): Promise<VadEngine> {
  return openSileroVad({
    modelPath: fileURLToPath(new URL("../../models/silero_vad.onnx", import.meta.url)),
  });
}

/** Where the last sound ends, in ms of received audio. */
export function soundsEndMs(sounds: readonly Sound[]): number {
  return Math.max(...sounds.map((sound) => Math.ceil(sound.atMs + samplesOf(sound).length / SAMPLES_PER_MS)));
}

/**
 * The clips in their places on a quiet microphone; clips do not overlap. Digital silence is not used: the step from
 * it to background noise scores up to 0.3 by itself.
 */
function compose(sounds: readonly Sound[], windows: number): Int16Array {
  const quiet = readSpeechFixture(QUIET.clip).subarray(
    QUIET.fromMs * SAMPLES_PER_MS,
    QUIET.toMs * SAMPLES_PER_MS,
  );
  const samples = Int16Array.from(
    { length: windows * VAD_WINDOW_SAMPLES },
    (_, index) => quiet[index % quiet.length] ?? 0,
  );
  for (const sound of sounds) samples.set(samplesOf(sound), sound.atMs * SAMPLES_PER_MS);
  return samples;
}

function samplesOf({ clip, lengthMs }: Sound): Int16Array {
  const samples = readSpeechFixture(clip);
  return lengthMs === undefined ? samples : samples.subarray(0, lengthMs * SAMPLES_PER_MS);
}

/** One score for each window of 32 ms, rounded to four decimals. */
export async function scoreSounds(
  engine: VadEngine,
  sounds: readonly Sound[],
  windows: number,
): Promise<number[]> {
  const samples = compose(sounds, windows);
  const scores: number[] = [];
  const { promise: done, resolve, reject } = Promise.withResolvers<void>();
  let pushed = 0;
  const pushMore = (): void => {
    while (pushed < windows && pushed < scores.length + WINDOWS_AHEAD) {
      stream.push(samples.subarray(pushed * VAD_WINDOW_SAMPLES, (pushed + 1) * VAD_WINDOW_SAMPLES));
      pushed += 1;
    }
  };
  const stream = engine.open({
    scored: (_, score) => {
      scores.push(Number(score.toFixed(DECIMALS)));
      if (scores.length === windows) resolve();
      else pushMore();
    },
    failed: reject,
  });
  pushMore();
  await done;
  stream.close();
  return scores;
}

/** Windows that cover this much audio. */
export function windowsFor(ms: number): number {
  return Math.ceil(ms / VAD_WINDOW_MS);
}

/** The scores of the windows of a call that differ by more than the tolerance; none when the lists agree. */
export function disagreements(actual: readonly number[], stored: readonly number[]): string[] {
  if (actual.length !== stored.length) return [`${actual.length} windows, stored are ${stored.length}`];
  return actual.flatMap((score, index) => {
    const before = stored[index] ?? Infinity;
    return Math.abs(score - before) <= SCORE_TOLERANCE
      ? []
      : [`window ${index} (${index * VAD_WINDOW_MS} ms): ${score}, stored is ${before}`];
  });
}

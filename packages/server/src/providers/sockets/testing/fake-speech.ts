/** What fake vendors say: a tone for each word of the text, always the same for the same text. */

import { setImmediate as nextTurn } from "node:timers/promises";
import { encodeMulaw } from "../../../media/g711.ts";
import { bytesOfSamples } from "../../../media/pcm.ts";

export interface FakeWord {
  /** With the white space before it. */
  readonly text: string;
  readonly word: string;
  readonly startMs: number;
  readonly durationMs: number;
  readonly bytes: Uint8Array;
}

export interface FakeAudio {
  readonly encoding: "pcm" | "mulaw";
  readonly sampleRateHz: number;
  /** Default: `WORD_MS` for a word, and 10 ms for each character up to ten. */
  readonly msPerChar?: number;
}

const WORD_MS = 40;
/** Loud enough to be found by a test. */
const AMPLITUDE = 8_000;

/** Words of letters or digits; longer ones take longer. Empty for a text without any. */
export function fakeWords(text: string, { encoding, sampleRateHz, msPerChar }: FakeAudio): FakeWord[] {
  const words: FakeWord[] = [];
  let startMs = 0;
  for (const match of text.matchAll(/\s*\S+/gu)) {
    const word = match[0].trim();
    const durationMs =
      msPerChar === undefined ? WORD_MS + 10 * Math.min(word.length, 10) : match[0].length * msPerChar;
    const samples = Int16Array.from({ length: (durationMs * sampleRateHz) / 1_000 }, (_, index) =>
      Math.round(AMPLITUDE * Math.sin((2 * Math.PI * 400 * index) / sampleRateHz)),
    );
    const bytes = encoding === "mulaw" ? encodeMulaw(samples) : bytesOfSamples(samples);
    words.push({ text: match[0], word, startMs, durationMs, bytes });
    startMs += durationMs;
  }
  return words;
}

/** The bytes in base64, cut at an odd place: in the middle of a sample. */
export function cutInTwo(bytes: Uint8Array): [string, string] {
  const half = Math.floor(bytes.length / 4) * 2 + 1;
  const encode = (part: Uint8Array): string => Buffer.from(part).toString("base64");
  return [encode(bytes.subarray(0, half)), encode(bytes.subarray(half))];
}

/** What goes wrong with a request, after the upgrade. */
export type Fault =
  | "hang"
  | "hang in the middle"
  | "garbage"
  | "garbage in the audio"
  | "binary"
  | "drop"
  | "drop in the middle"
  | "rate limit"
  | "server error"
  | "no audio";

/** Lets other requests and the network take their turns. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await nextTurn();
}

/**
 * Where another voice goes on after one that gives no times of words: measured with the sound of eSpeak NG, whose own
 * times of words are the truth, and hidden.
 */

import nodeProcess from "node:process";
import { beforeAll, expect, test } from "vitest";
import { initResampler } from "../src/media/resample.ts";
import { wordSpans } from "../src/media/words.ts";
import { collect, neverAborted } from "../src/ports/testing/collect.ts";
import { ttsRequest } from "../src/ports/testing/tts-conformance.ts";
import type { TtsEngine, TtsPart } from "../src/ports/tts.ts";
import { Paces } from "../src/providers/engine-chain/paces.ts";
import { Sentence } from "../src/providers/engine-chain/sentence.ts";
import { openEspeakTts } from "../src/providers/tts-espeak/tts-espeak.ts";

beforeAll(() => initResampler(nodeProcess));

/** The pace is measured in these. */
const HEARD_BEFORE = [
  "We open at nine o'clock in the morning and close at six in the evening.",
  "Could you please tell me your customer number, which you find at the top of your invoice?",
  "Unfortunately the doctor is not available on Thursday, but there is an appointment on Friday.",
  "I understand that this is frustrating, and I apologise for the inconvenience.",
];
const BROKEN_OFF = [
  "Your parcel is here, and it costs nine euros.",
  "I have found three rooms for you on the fourteenth of March, and the cheapest one costs 120 euros a night.",
  "Let me check that for you, it will only take a moment.",
  "The train leaves from platform seven at 10:45, so please be there a little earlier.",
  "If you would like to cancel the order, say cancel; otherwise I will send it to the warehouse now.",
  "The insurance covers damage by water and by fire but it does not cover damage that was caused by animals.",
  "Great, then I will book a table for four people under the name of Hendricks, on Saturday, at eight in the evening.",
];
const STEP_MS = 150;
/** Of a word, so little audio is not understood. */
const UNHEARD_MS = 100;

type AudioPart = Extract<TtsPart, { readonly type: "audio" }>;
type WordPart = Extract<TtsPart, { readonly type: "word" }>;

async function spoken(engine: TtsEngine, text: string) {
  const { parts } = await collect(engine.synthesize(ttsRequest(text), neverAborted()));
  return {
    audio: parts.filter((part): part is AudioPart => part.type === "audio"),
    words: parts.filter((part): part is WordPart => part.type === "word"),
  };
}

/** The first so many milliseconds. */
function* cut(audio: readonly AudioPart[], ms: number): Generator<AudioPart> {
  let left = ms;
  for (const part of audio) {
    const samples = part.samples.subarray(0, Math.max(0, Math.round((left * part.sampleRateHz) / 1_000)));
    left -= (part.samples.length * 1_000) / part.sampleRateHz;
    if (samples.length > 0) yield { ...part, samples };
  }
}

/** What the sentence gives is of no interest here. */
function listen(sentence: Sentence, parts: Iterable<AudioPart>): void {
  for (const part of parts) for (const given of sentence.take(part)) void given;
}

/** Words that are said again for each place; below 0: words that nobody says. */
async function repeatedWords(): Promise<readonly number[]> {
  const engine = await openEspeakTts();
  try {
    const paces = new Paces();
    for (const text of HEARD_BEFORE) {
      const sentence = new Sentence(text);
      const { audio } = await spoken(engine, text);
      listen(sentence, audio);
      const { spoken: measured } = sentence;
      if (measured !== null) paces.note(engine, "", measured);
    }
    const repeated: number[] = [];
    for (const text of BROKEN_OFF) {
      const { audio, words } = await spoken(engine, text);
      const spans = wordSpans(text);
      const totalMs = audio.reduce(
        (sum, { samples, sampleRateHz }) => sum + (samples.length * 1_000) / sampleRateHz,
        0,
      );
      for (let atMs = 300; atMs < totalMs; atMs += STEP_MS) {
        const sentence = new Sentence(text);
        listen(sentence, cut(audio, atMs));
        sentence.goOn(paces.of(engine, ""));
        const next = words.find((word) => word.atMs >= atMs - UNHEARD_MS)?.textOffset ?? text.length;
        const after = (offset: number) => spans.filter(({ start }) => start < offset).length;
        repeated.push(after(next) - after(text.length - sentence.rest.length));
      }
    }
    return repeated;
  } finally {
    await engine.close();
  }
}

test("the rest begins within a word of where a voice without times broke off", async () => {
  const repeated = await repeatedWords();
  expect(repeated.length).toBeGreaterThan(200);
  const share = (holds: (words: number) => boolean) => repeated.filter(holds).length / repeated.length;
  // The word that was cut is said again, and sometimes the one before it.
  expect(share((words) => words >= 0 && words <= 1)).toBeGreaterThan(0.8);
  expect(share((words) => words >= 0 && words <= 2)).toBeGreaterThan(0.95);
  expect(share((words) => words < 0)).toBeLessThan(0.03);
  expect(Math.max(...repeated)).toBeLessThanOrEqual(4);
  expect(Math.min(...repeated)).toBeGreaterThanOrEqual(-1);
});

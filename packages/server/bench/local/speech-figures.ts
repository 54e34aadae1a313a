/** The recognisers and the voice of this machine, with the toy models. */

import { STT_SAMPLE_RATE_HZ, type SttEngine } from "../../src/ports/stt.ts";
import type { TtsEngine } from "../../src/ports/tts.ts";
import { orderOf, tonesOf } from "../../src/providers/local-child/testing/toy-models.ts";
import type { LocalModel } from "../../src/providers/local-child/local-model.ts";
import { openLocalStt } from "../../src/providers/stt-local/stt-local.ts";
import { openLocalTts } from "../../src/providers/tts-local/tts-local.ts";
import { crash, memoryMb, started, type Crash } from "./child-figures.ts";

export interface SpeechFigures {
  readonly name: string;
  readonly startMs: number;
  readonly memoryMb: number | null;
  /** Time for a second of audio, in seconds. */
  readonly realTimeFactor: number;
  readonly crash: Crash;
}

const WORDS = 40;
const ROUNDS = 5;
const SAMPLES_PER_PUSH = STT_SAMPLE_RATE_HZ / 10;
/** A second of silence, for a request that is only to be served. */
const SHORT = new Int16Array(STT_SAMPLE_RATE_HZ);

export async function recogniserFigures(model: LocalModel): Promise<SpeechFigures> {
  const own = await started((startChild) => openLocalStt({ order: orderOf(model), startChild }));
  try {
    const audio = tonesOf(
      ...Array.from({ length: WORDS }, (_word, index) => (index % 2 === 0 ? "low" : "top")),
    );
    await transcribe(own.engine, audio);
    const from = performance.now();
    for (let round = 0; round < ROUNDS; round += 1) await transcribe(own.engine, audio);
    const spokenMs = (ROUNDS * audio.length * 1_000) / STT_SAMPLE_RATE_HZ;
    const realTimeFactor = (performance.now() - from) / spokenMs;
    const memory = await memoryMb(own.pid());
    const lost = await crash(own, () => transcribe(own.engine, SHORT));
    return { name: model.name, startMs: own.startMs, memoryMb: memory, realTimeFactor, crash: lost };
  } finally {
    await own.engine.close();
  }
}

/** Rejects where the recogniser fails. */
function transcribe(engine: SttEngine, audio: Int16Array): Promise<string> {
  return new Promise((resolve, reject) => {
    const stream = engine.open(
      { language: null },
      {
        partial: () => undefined,
        warned: () => undefined,
        final: (_utterance, _revision, text) => {
          stream.close();
          resolve(text);
        },
        failed: (_utterance, _revision, error) => {
          stream.close();
          reject(error);
        },
      },
    );
    stream.open(1);
    for (let at = 0; at < audio.length; at += SAMPLES_PER_PUSH)
      stream.push(1, audio.subarray(at, at + SAMPLES_PER_PUSH));
    stream.request(1, 0);
  });
}

export async function voiceFigures(model: LocalModel): Promise<SpeechFigures> {
  const own = await started((startChild) => openLocalTts({ order: orderOf(model), voice: null, startChild }));
  try {
    const text = "This is a sentence of a reply, as an agent says it. ".repeat(20);
    await speak(own.engine, text);
    const from = performance.now();
    let spokenMs = 0;
    for (let round = 0; round < ROUNDS; round += 1) spokenMs += await speak(own.engine, text);
    const realTimeFactor = (performance.now() - from) / spokenMs;
    const memory = await memoryMb(own.pid());
    const lost = await crash(own, () => speak(own.engine, "Yes."));
    return { name: model.name, startMs: own.startMs, memoryMb: memory, realTimeFactor, crash: lost };
  } finally {
    await own.engine.close();
  }
}

/** Milliseconds of audio. */
async function speak(engine: TtsEngine, text: string): Promise<number> {
  let durationMs = 0;
  const request = { text, voice: null, language: "en" };
  for await (const part of engine.synthesize(request, new AbortController().signal))
    if (part.type === "audio") durationMs += (part.samples.length * 1_000) / part.sampleRateHz;
  return durationMs;
}

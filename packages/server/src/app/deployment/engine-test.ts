/** Uses an engine once, as a call would, and measures it. */

import type { EngineKind, EngineTest } from "@parley/schema";
import { Resampler } from "../../media/resample.ts";
import { messageOf } from "../../pacing/error-text.ts";
import type { LlmEngine, LlmRequest } from "../../ports/llm.ts";
import { STT_SAMPLE_RATE_HZ, type SttEngine } from "../../ports/stt.ts";
import type { TtsEngine } from "../../ports/tts.ts";
import type { Engines } from "../engines.ts";

/** A server may have to load its model first. Less than clients usually wait for an answer. */
const TEST_LIMIT_MS = 20_000;
/** Of the audio for the recogniser: the sentence takes two seconds. */
const MAX_SPOKEN_MS = 10_000;
/** Where no voice speaks. */
const SILENCE_MS = 1_000;
/** Of an answer, in the result. */
const MAX_SHOWN_CHARS = 200;
/** The offline recogniser understands it as well. */
const SENTENCE = "Go forward ten meters.";
const LANGUAGE = "en";

const REQUEST: LlmRequest = {
  model: "default",
  temperature: 0,
  systemPrompt: "You are on the phone. Answer with a few words.",
  messages: [{ role: "user", text: "Hello, can you hear me?" }],
  tools: [],
  instruction: null,
  language: LANGUAGE,
};

interface Used {
  /** When it had what is measured. */
  readonly atMs: number;
  /** When it was asked. */
  readonly fromMs: number;
  readonly detail: string;
}

/** Never rejects. */
export async function testEngine(
  kind: EngineKind,
  engines: Pick<Engines, "stt" | "llm" | "tts">,
  limitMs = TEST_LIMIT_MS,
): Promise<EngineTest> {
  const signal = AbortSignal.timeout(limitMs);
  const startedMs = performance.now();
  try {
    const { fromMs, atMs, detail } = await use(kind, engines, signal);
    return { works: true, latencyMs: Math.round(atMs - fromMs), detail };
  } catch (error) {
    const reason = signal.aborted
      ? `It did not answer within ${String(limitMs / 1_000)} s.`
      : sentence(error);
    return { works: false, latencyMs: Math.round(performance.now() - startedMs), detail: reason };
  }
}

function use(
  kind: EngineKind,
  { stt, llm, tts }: Pick<Engines, "stt" | "llm" | "tts">,
  signal: AbortSignal,
): Promise<Used> {
  if (kind === "llm") return answer(llm, signal);
  return kind === "tts" ? speak(tts, signal) : hear(stt, tts, signal);
}

/** A message that begins a sentence in the middle of a line of the log. */
function sentence(error: unknown): string {
  const message = messageOf(error);
  return `${message.slice(0, 1).toUpperCase()}${message.slice(1)}${/[.!?]$/.test(message) ? "" : "."}`;
}

async function answer(llm: LlmEngine, signal: AbortSignal): Promise<Used> {
  const fromMs = performance.now();
  let atMs: number | null = null;
  let text = "";
  for await (const part of llm.generate(REQUEST, signal)) {
    if (part.type !== "text-delta") continue;
    atMs ??= performance.now();
    text += part.text;
    if (text.length > MAX_SHOWN_CHARS) break;
  }
  if (atMs === null) throw new Error("it answered without any text");
  return { fromMs, atMs, detail: `It answered: “${text.trim().slice(0, MAX_SHOWN_CHARS)}”` };
}

async function speak(tts: TtsEngine, signal: AbortSignal): Promise<Used> {
  const fromMs = performance.now();
  for await (const part of tts.synthesize({ text: SENTENCE, voice: null, language: LANGUAGE }, signal)) {
    if (part.type !== "audio" || part.samples.length === 0) continue;
    return { fromMs, atMs: performance.now(), detail: `It spoke, at ${String(part.sampleRateHz)} Hz.` };
  }
  throw new Error("it produced no audio");
}

async function hear(stt: SttEngine, tts: TtsEngine, signal: AbortSignal): Promise<Used> {
  const { samples, problem } = await spoken(tts, signal);
  const { promise, resolve, reject } = Promise.withResolvers<string | null>();
  const stream = stt.open(
    { language: LANGUAGE },
    {
      partial: () => undefined,
      final: (_id, _revision, text, understood) => resolve(understood ? text : null),
      failed: (_id, _revision, error) => reject(error),
      warned: () => undefined,
    },
  );
  const abort = (): void => reject(new Error("it did not answer"));
  signal.addEventListener("abort", abort, { once: true });
  try {
    signal.throwIfAborted();
    stream.open(1);
    for (let at = 0; at < samples.length; at += STT_SAMPLE_RATE_HZ) {
      stream.push(1, samples.subarray(at, at + STT_SAMPLE_RATE_HZ));
    }
    const fromMs = performance.now();
    stream.request(1, 1);
    const text = await promise;
    return { fromMs, atMs: performance.now(), detail: heardText(text, problem) };
  } finally {
    signal.removeEventListener("abort", abort);
    stream.close();
  }
}

function heardText(text: string | null, problem: string | null): string {
  if (problem !== null) return `It answered. It was given silence, because the voice failed: ${problem}`;
  return text === null
    ? `It answered, but understood no words of the sentence “${SENTENCE}”, which the voice of the deployment spoke.`
    : `It heard “${text.slice(0, MAX_SHOWN_CHARS)}”. The voice of the deployment said “${SENTENCE}”`;
}

/** The sentence by the voice of the deployment, or silence where that fails. */
async function spoken(
  tts: TtsEngine,
  signal: AbortSignal,
): Promise<{ readonly samples: Int16Array; readonly problem: string | null }> {
  const pieces: Int16Array[] = [];
  const most = (MAX_SPOKEN_MS * STT_SAMPLE_RATE_HZ) / 1_000;
  let length = 0;
  let resampler: Resampler | null = null;
  try {
    for await (const part of tts.synthesize({ text: SENTENCE, voice: null, language: LANGUAGE }, signal)) {
      if (part.type !== "audio") continue;
      resampler ??= new Resampler(part.sampleRateHz, STT_SAMPLE_RATE_HZ);
      const piece = resampler.push(part.samples);
      pieces.push(piece);
      length += piece.length;
      if (length >= most) break;
    }
  } catch (error) {
    signal.throwIfAborted();
    const silence = new Int16Array((SILENCE_MS * STT_SAMPLE_RATE_HZ) / 1_000);
    return { samples: silence, problem: sentence(error) };
  } finally {
    resampler?.close();
  }
  const samples = new Int16Array(length);
  let at = 0;
  for (const piece of pieces) {
    samples.set(piece, at);
    at += piece.length;
  }
  return { samples, problem: null };
}

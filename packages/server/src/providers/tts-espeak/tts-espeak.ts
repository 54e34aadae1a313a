/**
 * The offline voice: espeak-ng, in its own process, for all calls. 22 050 Hz, with word times. Requests alternate piece
 * by piece, so a long text delays no other by more than a piece (some 10 ms).
 */

import type { TtsEngine, TtsPart, TtsRequest } from "../../ports/tts.ts";
import {
  ESPEAK_LIMITS,
  spawnEspeak,
  EspeakProcess,
  type EspeakChild,
  type EspeakLimits,
} from "./espeak-process.ts";
import type { ReadyReport } from "./frames.ts";
import { DEFAULT_LANGUAGE, voiceFor } from "./languages.ts";
import { cutIntoPieces, MAX_PIECE_CHARS } from "./pieces.ts";
import { SpeechQueue, type SpeechJob } from "./queue.ts";
import { messageOf } from "../../pacing/error-text.ts";
import { throwIfAborted } from "../../pacing/abort.ts";

export interface EspeakTtsOptions {
  /** Called with one line for the operator when the process was lost. Never contains text to be spoken. */
  readonly log?: (message: string) => void;
  readonly limits?: Partial<EspeakLimits>;
  /** Starts a process; tests pass faulty processes. */
  readonly spawnChild?: () => EspeakChild;
}

/** Limit of one request, in UTF-16 units: about five minutes of speech, as long as the longest reply of a call. */
export const MAX_TEXT_CHARS = 5_000;
/** Words per minute. espeak-ng's default is 175; a little slower is easier to follow on a telephone. */
const WORDS_PER_MINUTE = 165;

/** espeak-ng's voice variants, for every language: f1 to f5 sound higher, m1 to m8 lower. */
const VARIANTS = ["f1", "f2", "f3", "f4", "f5", "m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8"] as const;
const VOICES: ReadonlyMap<string, string> = new Map([
  ["espeak", ""],
  ...VARIANTS.map((variant) => [`espeak-${variant}`, `+${variant}`] as const),
]);

/** Resolves when the voice can speak. Rejects with a sentence for the operator when it cannot be started. */
export async function openEspeakTts(options: EspeakTtsOptions = {}): Promise<TtsEngine> {
  const limits = { ...ESPEAK_LIMITS, ...options.limits };
  const queue = new SpeechQueue();
  let report: ReadyReport | null = null;
  let settle: { resolve: () => void; reject: (error: Error) => void } | null = null;
  const opened = new Promise<void>((resolve, reject) => {
    settle = { resolve, reject };
  });
  const espeak = new EspeakProcess(options.spawnChild ?? spawnEspeak, limits, {
    word: (...word) => {
      queue.word(...word);
    },
    audio: (...audio) => {
      queue.audio(...audio);
    },
    done: (pieceId) => {
      queue.done(pieceId);
    },
    refused: (...refusal) => {
      queue.refused(...refusal);
    },
    ready(received) {
      report = received;
      queue.ready(received.sampleRateHz);
      settle?.resolve();
    },
    lost(error) {
      options.log?.(`${error.message}; starting it again`);
      queue.lost(error);
      settle?.reject(error);
    },
  });
  queue.speakWith((pieceId, voice, text) => {
    espeak.speak(pieceId, { voice, text, wordsPerMinute: WORDS_PER_MINUTE });
  });
  try {
    await opened;
  } catch (error) {
    await espeak.close();
    throw new Error(`The offline voice cannot be used: ${messageOf(error)}. ${REMEDY}`, { cause: error });
  }
  const identifier = (language: string): string | null => voiceFor(report?.voices ?? [], language);
  let closing: Promise<void> | null = null;
  return {
    name: "espeak-ng",
    voices: [...VOICES.keys()],
    async *synthesize(request, signal) {
      throwIfAborted(signal);
      const voice = resolveVoice(request, identifier);
      const pieces = cutIntoPieces(checked(request.text));
      if (pieces.length > 0) yield* read(queue.add(voice, pieces), signal);
    },
    speaks: (language) => identifier(language.slice(0, MAX_PIECE_CHARS)) !== null,
    close() {
      queue.close();
      closing ??= espeak.close();
      return closing;
    },
  };
}

const REMEDY =
  "Install the optional package @echogarden/espeak-ng-emscripten (npm install --include=optional), " +
  "or set TTS_BASE_URL to a speech server";

function checked(text: string): string {
  if (text.length > MAX_TEXT_CHARS)
    throw new Error(`text of ${String(text.length)} characters is over ${String(MAX_TEXT_CHARS)}`);
  return text;
}

/** A language that espeak-ng lacks is spoken with the default one; `speaks` reports this beforehand. */
function resolveVoice(
  { voice, language }: TtsRequest,
  identifier: (language: string) => string | null,
): string {
  const variant = VOICES.get(voice ?? "espeak");
  if (variant === undefined) throw new Error(`espeak-ng has no voice named ${voice ?? ""}`);
  const spoken = language === null ? null : identifier(language);
  return (spoken ?? identifier(DEFAULT_LANGUAGE) ?? DEFAULT_LANGUAGE) + variant;
}

async function* read(job: SpeechJob, signal: AbortSignal): AsyncGenerator<TtsPart> {
  const wake = (): void => {
    job.wake();
  };
  signal.addEventListener("abort", wake, { once: true });
  try {
    for (;;) {
      throwIfAborted(signal);
      const part = job.take();
      if (part === "ended") return;
      if (part === "pending") await job.changed();
      else yield part;
    }
  } finally {
    signal.removeEventListener("abort", wake);
    job.drop();
  }
}

/** A voice on this machine, run by sherpa-onnx in a process of its own. It sends no word times. */

import type { TtsEngine, TtsPart, TtsRequest } from "../../ports/tts.ts";
import { throwIfAborted } from "../../pacing/abort.ts";
import { childThread } from "../local-child/child-thread.ts";
import type { StartLocalChild } from "../local-child/local-child.ts";
import { ANSWER_TIMEOUT_MS, LOAD_TIMEOUT_MS, localFailure } from "../local-child/local-limits.ts";
import { speaksLanguage, type LoadOrder, type LocalModel } from "../local-child/local-model.ts";
import { ThreadQueue } from "../thread-queue.ts";
import { cutIntoPieces } from "./pieces.ts";
import type { SpokenPiece, SpokenText } from "./tts-protocol.ts";

export interface LocalTtsOptions {
  readonly order: LoadOrder;
  /** The speaker where a request names none; null: the first. */
  readonly voice: string | null;
  /** Called with one sentence at the end and at the restart of the process; never contains text to be spoken. */
  readonly log?: (message: string) => void;
  /** Starts a process; tests pass others. */
  readonly startChild?: StartLocalChild;
}

/** Limit of one request, in UTF-16 units: about five minutes of speech, as long as the longest reply of a call. */
export const MAX_TEXT_CHARS = 5_000;
/** Pieces that wait for the process: two of each of 128 calls. */
const MAX_WAITING_PIECES = 256;
/** Silence between pieces, which a voice ends without. */
const GAP_MS = 120;

type Voice = ThreadQueue<SpokenText, SpokenPiece>;

/** Resolves when the voice can speak. Rejects with a sentence when it cannot be loaded. */
export async function openLocalTts(options: LocalTtsOptions): Promise<TtsEngine> {
  const { order, voice: preferred, log = () => undefined, startChild } = options;
  const { model } = order;
  const name = `the voice ${model.name}`;
  const program = new URL("./tts-child.ts", import.meta.url);
  const queue: Voice = new ThreadQueue(childThread<SpokenText, SpokenPiece>(program, order, startChild), {
    name,
    request: "text",
    waiting: MAX_WAITING_PIECES,
    loadTimeoutMs: LOAD_TIMEOUT_MS,
    answerTimeoutMs: ANSWER_TIMEOUT_MS,
    log,
  });
  await queue.load();
  const closed = new AbortController();
  return {
    name: "local",
    model: model.name,
    voices: model.voices,
    unusable: queue.unusable,
    async *synthesize(request, signal) {
      throwIfAborted(signal);
      const speaker = speakerOf(model, request, preferred);
      if (request.text.length > MAX_TEXT_CHARS)
        throw new Error(
          `text of ${String(request.text.length)} characters is over ${String(MAX_TEXT_CHARS)}`,
        );
      yield* speak(queue, cutIntoPieces(request.text), speaker, { signal, closed: closed.signal });
    },
    speaks: (language) => speaksLanguage(model, language),
    close: () => {
      closed.abort();
      return queue.close();
    },
  };
}

function speakerOf({ name, voices }: LocalModel, { voice }: TtsRequest, preferred: string | null): number {
  const wanted = voice ?? preferred ?? voices[0] ?? "";
  const speaker = voices.indexOf(wanted);
  if (speaker < 0) throw new Error(`${name} has no voice named ${wanted}`);
  return speaker;
}

interface Ends {
  readonly signal: AbortSignal;
  /** The engine was closed. */
  readonly closed: AbortSignal;
}

/** One piece is made while the one before it is heard. */
async function* speak(
  queue: Voice,
  pieces: readonly string[],
  speaker: number,
  ends: Ends,
): AsyncGenerator<TtsPart> {
  // Ends the piece that is made ahead also where the reader stops early.
  const ended = new AbortController();
  const until = AbortSignal.any([ends.signal, ended.signal]);
  const ask = (text: string | undefined): Promise<SpokenPiece> | null => {
    if (text === undefined) return null;
    const asked = queue.ask({ text, speaker }, until);
    // It is awaited later, or no longer of interest.
    asked.catch(() => undefined);
    return asked;
  };
  let next = ask(pieces[0]);
  try {
    for (let index = 1; next !== null; index += 1) {
      const { samples, sampleRateHz } = await outcomeOf(next, ends);
      next = ask(pieces[index]);
      if (samples.length === 0) throw localFailure("the voice made no audio of a text", "local_model");
      yield { type: "audio", samples, sampleRateHz };
      throwIfOver(ends);
      if (next === null) return;
      const gap = new Int16Array(Math.round((GAP_MS * sampleRateHz) / 1_000));
      yield { type: "audio", samples: gap, sampleRateHz };
      throwIfOver(ends);
    }
  } finally {
    ended.abort();
  }
}

function throwIfOver({ signal, closed }: Ends): void {
  throwIfAborted(signal);
  if (closed.aborted) throw new Error("the voice is closed");
}

async function outcomeOf(asked: Promise<SpokenPiece>, ends: Ends): Promise<SpokenPiece> {
  try {
    return await asked;
  } catch (error) {
    throwIfOver(ends);
    throw localFailure(error, "local_model");
  }
}

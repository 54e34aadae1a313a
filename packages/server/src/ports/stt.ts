/**
 * Port for speech recognition. The caller of this port cuts speech into utterances: it opens one, pushes its audio, and
 * requests a transcript whenever silence makes the end likely. A later request covers the whole audio of the utterance
 * so far, so an adapter for a batch recogniser sends all of it again and a streaming one flushes.
 */

import type { EngineOrigin, ServingEngine } from "./engine-origin.ts";
import type { EngineUser } from "./engine-steps.ts";
import type { UseListener } from "./engine-use.ts";

export const STT_SAMPLE_RATE_HZ = 16_000;
/** Audio of one utterance that an adapter buffers; the oldest is dropped beyond it (one minute). */
export const STT_MAX_UTTERANCE_MS = 60_000;

export interface SttOptions {
  /** BCP 47, or null for the engine's own default. */
  readonly language: string | null;
  /**
   * Words and names that are likely in this call, for engines that can prefer them. Others ignore them. Unset: none.
   */
  readonly hints?: readonly string[];
  /** Name of the recogniser that the call asks for, where the engine stands for several. Unset: its default. */
  readonly recogniser?: string;
  /** For lists of engines; others ignore it. */
  readonly user?: EngineUser;
  /** For engines whose use is counted; others ignore it. */
  readonly meter?: (utteranceId: number) => UseListener;
}

export interface SttListener {
  /** Early text of an utterance; may be revised. Optional for an engine. */
  partial(utteranceId: number, text: string): void;
  /**
   * The answer to `request(utteranceId, revision)`, exactly one per request unless it failed or was abandoned.
   * `understood` false means that speech was heard but not recognised; `text` is then empty. An adapter never
   * invents a sentence.
   */
  final(utteranceId: number, revision: number, text: string, understood: boolean): void;
  /** The request failed permanently in this adapter (one attempt, no retry inside). */
  failed(utteranceId: number, revision: number, error: Error): void;
  /**
   * How sure the engine is that the user has finished, 0 to 1, by the audio and words so far; null takes that back,
   * because more words came. Optional for an engine. It is one opinion of several about the end of the turn.
   */
  judged?(utteranceId: number, finished: number | null): void;
  /** Of a list of engines: who answers the request. It comes before the answer. Unset: nobody wants to know. */
  served?(utteranceId: number, revision: number, engine: ServingEngine): void;
  /** Something the operator should know, for example that the language is not supported. */
  warned(message: string): void;
}

export interface SttStream {
  open(utteranceId: number): void;
  /** 16 kHz mono, any length up to a second; the samples are copied. Ignored when no such utterance is open. */
  push(utteranceId: number, samples: Int16Array): void;
  /** Requests a transcript of everything pushed so far. The utterance stays open and may go on. */
  request(utteranceId: number, revision: number): void;
  /** Drops the utterance and aborts its requests; no listener call for it follows. Idempotent. */
  abandon(utteranceId: number): void;
  /** Idempotent; no listener call follows. */
  close(): void;
}

export interface SttEngine extends EngineOrigin {
  readonly name: string;
  /**
   * Why the engine serves no streams now; null while it does. For engines that can be lost while the service runs. It
   * may recover: `/readyz` reports it until then.
   */
  readonly unusable?: () => string | null;
  /** Names that `SttOptions.recogniser` may have. Unset: `name` alone. */
  readonly recognisers?: () => readonly string[];
  /**
   * Mean of its measured delays between a request and its answer, in ms; null: none was measured yet. Unset: the engine
   * does not measure it. An engine that does fails a request itself when the answer is unusually late.
   */
  readonly answerDelayMs?: () => number | null;
  /**
   * True: each request sends all audio of its utterance again. Unset: audio is sent once, while it is spoken.
   */
  readonly repeatsAudio?: boolean;
  /** Examples of what it understands, for an engine that understands only certain phrases. */
  readonly examplePhrases?: readonly string[];
  open(options: SttOptions, listener: SttListener): SttStream;
  close(): Promise<void>;
}

/** What a streaming recogniser gives to `openStreamingStt`: connections that carry one utterance at a time. */

import type { EngineOrigin } from "../ports/engine-origin.ts";
import type { SttOptions } from "../ports/stt.ts";

/** One connection to the vendor. It opens by itself; nothing but `close` is called before `ready`. */
export interface RecogniserLink {
  /** What is pushed from now on is a new utterance. Results of earlier audio are never reported. */
  begin(): void;
  /** 16 kHz mono, at most `LINK_CHUNK_MAX_MS`. */
  push(samples: Int16Array): void;
  /** Requests the text of everything pushed since `begin`; `answered` with this number follows. */
  flush(flushId: number): void;
  /** The flush was not answered in time: the text if enough of it is known all the same, otherwise null. */
  settle(flushId: number): string | null;
  /** The utterance is over. Its results are not reported any more. */
  end(): void;
  /** Idempotent; no listener call follows. */
  close(): void;
}

/** Vendors advise messages of 20 to 250 ms. */
export const LINK_CHUNK_MAX_MS = 250;

export interface LinkListener {
  ready(): void;
  /** The whole text of the utterance so far. */
  partial(text: string): void;
  answered(flushId: number, text: string): void;
  /** As `SttListener.judged`, about the utterance of the connection. */
  judged(finished: number | null): void;
  warned(message: string): void;
  /**
   * The connection is gone; no other call follows. `again`: a new connection may succeed, so the open utterance moves
   * to it. Otherwise the vendor has refused the work, and its requests fail with the error.
   */
  closed(error: Error, again: boolean): void;
}

export interface StreamingRecogniser {
  readonly name: string;
  readonly origin?: EngineOrigin;
  /** Never throws and calls no listener before it has returned. */
  connect(options: SttOptions, listener: LinkListener): RecogniserLink;
  /** Warnings for the operator about a call with these options. */
  warningsFor?(options: SttOptions): readonly string[];
}

/**
 * One utterance at a streaming recogniser. Its audio is kept: an answer ends the stream that gave it, so audio that
 * follows begins a new stream with all of it. So does a process that was lost.
 */

import { STT_SAMPLE_RATE_HZ } from "../../ports/stt.ts";
import { STT_MAX_REQUESTS_PER_UTTERANCE, STT_MIN_UTTERANCE_MS } from "../batch-stt.ts";
import { UtteranceAudio } from "../utterance-audio.ts";
import { localFailure } from "../local-child/local-limits.ts";
import type { StreamingLink } from "./streaming-link.ts";

/** Audio goes to the process in such pieces: a message for each frame of each call would cost the service more. */
const PIECE_SAMPLES = STT_SAMPLE_RATE_HZ / 10;
const MIN_SAMPLES = (STT_MIN_UTTERANCE_MS * STT_SAMPLE_RATE_HZ) / 1_000;

export interface UtteranceListener {
  partial(text: string): void;
  final(revision: number, text: string): void;
  failed(revision: number, error: Error): void;
}

interface Request {
  readonly revision: number;
  /** Null: it waits for a process. */
  streamId: number | null;
  cancelWait: () => void;
}

export class StreamingUtterance {
  readonly #link: StreamingLink;
  readonly #listener: UtteranceListener;
  readonly #audio = new UtteranceAudio();
  readonly #piece = new Int16Array(PIECE_SAMPLES);
  #pieceFilled = 0;
  /** The stream that gets the audio; null: none, until more audio comes or an answer is requested. */
  #streamId: number | null = null;
  readonly #requests: Request[] = [];
  #isClosed = false;
  #longestPartial = 0;

  constructor(link: StreamingLink, listener: UtteranceListener) {
    this.#link = link;
    this.#listener = listener;
  }

  push(samples: Int16Array): void {
    this.#audio.push(samples);
    if (this.#streamId === null) {
      this.#begin();
      return;
    }
    for (let taken = 0; taken < samples.length;) {
      const part = samples.subarray(taken, taken + PIECE_SAMPLES - this.#pieceFilled);
      this.#piece.set(part, this.#pieceFilled);
      this.#pieceFilled += part.length;
      taken += part.length;
      if (this.#pieceFilled === PIECE_SAMPLES) this.#flush();
    }
  }

  request(revision: number): void {
    this.#dropOvertaken();
    const request: Request = { revision, streamId: null, cancelWait: () => undefined };
    this.#requests.push(request);
    if (this.#audio.length >= MIN_SAMPLES) {
      this.#ask(request);
      return;
    }
    // The listener is not called from within the caller's own request.
    queueMicrotask(() => {
      if (this.#remove(request)) this.#listener.final(revision, "");
    });
  }

  /** No listener call follows. */
  close(): void {
    this.#isClosed = true;
    if (this.#streamId !== null) this.#link.drop(this.#streamId);
    this.#streamId = null;
    for (const request of this.#requests.splice(0)) this.#abandon(request);
  }

  failAll(error: Error): void {
    const failed = [...this.#requests];
    this.close();
    for (const { revision } of failed) this.#listener.failed(revision, error);
  }

  #ask(request: Request): void {
    if (this.#streamId === null) this.#begin();
    const streamId = this.#streamId;
    if (streamId !== null) {
      this.#flush();
      request.streamId = streamId;
      this.#streamId = null;
      this.#link.finish(streamId);
      return;
    }
    const unusable = this.#link.unusable() ?? (this.#link.isReady ? "too many utterances are open" : null);
    if (unusable === null) request.cancelWait = this.#link.whenReady(() => this.#ask(request));
    else queueMicrotask(() => this.#fail(request, unusable));
  }

  /** Opens a stream with all the audio so far, if there is a process. */
  #begin(): void {
    const streamId = this.#link.open({
      partial: (text) => this.#partial(streamId, text),
      answered: (text) => this.#answered(streamId, text),
      failed: (reason) => this.#lost(streamId, reason),
    });
    this.#streamId = streamId;
    this.#pieceFilled = 0;
    if (streamId !== null) this.#link.push(streamId, this.#audio.join());
  }

  #flush(): void {
    if (this.#streamId !== null && this.#pieceFilled > 0)
      this.#link.push(this.#streamId, this.#piece.subarray(0, this.#pieceFilled));
    this.#pieceFilled = 0;
  }

  /** A stream that begins again says its first words again, which are not news. */
  #partial(streamId: number | null, text: string): void {
    if (this.#isClosed || streamId !== this.#streamId || text.length < this.#longestPartial) return;
    this.#longestPartial = text.length;
    this.#listener.partial(text);
  }

  #answered(streamId: number | null, text: string): void {
    const request = this.#requests.find((one) => one.streamId === streamId);
    if (request !== undefined && this.#remove(request)) this.#listener.final(request.revision, text);
  }

  #lost(streamId: number | null, reason: string): void {
    if (streamId === this.#streamId) this.#streamId = null;
    const request = this.#requests.find((one) => one.streamId === streamId);
    if (request !== undefined) this.#fail(request, reason);
  }

  /** Of the requests before, only the newest one still shows early that there are words. */
  #dropOvertaken(): void {
    const count = Math.max(0, this.#requests.length + 1 - STT_MAX_REQUESTS_PER_UTTERANCE);
    for (const request of this.#requests.splice(0, count)) {
      this.#abandon(request);
      const error = new Error("overtaken by newer requests for the same utterance");
      queueMicrotask(() => {
        if (!this.#isClosed) this.#listener.failed(request.revision, error);
      });
    }
  }

  #abandon({ streamId, cancelWait }: Request): void {
    cancelWait();
    if (streamId !== null) this.#link.drop(streamId);
  }

  #fail(request: Request, reason: string): void {
    if (this.#remove(request)) this.#listener.failed(request.revision, localFailure(reason, "local_model"));
  }

  /** Whether it was still to be answered. */
  #remove(request: Request): boolean {
    const at = this.#requests.indexOf(request);
    if (at >= 0) this.#requests.splice(at, 1);
    return at >= 0;
  }
}

/**
 * One connection to a streaming recogniser and the utterance on it. The utterance's audio is kept until it is over: a
 * new connection takes the place of a lost one and gets all of it again.
 */

import { STT_SAMPLE_RATE_HZ, type SttListener } from "../ports/stt.ts";
import { backoffMs } from "../pacing/backoff.ts";
import type { Clock } from "../pacing/clock.ts";
import type { DelayEstimate } from "../pacing/delay-estimate.ts";
import { EngineFailure } from "../ports/engine-failure.ts";
import { LINK_CHUNK_MAX_MS, type LinkListener, type RecogniserLink } from "./recogniser-link.ts";
import { UtteranceAudio } from "./utterance-audio.ts";

/** Connections in a row that an utterance gets after one was lost, until the vendor has answered something. */
export const RECONNECTS_MAX = 3;
/** A vendor that restarts a connection answers within a second; longer waits only make the caller's wait longer. */
const RECONNECT_BACKOFF = { firstMs: 100, longestMs: 1_000 };
/** A caller's requests come at pauses; more at once means that nobody answers. */
const REQUESTS_MAX = 8;
/** Audio shorter than this contains no word. */
const SHORTEST_MS = 100;
const SAMPLES_PER_MS = STT_SAMPLE_RATE_HZ / 1_000;
/** Audio is sent in pieces of this length, so that a frame of 20 ms is not a message each. Flushes wait for none. */
const CHUNK_SAMPLES = 60 * SAMPLES_PER_MS;
const REPLAY_SAMPLES = LINK_CHUNK_MAX_MS * SAMPLES_PER_MS;

export interface LaneOptions {
  readonly connect: (listener: LinkListener) => RecogniserLink;
  readonly listener: SttListener;
  readonly clock: Pick<Clock, "nowMs" | "after">;
  readonly delays: DelayEstimate;
}

interface Request {
  readonly flushId: number;
  readonly revision: number;
  /** Null: it waits for a connection. */
  sentAtMs: number | null;
  /** On a new connection the vendor has to recognise the whole utterance first, which says nothing about its delay. */
  isReplayed: boolean;
  cancel: () => void;
}

interface Utterance {
  readonly id: number;
  readonly audio: UtteranceAudio;
  samples: number;
  requests: Request[];
  partial: string;
  /** Characters of the longest early text: more of them show that a connection works. */
  longest: number;
}

export class Lane {
  readonly #options: LaneOptions;
  #link: RecogniserLink | null = null;
  #isReady = false;
  #utterance: Utterance | null = null;
  readonly #chunk = new Int16Array(CHUNK_SAMPLES);
  #chunked = 0;
  #reconnects = 0;
  #cancelReconnect: (() => void) | null = null;
  #lastFlushId = 0;
  #closed = false;

  constructor(options: LaneOptions) {
    this.#options = options;
  }

  get utteranceId(): number | null {
    return this.#utterance?.id ?? null;
  }

  /** Opens the connection ahead of the first utterance. */
  prepare(): void {
    if (!this.#closed && this.#link === null && this.#cancelReconnect === null) this.#connect();
  }

  /** The lane must be free. */
  open(id: number): void {
    this.#utterance = { id, audio: new UtteranceAudio(), samples: 0, requests: [], partial: "", longest: 0 };
    this.#chunked = 0;
    this.#reconnects = 0;
    if (this.#isReady) this.#link?.begin();
    else this.prepare();
  }

  push(samples: Int16Array): void {
    const utterance = this.#utterance;
    if (utterance === null) return;
    utterance.audio.push(samples);
    utterance.samples += samples.length;
    if (!this.#isReady) return;
    for (let taken = 0; taken < samples.length && this.#isReady;) {
      const part = samples.subarray(taken, taken + CHUNK_SAMPLES - this.#chunked);
      this.#chunk.set(part, this.#chunked);
      this.#chunked += part.length;
      taken += part.length;
      if (this.#chunked === CHUNK_SAMPLES) this.#sendChunk();
    }
  }

  request(revision: number): void {
    const utterance = this.#utterance;
    if (utterance === null) return;
    this.#lastFlushId += 1;
    const request: Request = {
      flushId: this.#lastFlushId,
      revision,
      sentAtMs: null,
      isReplayed: false,
      cancel: () => undefined,
    };
    utterance.requests.push(request);
    if (utterance.samples < SHORTEST_MS * SAMPLES_PER_MS) {
      // The listener is never called from within the caller's own call.
      queueMicrotask(() => this.#answer(request.flushId, ""));
      return;
    }
    if (utterance.requests.length > REQUESTS_MAX) {
      const [oldest] = utterance.requests;
      const error = new EngineFailure("overtaken by newer requests for the same utterance");
      if (oldest !== undefined) queueMicrotask(() => this.#fail(utterance, [oldest], error));
    }
    if (this.#isReady) {
      this.#sendChunk();
      this.#flush(request);
    } else if (this.#link === null && this.#cancelReconnect === null) {
      this.#reconnects = 0;
      this.#connect();
    }
  }

  /** The utterance is over, and the lane is free. */
  end(): void {
    for (const request of this.#utterance?.requests ?? []) request.cancel();
    this.#utterance = null;
    this.#chunked = 0;
    this.#cancelReconnect?.();
    this.#cancelReconnect = null;
    if (this.#isReady) this.#link?.end();
  }

  failAll(error: Error): void {
    const utterance = this.#utterance;
    if (utterance !== null) this.#fail(utterance, utterance.requests, error);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.end();
    this.#dropLink();
  }

  #connect(): void {
    const link = this.#options.connect({
      ready: () => {
        if (this.#link === link) this.#ready(link);
      },
      partial: (text) => {
        if (this.#link === link) this.#partial(text);
      },
      answered: (flushId, text) => {
        if (this.#link === link) this.#answer(flushId, text);
      },
      judged: (finished) => {
        const utterance = this.#link === link ? this.#utterance : null;
        if (utterance !== null) this.#options.listener.judged?.(utterance.id, finished);
      },
      warned: (message) => {
        if (this.#link === link) this.#options.listener.warned(message);
      },
      closed: (error, again) => {
        if (this.#link === link) this.#lost(error, again);
      },
    });
    this.#link = link;
    this.#isReady = false;
  }

  #ready(link: RecogniserLink): void {
    this.#isReady = true;
    this.#chunked = 0;
    const utterance = this.#utterance;
    if (utterance === null) return;
    link.begin();
    const all = utterance.audio.join();
    for (let at = 0; at < all.length && this.#link === link; at += REPLAY_SAMPLES) {
      link.push(all.subarray(at, at + REPLAY_SAMPLES));
    }
    for (const request of Array.from(utterance.requests)) {
      if (this.#link !== link) return;
      request.isReplayed = true;
      this.#flush(request);
    }
  }

  #flush(request: Request): void {
    const { clock, delays } = this.#options;
    request.sentAtMs = clock.nowMs();
    const limitMs = delays.limitMs();
    request.cancel = clock.after(limitMs, () => {
      this.#late(request, limitMs);
    });
    this.#link?.flush(request.flushId);
  }

  #sendChunk(): void {
    if (this.#chunked === 0) return;
    const chunk = this.#chunk.slice(0, this.#chunked);
    this.#chunked = 0;
    this.#link?.push(chunk);
  }

  #partial(text: string): void {
    const utterance = this.#utterance;
    if (utterance === null || text === "" || text === utterance.partial) return;
    if (text.length > utterance.longest) {
      utterance.longest = text.length;
      this.#reconnects = 0;
    }
    utterance.partial = text;
    this.#options.listener.partial(utterance.id, text);
  }

  #answer(flushId: number, text: string): void {
    const utterance = this.#utterance;
    const request = utterance?.requests.find((one) => one.flushId === flushId);
    if (utterance === null || request === undefined) return;
    this.#remove(utterance, request);
    this.#reconnects = 0;
    if (request.sentAtMs !== null && !request.isReplayed) {
      this.#options.delays.add(this.#options.clock.nowMs() - request.sentAtMs);
    }
    this.#options.listener.final(utterance.id, request.revision, text, text !== "");
  }

  /** The connection is suspect as well: what is asked next goes to a new one. */
  #late(request: Request, limitMs: number): void {
    const utterance = this.#utterance;
    if (utterance?.requests.includes(request) !== true) return;
    const known = this.#link?.settle(request.flushId) ?? null;
    this.#options.delays.missed();
    if (known !== null) {
      this.#remove(utterance, request);
      this.#options.listener.final(utterance.id, request.revision, known, known !== "");
      return;
    }
    this.#dropLink();
    const message = `the recogniser did not answer within ${String(Math.round(limitMs))} ms`;
    this.#fail(utterance, utterance.requests, new EngineFailure(message, { type: "timeout" }));
  }

  #lost(error: Error, again: boolean): void {
    this.#link = null;
    this.#isReady = false;
    const utterance = this.#utterance;
    // Without an utterance the next one opens a connection.
    if (utterance === null || this.#closed) return;
    if (again && this.#reconnects < RECONNECTS_MAX) {
      const waitMs = backoffMs(RECONNECT_BACKOFF, this.#reconnects);
      this.#reconnects += 1;
      for (const request of utterance.requests) request.cancel();
      this.#cancelReconnect = this.#options.clock.after(waitMs, () => {
        this.#cancelReconnect = null;
        this.#connect();
      });
      return;
    }
    this.#fail(utterance, utterance.requests, error);
  }

  #dropLink(): void {
    const link = this.#link;
    this.#link = null;
    this.#isReady = false;
    link?.close();
  }

  #fail(utterance: Utterance, requests: readonly Request[], error: Error): void {
    for (const request of Array.from(requests)) {
      if (this.#utterance !== utterance || !utterance.requests.includes(request)) continue;
      this.#remove(utterance, request);
      this.#options.listener.failed(utterance.id, request.revision, error);
    }
  }

  #remove(utterance: Utterance, request: Request): void {
    request.cancel();
    utterance.requests = utterance.requests.filter((other) => other !== request);
  }
}

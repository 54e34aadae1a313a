/**
 * Shared code of recognisers that transcribe while the caller speaks: a stream of the port is a connection that stays
 * open for the whole call. See `Lane` for what happens to an utterance when a connection is lost.
 */

import type { SttEngine, SttListener, SttStream } from "../ports/stt.ts";
import { EngineFailure } from "../ports/engine-failure.ts";
import { openClock, type Clock } from "../pacing/clock.ts";
import { DelayEstimate } from "../pacing/delay-estimate.ts";
import type { LinkListener, RecogniserLink, StreamingRecogniser } from "./recogniser-link.ts";
import { Lane } from "./streaming-lane.ts";

/**
 * Connections of one stream. A call has one utterance at a time, so the second is only used while an earlier utterance
 * is still open; the oldest one is dropped when a third begins.
 */
const LANES_MAX = 2;

/**
 * Wait for the answer of a request. A streaming recogniser finalises within 0.1 to 0.5 s, so a request without an
 * answer after some times that is lost, and the call asks again long before its own limit (`transcriptTimeoutMs`).
 */
const ANSWER_LIMITS = { initialMs: 3_000, shortestMs: 800, longestMs: 5_000 };

export interface StreamingSttOptions {
  /** Default: the machine's clock. */
  readonly clock?: Pick<Clock, "nowMs" | "after">;
}

interface StreamParts {
  readonly connect: (listener: LinkListener) => RecogniserLink;
  readonly listener: SttListener;
  readonly clock: Pick<Clock, "nowMs" | "after">;
  readonly delays: DelayEstimate;
  readonly whenClosed: () => void;
}

class StreamingStream implements SttStream {
  readonly #parts: StreamParts;
  /** In the order in which their utterances began; free ones first. */
  #lanes: Lane[] = [];
  #isClosed = false;

  constructor(parts: StreamParts) {
    this.#parts = parts;
    const first = this.#newLane();
    // The connection is opened now, and used when somebody speaks.
    first.prepare();
  }

  open(utteranceId: number): void {
    if (this.#isClosed || this.#laneOf(utteranceId) !== undefined) return;
    const lane =
      this.#lanes.find((one) => one.utteranceId === null) ??
      (this.#lanes.length < LANES_MAX ? this.#newLane() : this.#oldest());
    if (lane === undefined) return;
    this.#lanes = [...this.#lanes.filter((other) => other !== lane), lane];
    lane.open(utteranceId);
  }

  push(utteranceId: number, samples: Int16Array): void {
    this.#laneOf(utteranceId)?.push(samples);
  }

  request(utteranceId: number, revision: number): void {
    this.#laneOf(utteranceId)?.request(revision);
  }

  abandon(utteranceId: number): void {
    this.#laneOf(utteranceId)?.end();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const lane of this.#lanes) lane.close();
    this.#parts.whenClosed();
  }

  failAll(error: Error): void {
    for (const lane of this.#lanes) lane.failAll(error);
    this.close();
  }

  #laneOf(utteranceId: number): Lane | undefined {
    return this.#lanes.find((lane) => lane.utteranceId === utteranceId);
  }

  #newLane(): Lane {
    const { connect, listener, clock, delays } = this.#parts;
    const lane = new Lane({ connect, listener, clock, delays });
    this.#lanes.push(lane);
    return lane;
  }

  #oldest(): Lane | undefined {
    const [lane] = this.#lanes;
    lane?.failAll(new EngineFailure("too many utterances are open"));
    lane?.end();
    return lane;
  }
}

/** A stream of an engine that is closed: every request fails. */
function closedStream(listener: SttListener): SttStream {
  let utteranceId: number | null = null;
  return {
    open: (id) => {
      utteranceId = id;
    },
    push: () => undefined,
    request: (id, revision) => {
      queueMicrotask(() => {
        if (utteranceId === id) {
          listener.failed(id, revision, new EngineFailure("the recogniser is closed"));
        }
      });
    },
    abandon: (id) => {
      if (utteranceId === id) utteranceId = null;
    },
    close: () => {
      utteranceId = null;
    },
  };
}

export function openStreamingStt(
  recogniser: StreamingRecogniser,
  { clock = openClock() }: StreamingSttOptions = {},
): SttEngine {
  const streams = new Set<StreamingStream>();
  // All calls measure the same server.
  const delays = new DelayEstimate(ANSWER_LIMITS);
  let isClosed = false;
  return {
    name: recogniser.name,
    ...recogniser.origin,
    answerDelayMs: () => delays.meanMs,
    open: (options, listener) => {
      if (isClosed) return closedStream(listener);
      const stream = new StreamingStream({
        connect: (link) => recogniser.connect(options, link),
        listener,
        clock,
        delays,
        whenClosed: () => streams.delete(stream),
      });
      streams.add(stream);
      const warnings = recogniser.warningsFor?.(options) ?? [];
      // Only after the caller has received the stream.
      if (warnings.length > 0) {
        queueMicrotask(() => {
          if (streams.has(stream)) for (const warning of warnings) listener.warned(warning);
        });
      }
      return stream;
    },
    close: () => {
      isClosed = true;
      for (const stream of Array.from(streams))
        stream.failAll(new EngineFailure("the recogniser was closed"));
      return Promise.resolve();
    },
  };
}

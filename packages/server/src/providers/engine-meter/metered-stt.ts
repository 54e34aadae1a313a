/** A recogniser whose requests are counted. */

import type { UseListener, UseOutcome } from "../../ports/engine-use.ts";
import {
  STT_MAX_UTTERANCE_MS,
  STT_SAMPLE_RATE_HZ,
  type SttEngine,
  type SttListener,
  type SttOptions,
  type SttStream,
} from "../../ports/stt.ts";
import { UseMeter, type MeterParts } from "./engine-meter.ts";

const SAMPLES_PER_MS = STT_SAMPLE_RATE_HZ / 1_000;
const MAX_SAMPLES = STT_MAX_UTTERANCE_MS * SAMPLES_PER_MS;
/** A call has at most eight open; beyond it the oldest one is counted as dropped. */
const MAX_UTTERANCES = 16;

interface Request {
  readonly startMs: number;
  /** Audio that is sent for it. */
  readonly samples: number;
}

interface Utterance {
  readonly listener: UseListener | undefined;
  /** Audio so far. */
  samples: number;
  /** Of a recogniser that hears each sample once: audio that no use has counted. */
  uncounted: number;
  /** By their revisions, oldest first. */
  readonly requests: Map<number, Request>;
}

/** @param name as the metrics name it */
export function meteredStt(engine: SttEngine, name: string, parts: MeterParts): SttEngine {
  const meter = new UseMeter(
    {
      kind: "stt",
      engine: name,
      provider: engine.name,
      model: engine.model ?? null,
      isLocal: engine.server === undefined,
    },
    parts,
  );
  const repeats = engine.repeatsAudio === true;
  return {
    ...engine,
    open: (options, listener) => new MeteredStream(meter, repeats, engine, options, listener),
  };
}

class MeteredStream implements SttStream {
  readonly #meter: UseMeter;
  readonly #repeats: boolean;
  readonly #stream: SttStream;
  readonly #listenerOf: SttOptions["meter"];
  readonly #utterances = new Map<number, Utterance>();

  constructor(
    meter: UseMeter,
    repeats: boolean,
    engine: SttEngine,
    options: SttOptions,
    listener: SttListener,
  ) {
    this.#meter = meter;
    this.#repeats = repeats;
    this.#listenerOf = options.meter;
    this.#stream = engine.open(options, {
      partial: (utteranceId, text) => listener.partial(utteranceId, text),
      final: (utteranceId, revision, text, understood) => {
        this.#over(utteranceId, revision, "answered");
        listener.final(utteranceId, revision, text, understood);
      },
      failed: (utteranceId, revision, error) => {
        this.#over(utteranceId, revision, this.#isOvertaken(utteranceId, revision) ? "dropped" : "failed");
        listener.failed(utteranceId, revision, error);
      },
      judged: (utteranceId, finished) => listener.judged?.(utteranceId, finished),
      warned: (message) => listener.warned(message),
    });
  }

  open(utteranceId: number): void {
    if (!this.#utterances.has(utteranceId)) {
      const listener = this.#listenerOf?.(utteranceId);
      this.#utterances.set(utteranceId, { listener, samples: 0, uncounted: 0, requests: new Map() });
      const [oldest] = this.#utterances.keys();
      if (this.#utterances.size > MAX_UTTERANCES && oldest !== undefined) this.#leave(oldest);
    }
    this.#stream.open(utteranceId);
  }

  push(utteranceId: number, samples: Int16Array): void {
    const utterance = this.#utterances.get(utteranceId);
    if (utterance !== undefined) {
      utterance.samples += samples.length;
      utterance.uncounted += samples.length;
    }
    this.#stream.push(utteranceId, samples);
  }

  request(utteranceId: number, revision: number): void {
    const utterance = this.#utterances.get(utteranceId);
    if (utterance !== undefined) {
      const samples = this.#repeats ? Math.min(utterance.samples, MAX_SAMPLES) : 0;
      utterance.requests.set(revision, { startMs: this.#meter.nowMs(), samples });
      utterance.listener?.begun();
    }
    this.#stream.request(utteranceId, revision);
  }

  abandon(utteranceId: number): void {
    this.#leave(utteranceId);
    this.#stream.abandon(utteranceId);
  }

  close(): void {
    for (const utteranceId of this.#utterances.keys()) this.#leave(utteranceId);
    this.#stream.close();
  }

  /** A newer request for the same utterance is open: its failure says nothing about the recogniser. */
  #isOvertaken(utteranceId: number, revision: number): boolean {
    return [...(this.#utterances.get(utteranceId)?.requests.keys() ?? [])].at(-1) !== revision;
  }

  #over(utteranceId: number, revision: number, outcome: UseOutcome): void {
    const utterance = this.#utterances.get(utteranceId);
    const request = utterance?.requests.get(revision);
    if (utterance === undefined || request === undefined) return;
    utterance.requests.delete(revision);
    const latencyMs = outcome === "answered" ? this.#meter.nowMs() - request.startMs : null;
    const samples = this.#take(utterance, request);
    const heardMs = outcome === "failed" ? 0 : Math.round(samples / SAMPLES_PER_MS);
    this.#meter.report({ outcome, latencyMs, amounts: { heardMs } }, utterance.listener);
  }

  #take(utterance: Utterance, request: Request): number {
    if (this.#repeats) return request.samples;
    const { uncounted } = utterance;
    utterance.uncounted = 0;
    return uncounted;
  }

  /** Nobody waits for its transcripts any more. */
  #leave(utteranceId: number): void {
    const utterance = this.#utterances.get(utteranceId);
    if (utterance === undefined) return;
    for (const revision of utterance.requests.keys()) this.#over(utteranceId, revision, "dropped");
    this.#utterances.delete(utteranceId);
    if (this.#repeats || utterance.uncounted === 0) return;
    const heardMs = Math.round(utterance.uncounted / SAMPLES_PER_MS);
    const rest = { outcome: "dropped", latencyMs: null, amounts: { heardMs }, requests: 0 } as const;
    this.#meter.report(rest, utterance.listener);
  }
}

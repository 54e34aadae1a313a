/** The utterances of one call at a list of recognisers. */

import { errorOf } from "../../pacing/error-text.ts";
import { EngineFailure } from "../../ports/engine-failure.ts";
import { originOf } from "../../ports/engine-origin.ts";
import {
  STT_SAMPLE_RATE_HZ,
  type SttEngine,
  type SttListener,
  type SttOptions,
  type SttStream,
} from "../../ports/stt.ts";
import { UtteranceAudio } from "../utterance-audio.ts";
import type { Use } from "./breaker.ts";
import type { EngineList } from "./engine-list.ts";
import type { ListedEngine } from "./listed-engine.ts";

export interface ChainStreamOptions {
  readonly list: EngineList<SttEngine>;
  readonly given: SttOptions;
  readonly listener: SttListener;
  readonly limitMs: number;
  /** Whether the engines are being closed: then nothing is asked again. */
  readonly isClosed: () => boolean;
}

type Listed = ListedEngine<SttEngine>;

interface Utterance {
  readonly id: number;
  readonly audio: UtteranceAudio;
  /** The recogniser that has its audio; null: none could be opened. */
  at: Listed | null;
  /** Unanswered requests, oldest first. The latest one is what a failure is about. */
  pending: number[];
  /** Those that failed since the latest answer, with their errors. */
  readonly failed: Map<Listed, Error>;
  use: Use | null;
  cancelLimit: (() => void) | null;
}

/** Limit of utterances whose audio is kept, as in a recogniser; the oldest one is dropped. */
const MAX_UTTERANCES = 8;
const ONLY = (): string => "";

export class ChainStream implements SttStream {
  readonly #options: ChainStreamOptions;
  readonly #utterances = new Map<number, Utterance>();
  readonly #streams = new Map<Listed, SttStream>();
  #isOver = false;

  constructor(options: ChainStreamOptions) {
    this.#options = options;
    // A recogniser that cannot use the language says so at once, not at the first word.
    const [first] = options.list.candidates(ONLY, options.given.user);
    if (first !== undefined) this.#streamOf(first);
  }

  open(utteranceId: number): void {
    if (this.#isOver || this.#utterances.has(utteranceId)) return;
    const [oldest] = this.#utterances.keys();
    if (this.#utterances.size >= MAX_UTTERANCES && oldest !== undefined) this.abandon(oldest);
    const utterance: Utterance = {
      id: utteranceId,
      audio: new UtteranceAudio(),
      at: null,
      pending: [],
      failed: new Map(),
      use: null,
      cancelLimit: null,
    };
    this.#utterances.set(utteranceId, utterance);
    this.#move(utterance);
  }

  push(utteranceId: number, samples: Int16Array): void {
    const utterance = this.#utterances.get(utteranceId);
    if (utterance === undefined) return;
    utterance.audio.push(samples);
    if (utterance.at !== null) this.#streams.get(utterance.at)?.push(utteranceId, samples);
  }

  request(utteranceId: number, revision: number): void {
    const utterance = this.#utterances.get(utteranceId);
    if (utterance === undefined) return;
    const isFirst = utterance.pending.length === 0;
    utterance.pending.push(revision);
    if (!isFirst && utterance.at !== null) {
      this.#streams.get(utterance.at)?.request(utteranceId, revision);
      return;
    }
    utterance.failed.clear();
    const { list, given } = this.#options;
    const [best] = list.candidates(ONLY, given.user);
    // Other calls, or the last request, may have shown meanwhile that another one is better.
    if (best !== utterance.at) this.#move(utterance);
    if (utterance.at !== null) this.#ask(utterance, utterance.at, revision);
    else queueMicrotask(() => this.#failAll(utterance, new Error("no recogniser could be opened")));
  }

  abandon(utteranceId: number): void {
    const utterance = this.#utterances.get(utteranceId);
    if (utterance === undefined) return;
    this.#utterances.delete(utteranceId);
    this.#settle(utterance, "dropped");
    if (utterance.at !== null) this.#streams.get(utterance.at)?.abandon(utteranceId);
  }

  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const utterance of this.#utterances.values()) this.#settle(utterance, "dropped");
    this.#utterances.clear();
    for (const stream of this.#streams.values()) stream.close();
    this.#streams.clear();
  }

  /** Gives the audio so far to the best recogniser that has not failed with it. */
  #move(utterance: Utterance): void {
    const { list, given } = this.#options;
    const before = utterance.at;
    utterance.at = null;
    if (before !== null) this.#streams.get(before)?.abandon(utterance.id);
    for (const listed of list.candidates(ONLY, given.user)) {
      if (utterance.failed.has(listed)) continue;
      const stream = this.#streamOf(listed);
      if (stream instanceof Error) {
        list.begin(listed, ONLY, given.user, false).failed(stream);
        this.#noteFailure(utterance, listed, stream);
        continue;
      }
      stream.open(utterance.id);
      const audio = utterance.audio.join();
      for (let from = 0; from < audio.length; from += STT_SAMPLE_RATE_HZ) {
        stream.push(utterance.id, audio.subarray(from, from + STT_SAMPLE_RATE_HZ));
      }
      utterance.at = listed;
      return;
    }
  }

  #ask(utterance: Utterance, listed: Listed, revision: number): void {
    const { list, given } = this.#options;
    utterance.use = list.begin(listed, ONLY, given.user);
    this.#limit(utterance, listed);
    this.#streams.get(listed)?.request(utterance.id, revision);
  }

  /** Waits for an answer, also of the last recogniser: the call learns then that none answers. */
  #limit(utterance: Utterance, listed: Listed): void {
    const { list, limitMs } = this.#options;
    utterance.cancelLimit?.();
    utterance.cancelLimit = list.clock.after(limitMs, () => {
      const error = new EngineFailure(`no transcript within ${String(limitMs)} ms`, { type: "timeout" });
      this.#failed(utterance, listed, error);
    });
  }

  #answered(utterance: Utterance, listed: Listed, revision: number): boolean {
    if (utterance.at !== listed || !utterance.pending.includes(revision)) return false;
    utterance.pending = utterance.pending.filter((other) => other !== revision);
    this.#settle(utterance, "succeeded");
    const { list, given } = this.#options;
    if (utterance.pending.length === 0) return true;
    utterance.use = list.begin(listed, ONLY, given.user);
    this.#limit(utterance, listed);
    return true;
  }

  /** The newest request goes to the next recogniser; older ones would only ask for less audio. */
  #failed(utterance: Utterance, listed: Listed, error: Error): void {
    const revision = utterance.pending.at(-1);
    if (revision === undefined || this.#isOver) return;
    utterance.use?.failed(error);
    utterance.use = null;
    utterance.cancelLimit?.();
    utterance.cancelLimit = null;
    this.#noteFailure(utterance, listed, error);
    if (this.#options.isClosed()) utterance.at = null;
    else this.#move(utterance);
    const next = utterance.at;
    if (next === null) {
      this.#failAll(utterance, error);
      return;
    }
    const overtaken = utterance.pending.slice(0, -1);
    utterance.pending = [revision];
    for (const earlier of overtaken) this.#tellFailure(utterance, earlier, error);
    this.#ask(utterance, next, revision);
  }

  #noteFailure(utterance: Utterance, listed: Listed, error: Error): void {
    const { list, given } = this.#options;
    utterance.failed.set(listed, error);
    const next = list.candidates(ONLY, given.user).find((other) => !utterance.failed.has(other)) ?? null;
    list.failed(listed, error, given.user, next);
  }

  #failAll(utterance: Utterance, error: Error): void {
    if (this.#isOver || this.#utterances.get(utterance.id) !== utterance) return;
    const revisions = utterance.pending;
    utterance.pending = [];
    const errors = [...utterance.failed.values()];
    const last = errors.at(-1) ?? error;
    const failure = this.#options.list.exhausted(last, errors, ONLY);
    for (const revision of revisions) this.#tellFailure(utterance, revision, failure);
  }

  #tellFailure(utterance: Utterance, revision: number, error: Error): void {
    if (this.#utterances.get(utterance.id) !== utterance) return;
    this.#options.listener.failed(utterance.id, revision, error);
  }

  #settle(utterance: Utterance, outcome: "succeeded" | "dropped"): void {
    utterance.cancelLimit?.();
    utterance.cancelLimit = null;
    utterance.use?.[outcome]();
    utterance.use = null;
  }

  #streamOf(listed: Listed): SttStream | Error {
    const known = this.#streams.get(listed);
    if (known !== undefined) return known;
    try {
      const stream = listed.engine.open(this.#options.given, this.#listenerOf(listed));
      this.#streams.set(listed, stream);
      return stream;
    } catch (error) {
      return errorOf(error);
    }
  }

  #listenerOf(listed: Listed): SttListener {
    const { listener } = this.#options;
    const at = (utteranceId: number): Utterance | null => {
      const utterance = this.#utterances.get(utteranceId);
      return utterance?.at === listed ? utterance : null;
    };
    return {
      partial: (utteranceId, text) => {
        if (at(utteranceId) !== null) listener.partial(utteranceId, text);
      },
      final: (utteranceId, revision, text, understood) => {
        const utterance = at(utteranceId);
        if (utterance === null || !this.#answered(utterance, listed, revision)) return;
        listener.served?.(utteranceId, revision, { ...originOf(listed.engine), entry: listed.name });
        listener.final(utteranceId, revision, text, understood);
      },
      failed: (utteranceId, revision, error) => {
        const utterance = at(utteranceId);
        if (utterance === null || !utterance.pending.includes(revision)) return;
        if (revision === utterance.pending.at(-1)) {
          this.#failed(utterance, listed, error);
          return;
        }
        // A newer request has overtaken it, which says nothing about the recogniser.
        utterance.pending = utterance.pending.filter((other) => other !== revision);
        this.#tellFailure(utterance, revision, error);
      },
      judged: (utteranceId, finished) => {
        if (at(utteranceId) !== null) listener.judged?.(utteranceId, finished);
      },
      warned: (message) => {
        if (!this.#isOver) listener.warned(message);
      },
    };
  }
}

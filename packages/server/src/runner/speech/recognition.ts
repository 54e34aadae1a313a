/** The recogniser of one call: utterances, and a stream that follows the language of the stage. */

import type { CallEngineEventBody } from "../../call/events.ts";
import { failureKind } from "../../ports/engine-failure.ts";
import type { EngineUser } from "../../ports/engine-steps.ts";
import type { SttEngine, SttListener, SttOptions, SttStream } from "../../ports/stt.ts";
import { messageOf } from "../../pacing/error-text.ts";
import { engineUser, type Served } from "../engine-user.ts";

/** Limit of open utterances: the present one and those whose transcripts are pending. */
const UTTERANCE_LIMIT = 8;

/** What the plan of the call says to the recogniser, whichever language it uses. */
export type CallRecognition = Omit<SttOptions, "language" | "user" | "meter">;

export interface RecognitionOptions {
  /** Unset: the default recogniser, without hints. */
  readonly call?: CallRecognition;
  /** What the recogniser thinks of the end of a turn, see `SttListener`. Unset: nobody wants to know. */
  readonly judged?: (utteranceId: number, finished: number | null) => void;
  /** Unset: nobody counts the requests. */
  readonly meterOf?: SttOptions["meter"];
  /** Told which recogniser of a list answers. Unset: nobody wants to know. */
  readonly served?: Served;
}

export class Recognition {
  readonly #stt: SttEngine;
  readonly #judged: NonNullable<RecognitionOptions["judged"]>;
  readonly #call: CallRecognition;
  readonly #post: (event: CallEngineEventBody) => void;
  /** Each utterance with the stream that it began on: a change of language waits for no utterance and loses none. */
  readonly #utterances = new Map<number, SttStream>();
  /** The stream for new utterances; null: it could not be opened. */
  #stream: SttStream | null = null;
  readonly #user: EngineUser;
  readonly #meter: Pick<SttOptions, "meter">;
  readonly #served: Served | undefined;
  #language: string | null = null;
  #error = "";
  #closed = false;

  constructor(
    stt: SttEngine,
    post: (event: CallEngineEventBody) => void,
    { call = {}, judged = () => undefined, meterOf, served }: RecognitionOptions = {},
  ) {
    this.#stt = stt;
    this.#judged = judged;
    this.#served = served;
    this.#meter = meterOf === undefined ? {} : { meter: meterOf };
    this.#call = call;
    this.#post = post;
    this.#user = engineUser("stt", (event) => {
      if (!this.#closed) post(event);
    });
  }

  /** Never throws: a missing recogniser is reported when a transcript is requested. */
  start(language: string | null): void {
    if (this.#closed) return;
    this.#language = language;
    this.#stream = null;
    try {
      const options = { ...this.#call, language, user: this.#user, ...this.#meter };
      this.#stream = this.#stt.open(options, this.#listener());
    } catch (error) {
      this.#error = messageOf(error);
    }
  }

  /** Utterances that are open stay with the language in which they began. */
  follow(language: string | null): void {
    if (this.#closed || language === this.#language) return;
    const before = this.#stream;
    this.start(language);
    this.#closeUnused(before);
  }

  /** @param preroll audio from before the utterance was noticed */
  open(utteranceId: number, preroll: readonly Int16Array[]): void {
    const stream = this.#stream;
    if (stream === null) return;
    const oldest = this.#utterances.keys().next();
    if (this.#utterances.size >= UTTERANCE_LIMIT && oldest.done !== true) this.abandon(oldest.value);
    this.#utterances.set(utteranceId, stream);
    stream.open(utteranceId);
    for (const part of preroll) stream.push(utteranceId, part);
  }

  push(samples: Int16Array): void {
    for (const [utteranceId, stream] of this.#utterances) stream.push(utteranceId, samples);
  }

  request(utteranceId: number, revision: number): void {
    const stream = this.#utterances.get(utteranceId) ?? this.#stream;
    if (stream !== null) stream.request(utteranceId, revision);
    else this.#post({ type: "transcriptFailed", utteranceId, revision, error: this.#error });
  }

  abandon(utteranceId: number): void {
    const stream = this.#utterances.get(utteranceId) ?? this.#stream;
    this.#utterances.delete(utteranceId);
    stream?.abandon(utteranceId);
    this.#closeUnused(stream);
  }

  /** Idempotent. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const stream of new Set([...this.#utterances.values(), this.#stream])) stream?.close();
    this.#utterances.clear();
  }

  /** Closes an earlier stream once its last utterance is over. */
  #closeUnused(stream: SttStream | null): void {
    if (stream === null || stream === this.#stream) return;
    if (![...this.#utterances.values()].includes(stream)) stream.close();
  }

  #listener(): SttListener {
    const post = (event: CallEngineEventBody): void => {
      if (!this.#closed) this.#post(event);
    };
    return {
      partial: (utteranceId, text) => {
        post({ type: "transcriptUpdated", utteranceId, text });
      },
      final: (utteranceId, revision, text, understood) => {
        post({ type: "transcriptFinished", utteranceId, revision, text, understood });
      },
      failed: (utteranceId, revision, error) => {
        const failure = { error: error.message, ...failureKind(error) };
        post({ type: "transcriptFailed", utteranceId, revision, ...failure });
      },
      judged: (utteranceId, finished) => {
        if (!this.#closed && this.#utterances.has(utteranceId)) this.#judged(utteranceId, finished);
      },
      served: (utteranceId, revision, engine) => {
        if (!this.#closed) this.#served?.({ kind: "stt", utteranceId, revision }, engine);
      },
      warned: (detail) => {
        post({ type: "engineWarned", engine: "stt", detail });
      },
    };
  }
}

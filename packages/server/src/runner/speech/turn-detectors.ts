/** Queries the turn detectors about an utterance and posts their answers. */

import type { EffectOf } from "../../call/effects.ts";
import type { CallEngineEventBody } from "../../call/events.ts";
import type { TurnDetector, TurnJudgement } from "../../ports/turn-detector.ts";
import { messageOf } from "../../pacing/error-text.ts";

/** The name of the recogniser's own opinion. */
const RECOGNISER = "recogniser";

type QuestionIds = Pick<EffectOf<"judgeTurn">, "utteranceId" | "revision">;

interface Question {
  readonly ids: QuestionIds;
  /** Detectors that have not answered. */
  pending: number;
}

export class TurnDetectors {
  readonly #detectors: readonly TurnDetector[];
  readonly #post: (event: CallEngineEventBody) => void;
  /** Belongs to the latest question; an older one is useless. */
  #abort = new AbortController();
  #question: Question | null = null;
  /** What the recogniser thinks of the utterance that it spoke of last. */
  #heard: { readonly utteranceId: number; readonly finished: number } | null = null;
  #isClosed = false;

  constructor(detectors: readonly TurnDetector[], post: (event: CallEngineEventBody) => void) {
    this.#detectors = detectors;
    this.#post = post;
  }

  /** @param audio the end of the utterance, read only if a detector listens */
  ask(asked: EffectOf<"judgeTurn">, audio: () => Int16Array | null): void {
    this.#abort.abort();
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    const { utteranceId, revision, text, agentText, languageHint: language } = asked;
    const ids = { utteranceId, revision };
    const question: Question = { ids, pending: this.#detectors.length };
    this.#question = question;
    const heard = this.#heard?.utteranceId === utteranceId ? this.#heard.finished : null;
    if (heard !== null) this.#postHeard(question, heard);
    else if (question.pending === 0)
      this.#post({ type: "turnJudged", ...ids, finished: null, by: "nobody", pending: 0 });
    const audioHeard = this.#detectors.some(({ listens }) => listens) ? audio() : null;
    for (const detector of this.#detectors) {
      const { name: by, listens } = detector;
      const requested = { text, agentText, language, audio: listens ? audioHeard : null };
      const answer = (judgement: TurnJudgement | null): void => {
        question.pending -= 1;
        if (signal.aborted) return;
        const finished = judgement === null ? null : asProbability(judgement.finished);
        this.#post({ type: "turnJudged", ...ids, finished, by, listens, pending: question.pending });
      };
      judge(detector, requested, signal).then(answer, (error: unknown) => {
        if (!signal.aborted) {
          const detail = `the turn detector ${by} failed: ${messageOf(error)}`;
          this.#post({ type: "engineWarned", engine: "turn", detail });
        }
        answer(null);
      });
    }
  }

  /**
   * The recogniser's opinion, which comes when it likes. Nobody waits for it: it counts from now on for the latest
   * question about the utterance, and at once for the next ones. Null takes it back.
   */
  heard(utteranceId: number, finished: number | null): void {
    const isTakenBack = finished === null;
    if (this.#isClosed || (isTakenBack && this.#heard?.utteranceId !== utteranceId)) return;
    this.#heard = isTakenBack ? null : { utteranceId, finished: asProbability(finished) };
    const question = this.#question;
    if (question?.ids.utteranceId === utteranceId) this.#postHeard(question, this.#heard?.finished ?? null);
  }

  close(): void {
    this.#isClosed = true;
    this.#abort.abort();
  }

  #postHeard({ ids, pending }: Question, finished: number | null): void {
    this.#post({ type: "turnJudged", ...ids, finished, by: RECOGNISER, listens: true, pending });
  }
}

function asProbability(value: number): number {
  return Math.min(1, Math.max(0, value));
}

/** A detector that throws at once fails like one that rejects. */
async function judge(
  detector: TurnDetector,
  question: Parameters<TurnDetector["judge"]>[0],
  signal: AbortSignal,
): Promise<TurnJudgement | null> {
  return await detector.judge(question, signal);
}

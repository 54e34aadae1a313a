/** Queries the turn detectors about an utterance and posts their answers. */

import type { EffectOf } from "../../call/effects.ts";
import type { CallEngineEventBody } from "../../call/events.ts";
import type { TurnDetector, TurnJudgement } from "../../ports/turn-detector.ts";
import { messageOf } from "../../pacing/error-text.ts";

export class TurnDetectors {
  readonly #detectors: readonly TurnDetector[];
  readonly #post: (event: CallEngineEventBody) => void;
  /** Belongs to the latest question; an older one is useless. */
  #abort = new AbortController();

  constructor(detectors: readonly TurnDetector[], post: (event: CallEngineEventBody) => void) {
    this.#detectors = detectors;
    this.#post = post;
  }

  /** @param audio the end of the utterance, read only if a detector listens */
  ask(question: EffectOf<"judgeTurn">, audio: () => Int16Array | null): void {
    this.#abort.abort();
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    const { utteranceId, revision, text, agentText, languageHint: language } = question;
    const ids = { utteranceId, revision };
    let pending = this.#detectors.length;
    if (pending === 0) {
      this.#post({ type: "turnJudged", ...ids, finished: null, by: "nobody", pending });
      return;
    }
    const heard = this.#detectors.some(({ listens }) => listens) ? audio() : null;
    for (const detector of this.#detectors) {
      const { name: by, listens } = detector;
      const requested = { text, agentText, language, audio: listens ? heard : null };
      const answer = (judgement: TurnJudgement | null): void => {
        pending -= 1;
        if (signal.aborted) return;
        const finished = judgement === null ? null : Math.min(1, Math.max(0, judgement.finished));
        this.#post({ type: "turnJudged", ...ids, finished, by, listens, pending });
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

  close(): void {
    this.#abort.abort();
  }
}

/** A detector that throws at once fails like one that rejects. */
async function judge(
  detector: TurnDetector,
  question: Parameters<TurnDetector["judge"]>[0],
  signal: AbortSignal,
): Promise<TurnJudgement | null> {
  return await detector.judge(question, signal);
}

/**
 * The beginning of the agent's fixed greeting, rendered while a phone call is being connected, so that whoever answers
 * hears it at once. The rest is rendered while the beginning plays.
 */

import { traitsOf } from "@parley/schema";
import { cutSegments } from "../../call/reply/segment.ts";
import { samplesToMs } from "../../media/frame.ts";
import { messageOf } from "../../pacing/error-text.ts";
import type { CallPlan } from "../../plan/plan.ts";
import type { VoicePlan } from "../../plan/voice-plan.ts";
import type { UseListener } from "../../ports/engine-use.ts";
import type { TtsPart } from "../../ports/tts.ts";
import type { Speaker } from "../../ports/voices.ts";
import type { CallDeps } from "../call-deps.ts";

/** Rendered ahead: a voice has this long for the sentence after it. */
const PREPARED_MS = 3_000;
/** A sentence that is longer is not kept: 1.4 MB at 24 kHz. */
const MAX_SENTENCE_MS = 30_000;
/** A phone rings for about as long; a voice that takes longer is not waited for. */
const RENDER_LIMIT_MS = 20_000;

export interface PreparedGreetingOptions {
  readonly text: string;
  readonly voice: VoicePlan;
  readonly language: string | null;
  readonly speaker: Pick<Speaker, "synthesize">;
  readonly clock: CallDeps["clock"];
  readonly meter?: UseListener;
}

/** Null: the agent does not begin with a fixed text, or whoever joins is not waiting on a phone. */
export function prepareGreeting(
  plan: CallPlan,
  { engines, voices, clock }: Pick<CallDeps, "engines" | "voices" | "clock">,
  meter?: UseListener,
): PreparedGreeting | null {
  const { accountId, firstSpeaker, medium, stage, initialOutputMedium } = plan;
  if (medium.returns !== true || initialOutputMedium !== "voice") return null;
  if (firstSpeaker.kind !== "agent" || firstSpeaker.text === null) return null;
  const { voice, languageHint: language } = stage;
  const output = { sampleRateHz: medium.outputSampleRateHz, encoding: traitsOf(medium.kind).encoding };
  const speaker = voices.speakerFor({ accountId, voice, output, deployment: engines.tts });
  const counted = meter === undefined ? {} : { meter };
  return new PreparedGreeting({ text: firstSpeaker.text, voice, language, speaker, clock, ...counted });
}

/** A sentence that is being rendered, or has been. */
class Rendering {
  readonly #parts: TtsPart[] = [];
  #isOver = false;
  #error: Error | null = null;
  #changed = Promise.withResolvers<void>();

  add(part: TtsPart): void {
    this.#parts.push(part);
    this.#wake();
  }

  /** @param error null: it is whole */
  end(error: Error | null): void {
    this.#isOver = true;
    this.#error = error;
    this.#wake();
  }

  /** What there is, and then the rest as it comes. */
  async *parts(): AsyncGenerator<TtsPart> {
    for (let at = 0; ; at += 1) {
      while (at >= this.#parts.length && !this.#isOver) await this.#changed.promise;
      const part = this.#parts[at];
      if (part === undefined) break;
      yield part;
    }
    if (this.#error !== null) throw this.#error;
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}

export class PreparedGreeting {
  readonly #options: PreparedGreetingOptions;
  readonly #renderings = new Map<string, Rendering>();
  readonly #abort = new AbortController();
  #isTaken = false;

  constructor(options: PreparedGreetingOptions) {
    this.#options = options;
    const cancel = options.clock.after(RENDER_LIMIT_MS, () => this.#abort.abort());
    void this.#render().finally(cancel);
  }

  /**
   * Once for each sentence. From the first call on, no other sentence is begun. Null: it is not prepared, or not in this
   * voice.
   */
  take(text: string, voice: VoicePlan): AsyncIterable<TtsPart> | null {
    this.#isTaken = true;
    if (voice !== this.#options.voice) return null;
    const rendering = this.#renderings.get(text) ?? null;
    this.#renderings.delete(text);
    return rendering?.parts() ?? null;
  }

  /** Idempotent. */
  close(): void {
    this.#abort.abort();
    this.#renderings.clear();
  }

  /** Never rejects: a sentence whose voice fails is rendered again when it is said, which reports the failure. */
  async #render(): Promise<void> {
    const { segments } = cutSegments(this.#options.text, { first: true, last: true });
    let preparedMs = 0;
    for (const { text } of segments) {
      if (this.#isTaken || this.#abort.signal.aborted || preparedMs >= PREPARED_MS) return;
      const rendering = new Rendering();
      this.#renderings.set(text, rendering);
      try {
        preparedMs += await this.#renderOne(text, rendering);
        rendering.end(null);
      } catch (error) {
        this.#renderings.delete(text);
        // Voices throw errors, whose kind decides what the engine does.
        rendering.end(error instanceof Error ? error : new Error(messageOf(error)));
        return;
      }
    }
  }

  /** @returns the length of its audio in ms */
  async #renderOne(text: string, rendering: Rendering): Promise<number> {
    const { language, speaker, meter } = this.#options;
    const { signal } = this.#abort;
    let audioMs = 0;
    const user = { stepped: () => undefined };
    const spoken = { text, language, user, ...(meter === undefined ? {} : { meter }) };
    for await (const part of speaker.synthesize(spoken, signal)) {
      signal.throwIfAborted();
      if (part.type === "audio") audioMs += samplesToMs(part.samples.length, part.sampleRateHz);
      if (audioMs > MAX_SENTENCE_MS) throw new Error("a sentence of the greeting is too long");
      rendering.add(part.type === "audio" ? { ...part, samples: part.samples.slice() } : part);
    }
    signal.throwIfAborted();
    if (audioMs === 0) throw new Error("the voice gave no audio");
    return audioMs;
  }
}

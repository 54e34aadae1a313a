/**
 * The beginning of the agent's fixed greeting, rendered while a phone call is being connected, so that whoever answers
 * hears it at once. The rest is rendered while the beginning plays.
 */

import { traitsOf } from "@parley/schema";
import { cutSegments } from "../../call/reply/segment.ts";
import { samplesToMs } from "../../media/frame.ts";
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

type Spoken = readonly TtsPart[];

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

export class PreparedGreeting {
  readonly #voice: VoicePlan;
  readonly #spoken = new Map<string, Spoken>();
  readonly #abort = new AbortController();

  constructor(options: PreparedGreetingOptions) {
    this.#voice = options.voice;
    const cancel = options.clock.after(RENDER_LIMIT_MS, () => this.#abort.abort());
    this.#render(options)
      // The voice fails: the greeting itself reports that when it is said.
      .catch(() => undefined)
      .finally(cancel);
  }

  /** Once for each text. Null: it is not prepared, or not in this voice. */
  take(text: string, voice: VoicePlan): Spoken | null {
    const spoken = voice === this.#voice ? (this.#spoken.get(text) ?? null) : null;
    this.#spoken.delete(text);
    return spoken;
  }

  /** Idempotent. */
  close(): void {
    this.#abort.abort();
    this.#spoken.clear();
  }

  async #render({ text, language, speaker, meter }: PreparedGreetingOptions): Promise<void> {
    const { signal } = this.#abort;
    const { segments } = cutSegments(text, { first: true, last: true });
    let preparedMs = 0;
    for (const { text: sentence } of segments) {
      const parts: TtsPart[] = [];
      let audioMs = 0;
      const user = { stepped: () => undefined };
      const spoken = { text: sentence, language, user, ...(meter === undefined ? {} : { meter }) };
      for await (const part of speaker.synthesize(spoken, signal)) {
        if (part.type === "audio") audioMs += samplesToMs(part.samples.length, part.sampleRateHz);
        if (signal.aborted || audioMs > MAX_SENTENCE_MS) return;
        parts.push(part.type === "audio" ? { ...part, samples: part.samples.slice() } : part);
      }
      if (signal.aborted || audioMs === 0) return;
      this.#spoken.set(sentence, parts);
      preparedMs += audioMs;
      if (preparedMs >= PREPARED_MS) return;
    }
  }
}

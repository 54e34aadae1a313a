/** Port for the voices of calls: who speaks what a plan says, whether the deployment's engine or an external vendor. */

import type { VoicePlan } from "../plan/voice-plan.ts";
import type { EngineOrigin, ServedBy } from "./engine-origin.ts";
import type { EngineUser } from "./engine-steps.ts";
import type { UseListener } from "./engine-use.ts";
import type { TtsEngine, TtsPart } from "./tts.ts";
import type { AudioOutput } from "./voice-provider.ts";

export interface WantedVoice {
  /** Whose key an external voice is spoken with. */
  readonly accountId: string;
  readonly voice: VoicePlan;
  readonly output: AudioOutput;
  /** The engine for voices of the deployment: a call keeps the one that it began with. */
  readonly deployment: TtsEngine;
}

export interface SpokenText {
  /** One sentence or a short text. */
  readonly text: string;
  /** BCP 47 or null. */
  readonly language: string | null;
  /** For a deployment whose engine is a list of engines; others ignore it. */
  readonly user?: EngineUser;
  /** The same. */
  readonly servedBy?: ServedBy;
  /** For voices whose use is counted; others ignore it. */
  readonly meter?: UseListener | undefined;
}

/** For people and traces. */
export interface SpeakerOrigin extends EngineOrigin {
  readonly name: string;
}

/** One voice. It holds nothing open by itself, so it is not closed. */
export interface Speaker extends SpeakerOrigin {
  /**
   * Opens what the first sentence would wait for. Returns at once and never throws; a failure is found by the next
   * sentence.
   */
  prepare(language: string | null): void;
  /**
   * The rules of `TtsEngine.synthesize`. An external voice never throws before it is iterated, and its errors have no
   * key.
   */
  synthesize(spoken: SpokenText, signal: AbortSignal): AsyncIterable<TtsPart>;
  /** Whether it speaks this BCP 47 language; true where that is unknown. */
  speaks(language: string): boolean;
}

export interface Voices {
  /** Never throws: a voice that cannot be used fails with its first sentence, as `EngineFailure` with `isPermanent`. */
  speakerFor(wanted: WantedVoice): Speaker;
  /** Null: the engine of the deployment speaks. */
  originOf(voice: VoicePlan): SpeakerOrigin | null;
}

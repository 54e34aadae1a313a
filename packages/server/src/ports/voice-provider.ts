/**
 * Port for the voices of one external vendor. Every request names its voice and its key, so one adapter serves all
 * accounts. An adapter keeps its connections by itself, per key and voice where the vendor needs that, within named
 * limits, and closes those that are idle.
 */

import type { ExternalVoice, VoiceKind } from "@parley/schema";
import type { EngineOrigin } from "./engine-origin.ts";
import type { TtsPart } from "./tts.ts";

/** The settings of a voice of one vendor, as the interface names them, with overrides applied. */
export type ProviderVoice<Kind extends VoiceKind = VoiceKind> = NonNullable<ExternalVoice[Kind]>;

export interface AudioOutput {
  /** The rate at which the audio is played. An adapter takes the nearest rate of the vendor that is not lower. */
  readonly sampleRateHz: number;
  /** `mulaw`: it is played as 8 kHz G.711; where the vendor can, it sends that. Parts are 16-bit samples in any case. */
  readonly encoding: "pcm" | "mulaw";
}

export interface VoiceUse<Kind extends VoiceKind = VoiceKind> {
  readonly voice: ProviderVoice<Kind>;
  /** A secret. Of Google the JSON document of a service account; empty for `generic`, which needs none. */
  readonly key: string;
  readonly output: AudioOutput;
  /** BCP 47 or null. */
  readonly language: string | null;
}

export interface ProviderSpeech<Kind extends VoiceKind = VoiceKind> extends VoiceUse<Kind> {
  /** One sentence or a short text. */
  readonly text: string;
}

export interface VoiceProvider<Kind extends VoiceKind = VoiceKind> extends EngineOrigin {
  readonly kind: Kind;
  /** The name of the vendor, for people. */
  readonly name: string;
  /**
   * Opens what the first sentence would wait for. Returns at once and never throws; a failure is found by the next
   * sentence.
   */
  prepare(use: VoiceUse<Kind>): void;
  /**
   * The rules of `TtsEngine.synthesize`. Errors have the vendor's own sentence, without the key, and are
   * `EngineFailure` with `isPermanent` where the vendor refuses the key, the voice, the model or a setting.
   */
  synthesize(speech: ProviderSpeech<Kind>, signal: AbortSignal): AsyncIterable<TtsPart>;
  /** Ends what is under way with an error. Idempotent. */
  close(): Promise<void>;
}

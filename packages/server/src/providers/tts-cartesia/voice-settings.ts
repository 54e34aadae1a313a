/**
 * The settings of a Cartesia voice for its model. sonic-3 and later have `generation_config`; older models have the
 * legacy controls, with another scale and other emotions, under an older version of the API. The interface has both, so
 * what is set in the words of one is sent in those of the other.
 */

import type { ProviderVoice } from "../../ports/voice-provider.ts";
import { type GenerationConfig, LegacyControls, VERSIONS } from "./contract.ts";

type Voice = ProviderVoice<"provider2">;

export const DEFAULT_MODEL = "sonic-3";

/** Named in full: models that are not known yet take `generation_config`. */
const LEGACY_MODEL = /^sonic(?:-(?:2|turbo|english|multilingual|preview))?(?:-\d{4}-\d{2}-\d{2})?$/;

export function isLegacyModel(model: string): boolean {
  return LEGACY_MODEL.test(model);
}

export interface ModelSettings {
  readonly version: string;
  readonly generationConfig: GenerationConfig | null;
  readonly legacyControls: LegacyControls | null;
}

export function settingsFor(voice: Voice): ModelSettings {
  if (!isLegacyModel(voice.model ?? DEFAULT_MODEL)) {
    const generationConfig = modernSettings(voice);
    return { version: VERSIONS.current, generationConfig, legacyControls: null };
  }
  const legacyControls = legacySettings(voice);
  // Without controls an older model needs no older version.
  const version = legacyControls === null ? VERSIONS.current : VERSIONS.legacy;
  return { version, generationConfig: null, legacyControls };
}

function modernSettings(voice: Voice): GenerationConfig | null {
  const { generationConfig = {} } = voice;
  const legacySpeed = voice.speed === undefined ? undefined : toMultiplier(voice.speed);
  const legacyEmotion = voice.emotion ?? voice.emotions?.[0];
  const speed = generationConfig.speed ?? legacySpeed;
  const emotion =
    generationConfig.emotion ?? (legacyEmotion === undefined ? undefined : toModernEmotion(legacyEmotion));
  const { volume } = generationConfig;
  const config = {
    ...(speed === undefined ? {} : { speed }),
    ...(volume === undefined ? {} : { volume }),
    ...(emotion === undefined || emotion === "" ? {} : { emotion }),
  };
  return Object.keys(config).length === 0 ? null : config;
}

/** The volume is left out: older models have none. */
function legacySettings(voice: Voice): LegacyControls | null {
  const multiplier = voice.generationConfig?.speed;
  const speed = voice.speed ?? (multiplier === undefined ? undefined : toLegacySpeed(multiplier));
  const named = voice.emotions ?? (voice.emotion === undefined ? [] : [voice.emotion]);
  const wanted = named.length === 0 ? [toLegacyEmotion(voice.generationConfig?.emotion ?? "")] : named;
  // Others would be refused, with the sentence.
  const emotion = wanted.filter((one) => LegacyControls.safeParse({ emotion: [one] }).success);
  const controls = {
    ...(speed === undefined ? {} : { speed }),
    ...(emotion.length === 0 ? {} : { emotion }),
  };
  return Object.keys(controls).length === 0 ? null : controls;
}

/** -1 … 0 … 1 is 0.6 … 1 … 1.5 of the usual speed. */
function toMultiplier(speed: number): number {
  return rounded(speed < 0 ? 1 + 0.4 * speed : 1 + 0.5 * speed);
}

function toLegacySpeed(multiplier: number): number {
  return rounded(multiplier < 1 ? (multiplier - 1) / 0.4 : (multiplier - 1) / 0.5);
}

/** Without the noise of binary fractions, which could be beyond a bound. */
function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}

const EMOTIONS: Readonly<Record<string, string>> = {
  anger: "angry",
  positivity: "happy",
  surprise: "surprised",
  sadness: "sad",
  curiosity: "curious",
};

/** `positivity:high` is `happy`: there are no levels any longer. */
function toModernEmotion(emotion: string): string {
  const [name = ""] = emotion.trim().toLowerCase().split(":", 1);
  return EMOTIONS[name] ?? name;
}

/** An empty text: none of the five. */
function toLegacyEmotion(emotion: string): string {
  return Object.keys(EMOTIONS).find((name) => EMOTIONS[name] === emotion.toLowerCase()) ?? "";
}

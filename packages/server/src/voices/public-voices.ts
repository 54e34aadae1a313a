/** The public voices: those of the deployment's voice engine, with ids that never change. */

import { createHash } from "node:crypto";
import type { TtsEngine } from "../ports/tts.ts";
import type { PublicVoice } from "../store/agents/voice-list.ts";

/** Of each engine that was asked for: every id is a hash, and each new call asks for all. */
const known = new WeakMap<object, PublicVoice[]>();

type NamedVoices = Pick<TtsEngine, "name" | "voices" | "languageOf">;

export function publicVoices(tts: NamedVoices): PublicVoice[] {
  const voices = known.get(tts) ?? voicesOf(tts);
  known.set(tts, voices);
  return voices;
}

function voicesOf(tts: NamedVoices): PublicVoice[] {
  const { name: engine, voices } = tts;
  return voices.map((name) => ({
    voiceId: publicVoiceId(engine, name),
    name,
    description: `A voice of this deployment, spoken by its engine ${engine}.`,
    primaryLanguage: tts.languageOf?.(name) ?? null,
  }));
}

/** Namespace of the voices of engines only; changing it would change every id. */
const NAMESPACE = Buffer.from("0d5b0d0c37f64ab8a4f9d2f35c0b6f4e", "hex");

/** A UUID of version 5 (RFC 9562, section 5.5) of engine and voice: the same in every deployment and at each start. */
export function publicVoiceId(engine: string, voice: string): string {
  const hash = createHash("sha1")
    .update(NAMESPACE)
    .update(JSON.stringify([engine, voice]))
    .digest();
  const version = ((hash[6] ?? 0) & 0x0f) | 0x50;
  const variant = ((hash[8] ?? 0) & 0x3f) | 0x80;
  const digits = Buffer.from([
    ...hash.subarray(0, 6),
    version,
    hash[7] ?? 0,
    variant,
    ...hash.subarray(9, 16),
  ]);
  return digits.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

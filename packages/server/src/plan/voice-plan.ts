/** Who speaks in a stage. The call engine passes it through; `ports/voices.ts` speaks it. It never has a key. */

import type { ExternalVoice, VoiceKind, VoiceOverrides } from "@parley/schema";

export type VoicePlan = DeploymentVoice | PlannedExternalVoice;

/** A voice of the deployment's engine. */
export interface DeploymentVoice {
  readonly kind: "deployment";
  /** Null: the engine's default. */
  readonly name: string | null;
}

/** Whose key the provider gets. `none`: it needs none. */
export type VoiceKeySource = "account" | "deployment" | "none";

/** The settings of a voice of any provider, with overrides applied. Those of `generic` may have secret headers. */
export type ExternalVoiceSettings = NonNullable<ExternalVoice[VoiceKind]>;

export interface PlannedExternalVoice {
  readonly kind: "external";
  readonly provider: VoiceKind;
  readonly settings: ExternalVoiceSettings;
  readonly key: VoiceKeySource;
  /** The account's record that the settings come from; null: the request gave them. */
  readonly voiceId: string | null;
}

export const DEFAULT_VOICE: DeploymentVoice = { kind: "deployment", name: null };

/** Objects of which overrides replace single members. The free `body` of a generic voice is replaced as a whole. */
const MERGED_FIELDS: ReadonlySet<string> = new Set(["generationConfig"]);

/** Both are of the provider `kind`; fields that overrides do not give keep the value of the definition (D74). */
export function settingsWithOverrides(
  definition: ExternalVoice,
  overrides: VoiceOverrides | undefined,
  kind: VoiceKind,
): ExternalVoiceSettings {
  const merged: Record<string, unknown> = { ...definition[kind] };
  for (const [field, value] of Object.entries(overrides?.[kind] ?? {})) {
    if (value === undefined) continue;
    const before = merged[field];
    merged[field] = MERGED_FIELDS.has(field)
      ? { ...(before as object | undefined), ...(value as object) }
      : value;
  }
  // Both have passed their schemas, and every field of the overrides is one of the voice.
  return merged;
}

/** Previews of voices of vendors, stored or not, with the keys of an account. */

import { type ExternalVoice, voiceKindOf } from "@parley/schema";
import type { DefinitionPreview } from "../../http/deps.ts";
import type { VoiceSources } from "../../lifecycle/create/requested-voices.ts";
import { settingsWithOverrides } from "../../plan/voice-plan.ts";
import type { TtsEngine } from "../../ports/tts.ts";
import type { Voices } from "../../ports/voices.ts";
import type { PreviewAloud } from "../../voices/voice-previews.ts";

/** @param primaryLanguage BCP 47, or null: English */
export type PreviewDefinition = (
  accountId: string,
  definition: ExternalVoice,
  primaryLanguage: string | null,
) => Promise<DefinitionPreview>;

export interface DefinitionPreviewParts {
  readonly preview: PreviewAloud;
  readonly sources: Pick<VoiceSources, "voiceKeys" | "spokenKinds">;
  readonly voices: Voices;
  readonly deployment: () => TtsEngine;
}

/** What a browser plays well, and every vendor offers. */
const OUTPUT = { sampleRateHz: 24_000, encoding: "pcm" } as const;

export function definitionPreviews(parts: DefinitionPreviewParts): PreviewDefinition {
  const { preview, sources, voices, deployment } = parts;
  return async (accountId, definition, primaryLanguage) => {
    const provider = voiceKindOf(definition);
    const keys = await sources.voiceKeys(accountId);
    const key = provider === "generic" ? "none" : (keys.get(provider) ?? null);
    if (key === null) return { kind: "no_key" };
    if (!sources.spokenKinds().has(provider)) return { kind: "not_spoken" };
    const settings = settingsWithOverrides(definition, undefined, provider);
    const voice = { kind: "external", provider, settings, key, voiceId: null } as const;
    const speaker = voices.speakerFor({ accountId, voice, output: OUTPUT, deployment: deployment() });
    // The account is part of the key of the sample: another account may not use the same voice. The key is not.
    const about = [accountId, provider, JSON.stringify(settings)];
    const engine = {
      name: speaker.name,
      synthesize: (
        { text, language }: { readonly text: string; readonly language: string | null },
        signal: AbortSignal,
      ) => speaker.synthesize({ text, language }, signal),
    };
    return preview({ engine, settings: about }, { name: null, primaryLanguage });
  };
}

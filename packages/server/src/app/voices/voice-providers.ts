/** The vendors of external voices that this version speaks with, and their keys for the whole deployment. */

import {
  VOICE_KINDS,
  VOICE_PROVIDERS,
  type VoiceKind,
  type VoiceProvider as KeyedVoiceKind,
} from "@parley/schema";
import type { Config } from "../../config/config.ts";
import type { GuardedClient } from "../../net/guarded-fetch.ts";
import type { VoiceProvider } from "../../ports/voice-provider.ts";
import { openCartesia } from "../../providers/tts-cartesia/tts-cartesia.ts";
import { openElevenLabs } from "../../providers/tts-elevenlabs/tts-elevenlabs.ts";
import { openGenericVoice } from "../../providers/tts-generic/tts-generic.ts";
import { openGoogleTts } from "../../providers/tts-google/tts-google.ts";
import { openInworld } from "../../providers/tts-inworld/inworld.ts";
import { openLmnt } from "../../providers/tts-lmnt/lmnt.ts";
import { openRespeecher } from "../../providers/tts-respeecher/respeecher.ts";

export type VoiceProviders = Readonly<Partial<Record<VoiceKind, VoiceProvider>>>;

interface ProviderParts {
  /** Null: the vendor's own, and of `generic`, whose voices have their own addresses. */
  readonly baseUrl: string | null;
  /** For URLs of users. */
  readonly client: GuardedClient;
  readonly log: (message: string) => void;
}

type OpenVoiceProvider<Kind extends VoiceKind> = (parts: ProviderParts) => VoiceProvider<Kind>;

const OPENERS: { readonly [Kind in VoiceKind]: OpenVoiceProvider<Kind> } = {
  provider1: openElevenLabs,
  provider2: openCartesia,
  provider3: openLmnt,
  provider4: openGoogleTts,
  provider5: openInworld,
  provider6: openRespeecher,
  generic: openGenericVoice,
};

/** Their opener closes them. */
export function openVoiceProviders(
  { voiceProviders: targets }: Pick<Config, "voiceProviders">,
  parts: Omit<ProviderParts, "baseUrl">,
): VoiceProviders {
  const opened = VOICE_KINDS.map((kind) => {
    const baseUrl = kind === "generic" ? null : targets[kind].baseUrl;
    return [kind, OPENERS[kind]({ ...parts, baseUrl })] as const;
  });
  return Object.fromEntries(opened);
}

export type DeploymentVoiceKeys = Readonly<Partial<Record<KeyedVoiceKind, string>>>;

/** The keys of the deployment, for accounts without keys of their own. */
export function deploymentVoiceKeys({ voiceProviders }: Pick<Config, "voiceProviders">): DeploymentVoiceKeys {
  const keys = Object.entries(voiceProviders).flatMap(([kind, { apiKey }]) =>
    apiKey === null ? [] : [[kind, apiKey]],
  );
  return Object.fromEntries(keys) as DeploymentVoiceKeys;
}

/** The vendors for which the deployment has a key. */
export function deploymentVoiceKinds({
  voiceProviders,
}: Pick<Config, "voiceProviders">): ReadonlySet<KeyedVoiceKind> {
  return new Set(VOICE_PROVIDERS.filter((kind) => voiceProviders[kind].apiKey !== null));
}

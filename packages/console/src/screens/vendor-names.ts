/** Names of companies for people. The API calls them by neutral names. */

import type { ExternalVoice, VoiceProvider } from "@parley/schema";

export const CARRIER_NAMES = {
  telephony1: "Twilio",
  telephony2: "Telnyx",
  telephony3: "Plivo",
  telephony4: "Exotel",
} as const;

export const PROVIDER_NAMES: Readonly<Record<VoiceProvider, string>> = {
  provider1: "ElevenLabs",
  provider2: "Cartesia",
  provider3: "LMNT",
  provider4: "Google",
  provider5: "Inworld",
  provider6: "Respeecher",
};

/** Of a voice of a server of one's own, a word for it. */
export function providerNameOf(definition: ExternalVoice): string {
  const found = Object.entries(PROVIDER_NAMES).find(
    ([kind]) => definition[kind as VoiceProvider] !== undefined,
  );
  return found?.[1] ?? "Your HTTP service";
}

/** One voice of a provider as an engine, so that the conformance suite of voices runs on it. */

import type { VoiceKind } from "@parley/schema";
import type { TtsEngine, TtsPart, TtsRequest } from "../tts.ts";
import type { VoiceProvider, VoiceUse } from "../voice-provider.ts";

export function providerEngine<Kind extends VoiceKind>(
  provider: VoiceProvider<Kind>,
  use: Omit<VoiceUse<Kind>, "language">,
): TtsEngine {
  return {
    name: provider.name,
    voices: [],
    async *synthesize({ text, voice, language }: TtsRequest, signal): AsyncIterable<TtsPart> {
      if (voice !== null) throw new Error(`${provider.name} has no voice ${voice} here`);
      yield* provider.synthesize({ ...use, text, language }, signal);
    },
    speaks: () => true,
    close: () => provider.close(),
  };
}

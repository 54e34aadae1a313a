/** One voice of a vendor as an engine of the deployment, for lists of voices. */

import type { ExternalEntry } from "../../config/engines-file/listed-engine.ts";
import { EngineFailure } from "../../ports/engine-failure.ts";
import { serverOf } from "../../ports/engine-origin.ts";
import type { TtsEngine } from "../../ports/tts.ts";
import { cleaned, originOf, secretsOf } from "./call-voices.ts";
import type { VoiceProviders } from "./voice-providers.ts";

/** What every vendor offers; a list plays to calls of all media. */
const OUTPUT = { sampleRateHz: 24_000, encoding: "pcm" } as const;

/** The adapters stay open when it is closed: their opener closes them. */
export function externalEngine(
  { provider: kind, settings, apiKey }: ExternalEntry,
  providers: VoiceProviders,
): TtsEngine {
  const provider = providers[kind];
  if (provider === undefined) throw new Error(`this version has no adapter for voices of ${kind}`);
  const secrets = secretsOf(apiKey, settings);
  // An adapter for any server has no server of its own.
  const own = "url" in settings ? { server: serverOf(settings.url) } : {};
  return {
    ...own,
    ...originOf(provider, settings),
    voices: [],
    async *synthesize({ text, voice, language }, signal) {
      if (voice !== null)
        throw new EngineFailure(`${provider.name} has no voice named ${voice} here`, {
          isPermanent: true,
          type: "unknown_voice",
        });
      try {
        const speech = { voice: settings, key: apiKey, output: OUTPUT, language, text };
        yield* provider.synthesize(speech, signal);
      } catch (error) {
        throw cleaned(error, secrets);
      }
    },
    // No vendor says so for each of its voices.
    speaks: () => true,
    close: () => Promise.resolve(),
  };
}

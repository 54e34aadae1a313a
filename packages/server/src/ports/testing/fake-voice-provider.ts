/**
 * Fake vendor of voices: the fake voice's tones, for one key. As strict as a vendor: it refuses other keys, settings that
 * their schema refuses, and use after its close.
 */

import { ExternalVoice, type VoiceKind } from "@parley/schema";
import { EngineFailure } from "../engine-failure.ts";
import type { ProviderSpeech, VoiceProvider, VoiceUse } from "../voice-provider.ts";
import { openFakeTts, type FakeTtsOptions } from "./fake-tts.ts";

export interface FakeVoiceProviderOptions<Kind extends VoiceKind> {
  readonly kind: Kind;
  /** The only key that it accepts. Default: any. */
  readonly key?: string;
  readonly tts?: FakeTtsOptions;
  /** Throws this before any audio. */
  readonly failure?: (speech: ProviderSpeech<Kind>) => Error | null;
}

export interface FakeVoiceProvider<Kind extends VoiceKind> extends VoiceProvider<Kind> {
  /** What it was prepared for, and what it was asked to say, in order. */
  readonly prepared: readonly VoiceUse<Kind>[];
  readonly spoken: readonly ProviderSpeech<Kind>[];
}

export function openFakeVoiceProvider<Kind extends VoiceKind>({
  kind,
  key,
  tts,
  failure,
}: FakeVoiceProviderOptions<Kind>): FakeVoiceProvider<Kind> {
  const prepared: VoiceUse<Kind>[] = [];
  const spoken: ProviderSpeech<Kind>[] = [];
  const engine = openFakeTts({ sampleRateHz: 24_000, ...tts });
  return {
    kind,
    name: `Fake ${kind}`,
    prepared,
    spoken,
    prepare: (use) => void prepared.push(use),
    async *synthesize(speech, signal) {
      spoken.push(speech);
      if (key !== undefined && speech.key !== key) {
        const message = `Fake ${kind} answered HTTP 401: the key is not valid`;
        throw new EngineFailure(message, { isPermanent: true, type: "401" });
      }
      if (!ExternalVoice.safeParse({ [kind]: speech.voice }).success) {
        throw new EngineFailure(`Fake ${kind} answered HTTP 400: bad settings`, {
          isPermanent: true,
          type: "400",
        });
      }
      const error = failure?.(speech) ?? null;
      if (error !== null) throw error;
      yield* engine.synthesize({ text: speech.text, voice: null, language: speech.language }, signal);
    },
    close: () => engine.close(),
  };
}

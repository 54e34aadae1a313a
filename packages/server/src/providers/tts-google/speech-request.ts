/** What a sentence asks of Google. Pure. */

import type { AudioOutput, ProviderSpeech } from "../../ports/voice-provider.ts";
import type { AudioEncoding, StreamingConfig } from "./contract.ts";

/** Of PCM. The voices are made at 24 kHz, so more would only be more bytes. */
const PCM_RATES_HZ = [8_000, 16_000, 24_000] as const;
const MULAW_RATE_HZ = 8_000;
/** Of a voice whose name has none, and of Google's own choice of a voice. */
const DEFAULT_LANGUAGE = "en-US";

/** `en-US-Chirp3-HD-Charon`: the first two parts are the language. */
const LANGUAGE_OF_VOICE = /^([a-z]{2,3}-[A-Za-z0-9]{2,4})-./;
/** A language and at most a region: Google takes no script. */
const PLAIN_LANGUAGE = /^[a-z]{2,3}(?:-(?:[A-Z]{2}|\d{3}))?$/;

export function streamingConfig({ voice, output, language }: ProviderSpeech<"provider4">): StreamingConfig {
  const { voiceId, speakingRate } = voice;
  const { encoding, sampleRateHz } = audioOf(output);
  return {
    voice: {
      language_code: languageCode(voiceId, language),
      ...(voiceId === undefined ? {} : { name: voiceId }),
    },
    streaming_audio_config: {
      audio_encoding: encoding,
      sample_rate_hertz: sampleRateHz,
      ...(speakingRate === undefined ? {} : { speaking_rate: speakingRate }),
    },
  };
}

function audioOf({ encoding, sampleRateHz }: AudioOutput): { encoding: AudioEncoding; sampleRateHz: number } {
  if (encoding === "mulaw") return { encoding: "MULAW", sampleRateHz: MULAW_RATE_HZ };
  return { encoding: "PCM", sampleRateHz: PCM_RATES_HZ.find((rate) => rate >= sampleRateHz) ?? 24_000 };
}

function languageCode(voiceId: string | undefined, language: string | null): string {
  const ofVoice = LANGUAGE_OF_VOICE.exec(voiceId ?? "")?.[1];
  if (ofVoice !== undefined) return ofVoice;
  const ofCall = language === null ? null : plainLanguage(language);
  return ofCall !== null && PLAIN_LANGUAGE.test(ofCall) ? ofCall : DEFAULT_LANGUAGE;
}

function plainLanguage(tag: string): string | null {
  try {
    const { language, region } = new Intl.Locale(tag);
    return region === undefined ? language : `${language}-${region}`;
  } catch {
    return null; // No language tag.
  }
}

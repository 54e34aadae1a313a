/** What a sentence asks of Google. Pure. */

import type { AudioOutput, ProviderSpeech } from "../../ports/voice-provider.ts";
import { type AudioEncoding, type SpeechRequest, STREAMING_VOICE } from "./contract.ts";

/** One call of Google's definition with its messages. */
export interface SentenceRequest {
  readonly method: "StreamingSynthesize" | "SynthesizeSpeech";
  readonly messages: readonly SpeechRequest[];
  /** Of the samples, whether or not they follow the header of a WAV file. */
  readonly encoding: AudioEncoding;
  readonly sampleRateHz: number;
}

/** Of PCM. The voices are made at 24 kHz, so more would only be more bytes. */
const PCM_RATES_HZ = [8_000, 16_000, 24_000] as const;
const MULAW_RATE_HZ = 8_000;
/** Of a voice whose name has none, and of Google's own choice of a voice. */
const DEFAULT_LANGUAGE = "en-US";

/** `en-US-Chirp3-HD-Charon`: the first two parts are the language. */
const LANGUAGE_OF_VOICE = /^([a-z]{2,3}-[A-Za-z0-9]{2,4})-./;
/** A language and at most a region: Google takes no script. */
const PLAIN_LANGUAGE = /^[a-z]{2,3}(?:-(?:[A-Z]{2}|\d{3}))?$/;

/** Voices of Chirp 3: HD stream. The others, and Google's own choice, answer with the whole sentence. */
export function sentenceRequest(speech: ProviderSpeech<"provider4">, text: string): SentenceRequest {
  const { voiceId, speakingRate } = speech.voice;
  const { encoding, sampleRateHz } = audioOf(speech.output);
  const voice = {
    language_code: languageCode(voiceId, speech.language),
    ...(voiceId === undefined ? {} : { name: voiceId }),
  };
  const audio = {
    sample_rate_hertz: sampleRateHz,
    ...(speakingRate === undefined ? {} : { speaking_rate: speakingRate }),
  };
  const asked = { encoding, sampleRateHz };
  if (STREAMING_VOICE.test(voiceId ?? ""))
    return {
      ...asked,
      method: "StreamingSynthesize",
      messages: [
        { streaming_config: { voice, streaming_audio_config: { audio_encoding: encoding, ...audio } } },
        { input: { text } },
      ],
    };
  const audioEncoding = encoding === "MULAW" ? ("MULAW" as const) : ("LINEAR16" as const);
  return {
    ...asked,
    method: "SynthesizeSpeech",
    messages: [{ input: { text }, voice, audio_config: { audio_encoding: audioEncoding, ...audio } }],
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

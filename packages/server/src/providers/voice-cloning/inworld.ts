/** Inworld, "API reference", VoiceService: `POST /voices/v1/voices:clone`, `DELETE /voices/v1/voices/{voiceId}`. */

import { z } from "zod";
import { EngineFailure } from "../../ports/engine-failure.ts";
import type { VoiceCloner } from "../../ports/voice-cloning.ts";
import { primaryLanguage } from "./recording-file.ts";
import { answerOf, askVendor, removeAt, VoiceId } from "./vendor-request.ts";

const VENDOR = "Inworld";
const Answer = z.object({ voice: z.object({ voiceId: VoiceId }) });

/** "Voice cloning": the limit of one recording. */
const MAX_RECORDING_BYTES = 4 * 1_024 * 1_024;

/** The values of `langCode`; the vendor finds out other languages by itself. */
const LANG_CODES: Readonly<Record<string, string>> = {
  ar: "AR_SA",
  de: "DE_DE",
  en: "EN_US",
  es: "ES_ES",
  fr: "FR_FR",
  he: "HE_IL",
  hi: "HI_IN",
  it: "IT_IT",
  ja: "JA_JP",
  ko: "KO_KR",
  nl: "NL_NL",
  pl: "PL_PL",
  pt: "PT_BR",
  ru: "RU_RU",
  zh: "ZH_CN",
};

export function openInworldCloner(baseUrl = "https://api.inworld.ai"): VoiceCloner {
  // The key is base64 already.
  const headersOf = (key: string) => ({ authorization: `Basic ${key}`, "content-type": "application/json" });
  return {
    kind: "provider5",
    name: VENDOR,
    async clone({ name, description, language, recording }, key, signal) {
      if (recording.bytes.length > MAX_RECORDING_BYTES)
        throw new EngineFailure("Inworld takes recordings of at most 4 MiB", { type: "too_long" });
      const body = JSON.stringify({
        displayName: name,
        langCode: LANG_CODES[primaryLanguage(language)] ?? "AUTO",
        voiceSamples: [{ audioData: Buffer.from(recording.bytes).toString("base64") }],
        ...(description === null ? {} : { description }),
      });
      const url = `${baseUrl}/voices/v1/voices:clone`;
      const asked = askVendor(
        { vendor: VENDOR, method: "POST", url, headers: headersOf(key), body, key },
        signal,
      );
      return answerOf(VENDOR, Answer, await asked).voice.voiceId;
    },
    remove(voiceId, key, signal) {
      const url = `${baseUrl}/voices/v1/voices/${encodeURIComponent(voiceId)}`;
      return removeAt({ vendor: VENDOR, url, headers: headersOf(key), key }, signal);
    },
  };
}

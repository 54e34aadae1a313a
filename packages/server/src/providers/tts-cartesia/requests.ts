/** From a voice of the interface to the address and the messages of Cartesia. */

import { EngineFailure } from "../../ports/engine-failure.ts";
import type { VoiceUse } from "../../ports/voice-provider.ts";
import type { AudioFormat } from "../sockets/audio-frames.ts";
import { formatFor, languageCode } from "../sockets/speech.ts";
import type { CancelRequest, GenerationRequest, SampleRate } from "./contract.ts";
import { DEFAULT_MODEL, isLegacyModel, settingsFor } from "./voice-settings.ts";

export const VENDOR = "Cartesia";
export const DEFAULT_BASE_URL = "https://api.cartesia.ai";

const RATES_HZ: readonly SampleRate[] = [8_000, 16_000, 22_050, 24_000, 44_100, 48_000];

/** Of sonic-2 and older. */
const LEGACY_LANGUAGES = "de en es fr hi it ja ko nl pl pt ru sv tr zh";
const LANGUAGES_BEFORE_3: ReadonlySet<string> = new Set(LEGACY_LANGUAGES.split(" "));
const LANGUAGES: ReadonlySet<string> = new Set(
  `${LEGACY_LANGUAGES} ar bg bn cs da el fi gu he hr hu id ka kn ml mr ms no pa ro sk ta te th tl uk vi`.split(
    " ",
  ),
);

export function audioFormat({ output }: VoiceUse<"provider2">): AudioFormat {
  return formatFor(output, RATES_HZ);
}

/** Throws for a voice without a name. */
function voiceIdOf({ voiceId }: VoiceUse<"provider2">["voice"]): string {
  if (voiceId !== undefined) return voiceId;
  const message = `a voice of ${VENDOR} needs a voiceId`;
  throw new EngineFailure(message, { isPermanent: true, type: "unknown_voice" });
}

/** Throws for a voice without a name. */
export function generationRequest(
  contextId: string,
  use: VoiceUse<"provider2">,
  transcript: string,
): GenerationRequest {
  const { voice, language } = use;
  const model = voice.model ?? DEFAULT_MODEL;
  const { generationConfig, legacyControls } = settingsFor(voice);
  const { encoding, sampleRateHz } = audioFormat(use);
  const code = languageCode(language, isLegacyModel(model) ? LANGUAGES_BEFORE_3 : LANGUAGES, { fil: "tl" });
  const dictionary = voice.generationConfig?.pronunciationDictId;
  return {
    context_id: contextId,
    model_id: model,
    transcript,
    voice: {
      mode: "id",
      id: voiceIdOf(voice),
      ...(legacyControls === null ? {} : { __experimental_controls: legacyControls }),
    },
    output_format: {
      container: "raw",
      encoding: encoding === "mulaw" ? "pcm_mulaw" : "pcm_s16le",
      sample_rate: sampleRateHz as SampleRate,
    },
    ...(code === null ? {} : { language: code }),
    // The whole text is in this one request.
    continue: false,
    max_buffer_delay_ms: 0,
    add_timestamps: true,
    ...(generationConfig === null ? {} : { generation_config: generationConfig }),
    ...(dictionary === undefined || dictionary === "" ? {} : { pronunciation_dict_id: dictionary }),
  };
}

export function cancelRequest(contextId: string): CancelRequest {
  return { context_id: contextId, cancel: true };
}

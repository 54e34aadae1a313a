/** From a voice of the interface to the address and the messages of ElevenLabs. */

import { EngineFailure } from "../../ports/engine-failure.ts";
import type { ProviderVoice, VoiceUse } from "../../ports/voice-provider.ts";
import type { AudioFormat } from "../sockets/audio-frames.ts";
import { socketUrl } from "../sockets/socket-protocol.ts";
import { formatFor, languageCode } from "../sockets/speech.ts";
import { DIALOGUE_PATH, dialogueMessages, isDialogueModel } from "./dialogue.ts";
import type { CloseContext, InitialiseContext, OutputFormat, SendText, VoiceSettings } from "./contract.ts";

export const VENDOR = "ElevenLabs";
export const DEFAULT_BASE_URL = "https://api.elevenlabs.io";
/** The model with the shortest delay of those that speak 32 languages. */
export const DEFAULT_MODEL = "eleven_flash_v2_5";
/** The most that is allowed. Sockets are closed before by the pool. */
export const INACTIVITY_TIMEOUT_S = 180;

const PCM_RATES_HZ = [8_000, 16_000, 22_050, 24_000, 44_100] as const;
/** `pcm_44100` needs a plan that many accounts do not have, so it is for `maxSampleRate` to ask for. */
const USUAL_MAX_RATE_HZ = 24_000;

/** Others refuse a language code with 400. */
const MODELS_WITH_LANGUAGE: ReadonlySet<string> = new Set(["eleven_flash_v2_5", "eleven_turbo_v2_5"]);
/** Of these models. Others are heard from the text. */
const LANGUAGES: ReadonlySet<string> = new Set(
  "ar bg cs da de el en es fi fil fr hi hr hu id it ja ko ms nl no pl pt ro ru sk sv ta tr uk vi zh".split(
    " ",
  ),
);

type Voice = ProviderVoice<"provider1">;

export function audioFormat({ voice, output }: VoiceUse<"provider1">): AudioFormat {
  const most = voice.maxSampleRate ?? USUAL_MAX_RATE_HZ;
  return formatFor(
    output,
    PCM_RATES_HZ.filter((rateHz) => rateHz <= most),
  );
}

/** Whether the websocket for dialogue speaks it. */
export function usesDialogue({ model = DEFAULT_MODEL }: Voice): boolean {
  return isDialogueModel(model);
}

function voiceIdOf({ voiceId }: Voice): string {
  if (voiceId !== undefined) return voiceId;
  const message = `a voice of ${VENDOR} needs a voiceId`;
  throw new EngineFailure(message, { isPermanent: true, type: "unknown_voice" });
}

/** All that is fixed for a socket. Throws for a voice without a name. */
export function urlOf(baseUrl: string, use: VoiceUse<"provider1">): string {
  const { voice, language } = use;
  const voiceId = voiceIdOf(voice);
  const model = voice.model ?? DEFAULT_MODEL;
  const code = languageCode(language, LANGUAGES, { tl: "fil" });
  const fixed = { model_id: model, output_format: outputFormat(audioFormat(use)) };
  if (usesDialogue(voice))
    return socketUrl(baseUrl, DIALOGUE_PATH, { ...fixed, language_code: code, sync_alignment: true });
  return socketUrl(baseUrl, `/v1/text-to-speech/${encodeURIComponent(voiceId)}/multi-stream-input`, {
    ...fixed,
    language_code: MODELS_WITH_LANGUAGE.has(model) ? code : null,
    enable_ssml_parsing: voice.enableSsmlParsing,
    optimize_streaming_latency: voice.optimizeStreamingLatency,
    inactivity_timeout: INACTIVITY_TIMEOUT_S,
    // The times of characters come with the audio that they belong to.
    sync_alignment: true,
    // No waiting for more text: each request is a whole sentence.
    auto_mode: true,
  });
}

function outputFormat({ encoding, sampleRateHz }: AudioFormat): OutputFormat {
  return encoding === "mulaw" ? "ulaw_8000" : (`pcm_${String(sampleRateHz)}` as OutputFormat);
}

/** Opens a context, gives it the whole text, and lets it end after that. */
export function messagesFor(contextId: string, voice: Voice, text: string): string[] {
  const { model = DEFAULT_MODEL } = voice;
  if (isDialogueModel(model))
    return dialogueMessages(contextId, { voice, voiceId: voiceIdOf(voice), model }, text);
  const settings = voiceSettings(voice);
  const dictionaries = voice.pronunciationDictionaries ?? [];
  const first: InitialiseContext = {
    text: " ",
    context_id: contextId,
    ...(Object.keys(settings).length === 0 ? {} : { voice_settings: settings }),
    ...(dictionaries.length === 0
      ? {}
      : {
          pronunciation_dictionary_locators: dictionaries.map(({ dictionaryId, versionId }) => ({
            pronunciation_dictionary_id: dictionaryId,
            ...(versionId === undefined ? {} : { version_id: versionId }),
          })),
        }),
  };
  // The documentation asks for a space at the end of each text.
  const second: SendText = { text: `${text} `, context_id: contextId, flush: true };
  // What is flushed is still sent, and the last message comes right after it.
  const third: CloseContext = { context_id: contextId, close_context: true };
  return [first, second, third].map((message) => JSON.stringify(message));
}

/** Fields that are not set are left out: then the stored settings of the voice hold. */
function voiceSettings(voice: Voice): VoiceSettings {
  return {
    ...(voice.stability === undefined ? {} : { stability: voice.stability }),
    ...(voice.similarityBoost === undefined ? {} : { similarity_boost: voice.similarityBoost }),
    ...(voice.style === undefined ? {} : { style: voice.style }),
    ...(voice.useSpeakerBoost === undefined ? {} : { use_speaker_boost: voice.useSpeakerBoost }),
    ...(voice.speed === undefined ? {} : { speed: voice.speed }),
  };
}

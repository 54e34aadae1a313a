/**
 * Which OpenAI-compatible servers run the language model, the recogniser and the voice: settings of the environment.
 */

import { z } from "zod";
import { httpUrl, optional } from "./env-fields.ts";

/** One engine on an OpenAI-compatible server. */
export interface OpenAiTarget {
  readonly baseUrl: string;
  readonly apiKey: string | null;
  readonly model: string;
}

/** Null: the engine that comes with the service. */
export interface ModelServers {
  readonly llm: OpenAiTarget | null;
  readonly stt: OpenAiTarget | null;
  readonly tts: (OpenAiTarget & { readonly voice: string }) | null;
}

const OPENAI_BASE_URL = "https://api.openai.com/v1";

export const MODEL_FIELDS = {
  OPENAI_API_KEY: optional,
  LLM_BASE_URL: httpUrl.optional(),
  LLM_API_KEY: optional,
  LLM_MODEL: optional,
  STT_BASE_URL: httpUrl.optional(),
  STT_API_KEY: optional,
  STT_MODEL: optional,
  TTS_BASE_URL: httpUrl.optional(),
  TTS_API_KEY: optional,
  TTS_MODEL: optional,
  TTS_VOICE: optional,
};

const Fields = z.object(MODEL_FIELDS);
type ModelFields = z.infer<typeof Fields>;

const PREFIXES = ["LLM", "STT", "TTS"] as const;
type Prefix = (typeof PREFIXES)[number];

export function modelServersOf(values: ModelFields): ModelServers {
  const llm = target(values, "LLM", "gpt-4.1-mini");
  const stt = target(values, "STT", "gpt-4o-mini-transcribe");
  const tts = target(values, "TTS", "gpt-4o-mini-tts");
  return { llm, stt, tts: tts === null ? null : { ...tts, voice: values.TTS_VOICE ?? "alloy" } };
}

/** A sentence where a model is named without a server, and where a server is named without a model. */
export function modelConflicts(values: ModelFields): string[] {
  return PREFIXES.flatMap((prefix) => {
    const baseUrl = values[`${prefix}_BASE_URL`];
    const model = values[`${prefix}_MODEL`];
    if (baseUrl !== undefined && model === undefined) {
      return [
        `${prefix}_MODEL is required together with ${prefix}_BASE_URL: set it to the model to use there.`,
      ];
    }
    const key = values[`${prefix}_API_KEY`] ?? values.OPENAI_API_KEY;
    if (baseUrl === undefined && key === undefined && model !== undefined) {
      return [`${prefix}_MODEL needs ${prefix}_BASE_URL or ${prefix}_API_KEY as well.`];
    }
    return [];
  });
}

/**
 * An engine is configured by its own base URL, by its own key (then the address is OpenAI's), or by `OPENAI_API_KEY`
 * for all three. The shared key is never sent to another address than OpenAI's.
 */
function target(values: ModelFields, prefix: Prefix, openAiModel: string): OpenAiTarget | null {
  const baseUrl = values[`${prefix}_BASE_URL`];
  const ownKey = values[`${prefix}_API_KEY`];
  const model = values[`${prefix}_MODEL`];
  if (baseUrl !== undefined && model !== undefined) {
    const shared = baseUrl === OPENAI_BASE_URL ? values.OPENAI_API_KEY : undefined;
    return { baseUrl, apiKey: ownKey ?? shared ?? null, model };
  }
  const key = ownKey ?? values.OPENAI_API_KEY;
  return key === undefined ? null : { baseUrl: OPENAI_BASE_URL, apiKey: key, model: model ?? openAiModel };
}

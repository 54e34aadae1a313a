/**
 * Which OpenAI-compatible servers run the language model, the recogniser and the voice: settings of the environment.
 */

import type { EngineKind } from "@parley/schema";
import { z } from "zod";
import { httpUrl, optional } from "./env-fields.ts";
import { localConflicts } from "./local-models.ts";

/** One engine on an OpenAI-compatible server. */
export interface OpenAiTarget {
  readonly baseUrl: string;
  readonly apiKey: string | null;
  readonly model: string;
}

/** The same for any engine; `voice` is that of a voice. */
export type EngineTarget = OpenAiTarget & { readonly voice: string | null };

/** Null: the engine that comes with the service. */
export interface ModelServers {
  readonly llm: OpenAiTarget | null;
  readonly stt: OpenAiTarget | null;
  readonly tts: (OpenAiTarget & { readonly voice: string }) | null;
}

export const OPENAI_BASE_URL = "https://api.openai.com/v1";

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
  STT_LOCAL_MODEL: optional,
  LLM_LOCAL_MODEL: optional,
  TTS_LOCAL_MODEL: optional,
};

const Fields = z.object(MODEL_FIELDS);
export type ModelFields = z.infer<typeof Fields>;

/** What the names of an engine's variables begin with. */
export const PREFIXES = { stt: "STT", llm: "LLM", tts: "TTS" } as const satisfies Record<EngineKind, string>;
export type Prefix = (typeof PREFIXES)[EngineKind];

/** The models that are used at OpenAI where none is named. */
const OPENAI_MODELS = {
  stt: "gpt-4o-mini-transcribe",
  llm: "gpt-4.1-mini",
  tts: "gpt-4o-mini-tts",
} as const satisfies Record<EngineKind, string>;
const DEFAULT_VOICE = "alloy";

export function modelServersOf(values: ModelFields): ModelServers {
  return { llm: target(values, "llm"), stt: target(values, "stt"), tts: voiceTarget(values) };
}

/** Null: the values set no server. */
export function engineTarget(kind: EngineKind, values: ModelFields): EngineTarget | null {
  if (kind === "tts") return voiceTarget(values);
  const found = target(values, kind);
  return found === null ? null : { ...found, voice: null };
}

/** Of all settings, those of the engines. */
export function modelFieldsOf(values: ModelFields): ModelFields {
  const names = Object.keys(MODEL_FIELDS) as (keyof ModelFields)[];
  return Object.fromEntries(names.map((name) => [name, values[name]]));
}

/** A sentence where a model is named without a server, and where a server is named without a model. */
export function modelConflicts(values: ModelFields): string[] {
  const ofServers = Object.values(PREFIXES).flatMap((prefix) => {
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
  return [...ofServers, ...localConflicts(values)];
}

/**
 * An engine is configured by its own base URL, by its own key (then the address is OpenAI's), or by `OPENAI_API_KEY`
 * for all three. The shared key is never sent to another address than OpenAI's.
 */
function target(values: ModelFields, kind: EngineKind): OpenAiTarget | null {
  const prefix = PREFIXES[kind];
  const baseUrl = values[`${prefix}_BASE_URL`];
  const ownKey = values[`${prefix}_API_KEY`];
  const model = values[`${prefix}_MODEL`];
  if (baseUrl !== undefined && baseUrl !== OPENAI_BASE_URL) {
    return model === undefined ? null : { baseUrl, apiKey: ownKey ?? null, model };
  }
  const key = ownKey ?? values.OPENAI_API_KEY ?? null;
  if (key === null && (baseUrl === undefined || model === undefined)) return null;
  return { baseUrl: OPENAI_BASE_URL, apiKey: key, model: model ?? OPENAI_MODELS[kind] };
}

function voiceTarget(values: ModelFields): ModelServers["tts"] {
  const found = target(values, "tts");
  return found === null ? null : { ...found, voice: values.TTS_VOICE ?? DEFAULT_VOICE };
}

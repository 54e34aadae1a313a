/** Which models of this machine run the recogniser, the language model and the voice: settings of the environment. */

import { ENGINE_KINDS } from "@parley/schema";
import type { NameAlias } from "../plan/name-aliases.ts";
import { httpUrl, optional, whole } from "./env-fields.ts";

export interface LocalModels {
  /** Names of the catalogue; null: none. */
  readonly stt: string | null;
  readonly llm: string | null;
  readonly tts: string | null;
  /** Further language models, which aliases name; each once. */
  readonly namedLlms: readonly string[];
  /** Tokens of a prompt and its reply together. */
  readonly llmContextTokens: number;
  /** Replies that each language model makes at the same time. */
  readonly llmParallel: number;
  /** The speaker of the voice where a call names none; null: its first. */
  readonly ttsVoice: string | null;
  /** Of each model. */
  readonly threads: number;
  /** Where models are fetched in place of their own addresses. */
  readonly mirror: string | null;
}

/** Besides those of the models, which decide about servers as well: see `model-servers.ts`. */
export const LOCAL_MODEL_FIELDS = {
  TTS_LOCAL_VOICE: optional,
  // A model may use two processors while nothing else needs them; it has lower priority than the calls.
  LOCAL_MODEL_THREADS: whole(1, 64).default(2),
  // A system prompt with tools has 1,000 to 3,000 tokens, and a call of ten minutes 3,000.
  LLM_LOCAL_CONTEXT: whole(512, 131_072).default(8_192),
  // Each takes memory for its context. Two replies at a time are as much as small machines can make in time.
  LLM_LOCAL_PARALLEL: whole(1, 16).default(2),
  MODELS_MIRROR: httpUrl.optional(),
};

/** The variables that select a model of this machine. */
export const LOCAL_VARIABLES = {
  stt: "STT_LOCAL_MODEL",
  llm: "LLM_LOCAL_MODEL",
  tts: "TTS_LOCAL_MODEL",
} as const;

/** Targets of aliases that are language models of this machine begin so. */
export const LOCAL_PREFIX = "local:";

interface LocalValues {
  readonly STT_LOCAL_MODEL?: string | undefined;
  readonly LLM_LOCAL_MODEL?: string | undefined;
  readonly TTS_LOCAL_MODEL?: string | undefined;
  readonly TTS_LOCAL_VOICE?: string | undefined;
  readonly LOCAL_MODEL_THREADS: number;
  readonly LLM_LOCAL_CONTEXT: number;
  readonly LLM_LOCAL_PARALLEL: number;
  readonly MODEL_ALIASES: readonly NameAlias[];
  readonly MODELS_MIRROR?: string | undefined;
}

export function localModelsOf(values: LocalValues): LocalModels {
  return {
    stt: values.STT_LOCAL_MODEL ?? null,
    llm: values.LLM_LOCAL_MODEL ?? null,
    tts: values.TTS_LOCAL_MODEL ?? null,
    namedLlms: namedLlms(values),
    llmContextTokens: values.LLM_LOCAL_CONTEXT,
    llmParallel: values.LLM_LOCAL_PARALLEL,
    ttsVoice: values.TTS_LOCAL_VOICE ?? null,
    threads: values.LOCAL_MODEL_THREADS,
    mirror: values.MODELS_MIRROR ?? null,
  };
}

function namedLlms({ MODEL_ALIASES, LLM_LOCAL_MODEL }: LocalValues): readonly string[] {
  const named = MODEL_ALIASES.flatMap(({ target }) =>
    target.startsWith(LOCAL_PREFIX) ? [target.slice(LOCAL_PREFIX.length).trim()] : [],
  );
  return [...new Set(named)].filter((name) => name !== LLM_LOCAL_MODEL);
}

/** The keys that are for one engine only, in place of the shared one. */
const OTHER_KEYS = {
  stt: "LLM_API_KEY in its place, which is for the language model only",
  llm: "STT_API_KEY and TTS_API_KEY in its place, which are for one engine each",
  tts: "LLM_API_KEY in its place, which is for the language model only",
} as const;

/** An engine has one place: a sentence where a model of this machine and a server are both set. */
export function localConflicts(values: Readonly<Record<string, unknown>>): string[] {
  return ENGINE_KINDS.flatMap((kind) => {
    const variable = LOCAL_VARIABLES[kind];
    if (values[variable] === undefined) return [];
    const prefix = kind.toUpperCase();
    const others = [`${prefix}_BASE_URL`, `${prefix}_API_KEY`, "OPENAI_API_KEY"];
    const other = others.find((name) => values[name] !== undefined);
    if (other === undefined) return [];
    const shared = other === "OPENAI_API_KEY" ? ` Set ${OTHER_KEYS[kind]}.` : "";
    return [`${variable} and ${other} must not both be set: they select different engines.${shared}`];
  });
}

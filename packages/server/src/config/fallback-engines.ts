/** The engines that take over when the first one of their kind fails: variables for one of each kind, a file for more. */

import { ENGINE_KINDS, type EngineKind } from "@parley/schema";
import { z } from "zod";
import { httpUrl, optional, whole } from "./env-fields.ts";
import { readJsonFile, type Refuse } from "./json-file.ts";
import {
  engineTarget,
  modelConflicts,
  PREFIXES,
  type EngineTarget,
  type ModelFields,
} from "./model-servers.ts";

/** `name` is for people and for metrics: without an address and a key. */
export type FallbackEngine =
  | ({ readonly kind: "openai"; readonly name: string } & EngineTarget)
  /** The engine that comes with the service. */
  | { readonly kind: "built_in"; readonly name: string };

export type Fallbacks = Readonly<Record<EngineKind, readonly FallbackEngine[]>>;

/** How long an engine of a list may take before the next one is asked. */
export interface EngineLimits {
  readonly answerLimitMs: number;
  readonly firstTokenLimitMs: number;
  readonly firstAudioLimitMs: number;
  /** Null: no second model is asked while the first one is late. */
  readonly hedgeMs: number | null;
}

export const FALLBACK_FIELDS = {
  LLM_FALLBACK_BASE_URL: httpUrl.optional(),
  LLM_FALLBACK_API_KEY: optional,
  LLM_FALLBACK_MODEL: optional,
  STT_FALLBACK_BASE_URL: httpUrl.optional(),
  STT_FALLBACK_API_KEY: optional,
  STT_FALLBACK_MODEL: optional,
  TTS_FALLBACK_BASE_URL: httpUrl.optional(),
  TTS_FALLBACK_API_KEY: optional,
  TTS_FALLBACK_MODEL: optional,
  TTS_FALLBACK_VOICE: optional,
  ENGINES_FILE: optional,
  // Half of the limit of a transcript, so that a second recogniser has as long.
  STT_ANSWER_LIMIT_MS: whole(100, 30_000).default(3_000),
  // Most models have their first token within a second. Two limits fit into the wait of the call, 8 s.
  LLM_FIRST_TOKEN_LIMIT_MS: whole(100, 30_000).default(2_500),
  // Voices answer within 0.3 s. Two limits fit into the wait of the call, 4 s.
  TTS_FIRST_AUDIO_LIMIT_MS: whole(100, 30_000).default(1_500),
  LLM_HEDGE_MS: whole(50, 10_000).optional(),
};

const Fields = z.object(FALLBACK_FIELDS);
type Values = z.infer<typeof Fields>;

/** Of one kind in the file: a caller does not wait for more. */
const MAX_LISTED = 5;

const printable = (most: number) =>
  z
    .string("must be a text")
    .max(most, `must have at most ${String(most)} characters`)
    .regex(/^[\x21-\x7e]+$/, "must be printable ASCII without spaces");
const name = z
  .string("must be a text")
  .trim()
  .min(1, "must not be empty")
  .max(60, "must have at most 60 characters")
  .optional();

const openAi = {
  kind: z.literal("openai"),
  name,
  baseUrl: httpUrl,
  model: printable(200),
  apiKey: printable(4_096).optional(),
  /** The variable of the environment that has the key, so that the file has no secret. */
  apiKeyVariable: z
    .string("must be a text")
    .regex(/^[A-Z_][A-Z0-9_]*$/, "must be the name of a variable")
    .optional(),
};
const builtIn = z.strictObject({ kind: z.literal("built_in"), name });

const UNKNOWN_KIND = "has a kind that is not known: openai and built_in are";

/** An entry of the file; new kinds of engines are added here and where the kinds are opened. */
const entries = {
  stt: z.discriminatedUnion("kind", [z.strictObject(openAi), builtIn], UNKNOWN_KIND),
  llm: z.discriminatedUnion("kind", [z.strictObject(openAi), builtIn], UNKNOWN_KIND),
  tts: z.discriminatedUnion(
    "kind",
    [z.strictObject({ ...openAi, voice: printable(200) }), builtIn],
    UNKNOWN_KIND,
  ),
};
type Entry = z.output<(typeof entries)[EngineKind]>;

const withKind = (given: unknown): unknown =>
  typeof given === "object" && given !== null && !Array.isArray(given) ? { kind: "openai", ...given } : given;
const listOf = (kind: EngineKind) =>
  z
    .array(z.preprocess(withKind, entries[kind]), "must be a list")
    .max(MAX_LISTED, `must have at most ${String(MAX_LISTED)} engines`)
    .default([]);
const EnginesFile = z.strictObject({ stt: listOf("stt"), llm: listOf("llm"), tts: listOf("tts") });

type Variables = Readonly<Record<string, string | undefined>>;

/** @throws ConfigError that names the file and the place in it */
export function fallbacksOf(values: Values, env: Variables): Fallbacks {
  const file = values.ENGINES_FILE === undefined ? null : readEnginesFile(values.ENGINES_FILE, env);
  const listOfKind = (kind: EngineKind): readonly FallbackEngine[] => {
    const target = engineTarget(kind, firstNames(values, kind));
    const named: FallbackEngine[] =
      target === null ? [] : [{ kind: "openai", name: nameOf(target), ...target }];
    return distinct([...named, ...(file?.[kind] ?? [])]);
  };
  return { stt: listOfKind("stt"), llm: listOfKind("llm"), tts: listOfKind("tts") };
}

export function engineLimitsOf(values: Values): EngineLimits {
  return {
    answerLimitMs: values.STT_ANSWER_LIMIT_MS,
    firstTokenLimitMs: values.LLM_FIRST_TOKEN_LIMIT_MS,
    firstAudioLimitMs: values.TTS_FIRST_AUDIO_LIMIT_MS,
    hedgeMs: values.LLM_HEDGE_MS ?? null,
  };
}

/** Sentences about variables that are right, but not together. */
export function fallbackConflicts(values: Values): string[] {
  return ENGINE_KINDS.flatMap((kind) => {
    const prefix = PREFIXES[kind];
    const given = firstNames(values, kind);
    const found = modelConflicts(given).map((text) => text.replaceAll(`${prefix}_`, `${prefix}_FALLBACK_`));
    const isLonely = kind === "tts" && given.TTS_VOICE !== undefined && engineTarget(kind, given) === null;
    return isLonely && found.length === 0
      ? ["TTS_FALLBACK_VOICE needs TTS_FALLBACK_BASE_URL or TTS_FALLBACK_API_KEY as well."]
      : found;
  });
}

/** The name that an engine has if none is given: not unique. */
export function nameOf({ model, voice }: Pick<EngineTarget, "model" | "voice">): string {
  return voice === null ? model : `${voice} of ${model}`;
}

/** The same rules as for the first engine of a kind, without the key that all engines share. */
function firstNames(values: Values, kind: EngineKind): ModelFields {
  const prefix = PREFIXES[kind];
  return {
    [`${prefix}_BASE_URL`]: values[`${prefix}_FALLBACK_BASE_URL`],
    [`${prefix}_API_KEY`]: values[`${prefix}_FALLBACK_API_KEY`],
    [`${prefix}_MODEL`]: values[`${prefix}_FALLBACK_MODEL`],
    ...(kind === "tts" ? { TTS_VOICE: values.TTS_FALLBACK_VOICE } : {}),
  };
}

function readEnginesFile(path: string, env: Variables): Fallbacks {
  const { content, refuse } = readJsonFile("ENGINES_FILE", path, EnginesFile);
  const engines = (kind: EngineKind, listed: readonly Entry[]): FallbackEngine[] =>
    listed.map((entry, index) => engineOf(entry, `${kind}[${String(index)}]`, env, refuse));
  return {
    stt: engines("stt", content.stt),
    llm: engines("llm", content.llm),
    tts: engines("tts", content.tts),
  };
}

function engineOf(entry: Entry, place: string, env: Variables, refuse: Refuse): FallbackEngine {
  if (entry.kind === "built_in") return { kind: "built_in", name: entry.name ?? "built-in" };
  const { apiKey: given, apiKeyVariable: variable, baseUrl, model } = entry;
  if (given !== undefined && variable !== undefined)
    refuse(`where ${place} has apiKey and apiKeyVariable: give one of them`);
  const found = variable === undefined ? given : env[variable];
  if (variable !== undefined && (found === undefined || found === ""))
    refuse(`where ${place}.apiKeyVariable names ${variable}, which is not set`);
  const voice = "voice" in entry ? entry.voice : null;
  const target = { baseUrl, model, voice, apiKey: found ?? null };
  return { kind: "openai", name: entry.name ?? nameOf(target), ...target };
}

/** Metrics and events name engines, so no two of a list have the same name. */
function distinct(engines: readonly FallbackEngine[]): FallbackEngine[] {
  const taken = new Set<string>();
  return engines.map((engine) => {
    let own = engine.name;
    for (let count = 2; taken.has(own); count += 1) own = `${engine.name} (${String(count)})`;
    taken.add(own);
    return { ...engine, name: own };
  });
}

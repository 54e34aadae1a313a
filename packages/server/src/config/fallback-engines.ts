/** The engines that take over when the first one of their kind fails: variables for one of each kind, a file for more. */

import { ENGINE_KINDS, type EngineKind } from "@parley/schema";
import { z } from "zod";
import { nameOf, type Variables } from "./engines-file/engine-entries.ts";
import { readEnginesFile } from "./engines-file/engines-file.ts";
import { httpUrl, optional, whole } from "./env-fields.ts";
import type { Fallbacks, OpenAiEntry } from "./engines-file/listed-engine.ts";
import { engineTarget, modelConflicts, PREFIXES, type ModelFields } from "./model-servers.ts";

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

/** @throws ConfigError that names the file and the place in it */
export function fallbacksOf(values: Values & Variables["values"], env: Variables["env"]): Fallbacks {
  const file =
    values.ENGINES_FILE === undefined ? null : readEnginesFile(values.ENGINES_FILE, { values, env });
  return {
    stt: distinct([...engineOfVariables(values, "stt"), ...(file?.stt ?? [])]),
    llm: distinct([...engineOfVariables(values, "llm"), ...(file?.llm ?? [])]),
    tts: distinct([...engineOfVariables(values, "tts"), ...(file?.tts ?? [])]),
  };
}

function engineOfVariables(values: Values, kind: EngineKind): OpenAiEntry[] {
  const target = engineTarget(kind, firstNames(values, kind));
  return target === null ? [] : [{ kind: "openai", name: nameOf(target), ...target }];
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

/** Metrics and events name engines, so no two of a list have the same name. */
function distinct<Entry extends { readonly name: string }>(engines: readonly Entry[]): Entry[] {
  const taken = new Set<string>();
  return engines.map((engine) => {
    let own = engine.name;
    for (let count = 2; taken.has(own); count += 1) own = `${engine.name} (${String(count)})`;
    taken.add(own);
    return { ...engine, name: own };
  });
}

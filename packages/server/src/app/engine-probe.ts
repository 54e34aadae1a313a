/**
 * Asks the chosen model servers whether they can be used, at the start and after a change, so that a wrong setting shows
 * before the first call. It only warns: a server may start later, and not every one lists its models.
 */

import { ENGINE_KINDS, type EngineKind } from "@parley/schema";
import type { Logger } from "pino";
import type { FallbackEngine, Fallbacks } from "../config/engines-file/listed-engine.ts";
import { PREFIXES, type OpenAiTarget } from "../config/model-servers.ts";
import type { EngineChoice } from "../config/stored-engines.ts";
import { readBoundedText } from "../net/bounded-text.ts";
import { isSameModel, modelsIn } from "./deployment/model-list.ts";
import { messageOf } from "../pacing/error-text.ts";
import { modelListAddress } from "../providers/llm-sdk/vendors.ts";

/** In lines of the log. */
export const ENGINE_NAMES = {
  stt: "recogniser",
  llm: "model",
  tts: "voice",
} as const satisfies Record<EngineKind, string>;

/** A server that loads a model may take that long for a list; calls would wait longer for it anyway. */
const PROBE_LIMIT_MS = 5_000;
/** Of a list of models; OpenAI's has 30 KB. */
const MAX_LIST_BYTES = 4_000_000;
/** Most models that a warning names. */
const MAX_NAMED = 5;

/** An engine with what chose it, which the warnings name. */
export type ChosenEngine = Pick<EngineChoice, "source" | "target">;

/** What is wrong with each engine; null: nothing, or it has no server. */
export type EngineProblems = Readonly<Record<EngineKind, string | null>>;

/** Never rejects. Engines at one address are asked once each: they may have different keys. */
export async function probeEngines(
  chosen: Readonly<Record<EngineKind, ChosenEngine>>,
  logger: Pick<Logger, "warn">,
  signal: AbortSignal,
): Promise<EngineProblems> {
  const found = await Promise.all(
    ENGINE_KINDS.map(async (kind) => {
      const { source, target } = chosen[kind];
      const problem = target === null ? null : await problemOf(target, wordsOf(kind, source), signal);
      if (problem !== null && !signal.aborted) logger.warn(`${ENGINE_NAMES[kind]}: ${problem}`);
      return [kind, problem] as const;
    }),
  );
  return Object.fromEntries(found) as EngineProblems;
}

/** What is wrong with the engines that take over, by their names. */
export type ListProblems = Readonly<Record<EngineKind, ReadonlyMap<string, string>>>;

export const NO_LIST_PROBLEMS: ListProblems = { stt: new Map(), llm: new Map(), tts: new Map() };

/** Never rejects. Asks those that take over, where their servers list models by OpenAI's protocol. */
export async function probeFallbacks(
  fallbacks: Fallbacks,
  logger: Pick<Logger, "warn">,
  signal: AbortSignal,
): Promise<ListProblems> {
  const ofList = async (kind: EngineKind): Promise<ReadonlyMap<string, string>> => {
    const problems = new Map<string, string>();
    await Promise.all(
      fallbacks[kind].map(async (engine) => {
        const asked = askedOf(engine);
        const problem = asked === null ? null : await problemOf(asked, WORDS_IN_LIST, signal);
        if (problem === null || signal.aborted) return;
        problems.set(engine.name, problem);
        logger.warn(`${ENGINE_NAMES[kind]}: ${engine.name}, which is to take over: ${problem}`);
      }),
    );
    return problems;
  };
  const [stt, llm, tts] = await Promise.all([ofList("stt"), ofList("llm"), ofList("tts")]);
  return { stt, llm, tts };
}

type Asked = Pick<OpenAiTarget, "baseUrl" | "apiKey"> & {
  /** Null: vendors have names for models that their lists do not have. */
  readonly model: string | null;
};

/** Null: it has no server, or none that lists models by OpenAI's protocol. */
function askedOf(engine: FallbackEngine): Asked | null {
  if (engine.kind === "openai" || engine.kind === "openai_realtime") return engine;
  if (engine.kind !== "sdk") return null;
  const baseUrl = modelListAddress(engine.target);
  return baseUrl === null ? null : { baseUrl, apiKey: engine.target.apiKey, model: null };
}

interface SettingWords {
  readonly address: string;
  readonly model: string;
  /** What to do where a key is missing. */
  readonly giveKey: string;
}

const WORDS_IN_LIST: SettingWords = {
  address: "its address",
  model: "its model",
  giveKey: "give it a key",
};

function wordsOf(kind: EngineKind, source: EngineChoice["source"]): SettingWords {
  const prefix = PREFIXES[kind];
  return source === "stored"
    ? { address: "the stored address", model: "the stored model", giveKey: "store one" }
    : { address: `${prefix}_BASE_URL`, model: `${prefix}_MODEL`, giveKey: `set ${prefix}_API_KEY` };
}

/** Null: nothing speaks against the settings. */
async function problemOf(
  { baseUrl, apiKey, model }: Asked,
  words: SettingWords,
  signal: AbortSignal,
): Promise<string | null> {
  const limit = AbortSignal.timeout(PROBE_LIMIT_MS);
  try {
    const response = await fetch(`${baseUrl}/models`, {
      headers: apiKey === null ? {} : { authorization: `Bearer ${apiKey}` },
      // The key goes to the configured address only.
      redirect: "error",
      signal: AbortSignal.any([signal, limit]),
    });
    const { status } = response;
    if (status === 401 || status === 403) {
      await response.body?.cancel();
      const key = apiKey === null ? `wants a key: ${words.giveKey}` : `does not accept the key`;
      return `${baseUrl} ${key} (HTTP ${String(status)})`;
    }
    if (!response.ok) {
      await response.body?.cancel();
      // Servers without a list of models answer 404 here and work.
      return null;
    }
    const text = await readBoundedText(response, MAX_LIST_BYTES);
    const models = text === null ? null : modelsIn(text);
    if (models === null) {
      return `${baseUrl} does not answer like a model server: check ${words.address}`;
    }
    if (model === null || models.length === 0 || models.some((known) => isSameModel(known, model)))
      return null;
    const known = models.slice(0, MAX_NAMED).join(", ");
    return `${baseUrl} does not list the model ${model}: check ${words.model} (it lists ${known})`;
  } catch (error) {
    if (limit.aborted) return `${baseUrl} does not answer within ${String(PROBE_LIMIT_MS / 1_000)} s`;
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const { code } = cause as NodeJS.ErrnoException;
    return `${baseUrl} cannot be reached (${code ?? messageOf(cause)}): check ${words.address}`;
  }
}

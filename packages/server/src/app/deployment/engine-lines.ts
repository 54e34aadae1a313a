/** Says at the start, in one line each, which engine is used, why, and what to set for a better one. */

import { ENGINE_KINDS, type EngineKind, type EngineSource } from "@parley/schema";
import type { Logger } from "pino";
import { LOCAL_VARIABLES } from "../../config/local-models.ts";
import type { EngineTarget, ModelFields } from "../../config/model-servers.ts";
import type { Recognisers } from "../../config/recognisers.ts";
import { describeDeepgram } from "../../providers/stt-deepgram/stt-deepgram.ts";
import { OFFLINE_STT_DESCRIPTION } from "../../providers/stt-offline/stt-offline.ts";
import { ENGINE_NAMES } from "../engine-probe.ts";
import type { EngineChoices } from "./live-engines.ts";

/** The engines that come with the service. */
const BUILT_IN: Readonly<Record<EngineKind, string>> = {
  stt: OFFLINE_STT_DESCRIPTION,
  llm: "the scripted concierge (rules, no language model)",
  tts: "eSpeak NG (offline, plain)",
};

type OwnEngineFields = Pick<Recognisers, "deepgram"> & { readonly modelFields: ModelFields };

/**
 * The engine where there is no server of the protocol: a model of this machine, Deepgram, or the one that comes with the
 * service.
 */
export function ownEngine(
  kind: EngineKind,
  { modelFields, deepgram }: OwnEngineFields,
  showsServer = true,
): string {
  const model = modelFields[LOCAL_VARIABLES[kind]];
  if (model !== undefined) return `${model} on this machine`;
  if (kind !== "stt" || deepgram === null) return BUILT_IN[kind];
  return showsServer ? describeDeepgram(deepgram) : `Deepgram ${deepgram.model}`;
}

/** The variable that makes Deepgram the default recogniser; null: another one is. */
export function deepgramVariable(kind: EngineKind, fields: OwnEngineFields): string | null {
  const { modelFields, deepgram } = fields;
  if (kind !== "stt" || deepgram === null || modelFields.STT_LOCAL_MODEL !== undefined) return null;
  return deepgram.apiKey === null ? "DEEPGRAM_BASE_URL" : "DEEPGRAM_API_KEY";
}

const BETTER: Readonly<Record<EngineKind, string>> = {
  stt: "set STT_BASE_URL and STT_MODEL (or OPENAI_API_KEY) to recognise all speech",
  llm: "set LLM_BASE_URL and LLM_MODEL (or OPENAI_API_KEY) to use a language model",
  tts: "set TTS_BASE_URL, TTS_MODEL and TTS_VOICE (or OPENAI_API_KEY) for a more natural voice",
};

const CHOSEN: Readonly<Record<Exclude<EngineSource, "built_in">, string>> = {
  environment: "as configured",
  stored: "as stored by the operator",
};

export function sayWhichEngines(
  choices: EngineChoices,
  config: Recognisers & { readonly modelFields: ModelFields },
  logger: Pick<Logger, "info" | "warn">,
): void {
  const { sttProtocol, deepgram } = config;
  for (const kind of ENGINE_KINDS) {
    const { source, target, unusedReason } = choices[kind];
    const name = ENGINE_NAMES[kind];
    if (kind === "stt" && deepgram !== null) {
      const isDefault = target === null && deepgramVariable(kind, config) !== null;
      logger.info(
        `${name}: ${describeDeepgram(deepgram)}, ${isDefault ? "as configured" : "for calls that name it"}`,
      );
      if (isDefault) continue;
    }
    const used = target === null ? ownEngine(kind, config) : describeTarget(target);
    const isRealtime = kind === "stt" && target !== null && sttProtocol === "realtime";
    const chosen =
      source === "built_in" ? `because nothing else is configured; ${BETTER[kind]}` : CHOSEN[source];
    logger.info(`${name}: ${used}, ${isRealtime ? "by the realtime protocol" : chosen}`);
    if (unusedReason !== null) logger.warn(`${name}: ${unusedReason}`);
  }
}

/** The engines that follow the first one of each list. */
export function sayWhichFollow(
  reports: Readonly<Record<EngineKind, readonly { readonly name: string }[]>>,
  logger: Pick<Logger, "info">,
): void {
  for (const kind of ENGINE_KINDS) {
    const names = reports[kind].slice(1).map(({ name }) => name);
    if (names.length > 0) logger.info(`${ENGINE_NAMES[kind]}: if it fails, ${names.join(", then ")}`);
  }
}

/** Model and address, never the key. */
export function describeTarget({ baseUrl, model, voice }: EngineTarget): string {
  return `${voice === null ? "" : `${voice} of `}${model} at ${baseUrl}`;
}

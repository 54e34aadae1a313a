/** What loads the models that run on this machine, and says which model would improve the agent most. */

import { existsSync } from "node:fs";
import type { EngineKind, EngineSource } from "@parley/schema";
import type { Logger } from "pino";
import { ConfigError } from "../../config/config-error.ts";
import type { Config } from "../../config/config.ts";
import { LOCAL_PREFIX, LOCAL_VARIABLES } from "../../config/local-models.ts";
import { CATALOGUE, type CatalogueModel, megabytes, modelNamed } from "../../models/catalogue.ts";
import { ModelError } from "../../models/model-error.ts";
import { installedModel, isInstalled, modelsFolder, readLock } from "../../models/models-folder.ts";
import { findPackage } from "../../models/packages.ts";
import { messageOf } from "../../pacing/error-text.ts";
import { openLocalLlm } from "../../providers/llm-local/llm-local.ts";
import type { LlmLoadOrder } from "../../providers/llm-local/llm-protocol.ts";
import type { LoadOrder } from "../../providers/local-child/local-model.ts";
import type { LlmEngine } from "../../ports/llm.ts";

/** Null: no model of this machine is set. */
export interface LocalOrders {
  readonly stt: LoadOrder | null;
  readonly llm: LlmLoadOrder | null;
  readonly tts: LoadOrder | null;
  /** Language models that only aliases name. */
  readonly named: readonly LlmLoadOrder[];
}

const NAMES: Readonly<Record<EngineKind, string>> = {
  stt: "recogniser",
  llm: "language model",
  tts: "voice",
};

/**
 * @param catalogue for tests
 * @throws ConfigError where a model is unknown or not installed, with the command that installs it
 */
export function localOrders(
  config: Pick<Config, "dataDir" | "localModels">,
  catalogue: readonly CatalogueModel[] = CATALOGUE,
): LocalOrders {
  const { localModels } = config;
  const order = (kind: EngineKind): LoadOrder | null => {
    const name = localModels[kind];
    return name === null
      ? null
      : localOrder(kind, { name, setting: LOCAL_VARIABLES[kind] }, config, catalogue);
  };
  const [stt, llm, tts] = [order("stt"), order("llm"), order("tts")];
  if (tts !== null) checkSpeaker(tts, localModels.ttsVoice, "TTS_LOCAL_VOICE");
  const named = localModels.namedLlms.map((name) =>
    llmOrder(localOrder("llm", { name, setting: "The target of MODEL_ALIASES" }, config, catalogue), config),
  );
  return { stt, llm: llm === null ? null : llmOrder(llm, config), tts, named };
}

/** The order for a language model, which has more settings. */
export function llmOrder(order: LoadOrder, { localModels }: Pick<Config, "localModels">): LlmLoadOrder {
  return { ...order, contextTokens: localModels.llmContextTokens, parallel: localModels.llmParallel };
}

/** @throws ConfigError where the model cannot be loaded; the sentence begins with the setting */
export function openLlmOf(
  order: LlmLoadOrder,
  setting: string,
  log: (message: string) => void,
): Promise<LlmEngine> {
  const { name } = order.model;
  return orConfigError(setting, openLocalLlm({ order, names: [`${LOCAL_PREFIX}${name}`], log }));
}

/** A model of the catalogue, and the setting that names it, which begins sentences about it. */
export interface NamedModel {
  readonly name: string;
  readonly setting: string;
}

/** @throws ConfigError as `localOrders` */
export function localOrder(
  kind: EngineKind,
  { name, setting }: NamedModel,
  { dataDir, localModels }: Pick<Config, "dataDir" | "localModels">,
  catalogue: readonly CatalogueModel[] = CATALOGUE,
): LoadOrder {
  const model = modelNamed(name, catalogue);
  const ofKind = catalogue.filter((one) => one.kind === kind).map((one) => one.name);
  if (model?.kind !== kind)
    throw new ConfigError(
      `${setting} is ${name}, which is no ${NAMES[kind]} of the list: it has ${ofKind.join(", ")}.`,
    );
  const folder = modelsFolder(dataDir);
  const pull = `run \`npx parley models pull ${name}\` with the same DATA_DIR`;
  const installed = withSentence(() => installedModel(folder, model));
  if (installed === null) throw new ConfigError(`${setting} is ${name}, which is not installed: ${pull}.`);
  for (const [packageName, version] of Object.entries(model.packages)) {
    const packageFolder = withSentence(() => findPackage(folder, packageName, version));
    if (packageFolder !== null) return { model: installed, packageFolder, threads: localModels.threads };
    throw new ConfigError(
      `${setting} is ${name}, which needs the package ${packageName}@${version}: ${pull}.`,
    );
  }
  throw new ConfigError(`${setting} is ${name}, which no package loads.`);
}

/** @throws ConfigError where the model does not have the speaker; null: its first one */
export function checkSpeaker({ model }: LoadOrder, voice: string | null, setting: string): void {
  if (voice === null || model.voices.includes(voice)) return;
  throw new ConfigError(
    `${setting} is ${voice}, which ${model.name} does not have: it has ${model.voices.join(", ")}.`,
  );
}

function withSentence<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof ModelError) throw new ConfigError(error.message);
    throw error;
  }
}

/** A model that cannot be loaded stops the start with a sentence. */
export async function orConfigError<Engine>(setting: string, opening: Promise<Engine>): Promise<Engine> {
  try {
    return await opening;
  } catch (error) {
    throw new ConfigError(
      `${setting} names a model that cannot be used: ${messageOf(error)}. ` +
        "If it is damaged, `npx parley models rm` and `pull` install it again.",
    );
  }
}

interface Better {
  readonly kind: EngineKind | "turn";
  readonly effect: string;
}

/** What helps most comes first: the few phrases that the demo understands, what it answers, its voice, its pauses. */
const BETTER: readonly Better[] = [
  { kind: "stt", effect: "it then understands all speech" },
  { kind: "llm", effect: "it then answers in its own words" },
  { kind: "tts", effect: "it then has a more natural voice" },
  { kind: "turn", effect: "it then hears from the sound whether the caller has finished" },
];

/** One line at most; none where servers or models do all of it. Never throws. */
export function sayBestModel(
  choices: Readonly<Record<EngineKind, { readonly source: EngineSource }>>,
  config: Pick<Config, "dataDir" | "localModels" | "smartTurnModel">,
  logger: Pick<Logger, "info" | "warn">,
): void {
  const lacks = ({ kind }: Better): boolean =>
    kind === "turn" ? !existsSync(config.smartTurnModel.path) : choices[kind].source === "built_in";
  const better = BETTER.find(lacks);
  const model = CATALOGUE.find(({ kind }) => kind === better?.kind);
  if (better === undefined || model === undefined) return;
  try {
    const folder = modelsFolder(config.dataDir);
    const lock = readLock(folder);
    const ofKind = CATALOGUE.filter(({ kind }) => kind === model.kind);
    logger.info(`models: ${adviceOf(better, ofKind.find((one) => isInstalled(lock, one)) ?? null, model)}`);
  } catch (error) {
    logger.warn(`models: ${messageOf(error)}`);
  }
}

function adviceOf({ kind, effect }: Better, there: CatalogueModel | null, best: CatalogueModel): string {
  const setting = (name: string): string => (kind === "turn" ? "" : `${LOCAL_VARIABLES[kind]}=${name}`);
  if (there !== null && kind !== "turn")
    return `${there.name} is on this machine and not used; start with ${setting(there.name)}: ${effect}`;
  const size = megabytes(best.bytes);
  const then = kind === "turn" ? "" : `, then start with ${setting(best.name)}`;
  return `\`npx parley models pull ${best.name}\` (${size}) would improve this agent most${then}: ${effect}`;
}

/** Opens the engines of this deployment that the environment names, otherwise those that come with the service. */

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { LocalModelServer } from "@parley/schema";
import type { Logger } from "pino";
import type { Config, SmartTurnFile } from "../config/config.ts";
import { LOCAL_PREFIX } from "../config/local-models.ts";
import type { LlmEngine } from "../ports/llm.ts";
import type { SttEngine } from "../ports/stt.ts";
import type { TtsEngine } from "../ports/tts.ts";
import type { TurnDetector } from "../ports/turn-detector.ts";
import type { VadEngine } from "../ports/vad.ts";
import { openOpenAiLlm } from "../providers/llm-openai/llm-openai.ts";
import { openVendorLlm } from "../providers/llm-sdk/vendors.ts";
import { openScriptedLlm } from "../providers/llm-scripted/llm-scripted.ts";
import { openEspeakTts } from "../providers/tts-espeak/tts-espeak.ts";
import { openLocalTts } from "../providers/tts-local/tts-local.ts";
import { openOpenAiTts } from "../providers/tts-openai/tts-openai.ts";
import { openSmartTurn, SMART_TURN_DESCRIPTION } from "../providers/turn-smart/turn-smart.ts";
import { openTextTurnDetector } from "../providers/turn-text/turn-text.ts";
import { openSileroVad, SILERO_VAD_DESCRIPTION } from "../providers/vad-silero/vad-silero.ts";
import { closeFallbacks, openFallbacks, type FallbackEngines } from "./deployment/fallback-engines.ts";
import { findLocalServers, localCandidates } from "./deployment/local-servers.ts";
import { type LocalOrders, localOrders, openLlmOf, orConfigError } from "./deployment/local-engines.ts";
import { openRecognisers } from "./recognisers.ts";
import { messageOf } from "../pacing/error-text.ts";
import { openGuardedClient, type GuardedClient } from "../net/guarded-fetch.ts";
import { openVoiceProviders, type VoiceProviders } from "./voices/voice-providers.ts";

export interface Engines {
  readonly vad: VadEngine;
  readonly stt: SttEngine;
  /** Recognisers besides the default, which a call may name. Unset: none. */
  readonly otherRecognisers?: readonly SttEngine[];
  readonly llm: LlmEngine;
  readonly tts: TtsEngine;
  /** In order of priority: the one that reads text, then the one that uses audio, where its model is installed. */
  readonly turnDetectors: readonly TurnDetector[];
  /** Those that take over from `stt`, `llm` and `tts`. Unset: none. */
  readonly fallbacks?: FallbackEngines;
  /** Vendors of external voices. Unset: none. */
  readonly voiceProviders?: VoiceProviders | undefined;
  /** Further language models, which aliases name. Unset: none. */
  readonly vendorModels?: readonly LlmEngine[];
}

export const MODEL_PATH = fileURLToPath(new URL("../../models/silero_vad.onnx", import.meta.url));

/**
 * @param client for URLs of users
 * @throws when an engine cannot be opened; what was opened before is closed again.
 */
export async function openEngines(
  config: Config,
  logger: Logger,
  client: GuardedClient = openGuardedClient({ allowed: config.allowPrivateTargets }),
): Promise<Engines> {
  const local = localOrders(config);
  await using opened = new AsyncDisposableStack();
  const keep = async <Engine extends { close(): Promise<void> }>(
    opening: Engine | Promise<Engine>,
  ): Promise<Engine> => {
    const engine = await opening;
    opened.defer(() => engine.close());
    return engine;
  };
  const log = (message: string): void => logger.warn(message);
  let otherRecognisers: readonly SttEngine[] = [];
  const keepRecognisers = async (): Promise<SttEngine> => {
    const { stt, others } = await openRecognisers(config, local.stt, log);
    otherRecognisers = others;
    for (const other of others) opened.defer(() => other.close());
    return keep(stt);
  };
  const found =
    config.llm === null && local.llm === null
      ? findLocalServers(localCandidates(config.port))
      : Promise.resolve([]);
  const listening = openListeningDetector(config.smartTurnModel, logger);
  const opening = await Promise.allSettled([
    keep(openSileroVad({ modelPath: MODEL_PATH, log })),
    keepRecognisers(),
    keep(openLlm(config, local, log)),
    keep(openTts(config, local, log)),
  ]);
  const naming = await Promise.allSettled([
    ...config.vendorModels.map((target) => keep(openVendorLlm(target))),
    ...local.named.map((order) => keep(openLlmOf(order, "MODEL_ALIASES", log))),
  ]);
  const listener = await listening;
  if (listener !== null) opened.defer(() => listener.close());
  const failed = [...opening, ...naming].find((result) => result.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  const voiceProviders = openVoiceProviders(config, { client, log });
  opened.defer(() => closeAll(Object.values(voiceProviders)));
  const fallbacks = await openFallbacks(config, logger, { voiceProviders });
  opened.defer(() => closeFallbacks(fallbacks));
  const [vad, stt, llm, tts] = opening.map((result) => (result.status === "fulfilled" ? result.value : null));
  logger.info(`voice activity: ${SILERO_VAD_DESCRIPTION}`);
  offer(await found, logger);
  const named = [
    ...config.vendorModels.map(({ name }) => name),
    ...local.named.map(({ model }) => `${LOCAL_PREFIX}${model.name}`),
  ];
  if (named.length > 0) logger.info(`model: aliases name ${named.join(", ")}`);
  const vendorModels = naming.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  const turnDetectors = [openTextTurnDetector(), ...(listener === null ? [] : [listener])];
  opened.move();
  const further = { turnDetectors, otherRecognisers, fallbacks, voiceProviders, vendorModels };
  return { vad, stt, llm, tts, ...further } as Engines;
}

/** Settings of the model with the name `default`, wherever they are from. */
export function withAudio<Target>(
  { llmTakesAudio }: Pick<Config, "llmTakesAudio">,
  target: Target,
): Target & { readonly takesAudio: boolean } {
  return { ...target, takesAudio: llmTakesAudio };
}

type Log = (message: string) => void;

function openLlm(config: Config, local: LocalOrders, log: Log): Promise<LlmEngine> | LlmEngine {
  if (local.llm !== null) return openLlmOf(local.llm, "LLM_LOCAL_MODEL", log);
  return config.llm === null ? openScriptedLlm() : openOpenAiLlm(withAudio(config, config.llm));
}

function openTts({ tts, localModels }: Config, local: LocalOrders, log: Log): Promise<TtsEngine> | TtsEngine {
  if (local.tts !== null)
    return orConfigError(
      "TTS_LOCAL_MODEL",
      openLocalTts({ order: local.tts, voice: localModels.ttsVoice, log }),
    );
  return tts === null ? openEspeakTts({ log }) : openOpenAiTts(tts);
}

/** A model that cannot be used costs its results and one line of the log, and never stops the start. */
export async function openListeningDetector(
  { path, isNamed }: SmartTurnFile,
  logger: Pick<Logger, "info" | "warn">,
): Promise<TurnDetector | null> {
  const alone = "the end of a turn is estimated from the words only";
  if (!existsSync(path)) {
    if (isNamed) logger.warn(`turn detector: ${alone}, because SMART_TURN_MODEL names no file (${path})`);
    else
      logger.info(`turn detector: ${alone}; put a Smart Turn v3 model at ${path} to use the audio as well`);
    return null;
  }
  let isOpen = false;
  // What it reports before it is open is also in the error.
  const log = (message: string): void => {
    if (isOpen) logger.warn(message);
  };
  try {
    const listener = await openSmartTurn({ modelPath: path, log });
    isOpen = true;
    logger.info(`turn detector: the words, and ${SMART_TURN_DESCRIPTION} (${path})`);
    return listener;
  } catch (error) {
    const reason = messageOf(error);
    logger.warn(`turn detector: ${alone}, because ${path} cannot be used: ${reason}`);
    return null;
  }
}

export async function closeEngines(engines: Engines): Promise<void> {
  const { vad, stt, llm, tts, turnDetectors, otherRecognisers = [], vendorModels = [], fallbacks } = engines;
  const voices = Object.values(engines.voiceProviders ?? {});
  const all = [vad, stt, llm, tts, ...turnDetectors, ...otherRecognisers, ...vendorModels, ...voices];
  await closeAll(all);
  if (fallbacks !== undefined) await closeFallbacks(fallbacks);
}

async function closeAll(engines: readonly { close(): Promise<void> }[]): Promise<void> {
  await Promise.all(engines.map((engine) => engine.close()));
}

/** The first server that has a language model is offered, never used. */
function offer(servers: readonly LocalModelServer[], logger: Logger): void {
  const server = servers.find(({ engines }) => engines.includes("llm"));
  if (server === undefined) return;
  const { name, baseUrl, models } = server;
  const [model] = models;
  logger.info(
    `model: ${name} answers on this machine: set LLM_BASE_URL=${baseUrl} and LLM_MODEL` +
      `${model === undefined ? "" : `=${model}`} to use it, if no other model is set`,
  );
}

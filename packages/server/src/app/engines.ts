/**
 * Chooses and opens the engines of this deployment: what the environment names, otherwise the offline ones. Says in one
 * line each which engine is used, why, and what to set for a better one.
 */

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Logger } from "pino";
import type { Config, SmartTurnFile } from "../config/config.ts";
import type { LlmEngine } from "../ports/llm.ts";
import type { SttEngine } from "../ports/stt.ts";
import type { TtsEngine } from "../ports/tts.ts";
import type { TurnDetector } from "../ports/turn-detector.ts";
import type { VadEngine } from "../ports/vad.ts";
import { openOpenAiLlm } from "../providers/llm-openai/llm-openai.ts";
import { openScriptedLlm } from "../providers/llm-scripted/llm-scripted.ts";
import { OFFLINE_STT_DESCRIPTION, openOfflineStt } from "../providers/stt-offline/stt-offline.ts";
import { describeOpenAiStt, openOpenAiStt } from "../providers/stt-openai/stt-openai.ts";
import { openEspeakTts } from "../providers/tts-espeak/tts-espeak.ts";
import { openOpenAiTts } from "../providers/tts-openai/tts-openai.ts";
import { openSmartTurn, SMART_TURN_DESCRIPTION } from "../providers/turn-smart/turn-smart.ts";
import { openTextTurnDetector } from "../providers/turn-text/turn-text.ts";
import { openSileroVad, SILERO_VAD_DESCRIPTION } from "../providers/vad-silero/vad-silero.ts";
import { messageOf } from "../pacing/error-text.ts";

export interface Engines {
  readonly vad: VadEngine;
  readonly stt: SttEngine;
  readonly llm: LlmEngine;
  readonly tts: TtsEngine;
  /** In order of priority: the one that reads text, then the one that uses audio, where its model is installed. */
  readonly turnDetectors: readonly TurnDetector[];
}

/** Usual loopback ports of language model servers. */
const LOCAL_SERVERS: readonly LocalCandidate[] = [
  { name: "Ollama", port: 11_434 },
  { name: "vLLM", port: 8000 },
  { name: "llama.cpp", port: 8080 },
  { name: "LM Studio", port: 1234 },
];

/** A local server answers within milliseconds; the start does not wait longer for a missing one. */
const LOCAL_SERVER_LIMIT_MS = 300;

export const MODEL_PATH = fileURLToPath(new URL("../../models/silero_vad.onnx", import.meta.url));

/** @throws when an engine cannot be opened; what was opened before is closed again. */
export async function openEngines(config: Config, logger: Logger): Promise<Engines> {
  await using opened = new AsyncDisposableStack();
  const keep = async <Engine extends { close(): Promise<void> }>(
    opening: Engine | Promise<Engine>,
  ): Promise<Engine> => {
    const engine = await opening;
    opened.defer(() => engine.close());
    return engine;
  };
  const log = (message: string): void => logger.warn(message);
  const others = LOCAL_SERVERS.filter(({ port }) => port !== config.port);
  const found = config.llm === null ? findLocalServer(others) : Promise.resolve(null);
  const listening = openListeningDetector(config.smartTurnModel, logger);
  const opening = await Promise.allSettled([
    keep(openSileroVad({ modelPath: MODEL_PATH, log })),
    keep(config.stt === null ? openOfflineStt({ log }) : openOpenAiStt(config.stt)),
    keep(config.llm === null ? openScriptedLlm() : openOpenAiLlm(config.llm)),
    keep(config.tts === null ? openEspeakTts({ log }) : openOpenAiTts(config.tts)),
  ]);
  const listener = await listening;
  if (listener !== null) opened.defer(() => listener.close());
  const failed = opening.find((result) => result.status === "rejected");
  if (failed !== undefined) throw failed.reason;
  const [vad, stt, llm, tts] = opening.map((result) => (result.status === "fulfilled" ? result.value : null));
  sayWhichEngines(config, await found, logger);
  const turnDetectors = [openTextTurnDetector(), ...(listener === null ? [] : [listener])];
  opened.move();
  return { vad, stt, llm, tts, turnDetectors } as Engines;
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
  const { vad, stt, llm, tts, turnDetectors } = engines;
  await Promise.all([vad, stt, llm, tts, ...turnDetectors].map((engine) => engine.close()));
}

function sayWhichEngines(config: Config, local: LocalServer | null, logger: Logger): void {
  logger.info(`voice activity: ${SILERO_VAD_DESCRIPTION}`);
  logger.info(
    config.stt === null
      ? `recogniser: ${OFFLINE_STT_DESCRIPTION}, because nothing else is configured; set STT_BASE_URL and STT_MODEL (or ` +
          "OPENAI_API_KEY) to recognise all speech"
      : `recogniser: ${describeOpenAiStt(config.stt)}, as configured`,
  );
  logger.info(
    config.llm === null
      ? "model: the scripted concierge (rules, no language model), because nothing else is configured; " +
          (local === null
            ? "set LLM_BASE_URL and LLM_MODEL (or OPENAI_API_KEY) to use a language model"
            : `${local.name} answers on this machine: set LLM_BASE_URL=${local.baseUrl}` +
              ` and LLM_MODEL${local.model === null ? "" : `=${local.model}`} to use it`)
      : `model: ${config.llm.model} at ${config.llm.baseUrl}, as configured`,
  );
  logger.info(
    config.tts === null
      ? "voice: eSpeak NG (offline, plain), because nothing else is configured; set TTS_BASE_URL, TTS_MODEL and TTS_VOICE " +
          "(or OPENAI_API_KEY) for a more natural voice"
      : `voice: ${config.tts.voice} of ${config.tts.model} at ${config.tts.baseUrl}, as configured`,
  );
}

export interface LocalCandidate {
  readonly name: string;
  readonly port: number;
}

export interface LocalServer {
  readonly name: string;
  readonly baseUrl: string;
  readonly model: string | null;
}

/** The first of the candidates that answers like a model server; it is offered, never used. */
export async function findLocalServer(candidates: readonly LocalCandidate[]): Promise<LocalServer | null> {
  const answers = await Promise.all(candidates.map(({ name, port }) => askForModels(name, port)));
  return answers.find((answer) => answer !== null) ?? null;
}

async function askForModels(name: string, port: number): Promise<LocalServer | null> {
  const baseUrl = `http://127.0.0.1:${String(port)}/v1`;
  try {
    const response = await fetch(`${baseUrl}/models`, { signal: AbortSignal.timeout(LOCAL_SERVER_LIMIT_MS) });
    const answer: unknown = response.ok ? await response.json() : null;
    const models = (answer as { data?: unknown } | null)?.data;
    if (!Array.isArray(models)) return null;
    const id = (models[0] as { id?: unknown } | undefined)?.id;
    // Printed on the console, so only a plain name is repeated.
    return { name, baseUrl, model: typeof id === "string" && /^[\w./:@-]{1,100}$/.test(id) ? id : null };
  } catch {
    return null; // Nothing listens there, or it is something else: both mean that there is nothing to offer.
  }
}

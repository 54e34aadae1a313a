/** Opens the engines that take over, and joins them with the first one of their kind to a list. */

import { ENGINE_KINDS, type EngineKind } from "@parley/schema";
import type { Logger } from "pino";
import type { Config } from "../../config/config.ts";
import { unknownKind } from "../../config/engines-file/engine-entries.ts";
import type { EntryOf, LocalEntry } from "../../config/engines-file/listed-engine.ts";
import { openClock, type Clock } from "../../pacing/clock.ts";
import type { LlmEngine } from "../../ports/llm.ts";
import type { SttEngine } from "../../ports/stt.ts";
import type { TtsEngine } from "../../ports/tts.ts";
import type { ListObserver } from "../../providers/engine-chain/engine-list.ts";
import { ListedEngine } from "../../providers/engine-chain/listed-engine.ts";
import { openLlmChain } from "../../providers/engine-chain/llm-chain.ts";
import { openSttChain } from "../../providers/engine-chain/stt-chain.ts";
import { openTtsChain } from "../../providers/engine-chain/tts-chain.ts";
import { openOpenAiLlm } from "../../providers/llm-openai/llm-openai.ts";
import { openScriptedLlm } from "../../providers/llm-scripted/llm-scripted.ts";
import { openVendorLlm } from "../../providers/llm-sdk/vendors.ts";
import type { LoadOrder } from "../../providers/local-child/local-model.ts";
import { openDeepgramStt } from "../../providers/stt-deepgram/stt-deepgram.ts";
import { openLocalStt } from "../../providers/stt-local/stt-local.ts";
import { openOfflineStt } from "../../providers/stt-offline/stt-offline.ts";
import { openOpenAiStt } from "../../providers/stt-openai/stt-openai.ts";
import { openOpenAiRealtimeStt } from "../../providers/stt-openai-realtime/stt-openai-realtime.ts";
import { openEspeakTts } from "../../providers/tts-espeak/tts-espeak.ts";
import { openLocalTts } from "../../providers/tts-local/tts-local.ts";
import { openOpenAiTts } from "../../providers/tts-openai/tts-openai.ts";
import type { EngineMeter } from "../costs/engine-meter.ts";
import { externalEngine } from "../voices/external-engine.ts";
import type { VoiceProviders } from "../voices/voice-providers.ts";
import { checkSpeaker, llmOrder, localOrder, openLlmOf, orConfigError } from "./local-engines.ts";

interface EngineOf {
  readonly stt: SttEngine;
  readonly llm: LlmEngine;
  readonly tts: TtsEngine;
}

/** The engines after the first one of each kind, in their order, with their health. */
export type FallbackEngines = { readonly [K in EngineKind]: readonly ListedEngine<EngineOf[K]>[] };

export const NO_FALLBACKS: FallbackEngines = { stt: [], llm: [], tts: [] };

interface OpenerParts {
  readonly config: Pick<Config, "dataDir" | "localModels">;
  readonly voiceProviders: VoiceProviders;
  readonly log: (message: string) => void;
}

type Opening<Kind extends EngineKind> = EngineOf[Kind] | Promise<EngineOf[Kind]>;

function openStt(entry: EntryOf["stt"], { config, log }: OpenerParts): Opening<"stt"> {
  switch (entry.kind) {
    case "openai":
      return openOpenAiStt(entry);
    case "openai_realtime":
      return openOpenAiRealtimeStt(entry);
    case "deepgram":
      return openDeepgramStt(entry);
    case "local":
      return orConfigError(entry.setting, openLocalStt({ order: orderOf("stt", entry, config), log }));
    case "built_in":
      return openOfflineStt({ log });
    default:
      return unknownKind(entry);
  }
}

function openLlm(entry: EntryOf["llm"], { config, log }: OpenerParts): Opening<"llm"> {
  switch (entry.kind) {
    case "openai":
      return openOpenAiLlm(entry);
    case "sdk":
      return openVendorLlm(entry.target);
    case "local":
      return openLlmOf(llmOrder(orderOf("llm", entry, config), config), entry.setting, log);
    case "built_in":
      return openScriptedLlm();
    default:
      return unknownKind(entry);
  }
}

function openTts(entry: EntryOf["tts"], { config, voiceProviders, log }: OpenerParts): Opening<"tts"> {
  switch (entry.kind) {
    case "openai":
      return openOpenAiTts({ ...entry, voice: entry.voice ?? "" });
    case "external":
      return externalEngine(entry, voiceProviders);
    case "local": {
      const order = orderOf("tts", entry, config);
      checkSpeaker(order, entry.voice, entry.setting.replace(/model$/, "voice"));
      return orConfigError(entry.setting, openLocalTts({ order, voice: entry.voice, log }));
    }
    case "built_in":
      return openEspeakTts({ log });
    default:
      return unknownKind(entry);
  }
}

/** How each kind of entry is opened. */
const OPENERS: {
  readonly [Kind in EngineKind]: (entry: EntryOf[Kind], parts: OpenerParts) => Opening<Kind>;
} = { stt: openStt, llm: openLlm, tts: openTts };

function orderOf(kind: EngineKind, { model, setting }: LocalEntry, config: OpenerParts["config"]): LoadOrder {
  return localOrder(kind, { name: model, setting }, config);
}

export interface FallbackParts {
  /** Those of voices of vendors, which stay open. Unset: none. */
  readonly voiceProviders?: VoiceProviders;
  readonly clock?: Clock;
}

/**
 * @throws ConfigError for a model of this machine that cannot be used, and whatever else stops an engine from opening;
 * those that are open are closed again
 */
export async function openFallbacks(
  { fallbacks, ...config }: Pick<Config, "fallbacks" | "dataDir" | "localModels">,
  logger: Pick<Logger, "warn" | "info">,
  { voiceProviders = {}, clock = openClock() }: FallbackParts = {},
): Promise<FallbackEngines> {
  await using opened = new AsyncDisposableStack();
  const parts = { config, voiceProviders, log: (message: string): void => logger.warn(message) };
  const openList = async <Kind extends EngineKind>(kind: Kind): Promise<ListedEngine<EngineOf[Kind]>[]> => {
    const listed: ListedEngine<EngineOf[Kind]>[] = [];
    for (const entry of fallbacks[kind]) {
      const engine: EngineOf[Kind] = await OPENERS[kind](entry, parts);
      opened.defer(() => engine.close());
      listed.push(new ListedEngine(entry.name, engine, clock));
    }
    return listed;
  };
  const found = { stt: await openList("stt"), llm: await openList("llm"), tts: await openList("tts") };
  opened.move();
  return found;
}

export async function closeFallbacks(fallbacks: FallbackEngines): Promise<void> {
  await Promise.all(ENGINE_KINDS.flatMap((kind) => fallbacks[kind].map(({ engine }) => engine.close())));
}

export interface ListParts {
  readonly fallbacks: FallbackEngines;
  readonly limits: Config["engineLimits"];
  readonly observer: ListObserver;
  readonly clock: Clock;
}

/** Engines whose requests are counted under a name. */
export const METERED: {
  readonly [K in EngineKind]: (engine: EngineOf[K], name: string, meter: EngineMeter) => EngineOf[K];
} = {
  stt: (engine, name, meter) => meter.stt(engine, name),
  llm: (engine, name, meter) => meter.llm(engine, name),
  tts: (engine, name, meter) => meter.tts(engine, name),
};

/** The same list; its opener still closes the engines. */
export function meteredFallbacks(
  fallbacks: FallbackEngines,
  meter: EngineMeter,
  clock: Clock,
): FallbackEngines {
  const all = <Kind extends EngineKind>(kind: Kind): ListedEngine<EngineOf[Kind]>[] =>
    fallbacks[kind].map(
      ({ name, engine }) => new ListedEngine(name, METERED[kind](engine, name, meter), clock),
    );
  return { stt: all("stt"), llm: all("llm"), tts: all("tts") };
}

/** The engine itself where nothing follows it. */
export const JOIN: {
  readonly [K in EngineKind]: (first: ListedEngine<EngineOf[K]>, parts: ListParts) => EngineOf[K];
} = {
  stt: (first, { fallbacks, limits, ...rest }) =>
    fallbacks.stt.length === 0
      ? first.engine
      : openSttChain({ ...rest, engines: [first, ...fallbacks.stt], answerLimitMs: limits.answerLimitMs }),
  llm: (first, { fallbacks, limits, ...rest }) => {
    const { firstTokenLimitMs, hedgeMs } = limits;
    return fallbacks.llm.length === 0
      ? first.engine
      : openLlmChain({ ...rest, engines: [first, ...fallbacks.llm], firstTokenLimitMs, hedgeMs });
  },
  tts: (first, { fallbacks, limits, ...rest }) => {
    const { firstAudioLimitMs } = limits;
    return fallbacks.tts.length === 0
      ? first.engine
      : openTtsChain({ ...rest, engines: [first, ...fallbacks.tts], firstAudioLimitMs });
  },
};

/** Opens the engines that take over, and joins them with the first one of their kind to a list. */

import { ENGINE_KINDS, type EngineKind } from "@parley/schema";
import type { Logger } from "pino";
import type { Config } from "../../config/config.ts";
import type { FallbackEngine } from "../../config/fallback-engines.ts";
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
import { openOfflineStt } from "../../providers/stt-offline/stt-offline.ts";
import { openOpenAiStt } from "../../providers/stt-openai/stt-openai.ts";
import { openEspeakTts } from "../../providers/tts-espeak/tts-espeak.ts";
import { openOpenAiTts } from "../../providers/tts-openai/tts-openai.ts";
import type { EngineMeter } from "../costs/engine-meter.ts";

interface EngineOf {
  readonly stt: SttEngine;
  readonly llm: LlmEngine;
  readonly tts: TtsEngine;
}

/** The engines after the first one of each kind, in their order, with their health. */
export type FallbackEngines = { readonly [K in EngineKind]: readonly ListedEngine<EngineOf[K]>[] };

export const NO_FALLBACKS: FallbackEngines = { stt: [], llm: [], tts: [] };

type Opener<Kind extends FallbackEngine["kind"]> = {
  readonly [K in EngineKind]: (
    entry: Extract<FallbackEngine, { readonly kind: Kind }>,
    log: (message: string) => void,
  ) => EngineOf[K] | Promise<EngineOf[K]>;
};

/** How each kind of entry is opened. */
const OPENERS: { readonly [Kind in FallbackEngine["kind"]]: Opener<Kind> } = {
  openai: {
    stt: (target) => openOpenAiStt(target),
    llm: (target) => openOpenAiLlm(target),
    tts: (target) => openOpenAiTts({ ...target, voice: target.voice ?? "" }),
  },
  built_in: {
    stt: (_entry, log) => openOfflineStt({ log }),
    llm: () => openScriptedLlm(),
    tts: (_entry, log) => openEspeakTts({ log }),
  },
};

/** @throws when one cannot be opened; those that are open are closed again */
export async function openFallbacks(
  { fallbacks }: Pick<Config, "fallbacks">,
  logger: Pick<Logger, "warn" | "info">,
  clock: Clock = openClock(),
): Promise<FallbackEngines> {
  await using opened = new AsyncDisposableStack();
  const log = (message: string): void => logger.warn(message);
  const openList = async <Kind extends EngineKind>(kind: Kind): Promise<ListedEngine<EngineOf[Kind]>[]> => {
    const listed: ListedEngine<EngineOf[Kind]>[] = [];
    for (const entry of fallbacks[kind]) {
      const engine = await openEntry(kind, entry, log);
      opened.defer(() => engine.close());
      listed.push(new ListedEngine(entry.name, engine, clock));
    }
    return listed;
  };
  const found = { stt: await openList("stt"), llm: await openList("llm"), tts: await openList("tts") };
  opened.move();
  return found;
}

function openEntry<Kind extends EngineKind>(
  kind: Kind,
  entry: FallbackEngine,
  log: (message: string) => void,
): EngineOf[Kind] | Promise<EngineOf[Kind]> {
  // The table pairs each kind of entry with its own openers; the compiler cannot follow that through a union.
  const openers = OPENERS[entry.kind] as { readonly [K in EngineKind]: (...given: unknown[]) => EngineOf[K] };
  return openers[kind](entry, log);
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

/** The name of the first engine of a list, which no other one of the list has. */
export function ownName(name: string, others: readonly ListedEngine<object>[]): string {
  return others.some((other) => other.name === name) ? `${name} (first)` : name;
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
    fallbacks[kind].map(({ name, engine }) => new ListedEngine(name, METERED[kind](engine, name, meter), clock));
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

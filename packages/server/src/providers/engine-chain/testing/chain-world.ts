/** Lists of fake engines on a manual clock, and what they report. */

import type { EngineStep, EngineUser } from "../../../ports/engine-steps.ts";
import type { LlmEngine } from "../../../ports/llm.ts";
import type { SttEngine } from "../../../ports/stt.ts";
import { collect, type Collected } from "../../../ports/testing/collect.ts";
import type { TtsEngine } from "../../../ports/tts.ts";
import { openManualClock, settle, type ManualClock } from "../../../runner/testing/manual-clock.ts";
import type { ListObserver } from "../engine-list.ts";
import { ListedEngine } from "../listed-engine.ts";
import { FIRST_TOKEN_LIMIT_MS, openLlmChain } from "../llm-chain.ts";
import { ANSWER_LIMIT_MS, openSttChain } from "../stt-chain.ts";
import { FIRST_AUDIO_LIMIT_MS, openTtsChain } from "../tts-chain.ts";

export interface World {
  readonly clock: ManualClock;
  readonly used: string[];
  readonly failed: string[];
  readonly steps: EngineStep[];
  readonly user: EngineUser;
  readonly observer: ListObserver;
}

export function openWorld(): World {
  const used: string[] = [];
  const failed: string[] = [];
  const steps: EngineStep[] = [];
  return {
    clock: openManualClock(),
    used,
    failed,
    steps,
    user: { stepped: (step) => void steps.push(step) },
    observer: {
      used: (kind, engine, outcome) => void used.push(`${kind} ${engine} ${outcome}`),
      failed: (_kind, engine, error, next) => void failed.push(`${engine} → ${next ?? "none"}: ${error}`),
    },
  };
}

type Pair<Engine> = readonly [Engine, ...Engine[]];

function listed<Engine>(engines: Pair<Engine>, clock: ManualClock) {
  const [first, ...others] = engines.map(
    (engine, index) => new ListedEngine(["first", "second", "third"][index] ?? "more", engine, clock),
  );
  return [first!, ...others] as const;
}

export const llmOf = (world: World, engines: Pair<LlmEngine>, hedgeMs: number | null = null) =>
  openLlmChain({
    ...world,
    engines: listed(engines, world.clock),
    firstTokenLimitMs: FIRST_TOKEN_LIMIT_MS,
    hedgeMs,
  });
export const ttsOf = (world: World, engines: Pair<TtsEngine>) =>
  openTtsChain({
    ...world,
    engines: listed(engines, world.clock),
    firstAudioLimitMs: FIRST_AUDIO_LIMIT_MS,
  });
export const sttOf = (world: World, engines: Pair<SttEngine>) =>
  openSttChain({ ...world, engines: listed(engines, world.clock), answerLimitMs: ANSWER_LIMIT_MS });

/** Collects while the manual clock moves. */
export async function over<T>(
  clock: ManualClock,
  parts: AsyncIterable<T>,
  ms = 10_000,
): Promise<Collected<T>> {
  const ended: Collected<T>[] = [];
  void collect(parts).then((collected) => ended.push(collected));
  for (let at = 0; at < ms && ended.length === 0; at += 100) await clock.advance(100);
  await settle();
  const [result] = ended;
  if (result === undefined) throw new Error("it does not end");
  return result;
}

/** In small steps: between two of them everything that waits for promises only goes on. */
export async function pass(clock: ManualClock, ms: number): Promise<void> {
  for (let at = 0; at < ms; at += 100) await clock.advance(100);
}

/** Counts and prices what the engines of the deployment are asked for. */

import type { PriceTable } from "../../config/prices.ts";
import { openClock, type Clock } from "../../pacing/clock.ts";
import type { PricedUse, UsedEngine } from "../../ports/engine-use.ts";
import type { LlmEngine } from "../../ports/llm.ts";
import type { SttEngine } from "../../ports/stt.ts";
import type { TtsEngine } from "../../ports/tts.ts";
import { UseMeter, type MeterParts } from "../../providers/engine-meter/engine-meter.ts";
import { meteredLlm } from "../../providers/engine-meter/metered-llm.ts";
import { meteredStt } from "../../providers/engine-meter/metered-stt.ts";
import { meteredTts } from "../../providers/engine-meter/metered-tts.ts";
import { openPrices } from "./prices.ts";

/** Notified of each request; `currency` null: there are no prices. */
export type UseWatcher = (use: PricedUse, currency: string | null) => void;

/** The same engine, with its requests counted. Asked again for an engine, it gives the same object. */
export interface EngineMeter {
  /** Null: there are no prices. */
  readonly currency: string | null;
  /** @param name as the metrics name the engine */
  readonly stt: (engine: SttEngine, name: string) => SttEngine;
  readonly llm: (engine: LlmEngine, name: string) => LlmEngine;
  readonly tts: (engine: TtsEngine, name: string) => TtsEngine;
  /** For an engine that is no `TtsEngine`: a voice of a vendor. */
  readonly of: (engine: UsedEngine) => UseMeter;
  readonly watch: (watcher: UseWatcher) => void;
}

export function openEngineMeter(table: PriceTable | null, clock: Clock = openClock()): EngineMeter {
  const watchers: UseWatcher[] = [];
  const currency = table?.currency ?? null;
  const parts: MeterParts = {
    clock,
    costOf: table === null ? () => null : openPrices(table),
    used: (use) => {
      for (const watcher of watchers) watcher(use, currency);
    },
  };
  const once = <Engine extends object>(wrap: (engine: Engine, name: string, parts: MeterParts) => Engine) => {
    const wrapped = new WeakMap<Engine, Engine>();
    return (engine: Engine, name: string): Engine => {
      const known = wrapped.get(engine) ?? wrap(engine, name, parts);
      wrapped.set(engine, known);
      return known;
    };
  };
  return {
    currency,
    stt: once(meteredStt),
    llm: once(meteredLlm),
    tts: once(meteredTts),
    of: (engine) => new UseMeter(engine, parts),
    watch: (watcher) => void watchers.push(watcher),
  };
}

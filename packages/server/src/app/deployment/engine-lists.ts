/** The lists of engines that new calls use: each is made again when the operator changes its first engine. */

import { ENGINE_KINDS, type EngineKind } from "@parley/schema";
import type { Logger } from "pino";
import type { Config } from "../../config/config.ts";
import { nameOf } from "../../config/engine-entries.ts";
import type { EngineTarget } from "../../config/model-servers.ts";
import { openClock, type Clock } from "../../pacing/clock.ts";
import type { ListObserver } from "../../providers/engine-chain/engine-list.ts";
import { ListedEngine, type EngineReport } from "../../providers/engine-chain/listed-engine.ts";
import type { EngineMeter } from "../costs/engine-meter.ts";
import { ENGINE_NAMES } from "../engine-probe.ts";
import type { Engines } from "../engines.ts";
import type { VoiceFallback } from "../voices/voice-fallback.ts";
import {
  JOIN,
  METERED,
  meteredFallbacks,
  NO_FALLBACKS,
  ownName,
  type FallbackEngines,
} from "./fallback-engines.ts";

type EngineSet = Pick<Engines, EngineKind>;

/** Names for people and metrics. */
type EngineLabels = Readonly<Record<EngineKind, string>>;

/** What a list of engines tells besides the log. */
export type ListWatcher = Pick<ListObserver, "used">;

export interface EngineLists {
  /** What calls use: the list, or the first engine itself where nothing follows it. */
  readonly joined: EngineSet;
  /** The engines of each list in their order; empty: there is no list. */
  reports(): Readonly<Record<EngineKind, readonly EngineReport[]>>;
  watch(watcher: ListWatcher): void;
  /** What takes over from external voices. Null: the deployment has no list of voices, so nothing does. */
  voices(): VoiceFallback | null;
  /** The first engines are these from now on; a list whose first engine stays keeps its health. */
  update(first: EngineSet, names: EngineLabels): void;
}

/** Names of the engines that come with the service. */
const BUILT_IN_NAMES: EngineLabels = {
  stt: "offline recogniser",
  llm: "scripted concierge",
  tts: "eSpeak NG",
};

/** Names of the engines that are first in their lists. */
export function firstNames(
  choices: Readonly<Record<EngineKind, { readonly target: EngineTarget | null }>>,
  { modelFields, deepgram }: Pick<Config, "modelFields" | "deepgram">,
): EngineLabels {
  const labelOf = (kind: EngineKind, own: string | undefined): string => {
    const { target } = choices[kind];
    return target === null ? (own ?? BUILT_IN_NAMES[kind]) : nameOf(target);
  };
  const { STT_LOCAL_MODEL, TTS_LOCAL_MODEL } = modelFields;
  return {
    stt: labelOf("stt", STT_LOCAL_MODEL ?? deepgram?.model),
    llm: labelOf("llm", undefined),
    tts: labelOf("tts", TTS_LOCAL_MODEL),
  };
}

/** @param meter counts the requests to each engine; null: nobody does */
export function createEngineLists(
  fallbacks: FallbackEngines = NO_FALLBACKS,
  limits: Config["engineLimits"],
  logger: Pick<Logger, "warn">,
  clock: Clock = openClock(),
  meter: EngineMeter | null = null,
): EngineLists {
  const others = meter === null ? fallbacks : meteredFallbacks(fallbacks, meter, clock);
  const watchers: ListWatcher[] = [];
  const observer: ListObserver = {
    used: (...use) => {
      for (const watcher of watchers) watcher.used(...use);
    },
    failed: (kind, engine, reason, next) => {
      const then = next === null ? "" : `, and ${next} takes over`;
      logger.warn({ reason }, `${ENGINE_NAMES[kind]}: ${engine} failed${then}`);
    },
  };
  const parts = { fallbacks: others, limits, observer, clock };
  /** As they were given, and as they are used. */
  const given: Partial<Record<EngineKind, object>> = {};
  const firsts: Partial<Record<EngineKind, ListedEngine<object>>> = {};
  let joined: Partial<EngineSet> = {};

  function join<Kind extends EngineKind>(kind: Kind, engine: EngineSet[Kind], name: string) {
    const known = joined[kind];
    if (known !== undefined && given[kind] === engine) return known;
    given[kind] = engine;
    const own = ownName(name, others[kind]);
    const used: EngineSet[Kind] = meter === null ? engine : METERED[kind](engine, own, meter);
    const first = new ListedEngine(own, used, clock);
    firsts[kind] = first;
    return JOIN[kind](first, parts);
  }

  return {
    get joined() {
      return joined as EngineSet;
    },
    reports: () => {
      const lists = ENGINE_KINDS.map((kind) => {
        const first = firsts[kind];
        const listed = others[kind].length === 0 || first === undefined ? [] : [first, ...others[kind]];
        return [kind, listed.map((engine) => engine.report())] as const;
      });
      return Object.fromEntries(lists) as Record<EngineKind, EngineReport[]>;
    },
    watch: (watcher) => void watchers.push(watcher),
    voices: () => {
      // `join` has put a voice there.
      const first = firsts.tts as ListedEngine<EngineSet["tts"]> | undefined;
      if (first === undefined || others.tts.length === 0) return null;
      const { firstAudioLimitMs } = limits;
      return { engines: [first, ...others.tts], clock, observer, firstAudioLimitMs };
    },
    update: (first, names) => {
      joined = {
        stt: join("stt", first.stt, names.stt),
        llm: join("llm", first.llm, names.llm),
        tts: join("tts", first.tts, names.tts),
      };
    },
  };
}

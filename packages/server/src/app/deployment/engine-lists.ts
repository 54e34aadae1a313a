/** The lists of engines that new calls use: each is made again when the operator changes its first engine. */

import { ENGINE_KINDS, type EngineKind } from "@parley/schema";
import type { Logger } from "pino";
import type { Config } from "../../config/config.ts";
import { nameOf } from "../../config/engines-file/engine-entries.ts";
import type { EngineTarget } from "../../config/model-servers.ts";
import { openClock, type Clock } from "../../pacing/clock.ts";
import type { ListObserver } from "../../providers/engine-chain/engine-list.ts";
import { ListedEngine, ownName, type EngineReport } from "../../providers/engine-chain/listed-engine.ts";
import type { EngineMeter } from "../costs/engine-meter.ts";
import { ENGINE_NAMES } from "../engine-probe.ts";
import type { Engines } from "../engines.ts";
import type { VoiceFallback } from "../voices/voice-fallback.ts";
import { JOIN, METERED, meteredFallbacks, NO_FALLBACKS, type FallbackEngines } from "./fallback-engines.ts";

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
  const { STT_LOCAL_MODEL, LLM_LOCAL_MODEL, TTS_LOCAL_MODEL } = modelFields;
  return {
    stt: labelOf("stt", STT_LOCAL_MODEL ?? deepgram?.model),
    llm: labelOf("llm", LLM_LOCAL_MODEL),
    tts: labelOf("tts", TTS_LOCAL_MODEL),
  };
}

interface OpenList<Kind extends EngineKind> {
  /** The first engine as it was given, and with its health. */
  readonly given: EngineSet[Kind];
  readonly first: ListedEngine<EngineSet[Kind]>;
  /** What calls use. */
  readonly joined: EngineSet[Kind];
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
  let lists: { readonly [Kind in EngineKind]: OpenList<Kind> } | null = null;
  let joined: Partial<EngineSet> = {};

  function listOf<Kind extends EngineKind>(
    kind: Kind,
    engine: EngineSet[Kind],
    name: string,
    before: OpenList<Kind> | undefined,
  ): OpenList<Kind> {
    if (before?.given === engine) return before;
    const own = ownName(name, others[kind]);
    const used: EngineSet[Kind] = meter === null ? engine : METERED[kind](engine, own, meter);
    const first = new ListedEngine(own, used, clock);
    return { given: engine, first, joined: JOIN[kind](first, parts) };
  }

  return {
    get joined() {
      return joined as EngineSet;
    },
    reports: () => {
      const found = ENGINE_KINDS.map((kind) => {
        const first = lists?.[kind].first;
        const listed = others[kind].length === 0 || first === undefined ? [] : [first, ...others[kind]];
        return [kind, listed.map((engine) => engine.report())] as const;
      });
      return Object.fromEntries(found) as Record<EngineKind, EngineReport[]>;
    },
    watch: (watcher) => void watchers.push(watcher),
    voices: () => {
      const first = lists?.tts.first;
      if (first === undefined || others.tts.length === 0) return null;
      const { firstAudioLimitMs } = limits;
      return { engines: [first, ...others.tts], clock, observer, firstAudioLimitMs };
    },
    update: (first, names) => {
      lists = {
        stt: listOf("stt", first.stt, names.stt, lists?.stt),
        llm: listOf("llm", first.llm, names.llm, lists?.llm),
        tts: listOf("tts", first.tts, names.tts, lists?.tts),
      };
      joined = { stt: lists.stt.joined, llm: lists.llm.joined, tts: lists.tts.joined };
    },
  };
}

/**
 * The engines that new calls use. They begin as the environment sets them, and change when the operator stores other
 * settings, without a restart. A call keeps the engines that it began with.
 */

import { ENGINE_KINDS, type EngineKind } from "@parley/schema";
import type { Logger } from "pino";
import type { Config } from "../../config/config.ts";
import type { EngineTarget } from "../../config/model-servers.ts";
import { chooseEngine, type EngineChoice } from "../../config/stored-engines.ts";
import { openOpenAiLlm } from "../../providers/llm-openai/llm-openai.ts";
import { routeModels } from "../../providers/llm-router/llm-router.ts";
import { openOpenAiTts } from "../../providers/tts-openai/tts-openai.ts";
import type { StoredEngines } from "../../store/deployment/engine-settings.ts";
import {
  ENGINE_NAMES,
  NO_LIST_PROBLEMS,
  probeEngines,
  probeFallbacks,
  type EngineProblems,
  type ListProblems,
} from "../engine-probe.ts";
import { withAudio, type Engines } from "../engines.ts";
import { openServerStt, routeRecognisers } from "../recognisers.ts";
import { openClock } from "../../pacing/clock.ts";
import { repeat, type Loop } from "../../pacing/repeat.ts";
import type { LlmEngine } from "../../ports/llm.ts";
import type { SttEngine } from "../../ports/stt.ts";
import type { EngineMeter } from "../costs/engine-meter.ts";
import { deepgramVariable, describeTarget, ownEngine } from "./engine-lines.ts";
import { createEngineLists, firstNames, type EngineLists } from "./engine-lists.ts";

/** The engines that can change. */
export type EngineSet = Pick<Engines, EngineKind>;

export type EngineChoices = Readonly<Record<EngineKind, EngineChoice>>;

/** Its members are those of the moment: copy them for what must not change. */
export interface LiveEngines extends Engines {
  readonly choices: EngineChoices;
  /** What is stored, as it was last read. */
  readonly stored: StoredEngines;
  /** What the last look at the servers found. */
  readonly problems: EngineProblems;
  /** The same of those that take over. */
  readonly listProblems: ListProblems;
  /** The first engines of the lists, for what must not be served by another one. */
  readonly first: EngineSet;
  readonly lists: Pick<EngineLists, "reports" | "watch" | "voices">;
  /** Uses what is stored now. One at a time, so that the newest settings stay. */
  reload(): Promise<void>;
  /** Asks the servers whether they can be used. Never rejects. */
  look(signal: AbortSignal): Promise<void>;
}

export interface LiveEngineParts {
  /** As the environment sets them. Their opener closes them. */
  readonly base: Engines;
  readonly config: Pick<
    Config,
    | "stt"
    | "llm"
    | "tts"
    | "modelFields"
    | "llmTakesAudio"
    | "localModels"
    | "sttProtocol"
    | "deepgram"
    | "engineLimits"
    | "fallbacks"
  >;
  readonly readStored: () => Promise<StoredEngines>;
  readonly logger: Pick<Logger, "info" | "warn">;
  /** Counts the requests to each engine. Unset: nobody does. */
  readonly meter?: EngineMeter;
}

const NO_PROBLEMS: EngineProblems = { stt: null, llm: null, tts: null };

/** Until the first `reload`, the engines are those of the environment. */
export function createLiveEngines(parts: LiveEngineParts): LiveEngines {
  const { base, config, readStored, logger, meter = null } = parts;
  let stored: StoredEngines = {};
  let choices = chooseAll(parts, stored);
  /** The first engines of the lists. */
  let engines: EngineSet = base;
  const lists = createEngineLists(base.fallbacks, config.engineLimits, logger, openClock(), meter);
  lists.update(base, firstNames(choices, config));
  let routes = routesOf(parts, lists.joined, base);
  let problems = NO_PROBLEMS;
  let listProblems = NO_LIST_PROBLEMS;
  /** The start says by itself which engines there are. */
  let isLoaded = false;
  let reloading: Promise<void> = Promise.resolve();

  async function load(): Promise<void> {
    const found = await readStored();
    const next = chooseAll(parts, found);
    const open = opener(parts, { engines, choices }, next);
    // Replaced engines are not closed, because calls use them. They hold nothing open between requests.
    const opened = await openAll(config, open);
    for (const kind of ENGINE_KINDS) {
      if (isSame(choices[kind].target, next[kind].target)) continue;
      problems = { ...problems, [kind]: null };
      if (isLoaded) logger.info(`${ENGINE_NAMES[kind]}: new calls use ${described(kind, next, config)}`);
    }
    const isChanged = ENGINE_KINDS.some((kind) => opened[kind] !== engines[kind]);
    [stored, choices, engines, isLoaded] = [found, next, opened, true];
    if (!isChanged) return;
    lists.update(engines, firstNames(choices, config));
    routes = routesOf(parts, lists.joined, engines);
  }

  return {
    vad: base.vad,
    turnDetectors: base.turnDetectors,
    voiceProviders: base.voiceProviders,
    get stt() {
      return routes.stt;
    },
    get llm() {
      return routes.llm;
    },
    get tts() {
      return lists.joined.tts;
    },
    get choices() {
      return choices;
    },
    get stored() {
      return stored;
    },
    get problems() {
      return problems;
    },
    get listProblems() {
      return listProblems;
    },
    get first() {
      return engines;
    },
    lists,
    reload() {
      const run = reloading.then(load);
      reloading = run.catch(() => undefined);
      return run;
    },
    async look(signal) {
      const looked = choices;
      const found = await lookAt(parts, looked, signal);
      // A change meanwhile has a look of its own.
      if (looked === choices && !signal.aborted) [problems, listProblems] = found;
    },
  };
}

async function openAll(
  config: LiveEngineParts["config"],
  open: ReturnType<typeof opener>,
): Promise<EngineSet> {
  return {
    stt: await open("stt", (target) => openServerStt(config, target)),
    llm: await open("llm", (target) => openOpenAiLlm(withAudio(config, target))),
    tts: await open("tts", (target) => openOpenAiTts({ ...target, voice: target.voice ?? "" })),
  };
}

/** Those that are first in their lists, and those that take over. */
function lookAt(
  { config, logger }: LiveEngineParts,
  choices: EngineChoices,
  signal: AbortSignal,
): Promise<[EngineProblems, ListProblems]> {
  return Promise.all([
    probeEngines(choices, logger, signal),
    probeFallbacks(config.fallbacks, logger, signal),
  ]);
}

function described(
  kind: EngineKind,
  choices: EngineChoices,
  config: Pick<Config, "modelFields" | "deepgram">,
): string {
  const { target } = choices[kind];
  return target === null ? ownEngine(kind, config) : describeTarget(target);
}

/** The default recogniser and the model with the name `default`, together with those that calls name. */
function routesOf(
  { base, config, meter }: LiveEngineParts,
  joined: EngineSet,
  first: EngineSet,
): Pick<EngineSet, "stt" | "llm"> {
  const { otherRecognisers = [], vendorModels = [] } = base;
  const countedStt = (engine: SttEngine): SttEngine =>
    meter?.stt(engine, engine.model ?? engine.name) ?? engine;
  // Each has one name, such as `groq:llama-3`.
  const countedLlm = (engine: LlmEngine): LlmEngine =>
    meter?.llm(engine, engine.models[0] ?? engine.name) ?? engine;
  const isDeepgram = config.stt === null && config.localModels.stt === null && config.deepgram !== null;
  // Deepgram, where the environment sets it, can be named beside any server that is stored.
  const others = isDeepgram && first.stt !== base.stt ? [base.stt] : otherRecognisers;
  return {
    stt: routeRecognisers(joined.stt, others.map(countedStt)),
    llm: routeModels(joined.llm, vendorModels.map(countedLlm)),
  };
}

/** Without stored settings, the configuration as it is: tests and programs may have set it in other ways. */
function chooseAll({ config }: LiveEngineParts, stored: StoredEngines): EngineChoices {
  const chosen = ENGINE_KINDS.map((kind) => {
    const own = stored[kind] ?? null;
    const choice = withDeepgram(kind, chooseEngine(kind, config.modelFields, own), config);
    return [kind, own === null ? { ...choice, target: configured(config, kind) } : choice] as const;
  });
  return Object.fromEntries(chosen) as EngineChoices;
}

/** Deepgram has variables of its own, and is not the engine that comes with the service. */
function withDeepgram(
  kind: EngineKind,
  choice: EngineChoice,
  config: Pick<Config, "modelFields" | "deepgram">,
): EngineChoice {
  const isDeepgram = choice.target === null && deepgramVariable(kind, config) !== null;
  return isDeepgram ? { ...choice, source: "environment" } : choice;
}

function configured(config: LiveEngineParts["config"], kind: EngineKind): EngineTarget | null {
  const target = config[kind];
  return target === null ? null : { voice: null, ...target };
}

/** Opens an engine, unless it runs already or is the one of the environment. */
function opener(
  { base, config }: LiveEngineParts,
  running: { readonly engines: EngineSet; readonly choices: EngineChoices },
  next: EngineChoices,
) {
  const own: EngineSet = base;
  return async <Kind extends EngineKind>(
    kind: Kind,
    open: (target: EngineTarget) => EngineSet[Kind] | Promise<EngineSet[Kind]>,
  ): Promise<EngineSet[Kind]> => {
    const { target } = next[kind];
    if (isSame(running.choices[kind].target, target)) return running.engines[kind];
    return target === null || isSame(target, configured(config, kind)) ? own[kind] : open(target);
  };
}

function isSame(one: EngineTarget | null, other: EngineTarget | null): boolean {
  return (
    one?.baseUrl === other?.baseUrl &&
    one?.apiKey === other?.apiKey &&
    one?.model === other?.model &&
    one?.voice === other?.voice
  );
}

/** How long other processes on the same database use what was stored before. */
const FOLLOW_INTERVAL_MS = 10_000;

/** Takes over what another process has stored. */
export function followStored(engines: Pick<LiveEngines, "reload">, logger: Pick<Logger, "warn">): Loop {
  const failed = (error: unknown): void => {
    logger.warn({ error: String(error) }, "the stored settings of the engines could not be read");
  };
  return repeat(
    () => engines.reload(),
    () => FOLLOW_INTERVAL_MS,
    FOLLOW_INTERVAL_MS,
    failed,
  );
}

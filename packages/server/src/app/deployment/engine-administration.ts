/** What requests may do with the engines of the deployment, bound to the live engines and the configuration. */

import {
  type DeploymentEngine,
  type DeploymentEnginesPatch,
  ENGINE_KINDS,
  type EngineKind,
  type EngineTest,
  type FieldError,
  maskSecret,
} from "@parley/schema";
import { ConfigError } from "../../config/config-error.ts";
import type { Config } from "../../config/config.ts";
import { changedEngine, chooseEngine } from "../../config/stored-engines.ts";
import type { CheckedChanges, EngineAdministration } from "../../http/engine-administration.ts";
import type { StoredEngine, StoredEngines } from "../../store/deployment/engine-settings.ts";
import type { Engines } from "../engines.ts";
import { checkedAliases } from "../name-aliases.ts";
import { deepgramVariable, ownEngine } from "./engine-lines.ts";
import { testEngine } from "./engine-test.ts";
import type { LiveEngines } from "./live-engines.ts";
import { findLocalServers, localCandidates } from "./local-servers.ts";

export interface AdministrationParts {
  readonly live: LiveEngines;
  /** As the environment sets them. */
  readonly base: Pick<Engines, "llm" | "tts">;
  readonly config: Pick<Config, "modelFields" | "deepgram" | "aliases" | "vendorModels" | "port">;
  readonly operatorKey: string | null;
  /** Aborts when the service stops. */
  readonly closing: AbortSignal;
}

export function engineAdministration(parts: AdministrationParts): EngineAdministration {
  const { live, config, operatorKey, closing } = parts;
  const testing = new Map<object, Promise<EngineTest>>();
  return {
    operatorKey,
    show: (showsServers) => ({
      stt: engineResource(live, config, "stt", showsServers),
      llm: engineResource(live, config, "llm", showsServers),
      tts: engineResource(live, config, "tts", showsServers),
    }),
    changesOf: (stored, patch) => changesOf(parts, stored, patch),
    reload: () => live.reload(),
    look: () => live.look(closing),
    test(kind) {
      // Those who ask meanwhile get the same result: a model server works for money, or for the only card.
      const engine = live.first[kind];
      const known = testing.get(engine);
      if (known !== undefined) return known;
      const test = testEngine(kind, live.first).finally(() => testing.delete(engine));
      testing.set(engine, test);
      return test;
    },
    findLocalServers: () => findLocalServers(localCandidates(config.port)),
  };
}

function engineResource(
  live: LiveEngines,
  config: Pick<Config, "modelFields" | "deepgram">,
  kind: EngineKind,
  showsServers: boolean,
): DeploymentEngine {
  const { source, target, setBy, unusedReason } = live.choices[kind];
  const apiKey = target?.apiKey ?? null;
  return {
    source,
    description:
      target === null
        ? ownEngine(kind, config, showsServers)
        : [target.voice, target.model].filter(Boolean).join(" of "),
    baseUrl: showsServers ? (target?.baseUrl ?? null) : null,
    model: target?.model ?? null,
    voice: target?.voice ?? null,
    apiKey: showsServers && apiKey !== null ? maskSecret(apiKey) : null,
    selectedBy:
      source === "environment"
        ? (setBy.baseUrl ?? (target === null ? deepgramVariable(kind, config) : null))
        : null,
    setBy,
    isStored: live.stored[kind] !== undefined,
    unusedReason: showsServers ? unusedReason : null,
    warning: showsServers ? live.problems[kind] : null,
    list: live.lists.reports()[kind].map((one) => ({
      ...one,
      error: showsServers ? (one.error ?? live.listProblems[kind].get(one.name) ?? null) : null,
    })),
  };
}

function changesOf(
  parts: AdministrationParts,
  stored: StoredEngines,
  patch: DeploymentEnginesPatch,
): CheckedChanges {
  const errors: FieldError[] = [];
  const changes: [EngineKind, StoredEngine | null][] = [];
  for (const kind of ENGINE_KINDS) {
    const given = patch[kind];
    if (given === undefined) continue;
    const change =
      given === null
        ? { kind: "changed" as const, stored: null }
        : changedEngine(kind, parts.config.modelFields, stored[kind] ?? null, given);
    const found = change.kind === "refused" ? change.errors : aliasProblems(parts, kind, change.stored);
    errors.push(...found.map(({ field, message }) => ({ field: `${kind}.${field}`, message })));
    if (change.kind === "changed") changes.push([kind, change.stored]);
  }
  return errors.length > 0
    ? { kind: "refused", errors }
    : { kind: "changed", changes: Object.fromEntries(changes) };
}

/** The next start would refuse aliases that point to nothing. */
function aliasProblems(
  { config, base }: AdministrationParts,
  kind: EngineKind,
  stored: StoredEngine | null,
): readonly FieldError[] {
  const { target } = chooseEngine(kind, config.modelFields, stored);
  const ofModels = kind === "llm" ? config.aliases.models : [];
  const ofVoices = kind === "tts" ? config.aliases.voices : [];
  const ofVendors = config.vendorModels.map(({ name }) => name);
  const models = [...(target === null ? base.llm.models : [target.model]), ...ofVendors];
  const voices = target === null ? base.tts.voices : [target.voice ?? ""];
  try {
    checkedAliases({ aliases: { models: ofModels, voices: ofVoices } }, { llm: { models }, tts: { voices } });
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [
      { field: kind === "tts" ? "voice" : "model", message: `does not go with a setting: ${error.message}` },
    ];
  }
}

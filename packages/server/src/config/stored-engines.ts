/**
 * Which server each engine uses: what the environment says, completed by what the operator has stored. The environment
 * always wins. Settings that are stored for one server are never used for another one, above all their key.
 */

import type { EngineField, EngineKind, EngineSource, EngineWrite, FieldError } from "@parley/schema";
import type { StoredEngine } from "../store/deployment/engine-settings.ts";
import { LOCAL_VARIABLES } from "./local-models.ts";
import {
  engineTarget,
  OPENAI_BASE_URL,
  PREFIXES,
  type EngineTarget,
  type ModelFields,
  type Prefix,
} from "./model-servers.ts";

export interface EngineChoice {
  readonly source: EngineSource;
  /** Null: the engine that comes with the service. */
  readonly target: EngineTarget | null;
  /** The variable that sets each field; null: it can be stored. */
  readonly setBy: Readonly<Record<EngineField, string | null>>;
  /** Why what is stored is not used, as a sentence; null: it is used, or there is nothing. */
  readonly unusedReason: string | null;
}

export function chooseEngine(kind: EngineKind, env: ModelFields, stored: StoredEngine | null): EngineChoice {
  const local = localVariable(kind, env);
  if (local !== null) return ofThisMachine(kind, local, stored);
  const prefix = PREFIXES[kind];
  const named = namedServer(env, prefix);
  const isElsewhere = stored !== null && named !== null && named.baseUrl !== stored.baseUrl;
  const used = isElsewhere ? null : stored;
  const target = engineTarget(kind, used === null ? env : completed(env, prefix, used));
  return {
    source: named !== null ? "environment" : target === null ? "built_in" : "stored",
    target,
    setBy: setBy(kind, env, named, target),
    unusedReason: isElsewhere
      ? `The stored settings are for ${stored.baseUrl}, and ${named.variable} sets another server.`
      : null,
  };
}

/** The variable that selects a model of this machine; null: none does. */
function localVariable(kind: EngineKind, env: ModelFields): string | null {
  const variable = LOCAL_VARIABLES[kind];
  return env[variable] === undefined ? null : variable;
}

function ofThisMachine(kind: EngineKind, variable: string, stored: StoredEngine | null): EngineChoice {
  return {
    source: "environment",
    target: null,
    setBy: { baseUrl: variable, apiKey: variable, model: variable, voice: kind === "tts" ? variable : null },
    unusedReason:
      stored === null
        ? null
        : `The stored settings are for ${stored.baseUrl}, and ${variable} selects a model of this machine.`,
  };
}

export type EngineChange =
  | { readonly kind: "changed"; readonly stored: StoredEngine }
  | { readonly kind: "refused"; readonly errors: readonly FieldError[] };

/** What is stored after a change, or why it cannot be; paths are relative to the engine. */
export function changedEngine(
  kind: EngineKind,
  env: ModelFields,
  before: StoredEngine | null,
  given: EngineWrite,
): EngineChange {
  const named = namedServer(env, PREFIXES[kind]);
  const baseUrl = named?.baseUrl ?? given.baseUrl ?? OPENAI_BASE_URL;
  const kept = before?.baseUrl === baseUrl ? before.apiKey : null;
  const apiKey = given.apiKey === "" ? null : (given.apiKey ?? kept);
  const stored: StoredEngine = { baseUrl, apiKey, model: given.model ?? null, voice: given.voice ?? null };
  const { setBy: fixed, target } = chooseEngine(kind, env, stored);
  const errors: FieldError[] = Object.entries(fixed).flatMap(([field, variable]) =>
    variable === null || given[field as EngineField] === undefined
      ? []
      : [{ field, message: `is set by ${variable} in the environment, and cannot be changed by a request` }],
  );
  if (errors.length === 0 && baseUrl === OPENAI_BASE_URL && (target?.apiKey ?? null) === null) {
    errors.push({ field: "apiKey", message: "is required for OpenAI; for another server, set baseUrl" });
  } else if (errors.length === 0 && target === null) {
    errors.push({ field: "model", message: "is required: the name of the model at this server" });
  }
  return errors.length === 0 ? { kind: "changed", stored } : { kind: "refused", errors };
}

interface NamedServer {
  readonly baseUrl: string;
  readonly variable: string;
}

/** The server that the environment sets; a key alone sets OpenAI's. */
function namedServer(env: ModelFields, prefix: Prefix): NamedServer | null {
  const own = env[`${prefix}_BASE_URL`];
  if (own !== undefined) return { baseUrl: own, variable: `${prefix}_BASE_URL` };
  const keys = [`${prefix}_API_KEY`, "OPENAI_API_KEY"] as const;
  const variable = keys.find((name) => env[name] !== undefined);
  return variable === undefined ? null : { baseUrl: OPENAI_BASE_URL, variable };
}

function setBy(
  kind: EngineKind,
  env: ModelFields,
  named: NamedServer | null,
  target: EngineTarget | null,
): EngineChoice["setBy"] {
  const prefix = PREFIXES[kind];
  const ifSet = (name: keyof ModelFields): string | null => (env[name] === undefined ? null : name);
  const sharedKey = target?.baseUrl === OPENAI_BASE_URL ? ifSet("OPENAI_API_KEY") : null;
  return {
    baseUrl: named?.variable ?? null,
    apiKey: ifSet(`${prefix}_API_KEY`) ?? sharedKey,
    model: ifSet(`${prefix}_MODEL`),
    voice: kind === "tts" ? ifSet("TTS_VOICE") : null,
  };
}

/** The variables as if those that are unset had the stored values. */
function completed(env: ModelFields, prefix: Prefix, stored: StoredEngine): ModelFields {
  const { baseUrl, apiKey, model, voice } = stored;
  const hasSharedKey = baseUrl === OPENAI_BASE_URL && env.OPENAI_API_KEY !== undefined;
  return {
    ...env,
    [`${prefix}_BASE_URL`]: baseUrl,
    [`${prefix}_API_KEY`]: env[`${prefix}_API_KEY`] ?? (hasSharedKey ? undefined : (apiKey ?? undefined)),
    [`${prefix}_MODEL`]: env[`${prefix}_MODEL`] ?? model ?? undefined,
    ...(prefix === "TTS" ? { TTS_VOICE: env.TTS_VOICE ?? voice ?? undefined } : {}),
  };
}

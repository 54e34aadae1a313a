/** Reads the variables, and names everything that is wrong with them at once. */

import type { z } from "zod";
import { ConfigError } from "./config-error.ts";
import { Environment } from "./environment.ts";
import { languageModelConflicts } from "./language-models.ts";
import { fallbackConflicts } from "./fallback-engines.ts";
import { modelConflicts } from "./model-servers.ts";
import { renamedSettings } from "./renamed-settings.ts";

type Variables = Readonly<Record<string, string | undefined>>;

/** @throws ConfigError that names every wrong variable, in a sentence each */
export function readEnvironment(env: Variables): Environment {
  const present = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value.trim() !== ""),
  );
  const renamed = renamedSettings(present);
  const parsed = Environment.safeParse(present);
  const wrong = parsed.success ? [] : namesIn(parsed.error);
  const problems = [...renamed, ...(parsed.success ? [] : sentencesOf(parsed.error))];
  const others = wrong.length === 0 ? parsed : Environment.safeParse(without(present, wrong));
  // What a wrong variable seems to be missing for another one is only a consequence.
  const also = (others.success ? conflictsOf(others.data) : sentencesOf(others.error)).filter(
    (sentence) => !wrong.some((name) => sentence.includes(name)),
  );
  const all = [...new Set([...problems, ...also])];
  if (parsed.success && all.length === 0) return parsed.data;
  const [only = ""] = all;
  throw new ConfigError(
    all.length === 1 ? only : `${String(all.length)} settings are wrong:\n  ${all.join("\n  ")}`,
  );
}

function namesIn(error: z.ZodError): string[] {
  return error.issues.map(({ path }) => String(path[0]));
}

function sentencesOf(error: z.ZodError): string[] {
  return error.issues.map(({ path, message }) => `${String(path[0])} ${message}.`);
}

function without(present: Variables, names: readonly string[]): Variables {
  return Object.fromEntries(Object.entries(present).filter(([name]) => !names.includes(name)));
}

/** Sentences about values that are right, but not together. */
function conflictsOf(values: Environment): string[] {
  const { DATABASE_URL, SECRETS_KEY, RESERVED_LIVE_CALLS: reserved, MAX_LIVE_CALLS: all } = values;
  const conflicts = [
    ...modelConflicts(values),
    ...fallbackConflicts(values),
    ...languageModelConflicts(values),
  ];
  if (DATABASE_URL !== undefined && SECRETS_KEY === undefined) {
    conflicts.push(
      "SECRETS_KEY is required together with DATABASE_URL (32 bytes in base64, for example from `openssl rand -base64 32`).",
    );
  }
  if (values.OPERATOR_KEY !== undefined && values.OPERATOR_KEY_FILE !== undefined) {
    conflicts.push("OPERATOR_KEY and OPERATOR_KEY_FILE must not both be set.");
  }
  if (reserved !== undefined && reserved >= all) {
    conflicts.push("RESERVED_LIVE_CALLS must be less than MAX_LIVE_CALLS.");
  }
  return conflicts;
}

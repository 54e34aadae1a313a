/** Looks up a name of a template by the rules of call creation. */

import { ParleyError, type RestClient } from "@parley/client/rest";
import { standsForDefaultModel } from "@parley/schema/names/model-families";
import type { Reference } from "./references.ts";

/** Rows of a search that are read to find one name; a part of the name may match many. */
const MAX_SEARCHED_ROWS = 1_000;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const REFUSED = "Calls with this agent will fail.";

/** The path whose changes may change the answer. */
export function pathOf({ kind }: Reference): "/api/models" | "/api/voices" | "/api/tools" {
  if (kind === "model") return "/api/models";
  return kind === "voice" ? "/api/voices" : "/api/tools";
}

/** Why calls with this name will be refused; null: they will not be, as far as the name is concerned. */
export async function problemOf(
  api: RestClient,
  { kind, name }: Reference,
  signal: AbortSignal,
): Promise<string | null> {
  if (kind === "model") {
    const isKnown = (await hasModel(api, name, signal)) || (await isAlias(api, "models", name, signal));
    return isKnown ? null : `Model “${name}” does not exist. ${REFUSED}`;
  }
  const query = { search: name, pageSize: 100 };
  if (kind === "toolName") {
    return ofNamed("tool", name, await countNamed(name, api.rows("/api/tools", { query, signal })));
  }
  const isId = UUID.test(name);
  if (kind === "toolId") {
    // Another text is no id: the service refuses it when the agent is saved.
    if (!isId) return null;
    const params = { tool_id: name };
    const found = await exists(() => api.fetch("GET", "/api/tools/{tool_id}", { params, signal }));
    return found ? null : `No tool has this ID. It may have been deleted. ${REFUSED}`;
  }
  const params = { voice_id: name };
  if (isId && (await exists(() => api.fetch("GET", "/api/voices/{voice_id}", { params, signal }))))
    return null;
  const found = await countNamed(name, api.rows("/api/voices", { query, signal }));
  if (found === "none" && (await isAlias(api, "voices", name, signal))) return null;
  return ofNamed("voice", name, found);
}

/** Whether the operator has given this name, or every unknown name, a meaning. */
async function isAlias(
  api: RestClient,
  of: "voices" | "models",
  wanted: string,
  signal: AbortSignal,
): Promise<boolean> {
  const aliases = await api.fetch("GET", "/api/name_aliases", { signal });
  // Ids are read in any case, names are not.
  const spelled = (name: string): string => (UUID.test(name) ? name.toLowerCase() : name);
  return aliases[of].some(({ name }) => name === "*" || spelled(name) === spelled(wanted));
}

async function hasModel(api: RestClient, wanted: string, signal: AbortSignal): Promise<boolean> {
  if (standsForDefaultModel(wanted)) return true;
  for await (const { name } of api.rows("/api/models", { query: { pageSize: 100 }, signal })) {
    if (name === wanted) return true;
  }
  return false;
}

async function exists(read: () => Promise<unknown>): Promise<boolean> {
  try {
    await read();
    return true;
  } catch (error) {
    if (error instanceof ParleyError && error.status === 404) return false;
    throw error;
  }
}

interface Named {
  readonly name: string;
  readonly ownership: "public" | "private";
}

type Found = "none" | "one" | "several" | "too many to say";

/** Own records win over public ones of the same name, and only one of them may have it. */
async function countNamed(wanted: string, rows: AsyncIterable<Named>): Promise<Found> {
  let own = 0;
  let isPublic = false;
  let read = 0;
  for await (const { name, ownership } of rows) {
    read += 1;
    if (name === wanted && ownership === "public") isPublic = true;
    if (name === wanted && ownership === "private") own += 1;
    if (own > 1) return "several";
    if (read >= MAX_SEARCHED_ROWS) return own === 0 && !isPublic ? "too many to say" : "one";
  }
  return own === 0 && !isPublic ? "none" : "one";
}

function ofNamed(what: "voice" | "tool", name: string, found: Found): string | null {
  if (found === "none")
    return `${what === "voice" ? "Voice" : "Tool"} “${name}” does not exist. It may have been deleted. ${REFUSED}`;
  if (found === "several")
    return `More than one ${what} has the name “${name}”. Use an ID instead. ${REFUSED}`;
  return null;
}

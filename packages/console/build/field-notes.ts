/**
 * A plugin for modules such as `virtual:field-notes/CallTemplate`: texts and bounds of the fields of an API schema, so
 * that forms do not repeat them and no schema library is sent to the browser.
 */

import { openApiDocument, type JsonObject, type JsonValue } from "@parley/schema";
import type { Plugin } from "vite";

const PREFIX = "virtual:field-notes/";
/** Schemas refer to each other; forms go no deeper than this. */
const MAX_DEPTH = 8;

/** The notes on a property; `path` is dotted and has `*` for the positions of a list. */
type Notes = Record<string, Record<string, JsonValue>>;

const KEPT: readonly (readonly [from: string, to: string])[] = [
  ["description", "hint"],
  ["default", "byDefault"],
  ["minimum", "min"],
  ["maximum", "max"],
  ["x-minimum", "min"],
  ["x-maximum", "max"],
  ["minLength", "minLength"],
  ["maxLength", "maxLength"],
  ["maxItems", "maxItems"],
  ["enum", "choices"],
];

/** @throws when there is no schema of this name */
export function notesOf(schemaName: string): Notes {
  const document = openApiDocument({ baseUrl: "", version: "" });
  const schemas = asObject(asObject(document["components"])["schemas"]);
  if (schemas[schemaName] === undefined) throw new Error(`There is no schema ${schemaName}.`);
  const notes: Notes = {};
  collect({ $ref: `#/components/schemas/${schemaName}` }, "", 0, { schemas, notes });
  return notes;
}

interface Collected {
  readonly schemas: JsonObject;
  readonly notes: Notes;
}

function collect(given: JsonObject, path: string, depth: number, all: Collected): void {
  if (depth > MAX_DEPTH) return;
  const { $ref, ...beside } = given;
  const named = typeof $ref === "string" ? asObject(all.schemas[$ref.split("/").pop() ?? ""]) : {};
  const schema: JsonObject = { ...named, ...beside };
  if (path !== "") {
    const kept = KEPT.flatMap(([from, to]) => {
      const value = schema[from];
      return value === undefined ? [] : [[to, value] as const];
    });
    all.notes[path] = { ...Object.fromEntries(kept), ...all.notes[path] };
  }
  for (const part of ["oneOf", "anyOf", "allOf"]) {
    const forms = schema[part];
    if (Array.isArray(forms)) for (const form of forms) collect(asObject(form), path, depth + 1, all);
  }
  for (const [name, property] of Object.entries(asObject(schema["properties"]))) {
    collect(asObject(property), path === "" ? name : `${path}.${name}`, depth + 1, all);
  }
  if (schema["items"] !== undefined) collect(asObject(schema["items"]), `${path}.*`, depth + 1, all);
}

function asObject(value: JsonValue | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}

export function fieldNotes(): Plugin {
  return {
    name: "parley-field-notes",
    resolveId: (id) => (id.startsWith(PREFIX) ? `\0${id}` : null),
    load: (id) =>
      id.startsWith(`\0${PREFIX}`)
        ? `export const notes = ${JSON.stringify(notesOf(id.slice(PREFIX.length + 1)))};`
        : null,
  };
}

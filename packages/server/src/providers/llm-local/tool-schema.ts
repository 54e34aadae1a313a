/**
 * The schema of a tool's arguments as node-llama-cpp can make a grammar of it, so that a model can only write arguments
 * of this form. Pure. The arguments are compared with the whole schema later, so a form that is too wide is no harm.
 */

import type { GrammarSchema } from "./llm-protocol.ts";

type Json = Readonly<Record<string, unknown>>;

/** Deeper parts of a schema may be anything. */
const MAX_DEPTH = 8;
/** Of a list of alternatives or values. */
const MAX_ALTERNATIVES = 200;
/**
 * Parts of one schema together. References may lead back to where they are, so that a short schema would have a number of
 * parts that grows with each level; what does not fit may be anything.
 */
export const MAX_PARTS = 2_000;
/** A grammar repeats its parts; larger bounds would make it large, and are left to the later check. */
const MAX_REPEATED = 100;

const SIMPLE_TYPES = ["string", "number", "integer", "boolean", "null"];
const FORMATS = ["date-time", "time", "date"];

const NOTHING: GrammarSchema = { type: "null" };
const ANY_OBJECT: GrammarSchema = { type: "object", additionalProperties: true };
const ANY: GrammarSchema = {
  oneOf: [{ type: SIMPLE_TYPES.filter((type) => type !== "integer") }, ANY_OBJECT, { type: "array" }],
};

/** Null: the tool takes no arguments. */
export function grammarSchema(schema: unknown): GrammarSchema | null {
  const root = isJson(schema) ? schema : {};
  const found = mapped(root, { root, depth: 0, parts: { left: MAX_PARTS } });
  if (found.type !== "object" || found.properties === undefined) return ANY_OBJECT;
  const isEmpty = Object.keys(found.properties).length === 0;
  return isEmpty && root["additionalProperties"] === undefined ? null : found;
}

/** Arguments without the nulls that stand for what the model left out. */
export function withoutOmitted(value: unknown, schema: unknown, root: unknown = schema): unknown {
  const known = isJson(root) ? resolved(schema, root) : null;
  if (known === null) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => withoutOmitted(item, known["items"], root));
  if (!isJson(value) || !isJson(known["properties"])) return value;
  const properties = known["properties"];
  const required = stringsIn(known["required"]);
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, item]) => item !== null || required.includes(name) || !(name in properties))
      .map(([name, item]) => [name, withoutOmitted(item, properties[name], root)]),
  );
}

interface Place {
  readonly root: Json;
  readonly depth: number;
  /** Of the whole schema. */
  readonly parts: { left: number };
}

/** False: the schema has too many parts. */
function takes({ parts }: Place, count: number): boolean {
  if (count > parts.left) return false;
  parts.left -= count;
  return true;
}

function mapped(schema: unknown, place: Place): GrammarSchema {
  const known = place.depth > MAX_DEPTH ? null : resolved(schema, place.root);
  if (known === null) return ANY;
  const described = typeof known["description"] === "string" ? { description: known["description"] } : {};
  return { ...formOf(known, place), ...described };
}

function formOf(known: Json, place: Place): GrammarSchema {
  const values = "const" in known ? [known["const"]] : known["enum"];
  if (Array.isArray(values)) return valuesOf(values);
  const inner = { ...place, depth: place.depth + 1 };
  const alternatives = known["oneOf"] ?? known["anyOf"];
  if (Array.isArray(alternatives))
    return alternatives.length === 0 ||
      alternatives.length > MAX_ALTERNATIVES ||
      !takes(place, alternatives.length)
      ? ANY
      : { oneOf: alternatives.map((one) => mapped(one, inner)) };
  const { allOf, type } = known;
  if (Array.isArray(allOf)) return allOf.length === 1 ? mapped(allOf[0], inner) : ANY;
  if (Array.isArray(type)) return typesOf(known, type, place);
  if (type === "object" || (type === undefined && isJson(known["properties"]))) return objectOf(known, inner);
  if (type === "array") return arrayOf(known, inner);
  if (type === "string") return stringOf(known);
  return typeof type === "string" && SIMPLE_TYPES.includes(type) ? { type } : ANY;
}

/** The schema itself, or what it refers to. Null: anything. */
function resolved(schema: unknown, root: Json): Json | null {
  let found = schema;
  for (let hops = 0; hops <= MAX_DEPTH; hops += 1) {
    if (!isJson(found)) return null;
    const reference = found["$ref"];
    if (typeof reference !== "string") return found;
    const [, kind = "", name = ""] = /^#\/(\$defs|definitions)\/(.+)$/.exec(reference) ?? [];
    const definitions = root[kind];
    found = isJson(definitions) ? definitions[name.replaceAll("~1", "/").replaceAll("~0", "~")] : null;
  }
  return null;
}

function valuesOf(values: readonly unknown[]): GrammarSchema {
  const simple = values.filter(
    (value) => value === null || ["string", "number", "boolean"].includes(typeof value),
  ) as (string | number | boolean | null)[];
  const fits = simple.length === values.length && values.length > 0 && values.length <= MAX_ALTERNATIVES;
  return fits ? { enum: simple } : ANY;
}

function typesOf(known: Json, types: readonly unknown[], place: Place): GrammarSchema {
  if (!takes(place, types.length)) return ANY;
  const inner = { ...place, depth: place.depth + 1 };
  const all = types.map((type) => mapped({ ...known, type }, inner));
  return all.length === 0 ? ANY : { oneOf: all };
}

/** The grammar has no properties that may be missing: those may be null, which is removed afterwards. */
function objectOf(known: Json, inner: Place): GrammarSchema {
  const properties = isJson(known["properties"]) ? known["properties"] : {};
  const required = stringsIn(known["required"]);
  const names = Object.keys(properties);
  // Itself and its additional properties are counted as well.
  if (!takes(inner, names.length + 2)) return ANY_OBJECT;
  const form = Object.fromEntries(
    names.map((name) => {
      const own = mapped(properties[name], inner);
      return [name, required.includes(name) ? own : optionalOf(own)];
    }),
  );
  const others = known["additionalProperties"];
  if (isJson(others))
    return { type: "object", properties: form, additionalProperties: mapped(others, inner) };
  const isOpen = others === true || (others === undefined && names.length === 0 && inner.depth > 1);
  return { type: "object", properties: form, ...(isOpen ? { additionalProperties: true } : {}) };
}

function optionalOf({ description, ...form }: GrammarSchema): GrammarSchema {
  const described = description === undefined ? {} : { description };
  return { oneOf: [form, NOTHING], ...described };
}

function arrayOf(known: Json, inner: Place): GrammarSchema {
  if (!takes(inner, 1)) return { type: "array" };
  const bounds = boundsOf(known, ["minItems", "maxItems"]);
  return {
    type: "array",
    ...(known["items"] === undefined ? {} : { items: mapped(known["items"], inner) }),
    ...bounds,
  };
}

function stringOf(known: Json): GrammarSchema {
  const { format } = known;
  if (typeof format === "string" && FORMATS.includes(format)) return { type: "string", format };
  return { type: "string", ...boundsOf(known, ["minLength", "maxLength"]) };
}

function boundsOf(known: Json, names: readonly string[]): Readonly<Record<string, number>> {
  const found = names.flatMap((name) => {
    const value = known[name];
    const fits = typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MAX_REPEATED;
    return fits ? [[name, value] as const] : [];
  });
  return Object.fromEntries(found);
}

function stringsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

function isJson(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

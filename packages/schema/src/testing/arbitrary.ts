/** Generators of random values that the printed schemas allow, and of such values with one error. */

import * as fc from "fast-check";
import { parseDurationMs } from "../values/duration.ts";
import type { JsonObject, JsonValue } from "../openapi/openapi-schemas.ts";

type Components = Readonly<Record<string, JsonObject>>;

/** Deeper values have the smallest allowed size. */
const MAX_DEPTH = 6;
const MAX_ITEMS = 3;

/** Texts that have broken other software: SQL, paths, templates, scripts, unusual letters. None contains U+0000. */
export const TRICKY_TEXTS = [
  "'; drop table agents; --",
  "' or 1=1 --",
  "\\'; select pg_sleep(10); --",
  "../../../etc/passwd",
  "..%2f..%2f",
  "%00",
  "{{x}}",
  "{{#a}}",
  "{{{",
  "${jndi:x}",
  "<script>alert(1)</script>",
  "\u202e\u200b",
  "😀👩‍👩‍👧",
  "İ",
  "ß".repeat(40),
  "%_\\",
  "__proto__",
  "constructor",
  "null",
  "-0",
  "1e309",
  " ",
  "\ud83d\ude00".repeat(20),
] as const;

/** An address without a listener: a request by mistake fails at once and does not leave the machine. */
const HTTP_TARGETS = ["http://127.0.0.1:1/a", "https://127.0.0.1:1/b?c=d", "http://127.0.0.1:1"] as const;
const WEBSOCKET_TARGETS = ["ws://127.0.0.1:1/a", "wss://127.0.0.1:1"] as const;

export function textArbitrary(minLength = 0, maxLength = 60): fc.Arbitrary<string> {
  const fitting = TRICKY_TEXTS.filter((text) => {
    const { length } = Array.from(text);
    return length >= minLength && length <= maxLength;
  });
  const plain = fc
    .string({ unit: "grapheme", minLength, maxLength: Math.min(Math.max(minLength, 12), maxLength) })
    .filter((text) => !text.includes("\u0000") && text.isWellFormed());
  const words = fc
    .stringMatching(/^[a-z]{1,10}$/)
    .map((text) => text.padEnd(minLength, "x").slice(0, maxLength));
  return fitting.length === 0 ? fc.oneof(plain, words) : fc.oneof(words, plain, fc.constantFrom(...fitting));
}

/** Free-form JSON of the user: any small value. */
export function freeValue(): fc.Arbitrary<unknown> {
  return fc.jsonValue({ maxDepth: 2, stringUnit: "grapheme-ascii" });
}

/** A value that the schema allows. Rules between fields, which a schema cannot express, may still refuse it. */
export function valueOf(schema: JsonObject, components: Components, depth = 0): fc.Arbitrary<unknown> {
  const reference = schema["$ref"];
  if (typeof reference === "string") {
    const target = components[reference.replace("#/components/schemas/", "")] ?? {};
    return valueOf(target, components, depth + 1);
  }
  if (schema["const"] !== undefined) return fc.constant(schema["const"]);
  if (Array.isArray(schema["enum"])) return fc.constantFrom(...schema["enum"]);
  const options = schema["oneOf"] ?? schema["anyOf"];
  if (Array.isArray(options) && schema["properties"] === undefined) {
    return fc.oneof(...options.map((option) => valueOf(asObject(option), components, depth + 1)));
  }
  const { type = "any" } = schema;
  if (Array.isArray(type)) {
    return fc.oneof(...type.map((one) => valueOf({ ...schema, type: one }, components, depth)));
  }
  switch (typeof type === "string" ? type : "any") {
    case "string":
      return stringOf(schema);
    case "integer":
      return fc.integer({ min: boundOf(schema, "minimum", -5), max: boundOf(schema, "maximum", 100_000) });
    case "number":
      return numberOf(schema);
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    case "array":
      return listOf(schema, components, depth);
    case "object":
      return objectOf(schema, components, depth);
    default:
      return freeValue();
  }
}

function boundOf(schema: JsonObject, key: string, otherwise: number): number {
  const bound = schema[key];
  const isUsual = typeof bound === "number" && Math.abs(bound) < Number.MAX_SAFE_INTEGER;
  return isUsual ? bound : otherwise;
}

function numberOf(schema: JsonObject): fc.Arbitrary<number> {
  const above = schema["exclusiveMinimum"];
  const min = typeof above === "number" ? above : boundOf(schema, "minimum", -10);
  const max = boundOf(schema, "maximum", Math.max(min + 1, 10));
  const number = fc.double({ min, max, noNaN: true }).map((value) => (Object.is(value, -0) ? 0 : value));
  return fc.oneof(
    fc.constant(max),
    typeof above === "number" ? number.filter((value) => value > above) : number,
  );
}

function stringOf(schema: JsonObject): fc.Arbitrary<string> {
  const { format, pattern } = schema;
  switch (typeof format === "string" ? format : "") {
    case "uuid":
      return fc.oneof(
        fc.uuid(),
        fc.uuid().map((id) => id.toUpperCase()),
      );
    case "uri":
      return fc.constantFrom(...HTTP_TARGETS, ...WEBSOCKET_TARGETS);
    case "date-time":
      return fc
        .date({ min: new Date("2020-01-01"), max: new Date("2030-01-01"), noInvalidDate: true })
        .map((date) => date.toISOString());
    case "duration-seconds":
      return durationOf(schema);
    default:
      break;
  }
  if (typeof pattern === "string") return fc.stringMatching(new RegExp(pattern, "u"));
  return textArbitrary(boundOf(schema, "minLength", 0), boundOf(schema, "maxLength", 60));
}

function durationOf(schema: JsonObject): fc.Arbitrary<string> {
  const ms = (key: string, otherwise: number): number => {
    const bound = schema[key];
    return typeof bound === "string" ? parseDurationMs(bound) : otherwise;
  };
  const min = Math.max(1, ms("x-minimum", 0));
  return fc
    .integer({ min, max: Math.max(min, ms("x-maximum", 100_000)) })
    .chain((value) => fc.constantFrom(`${value / 1000}s`, `${(value / 1000).toFixed(9)}s`));
}

function listOf(schema: JsonObject, components: Components, depth: number): fc.Arbitrary<unknown[]> {
  const minLength = boundOf(schema, "minItems", 0);
  const maxLength = Math.max(
    minLength,
    depth > MAX_DEPTH ? 0 : Math.min(MAX_ITEMS, boundOf(schema, "maxItems", MAX_ITEMS)),
  );
  return fc.array(valueOf(asObject(schema["items"] ?? {}), components, depth + 1), { minLength, maxLength });
}

/** Names that are safe as keys of any object, including unusual ones. */
const keyArbitrary = fc.oneof(
  fc.stringMatching(/^[a-zA-Z][\w-]{0,12}$/),
  fc.constantFrom("a.b", "ключ", "x y", "'; --"),
);

function objectOf(schema: JsonObject, components: Components, depth: number): fc.Arbitrary<object> {
  const properties = Object.entries(asObject(schema["properties"] ?? {})).filter(
    // Fields that only responses have are useless in a body.
    ([, property]) => asObject(property)["readOnly"] !== true,
  );
  const required = new Set(Array.isArray(schema["required"]) ? schema["required"] : []);
  const members = new Map(
    properties.map(([name, property]) => [name, valueOf(asObject(property), components, depth + 1)] as const),
  );
  if (properties.length === 0) {
    const values = schema["additionalProperties"];
    if (values === false || values === undefined) return fc.constant({});
    const value =
      values === true || Object.keys(asObject(values)).length === 0
        ? freeValue()
        : valueOf(asObject(values), components, depth + 1);
    return fc.dictionary(keyArbitrary, value, { maxKeys: MAX_ITEMS, noNullPrototype: true });
  }
  if (schema["maxProperties"] === 1) {
    const single = fc.oneof(
      ...[...members].map(([name, member]) => member.map((value) => ({ [name]: value }))),
    );
    return schema["minProperties"] === 1
      ? single
      : fc.oneof({ weight: 4, arbitrary: single }, fc.constant({}));
  }
  const requiredKeys = [...members.keys()].filter((name) => required.has(name));
  const shown = depth > MAX_DEPTH ? requiredKeys : [...members.keys()];
  // A few of many optional fields: complete records would nearly always violate one of their rules.
  return fc.shuffledSubarray(shown, { maxLength: Math.min(shown.length, 5) }).chain((chosen) => {
    const names = [...new Set([...requiredKeys, ...chosen])];
    return fc.record(
      Object.fromEntries(names.map((name) => [name, members.get(name) ?? fc.constant(null)])),
      {
        noNullPrototype: true,
      },
    );
  });
}

function asObject(value: JsonValue): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}

/** A path in a value, such as `["selectedTools", 0, "toolName"]`. */
export type Place = readonly (string | number)[];

export interface Spoilt {
  readonly value: unknown;
  /** The path of the change. */
  readonly place: Place;
}

const WRONG_VALUES: readonly unknown[] = [
  12_345.678,
  -1,
  "",
  "nonsense",
  true,
  null,
  [],
  {},
  [[]],
  { deep: { deeper: [1] } },
  "x".repeat(5000),
  Number.MAX_SAFE_INTEGER,
];

/** The same value with one member replaced, or with an unknown member. It may still be valid. */
export function spoilt(value: object): fc.Arbitrary<Spoilt> {
  const places = placesIn(value);
  const added = fc.constantFrom("colour", "call_template_", "__proto", "a b").map((key) => ({
    value: { ...value, [key]: 1 },
    place: [key],
  }));
  if (places.length === 0) return added;
  const replaced = fc
    .tuple(fc.constantFrom(...places), fc.constantFrom(...WRONG_VALUES))
    .map(([place, wrong]) => ({ value: withValueAt(value, place, wrong), place }));
  return fc.oneof({ weight: 5, arbitrary: replaced }, added);
}

function placesIn(value: unknown, at: Place = []): Place[] {
  if (typeof value !== "object" || value === null) return [];
  const entries: [string | number, unknown][] = Array.isArray(value)
    ? [...value.entries()]
    : Object.entries(value);
  return entries.flatMap(([key, member]) => [[...at, key], ...placesIn(member, [...at, key])]);
}

function withValueAt(value: unknown, [key, ...rest]: Place, wrong: unknown): unknown {
  if (key === undefined) return wrong;
  if (Array.isArray(value)) return value.with(Number(key), withValueAt(value[Number(key)], rest, wrong));
  const object = value as Record<string, unknown>;
  return { ...object, [key]: withValueAt(object[String(key)], rest, wrong) };
}

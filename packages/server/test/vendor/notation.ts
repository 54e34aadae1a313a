/**
 * A short notation for the schemas of responses: `"agentId*": "uuid|null"` is a field that is always there. It becomes
 * JSON Schema. A field that is not listed is an error, so that no neutral name goes out unnoticed.
 */

export type JsonSchema = { readonly [keyword: string]: unknown };

/** Field, with `*` if it is always present, to its type: alternatives with `|`, lists with `[]`. */
export type Fields = Readonly<Record<string, string>>;

const DURATION = "^(?:0|[1-9][0-9]{0,11})(?:\\.[0-9]{1,9})?s$";

const SCALARS: Readonly<Record<string, JsonSchema>> = {
  any: {},
  null: { type: "null" },
  string: { type: "string" },
  boolean: { type: "boolean" },
  integer: { type: "integer" },
  number: { type: "number" },
  object: { type: "object" },
  texts: { type: "object", additionalProperties: { type: "string" } },
  empty: { type: "object", additionalProperties: false },
  uuid: { type: "string", pattern: "^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$" },
  moment: { type: "string", pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$" },
  date: { type: "string", pattern: "^\\d{4}-\\d\\d-\\d\\d$" },
  duration: { type: "string", pattern: DURATION },
  int64: { type: "string", pattern: "^\\d+$" },
  url: { type: "string", pattern: "^[a-z]+://" },
};

function typeOf(text: string): JsonSchema {
  const options = text.split("|").map(oneType);
  return options.length === 1 ? (options[0] ?? {}) : { anyOf: options };
}

function oneType(text: string): JsonSchema {
  if (text.endsWith("[]")) return { type: "array", items: oneType(text.slice(0, -2)) };
  // An enumeration: `=a,b`, or with a common beginning `MESSAGE_ROLE_=USER,AGENT`.
  const [prefix = "", values] = text.split("=");
  if (values !== undefined) return { enum: values.split(",").map((value) => prefix + value) };
  return SCALARS[text] ?? { $ref: `#/$defs/${text}` };
}

export function record(fields: Fields): JsonSchema {
  const entries = Object.entries(fields);
  return {
    type: "object",
    additionalProperties: false,
    required: entries.filter(([name]) => name.endsWith("*")).map(([name]) => name.slice(0, -1)),
    properties: Object.fromEntries(entries.map(([name, type]) => [name.replace(/\*$/, ""), typeOf(type)])),
  };
}

/** The schema of a response, such as `Call`, `Voice page` or `CallTool[]`. */
export function responseSchema(text: string): JsonSchema {
  const page = /^(\w+) page$/.exec(text)?.[1];
  if (page === undefined) return typeOf(text);
  return record({
    "results*": `${page}[]`,
    "next*": "url|null",
    "previous*": "url|null",
    "total*": "integer",
    // Ours.
    totalRelation: "=at-least",
  });
}

import { describe, expect, test } from "vitest";
import { openJsonSchema } from "./json-schema.ts";
import type { JsonSchema } from "./json-schema.ts";
import { MAX_FAULTS, MAX_PATTERN_CHARS, MAX_SCHEMA_CHARS, MAX_SCHEMA_DEPTH } from "./schema-limits.ts";

/** Each test that reaches the limit waits for it once; on a busy machine the others stay far below it. */
const LIMIT_MS = 1_000;
const { allSatisfy, checkSchema, checkValue } = openJsonSchema(LIMIT_MS);

const schemaFaults = (schema: JsonSchema): string[] =>
  checkSchema(schema).map(({ path, message }) => `${path.join(".")}: ${message}`);

const valueFaults = (schema: JsonSchema, value: unknown): string[] => {
  expect(schemaFaults(schema)).toEqual([]);
  return checkValue(schema, value).map(({ path, message }) => `${path.join(".")}: ${message}`);
};

function nested(depth: number): JsonSchema {
  return depth === 1 ? {} : { not: nested(depth - 1) };
}

describe("checkSchema", () => {
  test.each<[string, JsonSchema]>([
    ["nothing", {}],
    [
      "keywords of 2020-12",
      { prefixItems: [{ type: "string" }], unevaluatedItems: false, dependentRequired: { a: ["b"] } },
    ],
    ["the dialect's name", { $schema: "https://json-schema.org/draft/2020-12/schema" }],
    [
      "a reference inside",
      { $defs: { name: { type: "string" } }, properties: { a: { $ref: "#/$defs/name" } } },
    ],
    [
      "keywords it does not know",
      { "x-order": 3, example: "x", properties: { a: { type: "string", widget: "box" } } },
    ],
    ["formats as remarks", { properties: { a: { type: "string", format: "phone-of-the-moon" } } }],
    ["variables called like keywords", { properties: { $ref: { type: "string" }, pattern: {}, $async: {} } }],
    [
      "data that looks like keywords",
      { const: { $ref: "http://x", pattern: "(" }, examples: [{ $ref: "x" }] },
    ],
    ["as deep as allowed", nested(MAX_SCHEMA_DEPTH)],
  ])("takes %s", (_what, schema) => {
    expect(schemaFaults(schema)).toEqual([]);
  });

  test.each<[string, JsonSchema, RegExp]>([
    [
      "a wrong type name",
      { properties: { a: { type: "text" } } },
      /^properties\.a\.type: must be one of "array","boolean"/,
    ],
    ["a wrong keyword value", { required: "a" }, /^required: must be array$/],
    ["another dialect", { $schema: "http://json-schema.org/draft-07/schema#" }, /^\$schema: must be https/],
    [
      "a remote reference",
      { properties: { a: { $ref: "https://example.com/a.json" } } },
      /^properties\.a\.\$ref: must stay inside/,
    ],
    ["a relative reference", { $dynamicRef: "other#x" }, /^\$dynamicRef: must stay inside/],
    [
      "a reference to nothing",
      { $ref: "#/$defs/missing" },
      /must be a usable JSON Schema: can't resolve reference #\/\$defs\/missing/,
    ],
    ["asynchronous checking", { $async: true }, /^\$async: is not part/],
    [
      "a bad pattern",
      { properties: { a: { pattern: "(" } } },
      /^properties\.a\.pattern: must be a regular expression/,
    ],
    [
      "a bad pattern of names",
      { patternProperties: { "[": {} } },
      /^patternProperties\.\[: its name, a pattern, must be a regular/,
    ],
    ["a long pattern", { pattern: "a".repeat(MAX_PATTERN_CHARS + 1) }, /^pattern: must be at most 250/],
    ["a long schema", { description: "x".repeat(MAX_SCHEMA_CHARS) }, /at most 65536 characters/],
    ["a deep schema", nested(MAX_SCHEMA_DEPTH + 1), /at most 40 levels/],
    ["many parts", { enum: Array.from({ length: 3_000 }, () => []) }, /at most 2000 objects/],
  ])("refuses %s", (_what, schema, words) => {
    expect(schemaFaults(schema)).toEqual([expect.stringMatching(words)]);
  });

  test("schemas with the same $id do not meet", () => {
    expect(valueFaults({ $id: "https://example.com/a", type: "string" }, "x")).toEqual([]);
    expect(valueFaults({ $id: "https://example.com/a", type: "number" }, 1)).toEqual([]);
  });
});

describe("checkValue", () => {
  test.each<[string, JsonSchema, unknown, string[]]>([
    ["a missing member", { required: ["a", "b"] }, {}, ["a: is required", "b: is required"]],
    [
      "a nested one",
      { properties: { a: { items: { required: ["b"] } } } },
      { a: [{ b: 1 }, {}] },
      ["a.1.b: is required"],
    ],
    [
      "a surplus member",
      { properties: { a: {} }, additionalProperties: false },
      { a: 1, b: 2 },
      ["b: is not allowed"],
    ],
    ["a wrong type", { properties: { a: { type: "integer" } } }, { a: "1" }, ["a: must be integer"]],
    ["a bound", { properties: { a: { minimum: 3 } } }, { a: 2 }, ["a: must be >= 3"]],
    ["an enum", { properties: { a: { enum: ["x", 1] } } }, { a: "y" }, [`a: must be one of "x",1`]],
    ["a const", { properties: { a: { const: "x" } } }, { a: "y" }, [`a: must be "x"`]],
    [
      "a pattern",
      { properties: { a: { pattern: "^[0-9]+$" } } },
      { a: "x" },
      [`a: must match pattern "^[0-9]+$"`],
    ],
    [
      "keys with slashes",
      { properties: { "a/b~c": { type: "string" } } },
      { "a/b~c": 1 },
      ["a/b~c: must be string"],
    ],
    [
      "alternatives as one fault",
      { properties: { a: { anyOf: [{ type: "string" }, { type: "number" }] } } },
      { a: true },
      ["a: must match one of the alternatives of the schema"],
    ],
    [
      "referenced alternatives as one fault",
      {
        $defs: { s: { type: "string" } },
        properties: { a: { oneOf: [{ $ref: "#/$defs/s" }, { type: "null" }] } },
      },
      { a: 1 },
      ["a: must match one of the alternatives of the schema"],
    ],
    ["nothing", { type: "object" }, { a: 1 }, []],
  ])("%s", (_what, schema, value, wanted) => {
    expect(valueFaults(schema, value)).toEqual(wanted);
  });

  test("reports no more than the limit", () => {
    const value = Array.from({ length: 5_000 }, () => 1);
    expect(valueFaults({ items: { type: "string" } }, value)).toHaveLength(MAX_FAULTS);
  });

  test("never changes the value", () => {
    const value = Object.freeze({ a: Object.freeze({}) });
    expect(valueFaults({ properties: { a: { properties: { b: { default: 1 } } } } }, value)).toEqual([]);
  });

  test("interrupts a pattern that backtracks without end", () => {
    const schema = { properties: { a: { pattern: "^(?=(a+)+$)" } } };
    expect(valueFaults(schema, { a: `${"a".repeat(60)}!` })).toEqual([
      ": takes too long to check against its schema",
    ]);
    expect(valueFaults(schema, { a: "aaa" })).toEqual([]);
  });

  test("needs no limit for a pattern that can be matched in linear time", () => {
    const schema = {
      properties: { a: { pattern: "^(a+)+$" } },
      patternProperties: { "^(b+)+$": { type: "null" } },
    };
    expect(valueFaults(schema, { a: `${"a".repeat(60)}!`, bb: 1, c: 1, [`${"b".repeat(60)}!`]: 1 })).toEqual([
      'a: must match pattern "^(a+)+$"',
      "bb: must be null",
    ]);
  });

  test("interrupts references that double at each level", () => {
    const $defs: Record<string, unknown> = { d60: { type: "string" } };
    for (let at = 0; at < 60; at += 1) {
      $defs[`d${at}`] = { allOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }] };
    }
    expect(valueFaults({ $ref: "#/$defs/d0", $defs }, "x")).toEqual([
      ": takes too long to check against its schema",
    ]);
  });

  test("reports a schema that refers to itself without end", () => {
    const endless = ": cannot be checked: the schema refers to itself without end";
    const loop = { $ref: "#/$defs/loop" };
    expect(schemaFaults({ $defs: { loop }, ...loop })).toEqual([endless]);
    expect(valueFaults({ $defs: { loop: { properties: { a: {} }, allOf: [loop] } }, ...loop }, {})).toEqual([
      endless,
    ]);
  });

  test("refuses to check against a schema that cannot be used", () => {
    expect(() => checkValue({ type: "text" }, {})).toThrow(/checkSchema refuses/);
  });
});

describe("allSatisfy", () => {
  const schema = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };

  test("says whether every value does", () => {
    expect(allSatisfy(schema, [])).toBe(true);
    expect(allSatisfy(schema, [{ a: "x" }, { a: "y" }])).toBe(true);
    expect(allSatisfy(schema, [{ a: "x" }, {}, { a: "y" }])).toBe(false);
  });

  test("says no where it cannot say", () => {
    const slow = { properties: { a: { pattern: "^(?=(a+)+$)" } } };
    expect(allSatisfy(slow, [{ a: "a" }, { a: `${"a".repeat(40)}!` }])).toBe(false);
    const loop = { $ref: "#/$defs/loop" };
    const endless = { $defs: { loop: { properties: { a: {} }, allOf: [loop] } }, ...loop };
    expect(allSatisfy(endless, [{}])).toBe(false);
    expect(() => allSatisfy({ type: "text" }, [{}])).toThrow(/checkSchema refuses/);
  });
});

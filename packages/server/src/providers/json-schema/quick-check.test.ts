import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openJsonSchema } from "./json-schema.ts";
import { isQuicklyGood, isQuicklyUsable } from "./quick-check.ts";

/** Wide, so that a busy machine decides nothing. */
const { checkSchema, checkValue } = openJsonSchema(30_000);

describe("isQuicklyUsable", () => {
  it.each([
    [{}],
    [{ $schema: "https://json-schema.org/draft/2020-12/schema", type: ["string", "null"], minLength: 1 }],
    [{ type: "object", properties: { a: { enum: ["x", 1, null] }, b: true }, required: ["a"] }],
    [{ items: { properties: { a: { multipleOf: 0.5, format: "phone" } }, additionalProperties: false } }],
    [{ anyOf: [{ type: "string", pattern: "^[0-9]{5}$" }, { type: "null" }], description: "A code." }],
  ])("takes %j", (schema) => {
    expect(isQuicklyUsable(schema)).toBe(true);
    expect(checkSchema(schema)).toEqual([]);
  });

  it.each([
    [{ $ref: "#/$defs/a" }],
    [{ oneOf: [{ type: "string" }] }],
    [{ properties: { a: { patternProperties: { "^x": {} } } } }],
    [{ uniqueItems: true }],
    [{ const: { a: 1 } }],
    [{ enum: [] }],
    [{ enum: Array.from({ length: 101 }, (_, index) => index) }],
    [{ type: "text" }],
    [{ type: [] }],
    [{ required: ["a", "a"] }],
    [{ minLength: -1 }],
    [{ pattern: "(" }],
    [{ pattern: "^(?=(a+)+$)" }],
    [{ pattern: "\\p{L}" }],
    [{ nullable: true }],
    [{ "x-order": 1 }],
    [{ properties: [] }],
  ])("leaves %j to the thread", (schema) => {
    expect(isQuicklyUsable(schema)).toBe(false);
  });
});

const value = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom(
      null,
      true,
      false,
      0,
      1,
      -1,
      1.5,
      3,
      1e21,
      Number.POSITIVE_INFINITY,
      "",
      "a",
      "ab",
      "12",
      "😀",
      "null",
    ),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom("a", "b", "c"), tie("value"), { maxKeys: 3 }),
  ),
})).value;

const count = fc.integer({ min: 0, max: 3 });
const bound = fc.constantFrom(-1, 0, 1, 1.5, 2);
/** Some keywords together, now and then with a content that is not allowed. */
const schema = fc.letrec<{ schema: Record<string, unknown> }>((tie) => {
  const part = fc.oneof({ depthSize: "small" }, fc.boolean(), tie("schema"));
  const keywords: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
    type: fc.oneof(
      fc.constantFrom("array", "boolean", "integer", "null", "number", "object", "string", "text"),
      fc.uniqueArray(fc.constantFrom("integer", "null", "object", "string"), { maxLength: 3 }),
    ),
    properties: fc.dictionary(fc.constantFrom("a", "b"), part, { maxKeys: 2 }),
    additionalProperties: part,
    items: part,
    anyOf: fc.array(part, { maxLength: 3 }),
    required: fc.array(fc.constantFrom("a", "b"), { maxLength: 3 }),
    enum: fc.array(fc.constantFrom(null, 1, "a", true), { maxLength: 3 }),
    const: fc.constantFrom(null, 1, "a", "12"),
    pattern: fc.constantFrom("a", "^[0-9]+$", "^.$", "^(a|b)*$", "(", "\\d", "[^\\s]"),
    minLength: count,
    maxLength: count,
    minItems: count,
    maxItems: count,
    minProperties: count,
    maxProperties: count,
    minimum: bound,
    exclusiveMaximum: bound,
    multipleOf: bound,
    description: fc.constantFrom("words", 5),
    not: part,
  };
  const entries = Object.entries(keywords).map(([keyword, content]) =>
    content.map((given): [string, unknown] => [keyword, given]),
  );
  return {
    schema: fc.array(fc.oneof(...entries), { maxLength: 4 }).map((chosen) => Object.fromEntries(chosen)),
  };
}).schema;

it("says nothing that the thread would deny", () => {
  let [usable, good] = [0, 0];
  fc.assert(
    fc.property(schema, fc.array(value, { minLength: 1, maxLength: 5 }), (drawn, values) => {
      if (!isQuicklyUsable(drawn)) return;
      usable += 1;
      expect([drawn, checkSchema(drawn)]).toEqual([drawn, []]);
      for (const one of values) {
        if (!isQuicklyGood(drawn, [one])) continue;
        good += 1;
        expect([drawn, one, checkValue(drawn, one)]).toEqual([drawn, one, []]);
      }
    }),
    { numRuns: 1_500 },
  );
  expect(usable).toBeGreaterThan(100);
  expect(good).toBeGreaterThan(100);
});

describe("isQuicklyGood", () => {
  const form = {
    type: "object",
    properties: {
      name: { type: "string", minLength: 1, maxLength: 80 },
      code: { type: "string", pattern: "^[0-9]{5}$" },
      seats: { type: "integer", minimum: 1, maximum: 20 },
      notes: { type: "array", items: { type: "string" }, maxItems: 10 },
      mail: { anyOf: [{ type: "string", format: "email" }, { type: "null" }] },
    },
    required: ["name", "code"],
    additionalProperties: false,
  };

  it("is not deceived by members that look like numbers or methods", () => {
    const odd = { properties: { valueOf: true, toString: { maxLength: 1 } }, maxLength: 5 };
    expect(isQuicklyGood(odd, [1, "abc", [], {}, null])).toBe(true);
    expect(isQuicklyGood(odd, [{ toString: "ab" }])).toBe(false);
  });

  it("takes what usual forms hold", () => {
    const filled = { name: "Ada", code: "10115", seats: 4, notes: ["window"], mail: null };
    expect(isQuicklyGood(form, [filled, { name: "B", code: "00000" }])).toBe(true);
    expect(isQuicklyGood(form, [filled, { name: "B", code: "0000" }])).toBe(false);
    expect(isQuicklyGood(form, [{ ...filled, more: 1 }])).toBe(false);
  });

  it.each<[string, Record<string, unknown>, unknown]>([
    ["a long text and a pattern", { pattern: "^a+$" }, "a".repeat(100_000)],
    ["a long list", { items: { type: "integer" } }, Array.from({ length: 100_000 }, () => 1)],
    [
      "many members",
      { additionalProperties: { type: "integer" } },
      Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`k${String(index)}`, 1])),
    ],
    [
      "alternatives within alternatives",
      { items: { anyOf: Array.from({ length: 500 }, () => ({ minimum: 5, maximum: 1, multipleOf: 7 })) } },
      Array.from({ length: 1_000 }, () => 1),
    ],
    ["a long text to count", { maxLength: 1_000_000 }, "a".repeat(500_000)],
  ])("stops counting at %s, which may be good", (_what, large, given) => {
    expect(isQuicklyUsable(large)).toBe(true);
    expect(isQuicklyGood(large, [given])).toBe(false);
  });
});

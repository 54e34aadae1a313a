import { expect, test } from "vitest";
import { isPlainSchema } from "./plain-schema.ts";

test("what is filled in for a call is plain", () => {
  const guest = {
    type: "object",
    properties: { name: { type: "string", maxLength: 40 } },
    required: ["name"],
  };
  const context = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: {
      guest,
      nights: { type: "integer", minimum: 1 },
      room: { enum: ["single", "double", null] },
    },
    additionalProperties: false,
  };
  expect(isPlainSchema(context)).toBe(true);
  expect(isPlainSchema({ type: "array", items: context, maxItems: 4 })).toBe(true);
});

test.each([
  ["a pattern", { pattern: "(a+)+$" }],
  ["a pattern of names", { patternProperties: { "(a+)+$": true } }],
  ["names that are checked", { propertyNames: { pattern: "(a+)+$" } }],
  ["a reference", { $ref: "#/$defs/node", $defs: { node: {} } }],
  ["a reference by anchor", { $dynamicRef: "#node" }],
  ["alternatives", { anyOf: [{ type: "string" }, { type: "null" }] }],
  ["what must differ", { type: "array", uniqueItems: true }],
  ["what must be contained", { contains: { type: "string" } }],
  ["a long list of values", { enum: Array.from({ length: 101 }, (_, index) => index) }],
  ["values that are compared in depth", { enum: [{ a: [1, 2, 3] }] }],
  ["one value that is compared in depth", { const: [[1], [2]] }],
  ["an unknown keyword", { surprise: true }],
])("%s is not, at any depth", (_what, part) => {
  expect(isPlainSchema(part)).toBe(false);
  expect(isPlainSchema({ type: "object", properties: { a: { items: part } } })).toBe(false);
  expect(isPlainSchema({ additionalProperties: part })).toBe(false);
});

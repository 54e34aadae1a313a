import { describe, expect, it } from "vitest";
import { grammarSchema, MAX_PARTS, withoutOmitted } from "./tool-schema.ts";

const property = (schema: unknown, more: object = {}) =>
  grammarSchema({ type: "object", properties: { p: schema }, required: ["p"], ...more })?.properties?.["p"];

const sixTimes = (schema: object) => Object.fromEntries("abcdef".split("").map((name) => [name, schema]));

/** Of a document: its values at all levels. */
function partsOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  let count = 1;
  for (const inner of Object.values(value)) count += partsOf(inner);
  return count;
}

describe("the grammar of a tool's arguments", () => {
  it("is none where there are no arguments", () => {
    expect(grammarSchema({ type: "object", properties: {} })).toBeNull();
    expect(grammarSchema({ type: "object" })).toBeNull();
  });

  it.each([
    [{ type: "integer", minimum: 3 }, { type: "integer" }],
    [
      { type: "string", minLength: 2, maxLength: 5_000 },
      { type: "string", minLength: 2 },
    ],
    [
      { type: "string", format: "date", maxLength: 10 },
      { type: "string", format: "date" },
    ],
    [{ type: "string", format: "email" }, { type: "string" }],
    [{ const: "a" }, { enum: ["a"] }],
    [
      { enum: ["a", null], description: "Which." },
      { enum: ["a", null], description: "Which." },
    ],
    [{ type: ["string", "null"] }, { oneOf: [{ type: "string" }, { type: "null" }] }],
    [
      { type: "array", items: { type: "number" }, maxItems: 3 },
      { type: "array", items: { type: "number" }, maxItems: 3 },
    ],
    [{ anyOf: [{ type: "boolean" }] }, { oneOf: [{ type: "boolean" }] }],
    [{ allOf: [{ type: "boolean" }] }, { type: "boolean" }],
    [
      { type: "object", additionalProperties: { type: "string" } },
      { type: "object", properties: {}, additionalProperties: { type: "string" } },
    ],
  ])("has the form of %j", (schema, form) => {
    expect(property(schema)).toEqual(form);
  });

  it("lets what may be missing be null, which is removed from the arguments", () => {
    const schema = {
      type: "object",
      properties: {
        day: { type: "string", description: "Of the week." },
        place: { type: "object", properties: { room: { type: "integer" } } },
        rest: { type: ["string", "null"] },
      },
      required: ["rest"],
    };
    expect(grammarSchema(schema)?.properties?.["day"]).toEqual({
      oneOf: [{ type: "string" }, { type: "null" }],
      description: "Of the week.",
    });
    expect(withoutOmitted({ day: null, place: { room: null, extra: null }, rest: null }, schema)).toEqual({
      place: { extra: null },
      rest: null,
    });
    const list = { type: "object", properties: { all: { type: "array", items: schema } } };
    expect(withoutOmitted({ all: [{ day: null, rest: "x" }] }, list)).toEqual({ all: [{ rest: "x" }] });
  });

  it("follows references, and allows anything where it cannot or where they do not end", () => {
    const $defs = { day: { enum: ["monday"] }, self: { $ref: "#/$defs/self" } };
    expect(property({ $ref: "#/$defs/day" }, { $defs })).toEqual({ enum: ["monday"] });
    const anything = { oneOf: expect.arrayContaining([{ type: "object", additionalProperties: true }]) };
    for (const schema of [true, {}, { $ref: "#/$defs/self" }, { $ref: "https://example.com/s" }, { not: {} }])
      expect(property(schema, { $defs })).toEqual(anything);
    const deep = { type: "object", properties: {} as Record<string, unknown>, required: ["d"] };
    deep.properties["d"] = deep;
    expect(JSON.stringify(grammarSchema(deep)).length).toBeLessThan(2_000);
  });

  it("lets arguments be any object where there are too many of them", () => {
    const names = Array.from({ length: MAX_PARTS }, (_, n) => [`p${String(n)}`, { type: "string" }]);
    const form = grammarSchema({ type: "object", properties: Object.fromEntries(names) as unknown });
    expect(form).toEqual({ type: "object", additionalProperties: true });
  });

  it.each([
    ["properties", { type: "object", properties: sixTimes({ $ref: "#/$defs/node" }) }],
    ["alternatives", { oneOf: Object.values(sixTimes({ $ref: "#/$defs/node" })) }],
  ])("does not grow with each level of %s that lead back to themselves", (_what, node) => {
    const form = grammarSchema({ type: "object", properties: { tree: node }, $defs: { node } });
    expect(partsOf(form)).toBeLessThan(20 * MAX_PARTS);
    expect(form?.properties?.["tree"]).toBeDefined();
  });

  it("allows any object where the schema is not one of an object", () => {
    expect(grammarSchema({ anyOf: [{ type: "object" }, { type: "string" }] })).toEqual({
      type: "object",
      additionalProperties: true,
    });
    expect(withoutOmitted({ a: null }, undefined)).toEqual({ a: null });
  });
});

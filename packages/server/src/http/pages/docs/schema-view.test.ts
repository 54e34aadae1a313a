import { describe, expect, it } from "vitest";
import type { JsonSchema } from "@parley/schema/openapi/described-schema";
import { described, fieldsTable } from "./schema-view.ts";

function plain({ html }: { readonly html: string }): string {
  return html
    .replaceAll(/<[^>]+>/g, " ")
    .replaceAll(/\s+/g, " ")
    .replaceAll("&quot;", '"')
    .replaceAll(" ,", ",")
    .trim();
}

describe("described", () => {
  it.each<[string, JsonSchema, string]>([
    ["bounds", { type: "integer", minimum: 1, maximum: 9 }, "integer, at least 1, at most 9"],
    ["one of anything", { type: "string", minLength: 1 }, "string, at least 1 character"],
    [
      "bounds of durations",
      { type: "string", format: "duration-seconds", "x-minimum": "1s", "x-maximum": "60s", default: "5s" },
      'duration, default "5s", at least 1s, at most 60s',
    ],
    ["values", { type: "string", enum: ["a", "b", "c"] }, "string, one of a, b or c"],
    ["patterns", { type: "string", pattern: "^x+$" }, "string, like ^x+$"],
    [
      "null",
      { anyOf: [{ type: "string", maxLength: 4 }, { type: "null" }] },
      "string or null, at most 4 characters",
    ],
    [
      "lists",
      { type: "array", maxItems: 2, items: { type: "string", maxLength: 3 } },
      "list of strings, at most 2 entries, each at most 3 characters",
    ],
    ["maps", { type: "object", additionalProperties: { type: "string" } }, "map of text to string"],
    ["references", { $ref: "#/components/schemas/Call" }, "Call"],
    [
      "one of the fields",
      { type: "object", properties: { a: {}, b: {} }, minProperties: 1, maxProperties: 1 },
      "object, exactly one of its fields",
    ],
    [
      "fields that exclude each other",
      {
        type: "object",
        properties: { a: {}, b: {}, c: {} },
        oneOf: [{ required: ["a"] }, { required: ["b"] }],
      },
      "object, exactly one of a and b",
    ],
    ["old fields", { type: "boolean", deprecated: true, readOnly: true }, "boolean, read-only, deprecated"],
  ])("says %s", (_, schema, words) => {
    const [type = "", ...rules] = plain(described(schema)).split(", ");
    const [wanted = "", ...wantedRules] = words.split(", ");
    expect([type, ...rules.sort()]).toEqual([wanted, ...wantedRules.sort()]);
  });
});

describe("fieldsTable", () => {
  it("says which fields exclude each other", () => {
    const oneOf = [{ required: ["a"] }, { required: ["b"] }];
    const table = fieldsTable({ properties: { a: {}, b: {} }, oneOf });
    expect(plain(table)).toBe("a any value b any value It has exactly one of a and b .");
  });

  it("marks what is required and shows the fields of entries and of what may be null", () => {
    const inner: JsonSchema = { type: "object", properties: { deep: { type: "boolean" } } };
    const table = plain(
      fieldsTable({
        required: ["list"],
        properties: {
          list: { type: "array", items: inner },
          perhaps: { anyOf: [inner, { type: "null" }] },
        },
      }),
    );
    expect(table).toBe("list required list of objects deep boolean perhaps object or null deep boolean");
  });
});

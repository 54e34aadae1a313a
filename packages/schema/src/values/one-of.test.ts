import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { checkValue } from "./issues.ts";
import { atMostOneOf, oneOf, setKeys, withAtMostOne, withExactlyOne } from "./one-of.ts";

const fields = { a: z.number(), b: z.string(), c: z.strictObject({}) };
const values: Record<string, unknown> = { a: 1, b: "x", c: {} };

const chosen = fc.subarray(["a", "b", "c"]);

function withKeys(keys: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(keys.map((key) => [key, values[key]]));
}

describe("one-of", () => {
  it("takes exactly the objects with exactly one key", () => {
    fc.assert(
      fc.property(chosen, (keys) => {
        expect(oneOf(fields).safeParse(withKeys(keys)).success).toBe(keys.length === 1);
      }),
    );
  });

  it("takes exactly the objects with at most one key", () => {
    fc.assert(
      fc.property(chosen, (keys) => {
        expect(atMostOneOf(fields).safeParse(withKeys(keys)).success).toBe(keys.length <= 1);
      }),
    );
  });

  it("counts only the named keys of a larger object", () => {
    const schema = withExactlyOne(
      z.strictObject({ a: z.number().optional(), b: z.string().optional(), note: z.string().optional() }),
      ["a", "b"],
    );
    expect(schema.parse({ a: 1, note: "n" })).toEqual({ a: 1, note: "n" });
    expect(schema.safeParse({ note: "n" }).success).toBe(false);
    expect(schema.safeParse({ a: 1, b: "x" }).success).toBe(false);
    const loose = withAtMostOne(z.strictObject({ a: z.number().optional(), b: z.string().optional() }), [
      "a",
      "b",
    ]);
    expect(loose.safeParse({}).success).toBe(true);
    expect(loose.safeParse({ a: 1, b: "x" }).success).toBe(false);
  });

  it("says which keys there are", () => {
    expect(checkValue(oneOf(fields), { a: 1, b: "x" })).toEqual({
      ok: false,
      errors: [{ field: "", message: "must have exactly one of a, b, c; it has a and b" }],
    });
    expect(checkValue(oneOf(fields), {})).toEqual({
      ok: false,
      errors: [{ field: "", message: "must have exactly one of a, b, c" }],
    });
    expect(checkValue(atMostOneOf(fields), { a: 1, c: {} })).toEqual({
      ok: false,
      errors: [{ field: "", message: "must have at most one of a, b, c; it has a and c" }],
    });
  });

  it("counts even when a value is wrong, and leaves other types to the type check", () => {
    expect(checkValue(oneOf(fields), { a: "no", b: "x" })).toMatchObject({
      ok: false,
      errors: [
        { field: "a", message: "must be a number" },
        { field: "", message: "must have exactly one of a, b, c; it has a and b" },
      ],
    });
    expect(checkValue(oneOf(fields), 7)).toEqual({
      ok: false,
      errors: [{ field: "", message: "must be an object" }],
    });
  });

  it("is minProperties and maxProperties in JSON Schema", () => {
    const options = { io: "input" } as const;
    expect(z.toJSONSchema(oneOf(fields), options)).toMatchObject({
      type: "object",
      minProperties: 1,
      maxProperties: 1,
      additionalProperties: false,
    });
    const atMost = z.toJSONSchema(atMostOneOf(fields), options);
    expect(atMost).toMatchObject({ maxProperties: 1 });
    expect(atMost).not.toHaveProperty("minProperties");
    const beside = withExactlyOne(z.strictObject({ a: z.number().optional(), b: z.string().optional() }), [
      "a",
      "b",
    ]);
    expect(z.toJSONSchema(beside, options)).toMatchObject({
      oneOf: [{ required: ["a"] }, { required: ["b"] }],
    });
  });

  it("treats null as unset and inherited names as absent", () => {
    expect(setKeys({ a: null, b: 0 }, ["a", "b", "toString"])).toEqual(["b"]);
    expect(setKeys(["a"], ["0"])).toEqual([]);
  });

  it("lets types narrow", () => {
    const value = oneOf(fields).parse({ a: 1 });
    const doubled = value.a === undefined ? null : value.a * 2;
    expect(doubled).toBe(2);
  });
});

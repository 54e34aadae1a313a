import * as fc from "fast-check";
import { expect, it } from "vitest";
import { toJsonText, toStorableText } from "./json-text.ts";

it("replaces what PostgreSQL cannot hold and nothing else", () => {
  expect(toStorableText("a\u0000b\ud800c😀")).toBe("a\uFFFDb\uFFFDc😀");
  expect(toJsonText({ a: "\\u0000", b: ["\u0001", "\u0000"], "\udfff": 1 })).toBe(
    JSON.stringify({ a: "\\u0000", b: ["\u0001", "\uFFFD"], "\uFFFD": 1 }),
  );
});

it("is plain JSON for all else", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "binary", maxLength: 12 }), { maxLength: 6 }), (value) => {
      const text = toJsonText(value);
      expect(text).not.toMatch(/(?<!\\)(\\\\)*\\u0000/);
      fc.pre(!text.includes("\uFFFD"));
      expect(text).toBe(JSON.stringify(value));
    }),
  );
});

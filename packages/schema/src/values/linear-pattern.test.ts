import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileLinearPattern, MAX_STATES } from "./linear-pattern.ts";
import { PatternError } from "./pattern-syntax.ts";

function problemOf(pattern: string): string | null {
  try {
    compileLinearPattern(pattern);
    return null;
  } catch (error) {
    if (error instanceof PatternError) return error.message;
    throw error;
  }
}

/** Patterns over few letters, so that texts over the same letters often match. */
const patterns = fc.letrec<{ node: string; atom: string }>((tie) => ({
  atom: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom(
      "a",
      "b",
      "1",
      ".",
      "[ab]",
      "[^a]",
      "[a-c1]",
      "\\d",
      "\\w",
      "\\W",
      "[^\\d]",
      "^",
      "$",
      "\\.",
      "\\x61",
    ),
    tie("node").map((inner) => `(${inner})`),
    tie("node").map((inner) => `(?:${inner})`),
  ),
  node: fc
    .array(
      fc.tuple(
        tie("atom"),
        fc.constantFrom("", "", "", "*", "+", "?", "{2}", "{0,2}", "{1,}", "*?", "+?"),
        fc.constantFrom("", "", "", "|"),
      ),
      { maxLength: 4 },
    )
    .map((parts) =>
      parts
        // An anchor is not repeated: with the `u` flag the reference refuses that.
        .map(([atom, times, then]) => `${atom}${atom === "^" || atom === "$" ? "" : times}${then}`)
        .join(""),
    ),
}));

describe("a linear pattern", () => {
  it("matches what an ordinary regular expression matches as a whole", () => {
    const texts = fc.array(
      fc.string({ unit: fc.constantFrom("a", "b", "c", "1", ".", "\n"), maxLength: 8 }),
      {
        minLength: 1,
        maxLength: 10,
      },
    );
    fc.assert(
      fc.property(patterns.node, texts, (pattern, given) => {
        const linear = compileLinearPattern(pattern);
        const reference = new RegExp(`^(?:${pattern})$`, "u");
        for (const text of given) expect([text, linear.matches(text)]).toEqual([text, reference.test(text)]);
      }),
      { numRuns: 300 },
    );
  });

  it("finds a part where an ordinary regular expression does", () => {
    const texts = fc.array(
      fc.string({
        unit: fc.constantFrom("a", "b", "c", "1", ".", "\n", "\u3000", "😀", "\ud83d"),
        maxLength: 8,
      }),
      { minLength: 1, maxLength: 10 },
    );
    fc.assert(
      fc.property(patterns.node, texts, (pattern, given) => {
        const linear = compileLinearPattern(pattern, "unicode");
        const reference = new RegExp(pattern, "u");
        for (const text of given) expect([text, linear.isIn(text)]).toEqual([text, reference.test(text)]);
      }),
      { numRuns: 300 },
    );
  });

  it("of the syntax with the flag u is one that JavaScript takes, and reads it in the same way", () => {
    const parts = [
      ...Array.from("ab09_-^$.|?*+(){}[]/\\<>=!:,PkuxdDsSwWbBtn😀\u1680"),
      "\\u00",
      "\\x2",
      "(?<a>",
      "{1,2}",
      "[^",
      "\\-",
    ];
    const texts = fc.string({ unit: fc.constantFrom(...parts), maxLength: 6 });
    let taken = 0;
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...parts), { maxLength: 8 }), texts, (drawn, text) => {
        const pattern = drawn.join("");
        let linear;
        try {
          linear = compileLinearPattern(pattern, "unicode");
        } catch (error) {
          if (error instanceof PatternError) return;
          throw error;
        }
        taken += 1;
        expect([pattern, text, linear.isIn(text)]).toEqual([
          pattern,
          text,
          new RegExp(pattern, "u").test(text),
        ]);
      }),
      { numRuns: 20_000 },
    );
    expect(taken).toBeGreaterThan(1_000);
  });

  it.each([
    "(?P<a>a)",
    "(?<a>a)(?<a>b)",
    "^*",
    "\\@",
    "\\-",
    "[\\d-z]",
    "\\ud83d\\ude00",
    "\\p{L}",
    "\\u{61}",
  ])("of the syntax with the flag u is not %s", (pattern) => {
    expect(() => compileLinearPattern(pattern, "unicode")).toThrow(PatternError);
  });

  it.each([
    ["\\+4930\\d{3,8}", "+49301234", true],
    ["\\+4930\\d{3,8}", "+493012", false],
    ["(?<line>sales|support)-[a-z]+", "support-eu", true],
    ["sales", "sales-eu", false],
    ["", "", true],
    ["[\\]^-]+", "]^-", true],
    ["[^^]", "a", true],
    ["\\u0041\\t", "A\t", true],
    ["😀+", "😀😀", true],
    [".", "😀", true],
    ["a|", "", true],
  ])("%s and %s", (pattern, text, matches) => {
    expect(compileLinearPattern(pattern).matches(text)).toBe(matches);
  });

  it("takes linear time for what makes others go back without end", () => {
    const pattern = compileLinearPattern("((a*)*)*b|(a+)+c|(a|a)*d");
    expect(pattern.matches(`${"a".repeat(20_000)}x`)).toBe(false);
    expect(pattern.matches(`${"a".repeat(20_000)}d`)).toBe(true);
  });

  it.each([
    ["(a)\\1", "must not contain a back-reference, which cannot be matched in linear time"],
    ["(?<x>a)\\k<x>", "must not contain a back-reference, which cannot be matched in linear time"],
    ["(?=a)", "must not contain look-around, which cannot be matched in linear time"],
    ["(?!a)", "must not contain look-around, which cannot be matched in linear time"],
    ["(?<=a)b", "must not contain look-around, which cannot be matched in linear time"],
    ["(?<!a)b", "must not contain look-around, which cannot be matched in linear time"],
    ["(?i)a", "has a (? that starts no known kind of group"],
    ["\\bword", "has the unknown escape \\b"],
    ["(a", "has a ( without a )"],
    ["a)", "has a ) without a ("],
    ["[a", "has a [ without a ]"],
    ["[z-a]", "has a range that ends before it begins"],
    ["*a", "has a * with nothing before it to repeat"],
    ["a**", "repeats a repetition; put the inner one in ( )"],
    ["a{", "has a { that starts no number of repetitions; write \\{"],
    ["a{3,2}", "has a maximum of repetitions below its minimum"],
    ["a{1001}", "repeats more than 1000 times"],
    ["(a{1000}){1000}", "is too large once its repetitions are written out"],
    ["a]", "has a ] on its own; write \\]"],
    ["\\x4", "has an escape without 2 hexadecimal digits"],
    ["a\\", "ends in the middle of an escape"],
  ])("refuses %s", (pattern, problem) => {
    expect(problemOf(pattern)).toBe(problem);
  });

  it("bounds the work of compiling, also where nothing is repeated without end", () => {
    expect(problemOf("(((((){1000}){1000}){1000}){1000}){1000}")).toBeNull();
    expect(problemOf("(((((a?){1000}){1000}){1000}){1000}){1000}")).toContain("too large");
    expect(MAX_STATES).toBeGreaterThanOrEqual(1_000);
  });
});

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  cutSegments,
  FIRST_CLAUSE_MIN_CHARS,
  heardEnd,
  isSpeakable,
  SEGMENT_MAX_CHARS,
  wordsOf,
  type CutText,
} from "./segment.ts";

/** Feeds the pieces one by one, as a stream does. */
function stream(pieces: readonly string[]): readonly CutText[] {
  const segments: CutText[] = [];
  let buffer = "";
  for (const piece of pieces) {
    const cut = cutSegments(buffer + piece, { first: segments.length === 0, last: false });
    segments.push(...cut.segments);
    buffer = cut.rest;
  }
  segments.push(...cutSegments(buffer, { first: segments.length === 0, last: true }).segments);
  return segments;
}

const texts = (whole: string) => stream([whole]).map(({ text }) => text);

describe("sentences", () => {
  test.each([
    ["Yes. I can do that! Shall I?", ["Yes.", "I can do that!", "Shall I?"]],
    [
      "Dr. Smith met Mrs. J. Doe on St. James St. Then he left.",
      ["Dr. Smith met Mrs. J. Doe on St. James St. Then he left."],
    ],
    ["It costs 3.50 euros. Or 1,200.75 in all.", ["It costs 3.50 euros.", "Or 1,200.75 in all."]],
    ["See example.com for more. Bye.", ["See example.com for more.", "Bye."]],
    ["Well... maybe. Hmm… no.", ["Well... maybe.", "Hmm… no."]],
    ["Wait... What?", ["Wait...", "What?"]],
    ["“Is it?” she asked. “Yes!” He left.", ["“Is it?” she asked.", "“Yes!”", "He left."]],
    ["Use tools, e.g. a hammer, i.e. This one. Fine.", ["Use tools, e.g. a hammer, i.e. This one.", "Fine."]],
    [
      "At 5 p.m. we close. At 6 p.m. Nobody is here.",
      ["At 5 p.m. we close.", "At 6 p.m.", "Nobody is here."],
    ],
    ["So do I. And you?", ["So do I.", "And you?"]],
    ["1. Milk\n2. Bread\nThat is all.", ["1. Milk", "2. Bread", "That is all."]],
    ["What?! No way.", ["What?!", "No way."]],
    ["Ok? yes", ["Ok?", "yes"]],
    ["今日は。元気ですか？はい！", ["今日は。", "元気ですか？", "はい！"]],
    ["「行こう。」と言った。", ["「行こう。」", "と言った。"]],
    ["Wir haben z.B. Tee. Und Dr. Maier.", ["Wir haben z.B. Tee.", "Und Dr. Maier."]],
    ["No end", ["No end"]],
  ])("%s", (whole, expected) => {
    expect(texts(whole)).toEqual(expected);
  });

  test("what cannot be spoken joins what follows, or is dropped at the end", () => {
    expect(texts("... — Hello there. 🎉")).toEqual(["... — Hello there."]);
    expect(texts(" … \n ")).toEqual([]);
    expect(texts("")).toEqual([]);
  });

  test("the space between two segments is kept as one space, and none is invented", () => {
    expect(stream(["HTTP 404\nno such room"])).toEqual([
      { lead: "", text: "HTTP 404" },
      { lead: " ", text: "no such room" },
    ]);
    expect(stream(["A b.  \n C d.。E"])).toEqual([
      { lead: "", text: "A b." },
      { lead: " ", text: "C d.。" },
      { lead: "", text: "E" },
    ]);
  });

  test("the first segment may end at a clause, later ones not", () => {
    const first = "Of course I can book that for you, and I would be glad to do it, if you tell me when.";
    expect(texts(first)[0]).toBe("Of course I can book that for you,");
    expect(texts(first)).toHaveLength(2);
    expect(texts("Sure, I can. Then let us see what is free on that day, or later.")).toHaveLength(2);
    expect(texts("はい、もちろんです。")).toHaveLength(1);
    expect(`${"x".repeat(FIRST_CLAUSE_MIN_CHARS - 2)}, y`.indexOf(",")).toBe(FIRST_CLAUSE_MIN_CHARS - 2);
    expect(texts(`${"x".repeat(FIRST_CLAUSE_MIN_CHARS - 2)}, y`)).toHaveLength(1);
    expect(texts(`${"x".repeat(FIRST_CLAUSE_MIN_CHARS - 1)}, y`)).toHaveLength(2);
  });

  test("an endless sentence is cut at a clause, else at a word, else anywhere but inside a character", () => {
    const clause = `Hm! ${"word ".repeat(50)}here, ${"word ".repeat(30)}`;
    expect(texts(clause)[1]?.endsWith("here,")).toBe(true);
    const words = texts("word ".repeat(200));
    expect(words.every((text) => text.length <= SEGMENT_MAX_CHARS && text.endsWith("word"))).toBe(true);
    const astral = texts(`a${"𐐷".repeat(400)}b`);
    expect(astral.join("")).toBe(`a${"𐐷".repeat(400)}b`);
    expect(astral.every((text) => text.isWellFormed())).toBe(true);
  });
});

const prose = fc
  .array(
    fc.constantFrom(
      ..."Hello|world|Dr.|3.14|e.g.|ok|so do I|Yes|no|…|...|!|?|.|,|;|\n| | |  |“|”|“Quote.”|今日は|。|！|、|😀|word|sentence|and|A|1.".split(
        "|",
      ),
    ),
    { maxLength: 120 },
  )
  .map((parts) => parts.join(""));

test("segmentation does not depend on how the text was chunked", () => {
  fc.assert(
    fc.property(
      prose,
      fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 40 }),
      (text, sizes) => {
        const pieces: string[] = [];
        for (let from = 0, n = 0; from < text.length; n += 1) {
          const size = sizes[n % sizes.length] ?? 1;
          pieces.push(text.slice(from, from + size));
          from += size;
        }
        expect(stream(pieces)).toEqual(stream([text]));
      },
    ),
    { numRuns: 2_000 },
  );
});

test("every segment can be spoken, is bounded and trimmed, and no speakable character is lost", () => {
  const speakable = (text: string) => Array.from(text).filter(isSpeakable).join("");
  fc.assert(
    fc.property(fc.oneof(prose, fc.string({ unit: "grapheme", maxLength: 900 })), (text) => {
      const segments = stream([text]);
      for (const segment of segments) {
        expect(isSpeakable(segment.text)).toBe(true);
        expect(segment.text.length).toBeLessThanOrEqual(SEGMENT_MAX_CHARS + 40);
        expect(segment.text.trim()).toBe(segment.text);
      }
      expect(speakable(segments.map((s) => s.text).join(""))).toBe(speakable(text));
    }),
    { numRuns: 1_000 },
  );
});

test("a heard position is rounded to the end of the word that was begun", () => {
  const text = "Hello there, friend";
  expect([0, 1, 5, 6, 7, 12, 13, 14, 99].map((n) => text.slice(0, heardEnd(text, n)))).toEqual([
    "",
    "Hello",
    "Hello",
    "Hello",
    "Hello there,",
    "Hello there,",
    "Hello there,",
    "Hello there, friend",
    "Hello there, friend",
  ]);
  expect("今日は元気".slice(0, heardEnd("今日は元気", 2))).toBe("今日");
  expect(heardEnd("a😀b c", 2)).toBe(4);
});

test("heard positions ascend with the position and words add up to the text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 60 }), (text) => {
      const ends = Array.from({ length: text.length + 2 }, (_, n) => heardEnd(text, n));
      expect(ends.toSorted((a, b) => a - b)).toEqual(ends);
      expect(wordsOf(text).join("")).toBe(text.trimEnd());
    }),
    { numRuns: 500 },
  );
});

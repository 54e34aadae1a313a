import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { wordSpans } from "../../media/words.ts";
import { WordTimes } from "./word-times.ts";

/** The words that were found, as texts with their times. */
function found(text: string, times: WordTimes): [string, number][] {
  return times
    .rest(Infinity)
    .map(({ textOffset, atMs }) => [/\S+/.exec(text.slice(textOffset))?.[0] ?? "", atMs]);
}

function byWords(text: string, words: readonly (readonly [string, number])[]): [string, number][] {
  const times = new WordTimes(text);
  for (const [word, atMs] of words) times.word(word, atMs);
  return found(text, times);
}

function byCharacters(text: string, characters: readonly string[]): [string, number][] {
  const times = new WordTimes(text);
  times.characters(
    characters,
    characters.map((_, index) => index * 10),
  );
  return found(text, times);
}

describe("times of words", () => {
  it("finds words in their order, with offsets in UTF-16 units", () => {
    const text = '😀 "Hello," said Zoë.';
    const times = new WordTimes(text);
    for (const [index, word] of ["Hello", "said", "Zoë."].entries()) times.word(word, index * 100);
    expect(times.rest(Infinity)).toEqual([
      { type: "word", textOffset: 3, atMs: 0 },
      { type: "word", textOffset: 12, atMs: 100 },
      { type: "word", textOffset: 17, atMs: 200 },
    ]);
  });

  it("takes words in pieces and several at once", () => {
    expect(
      byWords("I don't, really, no.", [
        ["I", 0],
        ["don", 10],
        ["'t", 20],
        ["really no", 30],
      ]),
    ).toEqual([
      ["I", 0],
      ["don't,", 10],
      ["really,", 30],
    ]);
  });

  it("leaves out words that are not in the text, and goes on after them", () => {
    expect(
      byWords("It costs $40 a day.", [
        ["It", 0],
        ["costs", 10],
        ["forty", 20],
        ["dollars", 30],
        ["a", 40],
        ["day", 50],
        ["", 60],
        ["...", 70],
      ]),
    ).toEqual([
      ["It", 0],
      ["costs", 10],
      ["a", 40],
      ["day.", 50],
    ]);
  });

  it("does not take a piece in the middle of a word for a word", () => {
    expect(
      byWords("Saturday at noon", [
        ["at", 10],
        ["noon", 20],
      ]),
    ).toEqual([
      ["at", 10],
      ["noon", 20],
    ]);
  });

  it("finds words of scripts without spaces", () => {
    const text = "你好世界。再见";
    const offsets = wordSpans(text).map(({ start }) => start);
    const times = new WordTimes(text);
    times.characters(Array.from(text), [0, 10, 20, 30, 40, 50, 60]);
    const words = times.rest(Infinity);
    expect(words.map(({ textOffset }) => textOffset)).toEqual(offsets);
    expect(words.map(({ atMs }) => atMs)).toEqual(offsets.map((offset) => offset * 10));
  });

  it("reads characters, also those of several units, and skips what was not spoken", () => {
    const text = "ab 😀 <b>cd</b> ef";
    expect(byCharacters(text, Array.from(text))).toEqual([
      ["ab", 0],
      ["<b>cd</b>", 60],
      ["ef", 150],
    ]);
    expect(byCharacters("one [laughs] two", Array.from("one two"))).toEqual([
      ["one", 0],
      ["two", 40],
    ]);
  });

  it("holds words until their audio has come, and never points past the end", () => {
    const times = new WordTimes("a b c");
    times.word("a", 0);
    times.word("b", 100);
    times.word("c", 900);
    expect(times.within(50).map(({ textOffset }) => textOffset)).toEqual([0]);
    expect(times.within(100)).toEqual([]);
    expect(times.within(101).map(({ textOffset }) => textOffset)).toEqual([2]);
    expect(times.rest(500)).toEqual([{ type: "word", textOffset: 4, atMs: 500 }]);
    expect(times.rest(500)).toEqual([]);
  });

  it("gives ascending parts whatever a vendor says", () => {
    const anyTime = fc.oneof(fc.double(), fc.integer({ min: -1_000, max: 100_000 }));
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme" }),
        fc.array(fc.tuple(fc.string({ unit: "grapheme" }), anyTime)),
        fc.boolean(),
        (text, said, areCharacters) => {
          const times = new WordTimes(text);
          const words = [...said, ...text.split(" ").map((word) => [word, 5] as const)];
          if (areCharacters)
            times.characters(
              words.map(([word]) => word),
              words.map(([, atMs]) => atMs),
            );
          else for (const [word, atMs] of words) times.word(word, atMs);
          const starts = wordSpans(text).map(({ start }) => start);
          let before = { textOffset: -1, atMs: 0 };
          for (const part of times.rest(1e6)) {
            expect(starts).toContain(part.textOffset);
            expect(part.textOffset).toBeGreaterThan(before.textOffset);
            expect(part.atMs).toBeGreaterThanOrEqual(before.atMs);
            before = part;
          }
        },
      ),
    );
  });
});

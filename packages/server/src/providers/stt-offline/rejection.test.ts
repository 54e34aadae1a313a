import { describe, expect, it } from "vitest";
import {
  acceptedText,
  measure,
  MIN_FILLER_RATIO,
  MIN_PHRASE_RATIO,
  MIN_WORD_RATIO,
  type Segment,
} from "./rejection.ts";

/** Segments one after the other, each as `[text, frames, score per frame]`. */
function segments(...parts: readonly (readonly [string, number, number])[]): Segment[] {
  let beginS = 0;
  return parts.map(([text, frames, perFrame]) => {
    const segment = { text, beginS, durationS: frames / 100, score: frames * perFrame };
    beginS += frames / 100;
    return segment;
  });
}

const PHONES = segments(["phone_a", 50, -40], ["phone_b", 50, -40]);

describe("the measures", () => {
  it("compare words and fillers with the phones below them", () => {
    const phrase = segments(["<sil>", 20, -43], ["two", 30, -45], ["[NOISE]", 10, -43], ["three", 40, -30]);
    const { phraseRatio, worstWordRatio, fillerRatio } = measure(phrase, PHONES) ?? {};
    expect(phraseRatio).toBeCloseTo((30 * -5 + 40 * 10) / 70);
    expect(worstWordRatio).toBeCloseTo(-5);
    expect(fillerRatio).toBeCloseTo(-3);
  });

  it("share a phone's score out where it crosses a word's edge", () => {
    const phones = segments(["phone_a", 20, 0], ["phone_b", 40, -30], ["phone_c", 40, 0]);
    const measures = measure(segments(["two", 40, -10], ["three", 60, 0]), phones);
    // "two" lies over all of a and half of b, whose 20 frames cost 600 in 40 frames of the word.
    expect(measures?.worstWordRatio).toBeCloseTo(-10 + 600 / 40);
  });

  it("are none without a word", () => {
    expect(measure(segments(["<sil>", 100, -40]), PHONES)).toBeNull();
    expect(measure([], PHONES)).toBeNull();
  });
});

describe("a phrase", () => {
  const near = 0.01;

  it("is taken at the limits and not below", () => {
    for (const [limit, isTaken] of [
      [MIN_PHRASE_RATIO + near, true],
      [MIN_PHRASE_RATIO - near, false],
    ] as const) {
      expect(acceptedText(segments(["two", 100, -40 + limit]), PHONES)).toBe(isTaken ? "two" : "");
    }
  });

  it("is judged by its worst word too", () => {
    const withWord = (ratio: number): Segment[] => segments(["two", 80, -20], ["three", 20, -40 + ratio]);
    expect(acceptedText(withWord(MIN_WORD_RATIO + near), PHONES)).toBe("two three");
    expect(acceptedText(withWord(MIN_WORD_RATIO - near), PHONES)).toBe("");
  });

  it("is not taken where something else was said around it", () => {
    const withFiller = (ratio: number): Segment[] => segments(["two", 50, -20], ["<sil>", 50, -40 + ratio]);
    expect(acceptedText(withFiller(MIN_FILLER_RATIO + near), PHONES)).toBe("two");
    expect(acceptedText(withFiller(MIN_FILLER_RATIO - near), PHONES)).toBe("");
  });

  it("loses the marks of second pronunciations", () => {
    expect(acceptedText(segments(["a(2)", 50, -20], ["table", 50, -20]), PHONES)).toBe("a table");
  });

  it("outside the domain is empty", () => {
    expect(acceptedText(segments(["other_the", 100, -20]), PHONES)).toBe("");
  });

  it("is not taken when no phones were found", () => {
    expect(acceptedText(segments(["two", 100, -40]), [])).toBe("");
  });
});

import nodeProcess from "node:process";
import * as fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { initResampler } from "../../media/resample.ts";
import { SPOKEN_CHARS_PER_SECOND } from "../../media/silence.ts";
import type { TtsPart } from "../../ports/tts.ts";
import { restFrom, type TimedWord } from "./rest-of-text.ts";
import { Sentence } from "./sentence.ts";

beforeAll(() => initResampler(nodeProcess));

const TEXT = "Your parcel is here, and it costs nine euros.";
const words = (...times: readonly (readonly [string, number])[]): TimedWord[] =>
  times.map(([word, atMs]) => ({ textOffset: TEXT.indexOf(word), atMs }));
const rest = (given: readonly TimedWord[], audioMs: number): string =>
  TEXT.slice(restFrom(TEXT, { words: given, audioMs, pauses: [] }, null));
const restOf = (text: string, audioMs: number): number =>
  restFrom(text, { words: [], audioMs, pauses: [] }, null);

describe("with times of words the rest begins at the first word that has not begun", () => {
  const known = words(["Your", 0], ["parcel", 300], ["is", 700], ["here", 900], ["and", 1_400]);

  it.each([
    ["nothing was heard", 50, TEXT],
    ["a word was heard in part", 600, "is here, and it costs nine euros."],
    ["a word had only begun to sound", 750, "is here, and it costs nine euros."],
    ["a word had sounded for a moment", 850, "here, and it costs nine euros."],
    ["the last known word was heard", 1_600, "it costs nine euros."],
    // 1,150 ms are 17 characters at the usual pace.
    ["times are missing at the end", 2_550, "euros."],
  ])("%s", (_case, audioMs, expected) => {
    expect(rest(known, audioMs)).toBe(expected);
  });

  it("and is nothing after the last one", () => {
    expect(rest(words(["Your", 0], ["euros", 2_000]), 2_300)).toBe("");
  });
});

describe("without times of words, and with a pace that is not known, the rest begins with the clause that broke off", () => {
  it.each([
    ["in the first clause", 1_000, TEXT],
    ["in the second clause, or at the end of the first", 1_700, TEXT],
    ["in the second clause", 2_100, "and it costs nine euros."],
    ["after the last word, whatever the pace is", 4_700, ""],
  ])("%s", (_case, audioMs, expected) => {
    expect(rest([], audioMs)).toBe(expected);
  });

  it("but within a long clause at a word, a little before the place that is likely", () => {
    const long = `We have ${Array.from({ length: 20 }, () => "wonderful").join(" ")} rooms.`;
    const start = restOf(long, 130 * 66);
    // 84 of the likely 130 characters were heard in any case.
    expect([start, long.slice(start, start + 9)]).toEqual([78, "wonderful"]);
  });

  const sentences = fc
    .array(fc.tuple(fc.stringMatching(/^[a-z]{1,12}$/), fc.constantFrom("", "", "", ",")), {
      minLength: 2,
      maxLength: 40,
    })
    .map((parts) => `${parts.map(([text, mark]) => text + mark).join(" ")}.`);

  it("so that no unheard word is missing, and begins with a word", () => {
    const usualMs = 1_000 / SPOKEN_CHARS_PER_SECOND;
    const share = fc.double({ min: 0, max: 1, noNaN: true });
    const off = fc.double({ min: 0.5, max: 1 / 0.65, noNaN: true });
    fc.assert(
      fc.property(sentences, share, off, (text, part, pace) => {
        const heard = Math.floor(text.length * part);
        // A voice that is slower than expected has said less in the same time.
        const start = restOf(text, heard * usualMs * pace);
        expect(start === 0 || start === text.length || text[start - 1] === " ").toBe(true);
        expect(text.slice(heard, start).trim()).toBe("");
      }),
    );
  });

  it("also between marks without spaces, and not within a number", () => {
    expect("今天很好，明天下雨。".slice(restOf("今天很好，明天下雨。", 600))).toBe("明天下雨。");
    const price = "It is 3,500 euros now.";
    expect(price.slice(restOf(price, 1_000))).toBe(price);
  });
});

const audio = (ms: number, sampleRateHz = 8_000): TtsPart => ({
  type: "audio",
  samples: new Int16Array((ms * sampleRateHz) / 1_000).fill(1_000),
  sampleRateHz,
});
const word = (textOffset: number, atMs: number): TtsPart => ({ type: "word", textOffset, atMs });
const take = (sentence: Sentence, ...parts: readonly TtsPart[]): TtsPart[] =>
  parts.flatMap((part) => [...sentence.take(part)]);
const timesOf = (parts: readonly TtsPart[]) =>
  parts.flatMap((part) => (part.type === "word" ? [[part.textOffset, Math.round(part.atMs)]] : []));

describe("a sentence of two voices", () => {
  it("has one rate and the length of both", () => {
    const sentence = new Sentence("One two. Three four.");
    const first = take(sentence, word(0, 0), audio(1_000, 8_000));
    expect(sentence.goOn(null)).toBe(true);
    const second = [...take(sentence, audio(1_000, 24_000)), ...sentence.end()];
    const rates = [...first, ...second].flatMap((part) => (part.type === "audio" ? [part.sampleRateHz] : []));
    expect(new Set(rates)).toEqual(new Set([8_000]));
    expect(sentence.audioMs).toBe(2_000);
  });

  it("has times of words for the whole, estimated where the second voice gives none", () => {
    const sentence = new Sentence("One two three four.");
    take(sentence, word(0, 0), word(4, 300), audio(600));
    sentence.goOn(null);
    expect(sentence.rest).toBe("three four.");
    // "four" is six characters later: 400 ms.
    expect(timesOf(take(sentence, audio(300), audio(300)))).toEqual([
      [8, 600],
      [14, 1_000],
    ]);
  });

  it("has none where the first voice gave none: its own words would seem unheard", () => {
    const sentence = new Sentence("One two, three four.");
    take(sentence, audio(800));
    sentence.goOn({ msPerWeight: 66, spread: 0.06 });
    expect(sentence.rest).toBe("three four.");
    expect(timesOf(take(sentence, word(0, 0), audio(300)))).toEqual([]);
  });

  it("may break off again, and is over when nothing is left to be said", () => {
    const sentence = new Sentence("One two three.");
    take(sentence, word(0, 0), audio(300));
    expect([sentence.goOn(null), sentence.rest]).toEqual([true, "two three."]);
    take(sentence, word(0, 0), audio(300));
    expect([sentence.goOn(null), sentence.rest]).toEqual([true, "three."]);
    take(sentence, word(0, 0), audio(300));
    expect(sentence.goOn(null)).toBe(false);
  });
});

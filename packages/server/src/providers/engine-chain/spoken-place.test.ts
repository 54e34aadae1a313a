import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { wordSpans } from "../../media/words.ts";
import { Paces } from "./paces.ts";
import { Pauses, spokenMs } from "./pauses.ts";
import { restFrom } from "./rest-of-text.ts";
import { heardPlace, spokenWeight, type Pace } from "./spoken-place.ts";

const RATE_HZ = 8_000;
const MS_PER_LETTER = 70;
const PAUSE_MS = 250;
const CLAUSE = /[,.]$/;

/** Speech as a voice with this pace makes it: each word for as long as its letters take, and pauses after clauses. */
function speak(text: string, msPerLetter = MS_PER_LETTER) {
  const starts: { readonly textOffset: number; readonly atMs: number }[] = [];
  const pieces: Int16Array[] = [];
  let ms = 0;
  const add = (lengthMs: number, level: number): void => {
    const samples = Math.round(((ms + lengthMs) * RATE_HZ) / 1_000) - Math.round((ms * RATE_HZ) / 1_000);
    pieces.push(new Int16Array(samples).map((_, index) => (index % 2 === 0 ? level : -level)));
    ms += lengthMs;
  };
  for (const { start, end } of wordSpans(text)) {
    const word = text.slice(start, end);
    starts.push({ textOffset: start, atMs: ms });
    add(spokenWeight(`${word} `) * msPerLetter, 8_000);
    if (CLAUSE.test(word)) add(PAUSE_MS, 3);
  }
  return { starts, ms, samples: Int16Array.from(pieces.flatMap((piece) => [...piece])) };
}

/** Of the first so many milliseconds. */
function pausesIn(samples: Int16Array, audioMs: number) {
  const pauses = new Pauses();
  pauses.push(samples.subarray(0, Math.round((audioMs * RATE_HZ) / 1_000)), RATE_HZ);
  return pauses.find();
}

const TEXT = "Your parcel is here, and it costs nine euros.";

describe("pauses", () => {
  it("are where the audio is quiet for long enough", () => {
    const { samples, ms } = speak(TEXT);
    const found = pausesIn(samples, ms);
    expect(found).toHaveLength(2);
    const [first] = found;
    // Sixteen letters, three spaces, and the end of a clause.
    expect(first?.fromMs).toBeCloseTo(20 * MS_PER_LETTER, -2);
    expect(found.every(({ fromMs, toMs }) => Math.abs(toMs - fromMs - PAUSE_MS) <= 20)).toBe(true);
    expect(Math.abs(spokenMs(found, ms) - (ms - 2 * PAUSE_MS))).toBeLessThanOrEqual(40);
    expect(spokenMs(found, (first?.fromMs ?? 0) + 100)).toBeCloseTo(first?.fromMs ?? 0);
  });

  it("are not between the sounds of a word, nor in a quiet voice", () => {
    const closure = [
      new Int16Array(1_600).fill(8_000),
      new Int16Array(800),
      new Int16Array(1_600).fill(8_000),
    ];
    const pauses = new Pauses();
    for (const piece of closure) pauses.push(piece, 16_000);
    expect(pauses.find()).toEqual([]);
    const quiet = new Pauses();
    quiet.push(new Int16Array(16_000).fill(200), 16_000);
    expect(quiet.find()).toEqual([]);
  });
});

const words = fc.array(fc.tuple(fc.stringMatching(/^[a-z]{1,9}$/), fc.constantFrom("", "", "", ",")), {
  minLength: 3,
  maxLength: 25,
});
const sentences = words.map((parts) => `${parts.map(([text, mark]) => text + mark).join(" ")}.`);

describe("a voice without times of words, whose pace is known", () => {
  it("is followed within one word, and no unheard word is left out", () => {
    fc.assert(
      fc.property(sentences, fc.double({ min: 0.05, max: 1, noNaN: true }), (text, share) => {
        const { starts, samples, ms } = speak(text);
        const audioMs = ms * share;
        const heard = { audioMs, words: [], pauses: pausesIn(samples, audioMs) };
        const start = restFrom(text, heard, { msPerWeight: MS_PER_LETTER, spread: 0 });
        const next = starts.find(({ atMs }) => atMs >= audioMs)?.textOffset ?? text.length;
        expect(start).toBeLessThanOrEqual(next);
        // At most the word that was cut, and the one before it where it had just begun.
        const again = wordSpans(text).filter((word) => word.start >= start && word.start < next);
        expect(again.length).toBeLessThanOrEqual(2);
      }),
    );
  });

  it("is not ahead of the audio while the pace is off by less than its spread", () => {
    const off = fc.double({ min: 0.9, max: 1.1, noNaN: true });
    fc.assert(
      fc.property(sentences, fc.double({ min: 0.05, max: 0.95, noNaN: true }), off, (text, share, error) => {
        const { starts, samples, ms } = speak(text, MS_PER_LETTER * error);
        const audioMs = ms * share;
        const pace: Pace = { msPerWeight: MS_PER_LETTER, spread: 0.12 };
        const place = heardPlace(text, pausesIn(samples, audioMs), audioMs, pace);
        const next = starts.find(({ atMs }) => atMs >= audioMs)?.textOffset ?? text.length;
        expect(place).toBeLessThanOrEqual(next);
      }),
    );
  });

  it("is at a mark of the text where it pauses, although its pace was wrong until there", () => {
    const { samples } = speak(TEXT, MS_PER_LETTER * 1.15);
    const audioMs = 20 * MS_PER_LETTER * 1.15 + PAUSE_MS;
    const pauses = pausesIn(samples, audioMs);
    const start = restFrom(
      TEXT,
      { audioMs, words: [], pauses },
      { msPerWeight: MS_PER_LETTER, spread: 0.06 },
    );
    expect(TEXT.slice(start)).toBe("and it costs nine euros.");
  });

  it("is followed by its sound, and not by times that are only estimates", () => {
    const { samples, ms } = speak(TEXT);
    const audioMs = ms / 2;
    const estimates = [0, 5, 12, 15].map((textOffset, index) => ({
      textOffset,
      atMs: index * 100,
      isEstimate: true as const,
    }));
    const heard = { audioMs, words: estimates, pauses: pausesIn(samples, audioMs) };
    const pace = { msPerWeight: MS_PER_LETTER, spread: 0 };
    expect(restFrom(TEXT, heard, pace)).toBe(restFrom(TEXT, { ...heard, words: [] }, pace));
    // Without a pace they are better than nothing.
    expect(TEXT.slice(restFrom(TEXT, { ...heard, audioMs: 250 }, null))).toBe(
      "is here, and it costs nine euros.",
    );
  });

  it("spells digits", () => {
    expect(spokenWeight("room 12")).toBe(14.5);
    expect(spokenWeight("3,500 euros")).toBe(25.5);
  });
});

describe("the paces of voices", () => {
  it("are those of their latest sentences, each voice by itself, with how far they differ", () => {
    const paces = new Paces();
    const engine = {};
    expect(paces.of(engine, "anna")).toBeNull();
    paces.note(engine, "anna", { ms: 600, weight: 10 });
    expect(paces.of(engine, "anna")).toEqual({ msPerWeight: 60, spread: 0.06 });
    paces.note(engine, "anna", { ms: 2_400, weight: 30 });
    paces.note(engine, "bert", { ms: 1_000, weight: 10 });
    // Longer sentences count for more.
    expect(paces.of(engine, "anna")?.msPerWeight).toBe(75);
    expect(paces.of(engine, "anna")?.spread).toBeCloseTo((15 / 75 + 5 / 75) / 2);
    for (let count = 0; count < 8; count += 1) paces.note(engine, "anna", { ms: 900, weight: 10 });
    expect(paces.of(engine, "anna")).toEqual({ msPerWeight: 90, spread: 0.04 });
    expect(paces.of({}, "anna")).toBeNull();
  });

  it("are not those of audio that is no speech", () => {
    const paces = new Paces();
    const engine = {};
    for (const ms of [0, 100, 10_000, NaN, Infinity]) paces.note(engine, "", { ms, weight: 10 });
    paces.note(engine, "", { ms: 600, weight: 0 });
    expect(paces.of(engine, "")).toBeNull();
  });
});

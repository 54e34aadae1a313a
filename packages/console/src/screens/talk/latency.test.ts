import { expect, test } from "vitest";
import { medianOf, readLatency, secondsText } from "./latency.ts";

const TOLD = {
  turnId: 3,
  endOfTurnMs: 384,
  transcriptFinalMs: 92,
  firstTokenMs: 216,
  firstSentenceMs: 456,
  firstAudioMs: 536,
  firstPlayedMs: 600,
  speculative: true,
};

test("steps tell what each made the answer wait for, and together they are the whole", () => {
  const latency = readLatency(TOLD);
  expect(latency).toEqual({
    turnId: 3,
    totalMs: 600,
    steps: { pause: 384, words: 0, model: 72, voice: 144 },
  });
  expect(secondsText(latency?.totalMs ?? 0)).toBe("0.60 s");
});

test("what is not told is not made up", () => {
  expect(readLatency(null)).toBeNull();
  expect(readLatency({ ...TOLD, firstPlayedMs: null })).toBeNull();
  expect(
    readLatency({ ...TOLD, transcriptFinalMs: null, firstSentenceMs: null, firstTokenMs: null })?.steps,
  ).toEqual({ pause: 384, words: 0, model: 0, voice: 216 });
});

test("a step that ends after the first sound does not make the bar longer", () => {
  expect(readLatency({ ...TOLD, transcriptFinalMs: 900 })?.steps).toEqual({
    pause: 384,
    words: 216,
    model: 0,
    voice: 0,
  });
});

test("the median of turns", () => {
  const turns = [600, 200, 400].flatMap((firstPlayedMs, turnId) => {
    const latency = readLatency({ turnId, firstPlayedMs });
    return latency === null ? [] : [latency];
  });
  expect(medianOf(turns)).toBe(400);
  expect(medianOf(turns.slice(0, 2))).toBe(400);
  expect(medianOf([])).toBeNull();
});

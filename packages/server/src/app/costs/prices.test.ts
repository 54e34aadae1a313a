import { costOf, decimalOfNanos } from "@parley/schema";
import { expect, it } from "vitest";
import type { Price } from "../../config/prices.ts";
import { NO_AMOUNTS, type EngineUse } from "../../ports/engine-use.ts";
import { openPrices } from "./prices.ts";

const MODEL: Price = {
  kind: "llm",
  engine: "openai",
  model: "gpt-*-mini",
  inputNanos: 150_000_000n,
  cachedInputNanos: 75_000_000n,
  outputNanos: 600_000_000n,
};
const RECOGNISER: Price = { kind: "stt", engine: "deepgram", model: "*", minuteNanos: 7_700_000n };
const VOICE: Price = {
  kind: "tts",
  engine: "ElevenLabs",
  model: "*",
  charactersNanos: 50_000_000_000n,
  minuteNanos: 0n,
};

const used = (changes: Partial<EngineUse>): EngineUse => ({
  kind: "llm",
  engine: "gpt-4o-mini",
  provider: "openai",
  model: "gpt-4o-mini",
  isLocal: false,
  ...NO_AMOUNTS,
  requests: 1,
  outcome: "answered",
  latencyMs: 100,
  isUncounted: false,
  ...changes,
});

const open = (...prices: Price[]) => openPrices({ currency: "USD", prices });

it.each([
  ["tokens", { inputTokens: 1_000, outputTokens: 10 }, 156_000],
  ["tokens of a cache at their own price", { inputTokens: 1_000, cachedInputTokens: 800 }, 90_000],
  ["one token", { outputTokens: 1 }, 600],
  ["more than a binary fraction holds", { inputTokens: 2_000_000_001, outputTokens: 3 }, 300_000_001_950],
] as const)("counts %s", (_, amounts, nanos) => {
  expect(open(MODEL)(used(amounts))).toBe(nanos);
});

it("counts audio by the millisecond and characters by one, and rounds half up", () => {
  const cost = open(RECOGNISER, VOICE, { ...VOICE, engine: "*", charactersNanos: 0n, minuteNanos: 30_000n });
  expect(cost(used({ kind: "stt", provider: "deepgram", heardMs: 60_000 }))).toBe(7_700_000);
  // 128.33 and 256.67 of 1e-9.
  expect(cost(used({ kind: "stt", provider: "deepgram", heardMs: 1 }))).toBe(128);
  expect(cost(used({ kind: "stt", provider: "deepgram", heardMs: 2 }))).toBe(257);
  expect(cost(used({ kind: "tts", engine: "ElevenLabs", characters: 7 }))).toBe(350_000);
  // Exactly a half.
  expect(cost(used({ kind: "tts", engine: "x", characters: 99, spokenMs: 3 }))).toBe(2);
});

it("takes the first price that matches the engine or its provider, and the model", () => {
  const cost = open({ ...MODEL, engine: "best", model: "*" }, MODEL, {
    ...MODEL,
    engine: "*",
    inputNanos: 1_000_000n,
  });
  const tokens = { inputTokens: 1_000 };
  expect(cost(used({ ...tokens, engine: "Best" }))).toBe(150_000);
  expect(cost(used({ ...tokens, model: "GPT-4.1-MINI" }))).toBe(150_000);
  expect(cost(used({ ...tokens, provider: "groq", model: "gpt-oss-mini" }))).toBe(1_000);
  // A point is a point.
  expect(open({ ...MODEL, model: "gpt.4o" })(used({ ...tokens, model: "gpt-4o" }))).toBeNull();
});

it("knows no cost without a price or a count, unless nothing was used or the engine runs on this machine", () => {
  const cost = open(MODEL, {
    ...MODEL,
    engine: "free",
    inputNanos: 0n,
    cachedInputNanos: 0n,
    outputNanos: 0n,
  });
  expect(cost(used({ provider: "groq", inputTokens: 5 }))).toBeNull();
  expect(cost(used({ provider: "groq", outcome: "failed" }))).toBe(0);
  expect(cost(used({ provider: "groq", isUncounted: true }))).toBeNull();
  expect(cost(used({ isUncounted: true }))).toBeNull();
  expect(cost(used({ engine: "free", provider: "groq", isUncounted: true }))).toBe(0);
  expect(cost(used({ provider: "scripted", isLocal: true, isUncounted: true }))).toBe(0);
  expect(cost(used({ isLocal: true, inputTokens: 1_000 }))).toBe(150_000);
});

it("is shown as a decimal number, with the engines that it lacks", () => {
  const texts = [0, 1, 1_000_000, 1_500_000_000, 12_000_000_000, 8_999_999_999_999_999].map(decimalOfNanos);
  expect(texts).toEqual(["0", "0.000000001", "0.001", "1.5", "12", "8999999.999999999"]);
  const sums = {
    ...NO_AMOUNTS,
    kind: "llm",
    engine: "a",
    provider: "p",
    model: null,
    requests: 1,
    failures: 0,
    dropped: 0,
    latencies: 0,
    latencySumMs: 0,
    latencyMaxMs: 0,
    uncounted: 0,
    costNanos: 2_500_000,
    unpriced: 0,
  } as const;
  expect(costOf([sums], null)).toBeNull();
  expect(costOf([sums, { ...sums, engine: "b", unpriced: 2 }], "EUR")).toEqual({
    amount: "0.005",
    currency: "EUR",
    isComplete: false,
    withoutPrice: ["b"],
  });
});

import { expect, it } from "vitest";
import { collect, neverAborted } from "./collect.ts";
import { fakeToneHz, openFakeTts } from "./fake-tts.ts";
import { describeTtsConformance, durationMsOf, samplesOf, ttsRequest } from "./tts-conformance.ts";

describeTtsConformance("the fake", {
  open: () => openFakeTts({ voices: ["high", "low"] }),
  language: "en",
  openHanging: () => ({ engine: openFakeTts({ wordDelayMs: 3_600_000 }), reached: Promise.resolve() }),
  openFailing: () => openFakeTts({ failure: () => new Error("broken on purpose") }),
});

it("gives each word its time and its tone", async () => {
  const engine = openFakeTts({ wordMs: 200, sampleRateHz: 8_000 });
  const { parts } = await collect(engine.synthesize(ttsRequest("One, two  three"), neverAborted()));
  expect(parts.filter((part) => part.type === "word")).toEqual([
    { type: "word", textOffset: 0, atMs: 0 },
    { type: "word", textOffset: 5, atMs: 200 },
    { type: "word", textOffset: 10, atMs: 400 },
  ]);
  expect(durationMsOf(parts)).toBe(600);
  const second = samplesOf(parts).subarray(1_600, 1_600 + 1_280);
  let rises = 0;
  for (const [i, sample] of second.entries()) if (sample >= 0 && (second[i - 1] ?? 0) < 0) rises += 1;
  expect(Math.abs(rises - fakeToneHz(1) * 0.16)).toBeLessThanOrEqual(1);
});

it("speaks the languages that it was given", () => {
  const engine = openFakeTts({ languages: ["en"] });
  expect(engine.speaks("en-GB")).toBe(true);
  expect(engine.speaks("de")).toBe(false);
});

import { expect, test } from "vitest";
import type { EngineFailure } from "../engine-failure.ts";
import { collect, neverAborted } from "./collect.ts";
import { openFakeVoiceProvider } from "./fake-voice-provider.ts";
import { providerEngine } from "./provider-engine.ts";
import { describeTtsConformance } from "./tts-conformance.ts";

const use = { voice: {}, key: "right", output: { sampleRateHz: 16_000, encoding: "pcm" } } as const;

describeTtsConformance("the fake voice provider", {
  open: () => providerEngine(openFakeVoiceProvider({ kind: "provider1", key: "right" }), use),
  language: "en",
  openHanging: () => ({
    engine: providerEngine(
      openFakeVoiceProvider({ kind: "provider1", tts: { wordDelayMs: 3_600_000 } }),
      use,
    ),
    reached: Promise.resolve(),
  }),
  openFailing: () =>
    providerEngine(openFakeVoiceProvider({ kind: "provider1", failure: () => new Error("no") }), use),
});

test.each([
  ["another key", { ...use, key: "wrong" }],
  ["settings out of range", { ...use, voice: { speed: 9 } }],
])("refuses %s permanently", async (_what, wanted) => {
  const provider = openFakeVoiceProvider({ kind: "provider1", key: "right" });
  const speech = { ...wanted, text: "Hello.", language: null };
  const { parts, error } = await collect(provider.synthesize(speech, neverAborted()));
  expect(parts).toEqual([]);
  expect(error).toMatchObject({ isPermanent: true } satisfies Partial<EngineFailure>);
});

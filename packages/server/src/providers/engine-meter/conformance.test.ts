/** An engine that is counted keeps the rules of its port. */

import { openFakeLlm } from "../../ports/testing/fake-llm.ts";
import { openFakeStt } from "../../ports/testing/fake-stt.ts";
import { openFakeTts } from "../../ports/testing/fake-tts.ts";
import { describeLlmConformance, llmRequest } from "../../ports/testing/llm-conformance.ts";
import { describeSttConformance } from "../../ports/testing/stt-conformance.ts";
import { describeTtsConformance } from "../../ports/testing/tts-conformance.ts";
import type { MeterParts } from "./engine-meter.ts";
import { meteredLlm } from "./metered-llm.ts";
import { meteredStt } from "./metered-stt.ts";
import { meteredTts } from "./metered-tts.ts";

const parts: MeterParts = { clock: { nowMs: () => 0 }, costOf: () => null, used: () => undefined };
const failure = (): Error => new Error("broken on purpose");
const HOURS_MS = 3_600_000;

describeLlmConformance("a counted model", {
  open: () =>
    meteredLlm(openFakeLlm({ reply: ({ systemPrompt }) => `You said: ${systemPrompt}` }), "x", parts),
  requests: [llmRequest({ systemPrompt: "nothing" }), llmRequest({ systemPrompt: "one two" })],
  openHanging: () => ({
    engine: meteredLlm(openFakeLlm({ wordDelayMs: HOURS_MS }), "x", parts),
    reached: Promise.resolve(),
  }),
  openFailing: () => meteredLlm(openFakeLlm({ failure }), "x", parts),
});

describeTtsConformance("a counted voice", {
  open: () => meteredTts(openFakeTts({ voices: ["high", "low"] }), "x", parts),
  language: "en",
  openHanging: () => ({
    engine: meteredTts(openFakeTts({ wordDelayMs: HOURS_MS }), "x", parts),
    reached: Promise.resolve(),
  }),
  openFailing: () => meteredTts(openFakeTts({ failure }), "x", parts),
});

const says = (_utterance: number, samples: Int16Array): string =>
  ({ 1: "one", 2: "two" })[samples[0] ?? 0] ?? "";

describeSttConformance("a counted recogniser", {
  open: () => meteredStt(openFakeStt({ says }), "x", parts),
  spoken: [
    { samples: new Int16Array(8_000).fill(1), text: "one" },
    { samples: new Int16Array(8_000).fill(2), text: "two" },
  ],
  unintelligible: new Int16Array(8_000).fill(3),
  openHanging: () => ({
    engine: meteredStt(openFakeStt({ broken: "hangs" }), "x", parts),
    reached: Promise.resolve(),
  }),
  openFailing: () => meteredStt(openFakeStt({ broken: "fails" }), "x", parts),
});

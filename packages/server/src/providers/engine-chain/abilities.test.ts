/** What a list says of itself, where its engines can do different things. */

import { expect, it } from "vitest";
import type { LlmEngine } from "../../ports/llm.ts";
import { collect, neverAborted } from "../../ports/testing/collect.ts";
import { faultyLlm } from "../../ports/testing/engine-faults.ts";
import { openFakeLlm } from "../../ports/testing/fake-llm.ts";
import { openFakeTts } from "../../ports/testing/fake-tts.ts";
import { llmRequest, textOf } from "../../ports/testing/llm-conformance.ts";
import type { TtsEngine } from "../../ports/tts.ts";
import { openManualClock } from "../../runner/testing/manual-clock.ts";
import { ListedEngine } from "./listed-engine.ts";
import { FIRST_TOKEN_LIMIT_MS, openLlmChain } from "./llm-chain.ts";
import { FIRST_AUDIO_LIMIT_MS, openTtsChain } from "./tts-chain.ts";

const observer = { used: () => undefined, failed: () => undefined };

function listOf<Engine>(one: Engine, other: Engine) {
  const clock = openManualClock();
  const engines = [new ListedEngine("first", one, clock), new ListedEngine("second", other, clock)] as const;
  return { clock, observer, engines };
}

it("gives the caller's voice only to models that hear it", async () => {
  const heard: (readonly [string, number | undefined])[] = [];
  const noted = (name: string, engine: LlmEngine, takesAudio: boolean): LlmEngine => ({
    ...engine,
    takesAudio: () => takesAudio,
    generate: (request, signal) => {
      heard.push([name, request.audio?.length]);
      return engine.generate(request, signal);
    },
  });
  const hears = noted(
    "first",
    faultyLlm(() => "5xx", ""),
    true,
  );
  const deaf = noted("second", openFakeLlm({ reply: "Good morning." }), false);
  const limits = { firstTokenLimitMs: FIRST_TOKEN_LIMIT_MS, hedgeMs: null };
  const chain = openLlmChain({ ...listOf(hears, deaf), ...limits });
  expect(chain.takesAudio?.("default")).toBe(true);
  const audio = [{ messageIndex: 0, wav: new Uint8Array(44) }];
  const reply = await collect(chain.generate(llmRequest({ audio }), neverAborted()));
  expect(heard).toEqual([
    ["first", 1],
    ["second", undefined],
  ]);
  expect(textOf(reply.parts)).toBe("Good morning.");
});

it("cannot be used where none of its engines can", () => {
  const gone = (reason: string | null): TtsEngine => ({ ...openFakeTts(), unusable: () => reason });
  const reasonOf = (one: string | null, other: string | null) =>
    openTtsChain({
      ...listOf(gone(one), gone(other)),
      firstAudioLimitMs: FIRST_AUDIO_LIMIT_MS,
    }).unusable?.();
  expect(reasonOf("the model is gone", "it was stopped")).toBe("the model is gone");
  expect(reasonOf("the model is gone", null)).toBeNull();
});

/** What a list tells when no engine answers, and when one does. */

import { describe, expect, it } from "vitest";
import type { ServingEngine } from "../../ports/engine-origin.ts";
import { neverAborted } from "../../ports/testing/collect.ts";
import { faultyLlm, faultyStt, faultyTts } from "../../ports/testing/engine-faults.ts";
import { openFakeLlm } from "../../ports/testing/fake-llm.ts";
import { openFakeStt } from "../../ports/testing/fake-stt.ts";
import { openFakeTts } from "../../ports/testing/fake-tts.ts";
import { llmRequest } from "../../ports/testing/llm-conformance.ts";
import { SttRecord } from "../../ports/testing/stt-conformance.ts";
import { ttsRequest } from "../../ports/testing/tts-conformance.ts";
import { settle } from "../../runner/testing/manual-clock.ts";
import { FIRST_TOKEN_LIMIT_MS } from "./llm-chain.ts";
import { ANSWER_LIMIT_MS } from "./stt-chain.ts";
import { llmOf, openWorld, over, pass, sttOf, ttsOf } from "./testing/chain-world.ts";
import { FIRST_AUDIO_LIMIT_MS } from "./tts-chain.ts";

describe("the last engine of a list that hangs", () => {
  const hangs = () => "hang before the first byte" as const;

  it("fails after its limit as well: a model", async () => {
    const world = openWorld();
    const chain = llmOf(world, [faultyLlm(hangs, ""), faultyLlm(hangs, "", "second")]);
    const { error } = await over(
      world.clock,
      chain.generate(llmRequest({ user: world.user }), neverAborted()),
    );
    expect(error).toMatchObject({ isExhausted: true, type: "timeout" });
    expect(world.clock.nowMs()).toBeLessThanOrEqual(2 * FIRST_TOKEN_LIMIT_MS + 300);
  });

  it("a voice", async () => {
    const world = openWorld();
    const chain = ttsOf(world, [faultyTts(hangs), faultyTts(hangs, "second")]);
    const { error } = await over(
      world.clock,
      chain.synthesize(ttsRequest("One.", { user: world.user }), neverAborted()),
    );
    expect(error).toMatchObject({ isExhausted: true, type: "timeout" });
    expect(world.clock.nowMs()).toBeLessThanOrEqual(2 * FIRST_AUDIO_LIMIT_MS + 300);
  });

  it("a recogniser", async () => {
    const world = openWorld();
    const chain = sttOf(world, [faultyStt(hangs, ""), faultyStt(hangs, "", "second")]);
    const record = new SttRecord();
    const stream = chain.open({ language: "en", user: world.user }, record);
    stream.open(1);
    stream.push(1, new Int16Array(16_000));
    stream.request(1, 1);
    await pass(world.clock, 2 * ANSWER_LIMIT_MS);
    expect(record.answers).toMatchObject([{ type: "failed", revision: 1 }]);
    stream.close();
    expect(world.clock.pending()).toBe(0);
  });
});

describe("who answers is told", () => {
  it("of a model and of a recogniser that took over", async () => {
    const world = openWorld();
    const served: string[] = [];
    const second = { ...openFakeLlm({ reply: "Two." }), name: "vendor", model: "m2" };
    const chain = llmOf(world, [faultyLlm(() => "5xx", ""), second]);
    const servedBy = ({ name, model, entry }: ServingEngine) =>
      void served.push(`${entry}: ${name} ${model ?? ""}`);
    await over(world.clock, chain.generate(llmRequest({ servedBy }), neverAborted()));
    const recognisers = sttOf(world, [
      faultyStt(() => "5xx", ""),
      { ...openFakeStt({ says: () => "hello" }), name: "other" },
    ]);
    const record = new SttRecord();
    const listener = Object.assign(record, {
      served: (utteranceId: number, revision: number, { name }: ServingEngine) =>
        void served.push(`${String(utteranceId)} ${String(revision)}: ${name}`),
    });
    const stream = recognisers.open({ language: "en" }, listener);
    stream.open(1);
    stream.push(1, new Int16Array(1_600));
    stream.request(1, 7);
    await settle();
    stream.close();
    expect(served).toEqual(["second: vendor m2", "1 7: other"]);
  });

  it("of each voice of a sentence", async () => {
    const world = openWorld();
    const served: string[] = [];
    const chain = ttsOf(world, [faultyTts(() => "drop in the middle"), openFakeTts()]);
    const servedBy = ({ entry }: ServingEngine) => void served.push(entry);
    await over(world.clock, chain.synthesize(ttsRequest("One two three.", { servedBy }), neverAborted()));
    expect(served).toEqual(["first", "second"]);
  });
});

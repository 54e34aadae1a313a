/** An external voice that is given up: rule R26a of SPEC.md. */

import { describe, expect, test } from "vitest";
import type { VoicePlan } from "../../plan/voice-plan.ts";
import { sentencesFor } from "../sentences.ts";
import { Scenario } from "../testing/scenario.ts";
import type { Synthesis } from "../testing/fake-voice.ts";

const SAID = "Welcome to the hotel. We are glad that you are here. How can I help you?";
const EXTERNAL: VoicePlan = {
  kind: "external",
  provider: "provider1",
  settings: { voiceId: "v" },
  key: "account",
  voiceId: null,
};
const DEFAULT: VoicePlan = { kind: "deployment", name: null };

function callWith(script: Synthesis[], usual: Synthesis = "ok"): Scenario {
  const call = new Scenario({
    firstSpeaker: { kind: "agent", delayMs: 0, text: SAID, prompt: null, uninterruptible: false },
    stage: { voice: EXTERNAL },
  });
  call.voice.script = script;
  call.voice.usual = usual;
  return call.join();
}

const voicesOf = (call: Scenario) =>
  call.voice.spoken.map(({ voice, silent }) => (silent ? "silent" : voice.kind));
const replaced = (call: Scenario) => call.eventsOf("voice.replaced");

describe("an external voice", () => {
  test("that works speaks, and nothing is replaced", () => {
    const call = callWith([]).run(12_000);
    expect(call.voice.spoken.map(({ voice }) => voice)).toEqual([EXTERNAL, EXTERNAL, EXTERNAL]);
    expect(replaced(call)).toEqual([]);
  });

  test("that refuses its key: the default voice says every sentence, and the call goes on", () => {
    const call = callWith(["refuse", "refuse", "refuse"]).run(12_000);
    expect(call.transcript).toEqual([`agent: ${SAID}`]);
    expect(call.hasEnded).toBe(false);
    expect(call.eventsOf("tts.failed")).toMatchObject([{ severity: "error" }]);
    expect(replaced(call)).toMatchObject([{ severity: "warning" }]);
    expect(voicesOf(call)).toEqual([
      "external",
      "external",
      "external",
      "deployment",
      "deployment",
      "deployment",
    ]);
    expect(call.voice.spoken.at(-1)?.voice).toEqual(DEFAULT);
    call.says("Good morning", 640).run(9_000);
    expect(call.transcript.at(-1)).toMatch(/^agent: You said/);
    expect(call.voice.spoken.at(-1)?.voice).toEqual(DEFAULT);
    expect(replaced(call)).toHaveLength(1);
  });

  test("that fails as every engine of a list has: what the default voice has rendered does not speak for it", () => {
    const call = callWith(["exhaust", "exhaust", "exhaust"]);
    call.voice.spare = [sentencesFor(null).moment];
    call.post({ type: "spareSpeechPrepared", language: null });
    call.run(12_000);
    expect(call.eventsOf("tts.failed").length).toBeGreaterThan(0);
    expect(call.voice.spoken.map(({ text }) => text)).not.toContain(sentencesFor(null).moment);
  });

  test("that fails twice is silent for a sentence, and speaks the next one", () => {
    const call = callWith(["fail", "ok", "ok", "fail"]).run(12_000);
    expect(call.transcript).toEqual([`agent: ${SAID}`]);
    expect(voicesOf(call)).toEqual(["external", "external", "external", "external", "silent"]);
    expect(replaced(call)).toEqual([]);
  });

  test("that fails for as long as a call may wait is replaced, not the end of the call", () => {
    const call = callWith([], "fail").run(4_000);
    for (let n = 0; n < 6 && replaced(call).length === 0; n += 1) call.says("Good morning", 640).run(7_000);
    expect(replaced(call)).toHaveLength(1);
    expect(call.hasEnded).toBe(false);
    call.voice.usual = "ok";
    call.says("Good morning", 640).run(9_000);
    expect(voicesOf(call).at(-1)).toBe("deployment");
    expect(call.state.engines.tts.failingSinceMs).toBeNull();
  });

  test("whose default voice is refused as well ends the call", () => {
    const call = callWith([], "refuse").run(4_000);
    expect(call.effectsOf("endCall")).toMatchObject([{ reason: "system_error", closeCode: 1011 }]);
    expect(call.eventsOf("tts.failed")).toHaveLength(2);
    expect(replaced(call)).toHaveLength(1);
  });

  test("that breaks off after some audio keeps what came, and the default voice says the rest", () => {
    const call = callWith(["ok", "fail-midway"]).run(40);
    const { segmentId = 0 } = call.voice.spoken[1] ?? {};
    const replyId = call.state.reply?.replyId ?? 0;
    call.post({
      type: "segmentFailed",
      replyId,
      segmentId,
      error: "no credits left",
      receivedMs: 200,
      permanent: true,
    });
    call.run(12_000);
    expect(call.transcript).toEqual([`agent: ${SAID}`]);
    expect(call.voice.spoken.filter((spoken) => spoken.segmentId === segmentId)).toHaveLength(1);
    expect(replaced(call)).toHaveLength(1);
    expect(call.hasEnded).toBe(false);
  });
});

test("a voice of the deployment that refuses its key ends the call as before", () => {
  const call = new Scenario({
    firstSpeaker: { kind: "agent", delayMs: 0, text: SAID, prompt: null, uninterruptible: false },
  });
  call.voice.script = ["refuse"];
  call.join().run(3_000);
  expect(call.effectsOf("endCall")).toMatchObject([{ reason: "system_error" }]);
  expect(replaced(call)).toEqual([]);
});

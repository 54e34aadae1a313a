/**
 * Common failures of voice agents, as cases that run without a network. The other cases need sockets or models;
 * docs/reliability.md lists where each is.
 */

import nodeProcess from "node:process";
import { beforeAll, describe, expect, test } from "vitest";
import type { CallEngineEventBody } from "../src/call/events.ts";
import { joinedCall, Scenario } from "../src/call/testing/scenario.ts";
import { initResampler } from "../src/media/resample.ts";
import { openCallWorld } from "../src/runner/testing/call-world.ts";
import { openFakeEngines } from "../src/runner/testing/fakes.ts";

beforeAll(async () => {
  await initResampler(nodeProcess);
});

const QUESTION = "Do you have a room for tonight";
const ANSWER = "Yes, we have three rooms left. The smallest is on the second floor. It is quiet there.";
const AGENT_FIRST = { kind: "agent", delayMs: 0, text: null, prompt: null, uninterruptible: false } as const;

function callWithQuestion(): Scenario {
  const call = joinedCall();
  call.llm.usual = () => ({ text: ANSWER, firstMs: 200 });
  return call.run(200).says(QUESTION, 1_200);
}

const PHASES: Readonly<Record<string, () => Scenario>> = {
  "before the join": () => new Scenario().run(50),
  "before the first token": () => joinedCall({ firstSpeaker: AGENT_FIRST }).run(20),
  "while the user speaks": () => joinedCall().run(100).says(QUESTION, 700),
  "while the model writes": () => callWithQuestion().runUntil(({ reply }) => (reply?.textPieces ?? 0) > 2),
  "while the voice renders": () =>
    callWithQuestion().runUntil(
      ({ reply }) => reply?.segments.some(({ status }) => status === "requested") ?? false,
    ),
  "while the agent speaks": () =>
    callWithQuestion()
      .runUntil(({ reply }) => reply?.begun === true)
      .run(600),
  "while the agent is held": () =>
    callWithQuestion()
      .runUntil(({ reply }) => reply?.begun === true)
      .run(600)
      .coughs(150),
  "while the transport is lost": () => {
    const call = callWithQuestion().runUntil(({ reply }) => reply?.begun === true);
    call.post({ type: "transportLost" });
    return call.run(300);
  },
  "while a model hangs": () => {
    const call = joinedCall();
    call.llm.usual = () => ({ text: "", end: "hang" });
    return call.says(QUESTION, 900).run(1_500);
  },
};

const CAUSES: Readonly<Record<string, CallEngineEventBody>> = {
  "the caller hangs up": { type: "transportHungUp" },
  "the agent hangs up": {
    type: "dataMessageReceived",
    message: { type: "hang_up", message: "" },
    source: "api",
  },
  "no media": { type: "mediaIdled" },
  "the operator stops the service": { type: "endRequested", cause: "shutdown" },
  "the detector dies": { type: "voiceDetectionFailed", error: "worker gone" },
  "a throw": { type: "faulted", error: "boom" },
};

/** From the first loud sample to the pause: the interruption's 90 ms in windows of 32 ms. */
const MUTED_AFTER_MS = 128;
/** The bound that the case names. */
const END_LIMIT_MS = 5_000;

describe("reliability 1: whatever ends a call, in whatever phase, ends it once and within five seconds", () => {
  for (const [phase, reach] of Object.entries(PHASES)) {
    // Before the join there is no media and no caller: the join's own limit ends such a call.
    const causes = Object.entries(CAUSES).filter(
      ([, { type }]) => phase !== "before the join" || !/mediaIdled|dataMessageReceived/.test(type),
    );
    test.each(causes)(`${phase}: %s`, (_cause, event) => {
      const call = reach();
      const atMs = call.atMs;
      call.post(event);
      call.run(END_LIMIT_MS);
      const ends = call.effects.filter(({ value }) => value.type === "endCall");
      expect(ends).toHaveLength(1);
      expect((ends[0]?.atMs ?? Infinity) - atMs).toBeLessThanOrEqual(END_LIMIT_MS);
      expect(call.state.timers).toEqual({});
    });
  }
});

test("reliability 2: after ten thousand calls of every fate all counts are zero", async () => {
  const { clock, records, calls, create, joined } = openCallWorld();
  const total = 10_000;
  for (let i = 0; i < total; i += 1) {
    if (i % 2 === 0) {
      create({ joinTimeoutMs: 1_000 });
      if (i % 200 === 0) await clock.advance(40);
      continue;
    }
    const { plan, transport } = await joined({ turnTaking: { reconnectGraceMs: 500 } });
    if (i % 8 === 1) transport.lose(true, 1000);
    else if (i % 8 === 3) transport.lose(false, 1006);
    else if (i % 8 === 5) calls.endCall(plan.callId);
    else transport.read('{"type":"hang_up"}');
  }
  await clock.advance(10_000);
  expect(calls.count()).toBe(0);
  expect(clock.pending()).toBe(0);
  expect(new Set(records.ends.map(({ callId }) => callId)).size).toBe(total);
});

describe("reliability 4: interrupted at any moment, the next turn still gets its reply", () => {
  /** From the end of the question to after the end of the answer. */
  const SWEEP_MS = 9_000;

  test.each([0, 1, 2, 3, 4])("every 20 ms, part %d of 5", (part) => {
    for (let afterMs = part * 20; afterMs <= SWEEP_MS; afterMs += 100) {
      const call = callWithQuestion().run(afterMs).says("No, wait a moment", 900).run(12_000);
      const said = call.messages.filter(({ role }) => role === "user").map(({ text }) => text);
      expect(said.join(" "), `${afterMs} ms`).toContain("wait a moment");
      const last = call.messages.at(-1);
      expect(last?.role, `${afterMs} ms`).toBe("agent");
      expect(call.state.shown, `${afterMs} ms`).toBe("listening");
    }
  });
});

describe("reliability 6: what is no interruption costs no reply", () => {
  test("a cough at every 20 ms of the answer", () => {
    for (let afterMs = 0; afterMs <= 7_000; afterMs += 20) {
      const call = callWithQuestion().run(afterMs).coughs(180).run(14_000);
      const agent = call.messages.filter(({ role }) => role === "agent").map(({ text }) => text);
      expect(agent, `${afterMs} ms`).toEqual([ANSWER]);
    }
  });
});

test("reliability 7: nothing of a cut reply is sent after playback_clear_buffer", async () => {
  const { clock, joined } = openCallWorld(
    openFakeEngines({ llm: { reply: "One two three four five six seven eight nine ten eleven." } }),
  );
  const { transport, hear } = await joined({ firstSpeaker: AGENT_FIRST });
  await hear(1_500, false);
  const before = transport.frames.length;
  expect(before).toBeGreaterThan(10);
  await hear(700, true);
  const cleared = transport.messages.findIndex(({ type }) => type === "playback_clear_buffer");
  expect(cleared).toBeGreaterThanOrEqual(0);
  const frames = transport.frames.length;
  await hear(300, false);
  const speaking = transport.messages
    .slice(cleared)
    .some((m) => m.type === "state" && m.state === "speaking");
  expect(speaking).toBe(false);
  expect(transport.frames.length).toBe(frames);
  await clock.advance(0);
});

describe("reliability 8: an interrupted message holds what was heard, within one word", () => {
  const WORD_MS = 300;
  const WORDS = "One two three four five six seven eight nine ten eleven twelve.";

  test.each([
    ["with word times", true],
    ["without word times", false],
  ])("%s", async (_name, wordTimes) => {
    // Before that, the sound may be the agent's own echo, so only words silence the agent.
    for (let afterMs = 1_200; afterMs <= 2_800; afterMs += 160) {
      const engines = openFakeEngines({ llm: { reply: WORDS }, tts: { wordTimes, wordMs: WORD_MS } });
      const { clock, records, joined } = openCallWorld(engines);
      const { transport, hear } = await joined({ firstSpeaker: AGENT_FIRST });
      while (transport.frames.length === 0) await clock.advance(10);
      await hear(afterMs, false);
      await hear(700, true);
      await hear(1_000, false);
      const message = records.messages.find(({ message: { role } }) => role === "agent")?.message;
      expect(message?.metadata, `${afterMs} ms`).toEqual({ interrupted: "true" });
      const playedMs = afterMs + MUTED_AFTER_MS;
      const heard = message?.text.split(" ").length ?? 0;
      const begun = Math.ceil(playedMs / WORD_MS);
      expect(Math.abs(heard - begun), `${afterMs} ms: ${message?.text}`).toBeLessThanOrEqual(1);
    }
  });
});

test("reliability 11: a provider that drops its stream in the eighth minute is asked again, and the call continues", () => {
  const call = joinedCall();
  for (let minute = 0; minute < 8; minute += 1) call.says(QUESTION, 1_200).run(58_800);
  call.stt.script = ["fail", "fail"];
  call.voice.script = ["fail"];
  call.llm.script = [{ text: "", end: "fail" }, { text: ANSWER }];
  const before = call.messages.length;
  call.says("Are you still there", 900).run(20_000);
  const said = call.messages.slice(before).map(({ role, text }) => [role, text]);
  expect(said).toEqual([
    ["user", "Are you still there"],
    ["agent", ANSWER],
  ]);
});

test("reliability 12: frames leave every 20 ms, neither earlier nor later than the client's buffer allows", async () => {
  const { clock, joined } = openCallWorld(
    openFakeEngines({ llm: { reply: "One two three four five six seven eight nine ten." } }),
  );
  const { transport } = await joined({ firstSpeaker: AGENT_FIRST });
  while (transport.frames.length === 0) await clock.advance(10);
  const startMs = clock.nowMs();
  const first = transport.frames.length;
  for (let at = 0; at < 2_000; at += 10) {
    await clock.advance(10);
    const sentMs = (transport.frames.length - first) * 20;
    const dueMs = clock.nowMs() - startMs;
    expect(sentMs).toBeGreaterThanOrEqual(dueMs - 20);
    expect(sentMs).toBeLessThanOrEqual(dueMs + 80);
  }
  expect(transport.frames.every((frame) => frame.length === 320)).toBe(true);
});

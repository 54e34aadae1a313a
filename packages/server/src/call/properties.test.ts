import * as fc from "fast-check";
import { expect, test } from "vitest";
import { initialState, step } from "./call.ts";
import type { CallEffect } from "./effects.ts";
import type { CallEngineEvent, CallEngineEventBody } from "./events.ts";
import { builtInTool, testTool, type ToolRun } from "./testing/fake-tools.ts";
import { isAtRest } from "./testing/at-rest.ts";
import { testPlan, type PlanChanges } from "./testing/plan.ts";
import { Scenario, type Disturbance } from "./testing/scenario.ts";
import type { Generation, SttAnswer } from "./testing/fake-engines.ts";
import type { Synthesis } from "./testing/fake-voice.ts";

/** The report with the smallest failing example, or null when the property held in every run. */
function failureOf<T extends readonly unknown[]>(
  property: fc.IProperty<[...T]>,
  numRuns: number,
): string | null {
  const details = fc.check(property, { numRuns });
  return details.failed ? (fc.defaultReportMessage(details) ?? "failed") : null;
}

/** One thing that happens to a call. The scenario checks every invariant after every step of it. */
type Action =
  | { readonly do: "says"; readonly words: number; readonly ms: number }
  | { readonly do: "coughs"; readonly ms: number }
  | { readonly do: "waits"; readonly ms: number }
  | { readonly do: "types"; readonly text: string; readonly urgency: "immediate" | "soon" | "later" }
  | { readonly do: "switches"; readonly medium: "voice" | "text" }
  | { readonly do: "presses"; readonly keys: string }
  | { readonly do: "loses"; readonly ms: number };

const action: fc.Arbitrary<Action> = fc.oneof(
  { arbitrary: says(), weight: 4 },
  fc.record({ do: fc.constant("coughs" as const), ms: fc.integer({ min: 20, max: 900 }) }),
  {
    arbitrary: fc.record({ do: fc.constant("waits" as const), ms: fc.integer({ min: 0, max: 4_000 }) }),
    weight: 4,
  },
  fc.record({
    do: fc.constant("types" as const),
    text: fc.constantFrom("", "Any rooms?", "…"),
    urgency: fc.constantFrom("immediate" as const, "soon" as const, "later" as const),
  }),
  fc.record({
    do: fc.constant("switches" as const),
    medium: fc.constantFrom("voice" as const, "text" as const),
  }),
  fc.record({ do: fc.constant("presses" as const), keys: fc.constantFrom("1", "42#", "0".repeat(33)) }),
  fc.record({ do: fc.constant("loses" as const), ms: fc.integer({ min: 0, max: 3_000 }) }),
);

function says() {
  return fc.record({
    do: fc.constant("says" as const),
    words: fc.integer({ min: 1, max: 6 }),
    ms: fc.integer({ min: 60, max: 2_000 }),
  });
}

const generation: fc.Arbitrary<Generation> = fc.record({
  text: fc.constantFrom(
    "",
    "…",
    "Yes.",
    "Of course. One moment, please. It is done now.",
    "word ".repeat(90),
  ),
  end: fc.constantFrom("finish", "finish", "fail", "hang"),
  calls: fc.array(
    fc.constantFrom(...["http", "early", "client", "noted", "tones", "next"].map((name) => ({ name }))),
    {
      maxLength: 2,
    },
  ),
  firstMs: fc.integer({ min: 0, max: 1_500 }),
  pieceMs: fc.integer({ min: 0, max: 60 }),
});

/** One of every kind that is run in another way. */
const TOOLS = [
  testTool("http"),
  testTool("early", { precomputable: true, defaultReaction: "speaks-once" }),
  testTool("client", { implementation: { kind: "client" } }),
  testTool("noted", { staticResponse: "Noted.", defaultReaction: "listens" }),
  builtInTool("playDtmfSounds", [], { digits: "12" }),
  testTool("next"),
].map((tool, n) => (n === 4 ? { ...tool, name: "tones" } : tool));

function toolRun(): fc.Arbitrary<ToolRun> {
  const afterMs = fc.integer({ min: 0, max: 3_500 });
  return fc.oneof(
    fc.record({ how: fc.constantFrom("answer" as const, "twice" as const), afterMs }),
    fc.record({
      how: fc.constant("answer" as const),
      afterMs,
      responseType: fc.constant("new-stage" as const),
    }),
    fc.record({ how: fc.constant("fail" as const), afterMs }),
    fc.constant({ how: "hang" as const }),
  );
}

const world = fc.record({
  actions: fc.array(action, { minLength: 1, maxLength: 8 }),
  stt: fc.array(fc.constantFrom<SttAnswer>("answer", "answer", "fail", "hang"), { maxLength: 4 }),
  sttMs: fc.integer({ min: 0, max: 1_200 }),
  partialsMs: fc.constantFrom(null, 64, 320),
  llm: fc.array(generation, { maxLength: 4 }),
  tts: fc.array(fc.constantFrom<Synthesis>("ok", "ok", "fail", "fail-midway", "hang", "stall", "empty"), {
    maxLength: 5,
  }),
  ttsMs: fc.integer({ min: 0, max: 800 }),
  medium: fc.constantFrom("voice" as const, "voice" as const, "text" as const),
  tools: fc.array(toolRun(), { maxLength: 4 }),
  stages: fc.array(
    fc.constantFrom(
      null,
      "hang" as const,
      { stage: { stageId: "second" } },
      { stage: { stageId: "third" }, initialMessages: [] },
    ),
    { maxLength: 3 },
  ),
  first: fc.constantFrom<PlanChanges["firstSpeaker"]>(
    { kind: "user", fallback: null },
    { kind: "user", fallback: { delayMs: 2_000, text: "Are you there?", prompt: null } },
    { kind: "agent", delayMs: 0, text: null, prompt: null, uninterruptible: false },
    { kind: "agent", delayMs: 800, text: "Welcome. How can I help?", prompt: null, uninterruptible: true },
    { kind: "agent", delayMs: 800, text: "Welcome. How can I help?", prompt: null, uninterruptible: false },
  ),
  vad: fc.record({
    turnEndpointDelayMs: fc.constantFrom(32, 128, 384, 800),
    minimumTurnDurationMs: fc.constantFrom(0, 300),
    minimumInterruptionDurationMs: fc.constantFrom(300, 600),
  }),
});
type World = typeof world extends fc.Arbitrary<infer T> ? T : never;

function open(drawn: World): Scenario {
  const { medium, first, vad, stt, sttMs, partialsMs, llm, tts, ttsMs, tools, stages } = drawn;
  const call = new Scenario({
    ...(first === undefined ? {} : { firstSpeaker: first }),
    stage: { tools: TOOLS, vad },
    initialOutputMedium: medium,
    medium: { ...testPlan().medium, digits: { kind: "text", text: "Keys {digits}.", urgency: "immediate" } },
    // A minute of faults must not end these calls: here they are to come back.
    turnTaking: { engineFailureLimitMs: 600_000, maximumTurnMs: 20_000, reconnectGraceMs: 5_000 },
    dataMessages: { debug: true, callEvent: true, userStartedSpeaking: true, userStoppedSpeaking: true },
  });
  call.stt.script = [...stt];
  call.stt.delayMs = sttMs;
  call.stt.partialsMs = partialsMs;
  call.llm.script = [...llm];
  call.voice.script = [...tts];
  call.tools.script = [...tools];
  call.tools.stages = [...stages];
  call.voice.delayMs = ttsMs;
  return call.join();
}

function act(call: Scenario, next: Action): void {
  if (call.hasEnded) return;
  if (next.do === "says")
    call.says(Array.from({ length: next.words }, (_, n) => `word${n}`).join(" "), next.ms);
  else if (next.do === "coughs") call.coughs(next.ms);
  else if (next.do === "waits") call.run(next.ms);
  else if (next.do === "switches") call.sends({ type: "set_output_medium", medium: next.medium });
  else if (next.do === "presses") {
    for (const key of next.keys) call.post({ type: "digitReceived", key });
  } else if (next.do === "types") {
    call.sends({ type: "user_text_message", text: next.text, urgency: next.urgency, threadId: "UI" });
  } else {
    call.post({ type: "transportLost" });
    call.run(next.ms).post({ type: "transportRestored" });
  }
}

/** After any events: the agent finishes, and a new turn is answered as usual. */
function expectAlive(call: Scenario): void {
  const { stt, llm, voice } = call;
  stt.script = [];
  llm.script = [];
  voice.script = [];
  call.tools.script = [];
  stt.delayMs = 60;
  call.runUntil(isAtRest, 240_000).run(1_300).runUntil(isAtRest, 240_000);
  expect(call.state.shown).toBe("listening");
  const before = call.messages.length;
  call.says("And now the final question", 960).run(500).runUntil(isAtRest, 60_000);
  const [user, agent] = call.messages.slice(before);
  expect(user).toMatchObject({ role: "user", text: "And now the final question" });
  expect(agent).toMatchObject({ role: "agent" });
}

function expectOneEnd(call: Scenario): void {
  call.post({ type: "transportHungUp" });
  call.run(60_000);
  expect(call.effectsOf("endCall")).toHaveLength(1);
  expect(call.state.timers).toEqual({});
}

test("whatever user and engines do, invariants hold and the call is never silent permanently", () => {
  const failure = failureOf(
    fc.property(world, (drawn) => {
      const call = open(drawn);
      for (const next of drawn.actions) act(call, next);
      expectAlive(call);
      expectOneEnd(call);
    }),
    120,
  );
  expect(failure).toBeNull();
});

/** Timers and transport events come from the runner itself; everything else may be lost. */
const NEVER_DROPPED = new Set<CallEngineEventBody["type"]>(["timerFired", "dataMessageReceived"]);

test("events lost, doubled and delayed break no invariant, and the call recovers", () => {
  const fate = fc.oneof(
    { arbitrary: fc.constant<Disturbance>("none"), weight: 6 },
    fc.constantFrom<Disturbance>("drop", "twice"),
    fc.integer({ min: 1, max: 700 }),
  );
  const failure = failureOf(
    fc.property(world, fc.array(fate, { minLength: 20, maxLength: 60 }), (drawn, fates) => {
      const call = open(drawn);
      let n = 0;
      call.disturb = (event) => {
        const how = fates[(n += 1) % fates.length] ?? "none";
        return how === "drop" && NEVER_DROPPED.has(event.type) ? "none" : how;
      };
      for (const next of drawn.actions) act(call, next);
      call.run(5_000);
      call.disturb = () => "none";
      expectAlive(call);
      expectOneEnd(call);
    }),
    120,
  );
  expect(failure).toBeNull();
});

test("an end at any moment is exactly one end, with nothing left", () => {
  const cause = fc.constantFrom<CallEngineEventBody>(
    { type: "transportHungUp" },
    { type: "transportLost" },
    { type: "mediaIdled" },
    { type: "endRequested", cause: "shutdown" },
    { type: "faulted", error: "boom" },
    { type: "voiceDetectionFailed", error: "gone" },
    { type: "dataMessageReceived", message: { type: "hang_up", message: "Bye." }, source: "api" },
  );
  const failure = failureOf(
    fc.property(world, fc.array(cause, { minLength: 1, maxLength: 4 }), (drawn, causes) => {
      const call = open(drawn);
      for (const next of drawn.actions.slice(0, 4)) act(call, next);
      for (const event of causes) call.post(event);
      call.run(60_000);
      expect(call.effectsOf("endCall")).toHaveLength(1);
      expect(call.effects.at(-1)?.value.type).toBe("endCall");
      expect(call.state.timers).toEqual({});
    }),
    150,
  );
  expect(failure).toBeNull();
});

test("arbitrary events in arbitrary order never throw and never break an invariant", () => {
  const id = fc.integer({ min: 0, max: 4 });
  const text = fc.constantFrom("", "Yes. ", "Hello there, friend. ", "…");
  const ms = fc.integer({ min: 0, max: 900 });
  const event: fc.Arbitrary<CallEngineEventBody> = fc.oneof(
    fc.record({ type: fc.constant("transcriptUpdated" as const), utteranceId: id, text }),
    fc.record({
      type: fc.constant("transcriptFinished" as const),
      utteranceId: id,
      revision: id,
      text,
      understood: fc.boolean(),
    }),
    fc.record({ type: fc.constant("transcriptFailed" as const), utteranceId: id, revision: id, error: text }),
    fc.record({ type: fc.constant("replyTextReceived" as const), replyId: id, text }),
    fc.record({
      type: fc.constant("replyTextFinished" as const),
      replyId: id,
      inputTokens: fc.option(id),
      outputTokens: fc.option(id),
    }),
    fc.record({ type: fc.constant("replyFailed" as const), replyId: id, error: text }),
    fc.record({ type: fc.constant("segmentAudioReceived" as const), replyId: id, segmentId: id }),
    fc.record({
      type: fc.constant("segmentSynthesized" as const),
      replyId: id,
      segmentId: id,
      durationMs: ms,
    }),
    fc.record({
      type: fc.constant("segmentFailed" as const),
      replyId: id,
      segmentId: id,
      error: text,
      receivedMs: fc.constantFrom(0, 100),
    }),
    fc.record({ type: fc.constant("segmentPlayoutStarted" as const), replyId: id, segmentId: id }),
    fc.record({
      type: fc.constant("segmentPlayoutAdvanced" as const),
      replyId: id,
      segmentId: id,
      heardChars: fc.integer({ min: 0, max: 40 }),
      playedMs: ms,
    }),
    fc.record({
      type: fc.constant("segmentPlayoutFinished" as const),
      replyId: id,
      segmentId: id,
      playedMs: ms,
    }),
    fc.record({
      type: fc.constantFrom("playoutPaused" as const, "playoutCleared" as const),
      replyId: id,
      segmentId: fc.option(id),
      heardChars: fc.integer({ min: 0, max: 40 }),
    }),
    fc.record({ type: fc.constant("timerFired" as const), timerId: fc.integer({ min: 0, max: 30 }) }),
    fc.constantFrom<CallEngineEventBody>(
      { type: "transportLost" },
      { type: "transportRestored" },
      { type: "dataMessageReceived", message: { type: "ping", timestamp: 1 }, source: "client" },
      {
        type: "dataMessageReceived",
        message: { type: "user_text_message", text: "Hi", urgency: "immediate", threadId: "UI" },
        source: "client",
      },
    ),
  );
  const talk = fc.oneof(
    { arbitrary: event.map((posted) => ({ posted })), weight: 5 },
    fc.integer({ min: 32, max: 700 }).map((speech) => ({ speech })),
    fc.integer({ min: 32, max: 700 }).map((silence) => ({ silence })),
  );
  const failure = failureOf(
    fc.property(world, fc.array(talk, { maxLength: 60 }), (drawn, script) => {
      const call = open(drawn);
      for (const next of script) {
        if ("posted" in next) call.post(next.posted);
        else if ("speech" in next) call.says("one two", next.speech);
        else call.run(next.silence);
      }
      expectOneEnd(call);
    }),
    250,
  );
  expect(failure).toBeNull();
});

test("a recorded event log replays to the same effects, byte for byte, from a state that went through JSON", () => {
  const failure = failureOf(
    fc.property(world, (drawn) => {
      const call = open(drawn);
      for (const next of drawn.actions) act(call, next);
      call.post({ type: "transportHungUp" });
      const log = JSON.parse(JSON.stringify(call.events)) as CallEngineEvent[];
      let state = initialState(JSON.parse(JSON.stringify(call.first.plan)) as typeof call.first.plan);
      const effects: CallEffect[] = [];
      for (const [n, event] of log.entries()) {
        if (n % 50 === 0) state = JSON.parse(JSON.stringify(state)) as typeof state;
        const next = step(state, event);
        state = next.state;
        effects.push(...next.effects);
      }
      expect(JSON.stringify(effects)).toBe(JSON.stringify(call.effects.map(({ value }) => value)));
      expect(JSON.stringify(state)).toBe(JSON.stringify(call.state));
    }),
    60,
  );
  expect(failure).toBeNull();
});

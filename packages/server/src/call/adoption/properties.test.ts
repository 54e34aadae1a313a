import * as fc from "fast-check";
import { expect, test } from "vitest";
import { step } from "../call.ts";
import { isAtRest } from "../testing/at-rest.ts";
import { testTool } from "../testing/fake-tools.ts";
import { joinedCall, type Scenario } from "../testing/scenario.ts";
import { snapshotOf, stateOfSnapshot, type CallSnapshot } from "./snapshot.ts";

/** The report with the smallest failing example, or null when the property held in every run. */
function failureOf<T extends readonly unknown[]>(
  property: fc.IProperty<[...T]>,
  numRuns: number,
): string | null {
  const details = fc.check(property, { numRuns });
  return details.failed ? (fc.defaultReportMessage(details) ?? "failed") : null;
}

const TOOLS = [
  testTool("http"),
  testTool("early", { precomputable: true }),
  testTool("client", { implementation: { kind: "client" } }),
  testTool("noted", { staticResponse: "Noted." }),
  testTool("next"),
];

const generation = fc.record({
  text: fc.constantFrom(
    "Yes.",
    "",
    "Of course. One moment, please. It is done now. Is there anything else?",
    "word ".repeat(90),
  ),
  end: fc.constantFrom("finish" as const, "finish" as const, "fail" as const, "hang" as const),
  calls: fc.array(fc.constantFrom(...TOOLS.map(({ name }) => ({ name }))), { maxLength: 2 }),
  firstMs: fc.integer({ min: 0, max: 800 }),
  pieceMs: fc.integer({ min: 0, max: 40 }),
});

const world = fc.record({
  says: fc.array(fc.integer({ min: 320, max: 1_500 }), { minLength: 1, maxLength: 4 }),
  waits: fc.array(fc.integer({ min: 0, max: 6_000 }), { minLength: 4, maxLength: 4 }),
  llm: fc.array(generation, { maxLength: 5 }),
  tools: fc.array(
    fc.oneof(
      fc.record({ how: fc.constant("answer" as const), afterMs: fc.integer({ min: 0, max: 3_000 }) }),
      fc.record({
        how: fc.constant("answer" as const),
        responseType: fc.constant("new-stage" as const),
        afterMs: fc.integer({ min: 0, max: 900 }),
      }),
      fc.constant({ how: "hang" as const }),
    ),
    { maxLength: 4 },
  ),
  medium: fc.constantFrom("voice" as const, "voice" as const, "text" as const),
  gapMs: fc.integer({ min: 0, max: 30_000 }),
});
type World = typeof world extends fc.Arbitrary<infer T> ? T : never;

function talked({ says, waits, llm, tools, medium }: World): Scenario {
  const call = joinedCall({
    stage: { tools: TOOLS },
    initialOutputMedium: medium,
    turnTaking: { engineFailureLimitMs: 600_000, reconnectGraceMs: 5_000 },
  });
  call.llm.script = [...llm];
  call.tools.script = [...tools];
  call.tools.stages = [
    { stage: { stageId: "second" } },
    { stage: { stageId: "third" }, initialMessages: [] },
  ];
  says.forEach((ms, at) => {
    if (!call.hasEnded) call.says("one two three", ms).run(waits[at] ?? 0);
  });
  return call;
}

test("a call that is lost at any moment goes on: its history stays, no tool is sent twice, and the next turn is answered", () => {
  const failure = failureOf(
    fc.property(world, (drawn) => {
      const lost = talked(drawn);
      if (lost.hasEnded || lost.snapshot === null) return;
      const kept = lost.snapshot.state.history.entries.filter(
        ({ index, details }) => index !== null && details !== undefined,
      );
      const call = lost.resumed(drawn.gapMs);
      if (call.hasEnded) return;
      const texts = call.state.history.entries.map(({ text }) => text);
      for (const { text } of kept.slice(-3)) expect(texts).toContain(text);
      call.runUntil(isAtRest, 240_000).run(1_300).runUntil(isAtRest, 240_000);
      const sent = new Set(lost.tools.invoked.map(({ invocationId }) => invocationId));
      for (const { invocationId } of call.tools.invoked) expect(sent.has(invocationId)).toBe(false);
      const before = call.messages.length;
      call.says("And now the final question", 960).run(500).runUntil(isAtRest, 60_000);
      expect(call.messages.slice(before)).toMatchObject([{ role: "user" }, { role: "agent" }]);
      call.post({ type: "transportHungUp" });
      expect(call.effectsOf("endCall")).toHaveLength(1);
    }),
    80,
  );
  expect(failure).toBeNull();
});

test("a snapshot that was stored is the state that it was taken from", () => {
  const failure = failureOf(
    fc.property(world, (drawn) => {
      const { state } = talked(drawn);
      const stored = JSON.parse(JSON.stringify(snapshotOf(state))) as CallSnapshot;
      expect(stateOfSnapshot(state.plan, stored)).toEqual(JSON.parse(JSON.stringify(state)));
    }),
    40,
  );
  expect(failure).toBeNull();
});

test("the log of both processes replays to the same state, and twice as well", () => {
  const failure = failureOf(
    fc.property(world, (drawn) => {
      const lost = talked(drawn);
      if (lost.hasEnded || lost.snapshot === null) return;
      const once = lost.resumed(drawn.gapMs).run(3_000);
      const calls = once.hasEnded ? [once] : [once, once.resumed(2_000).run(3_000)];
      const events = [...lost.events, ...calls.flatMap(({ events: own }) => own)];
      const replayed = events.reduce((state, event) => step(state, event).state, lost.first);
      expect(JSON.stringify(replayed)).toBe(JSON.stringify(calls.at(-1)?.state));
    }),
    20,
  );
  expect(failure).toBeNull();
});

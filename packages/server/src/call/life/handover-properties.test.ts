import * as fc from "fast-check";
import { expect, test } from "vitest";
import { isAtRest } from "../testing/at-rest.ts";
import { testTool } from "../testing/fake-tools.ts";
import { joinedCall } from "../testing/scenario.ts";

const TOOLS = [testTool("http"), testTool("client", { implementation: { kind: "client" } })];

const generation = fc.record({
  text: fc.constantFrom("Yes.", "", "Of course. One moment, please. It is done now.", "word ".repeat(90)),
  end: fc.constantFrom("finish" as const, "finish" as const, "fail" as const, "hang" as const),
  calls: fc.array(fc.constantFrom(...TOOLS.map(({ name }) => ({ name }))), { maxLength: 2 }),
  firstMs: fc.integer({ min: 0, max: 800 }),
  pieceMs: fc.integer({ min: 0, max: 40 }),
});
const world = fc.record({
  waits: fc.array(fc.integer({ min: 0, max: 6_000 }), { minLength: 1, maxLength: 3 }),
  llm: fc.array(generation, { maxLength: 4 }),
  tools: fc.array(
    fc.oneof(
      fc.record({ how: fc.constant("answer" as const), afterMs: fc.integer({ min: 0, max: 3_000 }) }),
      fc.constant({ how: "hang" as const }),
    ),
    { maxLength: 4 },
  ),
  medium: fc.constantFrom("voice" as const, "voice" as const, "text" as const),
  limitMs: fc.constantFrom(0, 1_000, 20_000),
  gapMs: fc.integer({ min: 0, max: 3_000 }),
});

test("a call that is handed over at any moment goes on: nothing is sent twice, and the next turn is answered", () => {
  const details = fc.check(
    fc.property(world, ({ waits, llm, tools, medium, limitMs, gapMs }) => {
      const call = joinedCall({
        stage: { tools: TOOLS },
        initialOutputMedium: medium,
        turnTaking: { engineFailureLimitMs: 600_000 },
      });
      call.llm.script = [...llm];
      call.tools.script = [...tools];
      for (const ms of waits) if (!call.hasEnded) call.says("one two three", 700).run(ms);
      if (call.hasEnded) return;
      const began = call.effectsOf("speak").length;
      const generated = call.effectsOf("generateReply").length;
      call.post({ type: "handoverRequested", limitMs });
      call.run(limitMs + 1);
      expect(call.hasEnded || call.state.handover?.isReady).toBe(true);
      expect(call.effectsOf("speak")).toHaveLength(began);
      expect(call.effectsOf("generateReply")).toHaveLength(generated);
      if (call.hasEnded) return;
      const said = call.state.history.entries.filter(({ details: known }) => known !== undefined).slice(-3);
      const next = call.resumed(gapMs);
      const texts = next.state.history.entries.map(({ text }) => text);
      for (const { text } of said) expect(texts).toContain(text);
      next.runUntil(isAtRest, 240_000).run(1_300).runUntil(isAtRest, 240_000);
      const sent = new Set(call.tools.invoked.map(({ invocationId }) => invocationId));
      for (const { invocationId } of next.tools.invoked) expect(sent.has(invocationId)).toBe(false);
      const before = next.messages.length;
      next.says("And now the final question", 960).run(500).runUntil(isAtRest, 60_000);
      expect(next.messages.slice(before)).toMatchObject([{ role: "user" }, { role: "agent" }]);
    }),
    { numRuns: 60 },
  );
  expect(details.failed ? fc.defaultReportMessage(details) : null).toBeNull();
});

import { expect, test } from "vitest";
import { testTool } from "./testing/fake-tools.ts";
import { askedCall, toolResults } from "./testing/tool-calls.ts";
import type { Scenario } from "./testing/scenario.ts";

/** Longer than reply, round and answer together. */
const SWEPT_MS = 5_200;
const STEP_MS = 20;

function bookingCall(precomputable: boolean): Scenario {
  const call = askedCall([testTool("book", { precomputable })], {
    text: "I will book the room for you.",
    calls: [{ name: "book" }],
  });
  call.llm.usual = () => ({ text: "Very well." });
  call.tools.usual = { how: "answer", afterMs: 600, result: "booked" };
  return call;
}

/** How often a result is in the prompts after it, the least and the most. */
function seen(call: Scenario): readonly number[] {
  const atMs = call.effects.find(
    ({ value }) => value.type === "recordMessage" && value.message.role === "tool_result",
  )?.atMs;
  if (atMs === undefined) return [];
  const later = call.effects.flatMap((effect) =>
    effect.value.type === "generateReply" && effect.atMs >= atMs ? [effect.value.request] : [],
  );
  return later.map(({ messages }) => messages.filter(({ role, text }) => role === "tool" && text === "booked").length);
}

test.each([false, true])("words at every 20 ms of a reply with a call and of its round (precomputable: %s)", (early) => {
  const outcomes = new Set<string>();
  for (let offsetMs = 0; offsetMs < SWEPT_MS; offsetMs += STEP_MS) {
    const call = bookingCall(early).run(offsetMs).says("And breakfast too", 700).run(9_000);
    const where = `at ${offsetMs} ms`;
    expect(call.tools.invoked.length, where).toBeLessThanOrEqual(1);
    expect(toolResults(call).length, where).toBeLessThanOrEqual(1);
    if (!early) expect(toolResults(call).length, where).toBe(call.tools.invoked.length);
    const counts = seen(call);
    expect(counts.every((count) => count === 1), where).toBe(true);
    if (toolResults(call).length > 0) expect(counts.length, where).toBeGreaterThan(0);
    expect(call.state.shown, where).toBe("listening");
    expect(call.transcript.at(-1), where).toBe("agent: Very well.");
    outcomes.add(toolResults(call).length > 0 ? "made" : "taken back");
  }
  expect([...outcomes].toSorted()).toEqual(["made", "taken back"]);
});

import { expect, test } from "vitest";
import { testTool } from "../testing/fake-tools.ts";
import { callWithQuestion, toolResults } from "../testing/tool-calls.ts";
import type { Scenario } from "../testing/scenario.ts";

/** Longer than reply, round and answer together. */
const SWEPT_MS = 5_200;
const STEP_MS = 20;

function bookingCall(precomputable: boolean): Scenario {
  const call = callWithQuestion([testTool("book", { precomputable })], {
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
  return later.map(
    ({ messages }) => messages.filter(({ role, text }) => role === "tool" && text === "booked").length,
  );
}

/** What went wrong, in words; empty when all is well. */
function faultsOf(call: Scenario, precomputable: boolean): readonly string[] {
  const results = toolResults(call).length;
  const invoked = call.tools.invoked.length;
  const counts = seen(call);
  const wrong: readonly (readonly [boolean, string])[] = [
    [invoked > 1 || results > 1, "booked twice"],
    [!precomputable && results !== invoked, "a completed result was lost"],
    [counts.some((count) => count !== 1), "a prompt after the result does not have it once"],
    [results > 0 && counts.length === 0, "the result reached no prompt"],
    [call.state.shown !== "listening", "the call does not listen"],
    [call.transcript.at(-1) !== "agent: Very well.", "the words were not answered"],
  ];
  return wrong.flatMap(([fault, text]) => (fault ? [text] : []));
}

test.each([false, true])(
  "words at every 20 ms of a reply with a call and of its round (precomputable: %s)",
  (early) => {
    const faults: string[] = [];
    const outcomes = new Set<boolean>();
    for (let offsetMs = 0; offsetMs < SWEPT_MS; offsetMs += STEP_MS) {
      const call = bookingCall(early).run(offsetMs).says("And breakfast too", 700).run(9_000);
      faults.push(...faultsOf(call, early).map((fault) => `at ${offsetMs} ms: ${fault}`));
      outcomes.add(toolResults(call).length > 0);
    }
    expect(faults).toEqual([]);
    // Both happened: the call was made, and it was taken back.
    expect(outcomes).toEqual(new Set([true, false]));
  },
  20_000,
);

import { expect, test } from "vitest";
import { testTool } from "../testing/fake-tools.ts";
import { joinedCall } from "../testing/scenario.ts";

const LIMIT = 60;
const LONG = "I will now look for a room for you. It is one moment, please, and this takes a while.";
const SAID = LONG.slice(0, LIMIT).trim();

function limitedCall() {
  return joinedCall({
    turnTaking: { maximumReplyChars: LIMIT },
    stage: { tools: [testTool("lookUp")] },
    dataMessages: { callEvent: true },
  });
}

test.each(["voice", "text"] as const)("a reply (%s) that grew too long still makes its calls", (medium) => {
  const call = limitedCall();
  call.llm.script = [{ text: LONG, calls: [{ name: "lookUp" }] }, { text: "Three rooms." }];
  call.sends({ type: "set_output_medium", medium }).run(320).says("Any rooms left?", 960).run(12_000);
  expect(call.tools.invoked).toHaveLength(1);
  expect(call.transcript.slice(1)).toEqual([`agent: ${SAID}`, "agent: Three rooms."]);
  expect(call.eventsOf("llm.failed")).toHaveLength(1);
});

test("one whose generation then stalls, breaks or never ends is over, without another attempt", () => {
  for (const end of ["hang", "fail", "babble"] as const) {
    const call = limitedCall();
    const text = end === "babble" ? LONG.repeat(100) : LONG;
    call.llm.script = [{ text, pieceMs: 40, ...(end === "babble" ? {} : { end }) }];
    call.run(320).says("Any rooms left?", 960).run(20_000);
    expect(call.transcript.slice(1)).toEqual([`agent: ${SAID}`]);
    expect(call.llm.requests).toHaveLength(1);
    expect(call.eventsOf("llm.failed")).toHaveLength(1);
    expect(call.state.reply).toBeNull();
    expect(call.effectsOf("abortReply")).toHaveLength(1);
  }
});

import { describe, expect, test } from "vitest";
import type { Draft } from "../draft.ts";
import { initialState } from "../call.ts";
import {
  addToolCalls,
  addToolResult,
  addUserMessage,
  bounded,
  closeAgentMessage,
  HISTORY_MAX_CHARS,
  HISTORY_MAX_MESSAGES,
  HISTORY_STATES_MAX_CHARS,
  MERGED_MESSAGE_MAX_CHARS,
  openAgentMessage,
  resultShare,
} from "./history.ts";
import { testTool } from "../testing/fake-tools.ts";
import { joinedCall } from "../testing/scenario.ts";
import { testPlan } from "../testing/plan.ts";
import { callWithQuestion, toolResults } from "../testing/tool-calls.ts";
import { WAITING } from "../tools/round.ts";
import type { ToolCall } from "../tools/tool-state.ts";

const said = (text: string, medium: "voice" | "text") =>
  ({ text, medium, startMediaMs: 0, startAtMs: 0, endMediaMs: 0, endAtMs: 0 }) as const;
const call = (invocationId: string): ToolCall => ({
  invocationId,
  toolName: "look",
  arguments: {},
  problem: null,
  knownResult: null,
  progress: WAITING,
  earlyFailure: null,
});
function addResult(work: Draft, id: string, text: string, seenChars = text.length): void {
  addToolResult(work, call(id), { text, errorDetails: null }, null, seenChars);
}
const draft = (): Draft => ({ state: initialState(testPlan()), effects: [] });

describe("limits", () => {
  test("the oldest messages leave the model's view, their records stay", () => {
    const work = draft();
    for (let n = 0; n < HISTORY_MAX_MESSAGES + 10; n += 1) addUserMessage(work, said(`${n}`, "text"));
    const { entries, nextIndex } = work.state.history;
    expect(entries).toHaveLength(HISTORY_MAX_MESSAGES);
    expect(entries[0]?.text).toBe("10");
    expect(nextIndex).toBe(HISTORY_MAX_MESSAGES + 10);
    expect(work.effects).toHaveLength(HISTORY_MAX_MESSAGES + 10);
  });

  test("so do the oldest characters, but never the newest message", () => {
    const work = draft();
    const long = "x".repeat(HISTORY_MAX_CHARS / 2);
    for (let n = 0; n < 4; n += 1) addUserMessage(work, said(long, "text"));
    expect(work.state.history.chars).toBe(HISTORY_MAX_CHARS);
    addUserMessage(work, said(long.repeat(3), "text"));
    expect(work.state.history.entries).toHaveLength(1);
  });

  test("what the user said last stays, with a message that is being said and the newest round of tools", () => {
    const work = draft();
    const long = "x".repeat(HISTORY_MAX_CHARS / 2);
    for (const id of ["old", "new"]) {
      addUserMessage(work, said(`before ${id} ${long}`, "text"));
      addToolCalls(work, [call(`${id}1`), call(`${id}2`)]);
      for (const one of [`${id}1`, `${id}2`]) addResult(work, one, long.slice(1_000));
    }
    const index = openAgentMessage(work, "voice");
    for (let n = 0; n < 100; n += 1) {
      const spoken = openAgentMessage(work, "text");
      closeAgentMessage(work, spoken, `${n} ${long.slice(0, 4_000)}`, false);
    }
    closeAgentMessage(work, index, "heard", true);
    const kept = work.state.history.entries.map(({ role, text }) => `${role} ${text.slice(0, 10)}`);
    expect(kept.slice(0, 5)).toEqual([
      "user before new",
      "tool_call {}",
      "tool_call {}",
      "tool_result xxxxxxxxxx",
      "tool_result xxxxxxxxxx",
    ]);
    expect(kept.at(-1)).toBe("agent 99 xxxxxxx");
    const onRecord = work.effects.flatMap((effect) =>
      effect.type === "recordMessage" ? [effect.message] : [],
    );
    expect(onRecord.at(-1)).toMatchObject({ index, text: "heard" });
    expect(bounded(work.state.history)).toBe(work.state.history);
  });

  test.each([
    [[], 200_000],
    [[1, 2, 3], 200_000],
    [[150_000, 10], 200_000],
    [[150_000, 100_000], 100_000],
    [[300_000, 20_000], 180_000],
    [[65_536, 65_536, 65_536, 65_536, 8_000], 48_000],
  ])("results of lengths %j may have %d each", (lengths, share) => {
    expect(resultShare(lengths, 200_000)).toBe(share);
    const seen = lengths.reduce((sum, length) => sum + Math.min(length, share), 0);
    expect(seen).toBeLessThanOrEqual(200_000);
  });

  test("a result beyond its share is whole on record, and the model is told that it sees a part", () => {
    const work = draft();
    addToolCalls(work, [call("a")]);
    addResult(work, "a", "y".repeat(1_000), 200);
    const { text } = work.state.history.entries.at(-1) ?? { text: "" };
    expect(text).toHaveLength(200);
    expect(text).toMatch(/^y+\n\[The rest was left out/);
    expect(work.effects.at(-1)).toMatchObject({ message: { text: "y".repeat(1_000) } });
  });

  test("the newest states of the call stay for tools, older ones are only on record", () => {
    const work = draft();
    for (let n = 0; n < 6; n += 1) {
      const callState = { n, filling: "x".repeat(HISTORY_STATES_MAX_CHARS / 4 - 50) };
      addToolResult(work, call(`${n}`), { text: "ok", errorDetails: null }, callState, 2);
    }
    const states = work.state.history.entries.map(({ details }) => details?.callState?.["n"] ?? null);
    expect(states).toEqual([null, null, 2, 3, 4, 5]);
    const recorded = work.effects.flatMap((effect) =>
      effect.type === "recordMessage" ? [effect.message] : [],
    );
    expect(recorded.map(({ callState }) => callState?.["n"])).toEqual([0, 1, 2, 3, 4, 5]);
  });

  test("sixteen results of 64 KiB leave the question and every one of them in the next request", () => {
    const calls = Array.from({ length: 16 }, () => ({ name: "look" }));
    const conversation = callWithQuestion(
      [testTool("look")],
      { text: "", calls },
      { text: "That is a lot." },
    );
    // Three quarters of the window of 24,000 tokens, by sixteen.
    conversation.tools.usual = { how: "answer", result: "z".repeat(65_536) };
    conversation.run(9_000);
    expect(conversation.state.history.entries.map(({ role }) => role)).toEqual([
      "user",
      ...Array.from({ length: 16 }, () => "tool_call"),
      ...Array.from({ length: 16 }, () => "tool_result"),
      "agent",
    ]);
    const results = conversation.llm.requests[1]?.messages.filter(({ role }) => role === "tool") ?? [];
    expect(results.map(({ text }) => text.length)).toEqual(Array.from({ length: 16 }, () => 4_500));
    expect(conversation.llm.requests[1]?.messages[0]).toEqual({ role: "user", text: "Any rooms left?" });
    expect(toolResults(conversation).every(({ text }) => text.length === 65_536)).toBe(true);
    expect(conversation.transcript).toEqual(["user: Any rooms left?", "agent: That is a lot."]);
  });

  test("speech is joined to unanswered speech only, and only up to a bounded length", () => {
    const work = draft();
    addUserMessage(work, said("one", "voice"));
    addUserMessage(work, said("two", "voice"));
    addUserMessage(work, said("three", "text"));
    addUserMessage(work, said("four", "voice"));
    addUserMessage(work, said("x".repeat(MERGED_MESSAGE_MAX_CHARS), "voice"));
    expect(work.state.history.entries.map(({ text }) => text.slice(0, 9))).toEqual([
      "one two",
      "three",
      "four",
      "xxxxxxxxx",
    ]);
    const indices = work.effects.flatMap((effect) =>
      effect.type === "recordMessage" ? [effect.message.index] : [],
    );
    expect(indices).toEqual([0, 0, 1, 2, 3]);
  });

  test("speech is not joined to a message from before the call", () => {
    const message = { medium: "voice", invocationId: null, toolName: null } as const;
    const call = joinedCall({ initialMessages: [{ ...message, role: "user", text: "Before." }] });
    call.run(320).says("Good morning", 640).run(6_000);
    expect(call.messages.slice(0, 2).map(({ text }) => text)).toEqual(["Before.", "Good morning"]);
  });
});

test("messages carry both clocks, counted from the join", () => {
  const call = joinedCall().run(320).says("Good morning", 640).run(6_000);
  const [user, agent] = call.messages;
  expect(user?.timespan).toEqual({ startMs: 320, endMs: 960 });
  expect(user?.wallClockTimespan).toEqual({ startMs: 320, endMs: 960 });
  expect(agent?.timespan?.startMs).toBeGreaterThanOrEqual(960 + 384);
  expect(agent?.timespan?.endMs).toBeGreaterThan(agent?.timespan?.startMs ?? 0);
  expect(agent).toMatchObject({ medium: "voice", invocationId: null, toolName: null, errorDetails: null });
});

test("an agent's words are shown one by one as they are heard, and add up to the final text", () => {
  const call = joinedCall();
  call.llm.script = [{ text: "Of course. Which day?" }];
  call.run(320).says("Good morning", 640).run(4_000);
  const shown = call.messagesOf("transcript").filter(({ role }) => role === "agent");
  expect(shown.map(({ text, delta, final, ordinal }) => [text ?? delta, final, ordinal])).toEqual([
    ["Of", false, 1],
    [" course.", false, 1],
    [" Which", false, 1],
    [" day?", false, 1],
    ["Of course. Which day?", true, 1],
  ]);
});

test("a segment whose end nobody reported is over when the next one sounds", () => {
  const call = joinedCall();
  call.llm.script = [{ text: "Of course. Which day? And for how many?" }];
  call.disturb = ({ type }) => (type === "segmentPlayoutFinished" ? "drop" : "none");
  call.run(320).says("Good morning", 640).run(3_000);
  const shown = call
    .messagesOf("transcript")
    .flatMap(({ role, text, delta }) => (role === "agent" ? [text ?? delta] : []));
  expect(shown.join("")).toBe("Of course. Which day? And for how many?");
});

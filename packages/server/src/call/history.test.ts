import { describe, expect, test } from "vitest";
import type { Draft } from "./draft.ts";
import { initialState } from "./call.ts";
import {
  addUserMessage,
  HISTORY_MAX_CHARS,
  HISTORY_MAX_MESSAGES,
  MERGED_MESSAGE_MAX_CHARS,
} from "./history.ts";
import { joinedCall } from "./testing/scenario.ts";
import { testPlan } from "./testing/plan.ts";

const said = (text: string, medium: "voice" | "text") =>
  ({ text, medium, startMediaMs: 0, startAtMs: 0, endMediaMs: 0, endAtMs: 0 }) as const;
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
  expect(agent?.timespan?.startMs).toBeGreaterThan(960 + 384);
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

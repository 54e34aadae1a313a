import type { ServerMessage } from "@parley/client";
import { expect, test } from "vitest";
import { EMPTY_FEED, type Feed, MAX_ENTRIES, withMessage, withNote } from "./feed.ts";

const after = (...messages: readonly ServerMessage[]): Feed => messages.reduce(withMessage, EMPTY_FEED);

const said = (role: "user" | "agent", ordinal: number, text: string, final = true): ServerMessage => ({
  type: "transcript",
  role,
  medium: "voice",
  text,
  final,
  ordinal,
});

const happened = (
  type: string,
  extras: Record<string, unknown> | null = null,
  severity: "info" | "warning" | "error" = "info",
): ServerMessage => ({
  type: "call_event",
  event: {
    callId: "call",
    callStageId: "stage",
    callTimestamp: "1s",
    wallClockTimestamp: "1s",
    severity,
    type,
    text: "as the service says it",
    extras,
  },
});

test("what is said stands once in the order of its beginning, however often it grows", () => {
  const feed = after(
    said("agent", 0, "Good", false),
    said("agent", 0, "Good evening.", false),
    said("agent", 0, "Good evening."),
    said("user", 1, "Hello"),
  );
  expect(feed.entries).toMatchObject([
    { role: "agent", ordinal: 0 },
    { role: "user", ordinal: 1 },
  ]);
});

test("an ordinal that is used again is the newer utterance's", () => {
  expect(after(said("agent", 0, "Oh", false), said("user", 0, "Wait")).entries).toMatchObject([
    { role: "user", ordinal: 0 },
  ]);
});

test("a latency belongs to the agent's next words, and to no others", () => {
  const feed = after(
    said("agent", 0, "Hello."),
    said("user", 1, "Hi"),
    happened("turn.completed", { turnId: 1, firstPlayedMs: 700, endOfTurnMs: 400 }),
    said("agent", 2, "Yes", false),
    said("agent", 2, "Yes please."),
    said("agent", 3, "And more."),
  );
  expect(feed.entries.map((entry) => entry.kind === "said" && entry.latency?.totalMs)).toEqual([
    undefined,
    undefined,
    700,
    undefined,
  ]);
  expect(feed.latencies).toMatchObject([{ turnId: 1, totalMs: 700 }]);
});

test("a failure that repeats is one line with a number", () => {
  const failed = happened("llm.failed", {}, "warning");
  const feed = after(
    failed,
    said("agent", 0, "One moment."),
    failed,
    failed,
    happened("tts.failed", {}, "error"),
  );
  expect(feed.entries.filter(({ kind }) => kind === "remark")).toMatchObject([{ count: 3 }, { count: 1 }]);
});

test("an interruption marks what the agent was saying", () => {
  const feed = after(
    said("agent", 0, "Once upon a", true),
    happened("turn.interrupted", { heardChars: 11 }),
    said("user", 1, "Stop"),
  );
  expect(feed.entries).toMatchObject([{ interrupted: true }, { interrupted: false }]);
});

test("speech that was not understood leaves a line, and nothing is expected any more", () => {
  const feed = after({ type: "user_stopped_speaking" }, happened("turn.not_understood", {}));
  expect(feed.userSpeech).toBe("none");
  expect(feed.entries).toMatchObject([
    { kind: "remark", tone: "plain", text: expect.stringContaining("not understood") },
  ]);
});

test("an interruption before the first word marks nothing that was said before", () => {
  const feed = after(said("agent", 0, "Hello."), happened("turn.interrupted", { heardChars: 0 }));
  expect(feed.entries).toMatchObject([{ interrupted: false }]);
});

test("a tool runs, answers or fails in one entry, and its failure is not told twice", () => {
  const tool = { toolName: "openDoor", invocationId: "a", parameters: { room: 12 } };
  const other = { ...tool, invocationId: "b" };
  const feed = after(
    { type: "invoking_tool", ...tool },
    { type: "client_tool_invocation", ...tool },
    { type: "invoking_tool", ...other },
    { type: "tool_used", ...tool, result: "open" },
    { type: "tool_used", ...other, result: "The tool failed: stuck", errorDetails: "stuck" },
    happened("tool.failed", { invocationId: "b" }, "warning"),
  );
  expect(feed.entries).toEqual([
    { kind: "tool", ...tool, state: "done", result: "open" },
    { kind: "tool", ...other, state: "failed", result: "stuck" },
  ]);
});

test("stages, warnings and the end are told; other events are not", () => {
  const feed = after(
    happened("call.joined"),
    happened("stage.changed"),
    happened("stt.failed", null, "warning"),
    happened("call.ended", { reason: "hangup" }),
  );
  expect(feed.entries).toMatchObject([
    { kind: "remark", tone: "plain" },
    { kind: "remark", tone: "warn", text: "stt.failed: as the service says it" },
  ]);
  expect(feed.endReason).toBe("hangup");
});

test("the user is shown speaking until the words are there", () => {
  const started: ServerMessage = { type: "user_started_speaking", callTimestamp: "1s" };
  const stopped: ServerMessage = { type: "user_stopped_speaking", callTimestamp: "2s" };
  expect(after(started).userSpeech).toBe("going on");
  expect(after(started, stopped).userSpeech).toBe("stopped");
  expect(after(started, stopped, said("user", 0, "Hello")).userSpeech).toBe("none");
});

test("a feed has an end to its length", () => {
  let feed = EMPTY_FEED;
  for (let at = 0; at < MAX_ENTRIES + 10; at += 1) feed = withNote(feed, String(at));
  expect(feed.entries).toHaveLength(MAX_ENTRIES);
  expect(feed.entries.at(-1)).toMatchObject({ text: String(MAX_ENTRIES + 9) });
});

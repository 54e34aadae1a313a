import type { CallEvent, Message } from "@parley/schema";
import { expect, test } from "vitest";
import { latencyOf, lineAt, linesOf } from "./lines.ts";

const stage = "5d0c8a3e-5a8e-4dd4-9a51-7d2f6d6d1e11";

function message(index: number, role: string, start: number, end: number, more: object = {}): Message {
  const span = { start: `${String(start)}s`, end: `${String(end)}s` };
  return {
    role: `MESSAGE_ROLE_${role}`,
    text: `text ${String(index)}`,
    callStageMessageIndex: index,
    callStageId: stage,
    timespan: span,
    wallClockTimespan: span,
    ...more,
  } as Message;
}

function event(type: string, at: number, extras: CallEvent["extras"] = null): CallEvent {
  return {
    callId: stage,
    callStageId: stage,
    callTimestamp: `${String(at)}s`,
    wallClockTimestamp: `${String(at)}s`,
    severity: "info",
    type,
    text: type,
    extras,
  };
}

test("events stand between the messages, the last ones behind them", () => {
  const lines = linesOf(
    [message(0, "AGENT", 0, 2), message(1, "USER", 3, 4)],
    [event("call.joined", 0), event("dtmf.received", 2.5), event("call.ended", 5)],
  );
  expect(lines.map((line) => (line.kind === "event" ? line.event.type : line.key.split("/")[1]))).toEqual([
    "call.joined",
    "0",
    "dtmf.received",
    "1",
    "call.ended",
  ]);
});

test("a fault that repeats is one line with a number; other events are lines each", () => {
  const fault = (type: string, at: number): CallEvent => ({ ...event(type, at), severity: "warning" });
  const lines = linesOf(
    [message(0, "AGENT", 2, 3)],
    [
      fault("llm.failed", 1),
      event("dtmf.received", 1.5),
      fault("llm.failed", 4),
      fault("stt.failed", 5),
      event("dtmf.received", 6),
    ],
  );
  expect(lines.flatMap((line) => (line.kind === "event" ? [[line.event.type, line.count]] : []))).toEqual([
    ["llm.failed", 2],
    ["dtmf.received", 1],
    ["stt.failed", 1],
    ["dtmf.received", 1],
  ]);
});

test("a latency goes to the answer that it tells of, and steps that are not told are not there", () => {
  const lines = linesOf(
    [message(0, "USER", 1, 2), message(1, "AGENT", 3, 5), message(2, "AGENT", 6, 7)],
    [
      event("turn.completed", 2.9, {
        endOfTurnMs: 400,
        firstTokenMs: null,
        firstPlayedMs: 900,
        speculative: true,
      }),
    ],
  );
  const [, answer, other] = lines;
  expect(lines).toHaveLength(3);
  expect(answer).toMatchObject({
    latency: {
      heardMs: 900,
      speculative: true,
      steps: [
        { label: "End of turn detected", ms: 400 },
        { label: "Heard by the caller", ms: 900 },
      ],
    },
  });
  expect(other).toMatchObject({ latency: null });
  expect(latencyOf({ extras: null })).toBeNull();
});

test("what a turn has used of its engines goes to its latency", () => {
  const used = event("engines.used", 4, {
    turnId: 7,
    engines: [
      { kind: "llm", engine: "smart", requests: 2, inputTokens: 1200, outputTokens: 30, cost: "0.0012" },
      { kind: "tts", engine: "mouth", requests: 1, characters: 80, spoken: "4s" },
      "nonsense",
    ],
    cost: { amount: "0.0012", currency: "EUR", isComplete: false, withoutPrice: ["mouth"] },
  });
  const of = (turnId: number) =>
    linesOf(
      [message(0, "USER", 1, 2), message(1, "AGENT", 3, 5)],
      [event("turn.completed", 2.9, { turnId, firstPlayedMs: 900 })],
      [used],
    )[1];
  expect(of(7)).toMatchObject({
    latency: {
      engines: [
        { label: "smart", text: expect.stringMatching(/^1.200 tokens in, 30 out, .*0[.,]0012/) as string },
        { label: "mouth", text: "80 characters, 4.0 s spoken" },
      ],
    },
  });
  expect(of(8)).toMatchObject({ latency: { engines: [] } });
});

test("a latency without its answer, and an interruption without its message, stand for themselves", () => {
  const lines = linesOf(
    [message(0, "AGENT", 10, 12)],
    [event("turn.completed", 2, { firstPlayedMs: 1 }), event("turn.interrupted", 4)],
  );
  expect(lines.map(({ kind }) => kind)).toEqual(["event", "event", "said"]);
});

test("an interruption goes to the message that it has cut", () => {
  const cut = message(0, "AGENT", 1, 2, { metadata: { interrupted: "true" } });
  const told = event("turn.interrupted", 2.01, { heardMs: 980 });
  const [line] = linesOf([cut, message(1, "USER", 1.8, 3)], [told]);
  expect(line).toMatchObject({ interrupted: true, interruption: told });
});

test("a tool's call and its result are one line", () => {
  const lines = linesOf(
    [
      message(0, "TOOL_CALL", 1, 1, { invocationId: "a", toolName: "book" }),
      message(1, "TOOL_CALL", 1, 1, { invocationId: "b", toolName: "book" }),
      message(2, "TOOL_RESULT", 1.5, 1.5, { invocationId: "a", toolName: "book" }),
      message(3, "TOOL_RESULT", 4, 4, { invocationId: "z", toolName: "gone" }),
    ],
    [],
  );
  expect(
    lines.map((line) => (line.kind === "tool" ? [line.name, line.tookMs, line.result?.text] : [])),
  ).toEqual([
    ["book", 500, "text 2"],
    ["book", null, undefined],
    ["gone", null, "text 3"],
  ]);
});

test("the line that sounds is found, the later one where both speak", () => {
  const lines = linesOf([message(0, "AGENT", 1, 3), message(1, "USER", 2, 4)], []);
  expect([0.5, 1.5, 2.5, 3.5, 4.5].map((at) => lineAt(lines, at * 1000))).toEqual([-1, 0, 1, 1, -1]);
});

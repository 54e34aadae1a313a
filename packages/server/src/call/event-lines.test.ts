import { describe, expect, it } from "vitest";
import { eventWithoutSecrets, formatEvents, formatNote, parseLogLine } from "./event-lines.ts";
import type { CallEngineEvent } from "./events.ts";
import type { ToolPlan } from "./tool-plan.ts";
import { testPlan } from "./testing/plan.ts";

function back(text: string): CallEngineEvent[] {
  expect(text.endsWith("\n")).toBe(true);
  return text
    .trimEnd()
    .split("\n")
    .flatMap((line) => {
      const parsed = parseLogLine(line);
      return parsed.kind === "events" ? parsed.events : [];
    });
}

function windows(count: number, changes: (i: number) => object = () => ({})): CallEngineEvent[] {
  return Array.from({ length: count }, (_, i) => ({
    type: "voiceScored" as const,
    score: Math.round(1_000 * Math.abs(Math.sin(i))) / 1_000,
    mediaMs: (i + 1) * 32,
    atMs: i * 32 + ((i * 7) % 5),
    ...changes(i),
  }));
}

describe("events as lines", () => {
  it("come back as they were, in their order", () => {
    const events: CallEngineEvent[] = [
      { type: "started", atMs: 0 },
      ...windows(100),
      { type: "timerFired", timerId: 3, atMs: 3_300 },
      ...windows(3, (i) => ({ mediaMs: 4_000 + i * 320, atMs: 4_000 + i })),
      { type: "transcriptUpdated", utteranceId: 1, text: "two\nlines “é” 🙂", atMs: 5_000 },
    ];
    expect(back(formatEvents(events))).toEqual(events);
    expect(formatEvents([])).toBe("");
  });

  it("keep every digit of a score, and whether a window had a likelihood of echo", () => {
    const events = windows(6, (i) => ({ score: 1 / (i + 3), ...(i % 2 === 0 ? {} : { echo: i / 7 }) }));
    const read = back(formatEvents(events));
    expect(read).toEqual(events);
    expect(read.map((event) => "echo" in event)).toEqual([false, true, false, true, false, true]);
  });

  it("take a sixth of the room for voice scores", () => {
    const events = windows(2_048);
    const plain = events.map((event) => JSON.stringify(event)).join("\n").length;
    expect(formatEvents(events).length).toBeLessThan(plain / 6);
  });

  it("may have a note among them", () => {
    expect(parseLogLine(formatNote("ends here"))).toEqual({ kind: "note", note: "ends here" });
  });

  it.each(["", "nonsense", "3", "null", "{}", '{"type":"started"}'])("refuse the line %j", (line) => {
    expect(() => parseLogLine(line)).toThrow(/JSON|event log/);
  });
});

describe("events without secrets", () => {
  it("have no credentials of the tools of a new stage, and are otherwise the same", () => {
    const tool = (implementation: ToolPlan["implementation"]): ToolPlan => ({
      name: "weather",
      callToolId: "t",
      toolId: null,
      description: "",
      parameters: {},
      dynamic: [],
      fixed: [],
      automatic: [],
      implementation,
      timeoutMs: 2_500,
      precomputable: false,
      defaultReaction: "speaks",
      staticResponse: null,
    });
    const stage = {
      ...testPlan().stage,
      tools: [
        tool({
          kind: "http",
          method: "GET",
          urlPattern: "https://a.example/",
          credentials: [{ place: "header", name: "X-Key", value: "secret-1" }],
          callToken: "secret-2",
        }),
        tool({ kind: "mcp", serverUrl: "https://b.example/", headers: { A: "secret-3" }, toolName: "x" }),
        tool({ kind: "client" }),
      ],
    };
    const event: CallEngineEvent = {
      type: "stagePrepared",
      invocationId: "i",
      stage,
      initialMessages: null,
      initialState: null,
      toolResultText: "OK",
      atMs: 1,
    };
    const clean = eventWithoutSecrets(event);
    expect(JSON.stringify(clean)).not.toContain("secret");
    expect(clean).toMatchObject({ invocationId: "i", stage: { tools: [{ name: "weather" }, {}, {}] } });
    expect(eventWithoutSecrets({ type: "started", atMs: 0 })).toEqual({ type: "started", atMs: 0 });
  });
});

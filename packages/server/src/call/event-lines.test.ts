import { describe, expect, it } from "vitest";
import { snapshotOf } from "./adoption/snapshot.ts";
import { initialState, step } from "./call.ts";
import type { CallEffect } from "./effects.ts";
import {
  eventWithoutSecrets,
  formatEvents,
  formatNote,
  parseLogLine,
  planWithoutSecrets,
} from "./event-lines.ts";
import type { CallEngineEvent } from "./events.ts";
import type { CallPlan } from "../plan/plan.ts";
import type { ToolPlan } from "../plan/tool-plan.ts";
import { testTool } from "./testing/fake-tools.ts";
import { testPlan } from "./testing/plan.ts";
import { callWithQuestion } from "./testing/tool-calls.ts";

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

  it("of turn detectors say whether one listens, as they were written and in logs that did not yet say it", () => {
    const judged = { type: "turnJudged", utteranceId: 1, revision: 1, finished: 0.95, atMs: 9 } as const;
    const said: CallEngineEvent[] = [
      { ...judged, by: "audio", listens: false },
      { ...judged, by: "another", listens: true },
    ];
    expect(back(formatEvents(said))).toEqual(said);
    const unsaid = [
      { ...judged, by: "text" },
      { ...judged, by: "audio" },
    ];
    expect(back(formatEvents(unsaid))).toEqual([unsaid[0], { ...unsaid[1], listens: true }]);
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
    const state = initialState(testPlan());
    const later = snapshotOf({ ...state, stage: { ...stage, stageId: "second" } });
    const adopted = { type: "adopted", snapshot: later, recorded: [], mediaMs: 0, atMs: 1 } as const;
    expect(JSON.stringify(adopted)).toContain("secret");
    expect(JSON.stringify(eventWithoutSecrets(adopted))).not.toContain("secret");
  });

  function replayed(plan: CallPlan, events: readonly CallEngineEvent[]): CallEffect[] {
    let state = initialState(plan);
    return events.flatMap((event) => {
      const next = step(state, event);
      state = next.state;
      return next.effects;
    });
  }

  it.each([
    ["the service", testTool("next")],
    ["the client", testTool("next", { implementation: { kind: "client" } })],
  ])("have no document of a new stage that %s fetched, and replay to the same call", (_by, tool) => {
    const call = callWithQuestion([tool], { text: "", calls: [{ name: "next" }] }, { text: "Which room?" });
    const result = '{"selectedTools":[{"authTokens":{"k":"secret-4"}}]}';
    call.tools.script = [{ how: "answer", responseType: "new-stage", result, updateCallState: { step: 2 } }];
    call.tools.stages = [{ stage: { stageId: "second" }, toolResultText: "Moved on." }];
    call.run(8_000);
    expect(JSON.stringify(call.events)).toContain("secret-4");
    const clean = call.events.map(eventWithoutSecrets);
    expect(JSON.stringify(clean)).not.toContain("secret");
    const effects = replayed(planWithoutSecrets(call.state.plan), clean);
    const rest = (all: readonly CallEffect[]) => all.filter(({ type }) => type !== "prepareStage");
    expect(effects.filter(({ type }) => type === "beginStage")).toHaveLength(1);
    expect(JSON.stringify(rest(effects))).toBe(JSON.stringify(rest(call.effects.map(({ value }) => value))));
  });

  it.each(["client_tool_result", "data_connection_tool_result"] as const)(
    "have no document in a %s, and what other results hold",
    (type) => {
      const message = { type, invocationId: "i", result: "secret-5" } as const;
      const event = (responseType: "new-stage" | "tool-response"): CallEngineEvent => ({
        type: "dataMessageReceived",
        message: { ...message, responseType },
        source: "dataConnection",
        atMs: 1,
      });
      expect(JSON.stringify(eventWithoutSecrets(event("new-stage")))).not.toContain("secret");
      expect(eventWithoutSecrets(event("tool-response"))).toEqual(event("tool-response"));
    },
  );

  it("keep the results of tools that begin no stage", () => {
    const outcome = { kind: "completed", result: "r", reaction: null, updateCallState: null } as const;
    const finished = { type: "toolFinished", invocationId: "i", atMs: 1 } as const;
    const kept: CallEngineEvent[] = [
      { ...finished, outcome: { ...outcome, responseType: "tool-response" } },
      { ...finished, outcome: { kind: "failed", cause: "error", text: "t", errorDetails: "e" } },
    ];
    expect(kept.map(eventWithoutSecrets)).toEqual(kept);
  });
});

describe("a plan without secrets", () => {
  it("has no template context and no values of fixed headers, and keeps the other values", () => {
    const places = ["header", "query", "body"] as const;
    const value = (location: string) => (location === "header" ? "secret" : "plain");
    const fixed = places.map((location) => ({ name: `x-${location}`, location, value: value(location) }));
    const wire = { header: "PARAMETER_LOCATION_HEADER", query: "PARAMETER_LOCATION_QUERY" } as const;
    const staticParameters = (["header", "query"] as const).map((location) => ({
      name: `x-${location}`,
      location: wire[location],
      value: value(location),
    }));
    const base = testPlan();
    const listed = { callToolId: "c", toolId: null, name: "find", definition: { staticParameters } };
    const tools = [
      testTool("find", { fixed }),
      testTool("own", { fixed, implementation: { kind: "client" } }),
      testTool("far", {
        fixed,
        implementation: { kind: "mcp", serverUrl: "https://b.example/", headers: {}, toolName: "x" },
      }),
    ];
    const document = { ...base.stage.document, tools: [listed, { ...listed, definition: {} }] };
    const plan: CallPlan = {
      ...base,
      templateContext: { key: "secret" },
      stage: { ...base.stage, tools, document },
    };
    const clean = planWithoutSecrets(plan);
    expect(JSON.stringify(clean)).not.toContain("secret");
    expect(clean.templateContext).toEqual({});
    for (const tool of clean.stage.tools) {
      expect(tool.fixed.map((one) => [one.name, one.value])).toEqual([
        ["x-header", "hidden"],
        ["x-query", "plain"],
        ["x-body", "plain"],
      ]);
    }
    expect(clean.stage.document.tools).toMatchObject([
      { name: "find", definition: { staticParameters: [{ value: "hidden" }, { value: "plain" }] } },
      { definition: {} },
    ]);
    expect(JSON.stringify(plan)).toContain("secret");
  });
});

describe("the voice of a stage", () => {
  const generic = {
    url: "https://tts.example",
    headers: { Authorization: "Bearer very-secret", "X-Two": "secret" },
  };
  const voice = {
    kind: "external",
    provider: "generic",
    settings: generic,
    key: "none",
    voiceId: null,
  } as const;
  const { stage: base, ...plan } = testPlan();
  const { settings, ...document } = base.document;
  const stage = {
    ...base,
    voice,
    document: { ...document, settings: { ...settings, externalVoice: { generic } } },
  };
  const prepared = {
    type: "stagePrepared",
    invocationId: "i",
    initialMessages: null,
    initialState: null,
    toolResultText: "OK",
    atMs: 1,
  } as const;

  it("is shown without the values of its headers", () => {
    const hidden = { url: generic.url, headers: { Authorization: "hidden", "X-Two": "hidden" } };
    const clean = planWithoutSecrets({ ...plan, stage });
    expect(clean.stage.voice).toEqual({ ...voice, settings: hidden });
    expect(clean.stage.document.settings.externalVoice).toEqual({ generic: hidden });
    const event = eventWithoutSecrets({ ...prepared, stage });
    expect(JSON.stringify([clean, event])).not.toContain("secret");
  });

  it.each([null, "alba"])("is read from logs of earlier versions: %s", (name) => {
    const line = JSON.stringify({ ...prepared, stage: { ...base, voice: name } });
    const now = { ...prepared, stage: { ...base, voice: { kind: "deployment", name } } };
    expect(parseLogLine(line)).toEqual({ kind: "events", events: [now] });
  });
});

import { ClientDataMessage, type ServerDataMessage } from "@parley/schema";
import { describe, expect, it } from "vitest";
import { isDataConnectionOpen } from "./data-connection.ts";
import type { DataConnectionPlan } from "../../plan/data-connection-plan.ts";
import type { DataMessageFlags } from "../../plan/plan.ts";
import { testTool } from "../testing/fake-tools.ts";
import { testPlan, type PlanChanges } from "../testing/plan.ts";
import { joinedCall, type Scenario } from "../testing/scenario.ts";

const FLAGS = testPlan().dataMessages;

function connection(flags: Partial<DataMessageFlags> = {}): DataConnectionPlan {
  const dataMessages = {
    ...FLAGS,
    clientToolInvocation: false,
    dataConnectionToolInvocation: true,
    playbackClearBuffer: false,
    ...flags,
  };
  return {
    websocketUrl: "wss://data.example/live",
    headers: {},
    sharedSecrets: [],
    audio: null,
    dataMessages,
  };
}

function callWith(flags: Partial<DataMessageFlags> = {}, changes: PlanChanges = {}): Scenario {
  return joinedCall({ ...changes, dataConnection: connection(flags) });
}

function messagesTo(call: Scenario): ServerDataMessage[] {
  return call.effectsOf("sendDataConnectionMessage").map(({ message }) => message);
}

function messageTypesTo(call: Scenario): string[] {
  return messagesTo(call).map(({ type }) => type);
}

function receives(call: Scenario, message: object): void {
  call.post({
    type: "dataMessageReceived",
    message: ClientDataMessage.parse(message),
    source: "dataConnection",
  });
}

const opened = { type: "dataConnectionOpened" } as const;
const lost = { type: "dataConnectionLost", detail: "closed with 1006", willRetry: true } as const;

describe("R100 where a call stands with its data connection", () => {
  it("is none without one, and whatever comes about one then changes nothing", () => {
    const call = joinedCall();
    expect(call.state.dataConnection).toBe("none");
    call.post(opened);
    call.post(lost);
    call.post({ type: "dataConnectionFailed", detail: "gone" });
    expect(call.state.dataConnection).toBe("none");
    expect(call.eventsOf("data_connection.connected")).toEqual([]);
    expect(call.eventsOf("data_connection.failed")).toEqual([]);
  });

  it("goes from connecting to connected, on a loss back, and at last to failed, each with its event", () => {
    const call = callWith();
    const states = [call.state.dataConnection];
    for (const event of [opened, lost, opened, lost]) {
      call.post(event);
      states.push(call.state.dataConnection);
      expect(isDataConnectionOpen(call.state)).toBe(call.state.dataConnection === "connected");
    }
    call.post({ type: "dataConnectionFailed", detail: "five attempts failed" });
    states.push(call.state.dataConnection);
    expect(states).toEqual(["connecting", "connected", "connecting", "connected", "connecting", "failed"]);
    expect(call.eventsOf("data_connection.connected").map(({ severity }) => severity)).toEqual([
      "info",
      "info",
    ]);
    expect(call.eventsOf("data_connection.lost").map(({ severity }) => severity)).toEqual([
      "warning",
      "warning",
    ]);
    const [failure] = call.eventsOf("data_connection.failed");
    expect(failure).toMatchObject({ severity: "warning", text: "five attempts failed" });
    expect(call.state.phase.kind).toBe("live");
  });

  it("has failed at a loss after which nobody tries again", () => {
    const call = callWith();
    call.post(opened);
    call.post({ ...lost, willRetry: false });
    expect(call.state.dataConnection).toBe("failed");
    call.post(opened);
    expect(isDataConnectionOpen(call.state)).toBe(false);
  });
});

describe("R101 what goes over the data connection", () => {
  it("begins with call_started and the state when it opens, and nothing is sent before or after", () => {
    const call = callWith({ callEvent: true });
    call.says("Hello there.").run(4_000);
    expect(messagesTo(call)).toEqual([]);
    call.post(opened);
    expect(messagesTo(call).slice(0, 3)).toMatchObject([
      { type: "call_started", callId: call.state.plan.callId },
      { type: "state", state: call.state.shown },
      { type: "call_event", event: { type: "data_connection.connected" } },
    ]);
    call.post(lost);
    const before = messagesTo(call).length;
    call.says("Are you still there?").run(4_000);
    expect(messagesTo(call)).toHaveLength(before);
    call.post(opened);
    expect(messageTypesTo(call).slice(before, before + 2)).toEqual(["call_started", "state"]);
  });

  it("holds the same transcripts and states as the client's connection", () => {
    const call = callWith();
    call.post(opened);
    const before = call.effects.length;
    call.says("What time is it?").run(6_000);
    const later = call.effects.slice(before).map(({ value }) => value);
    const messages = (type: string) =>
      later.flatMap((effect) => (effect.type === type && "message" in effect ? [effect.message] : []));
    const toClient = messages("sendDataMessage");
    expect(toClient.length).toBeGreaterThan(5);
    expect(messages("sendDataConnectionMessage")).toEqual(toClient);
  });

  it("follows its own flags, whatever the client's are", () => {
    const call = callWith(
      { transcript: false, userStartedSpeaking: true },
      { dataMessages: { state: false, userStartedSpeaking: false } },
    );
    call.post(opened);
    call.says("What time is it?").run(6_000);
    expect(call.messagesOf("transcript").length).toBeGreaterThan(0);
    expect(call.messagesOf("state")).toEqual([]);
    expect(call.messagesOf("user_started_speaking")).toEqual([]);
    expect(messageTypesTo(call)).not.toContain("transcript");
    expect(messageTypesTo(call)).toContain("state");
    expect(messageTypesTo(call)).toContain("user_started_speaking");
  });

  it("holds call events as its flag says", () => {
    const silent = callWith({ callEvent: false }, { dataMessages: { callEvent: true } });
    silent.post(opened);
    expect(messageTypesTo(silent)).not.toContain("call_event");
    expect(silent.messagesOf("call_event").map(({ event }) => event.type)).toContain(
      "data_connection.connected",
    );
    const telling = callWith({ callEvent: true });
    telling.post(opened);
    telling.post({ type: "mediaUnderflowed", missingMs: 200 });
    expect(messageTypesTo(telling)).toContain("call_event");
    expect(telling.messagesOf("call_event")).toEqual([]);
  });
});

describe("R102 what comes over the data connection", () => {
  it("has its ping answered there and nowhere else", () => {
    const call = callWith();
    call.post(opened);
    receives(call, { type: "ping", timestamp: 7 });
    expect(messagesTo(call).at(-1)).toEqual({ type: "pong", timestamp: 7 });
    expect(call.messagesOf("pong")).toEqual([]);
    call.sends({ type: "ping", timestamp: 8 });
    expect(call.messagesOf("pong")).toEqual([{ type: "pong", timestamp: 8 }]);
    expect(messageTypesTo(call).filter((type) => type === "pong")).toHaveLength(1);
  });

  it("counts as from the client: typed text is answered, hang_up ends the call", () => {
    const call = callWith();
    call.post(opened);
    receives(call, { type: "user_text_message", text: "What time is it?", urgency: "soon" });
    call.run(5_000);
    expect(call.transcript[0]).toBe("user: What time is it?");
    expect(call.transcript[1]).toMatch(/^agent: /);
    receives(call, { type: "hang_up", message: "" });
    expect(call.state.phase).toEqual({ kind: "ended", reason: "agent_hangup" });
  });
});

describe("R103 tools over the data connection", () => {
  function callWithTool(): Scenario {
    const call = callWith(
      {},
      { stage: { tools: [testTool("lookUp", { implementation: { kind: "dataConnection" } })] } },
    );
    call.tools.usual = { how: "hang" };
    call.llm.script = [{ text: "", calls: [{ name: "lookUp", arguments: {} }] }, { text: "So it is." }];
    return call;
  }

  const results = (call: Scenario) => call.messages.filter(({ role }) => role === "tool_result");

  it("are asked there and answered there", () => {
    const call = callWithTool();
    call.post(opened);
    call.says("Look it up, please.").run(1_500);
    const invocation = messagesTo(call).find(({ type }) => type === "data_connection_tool_invocation");
    expect(invocation).toMatchObject({ toolName: "lookUp" });
    expect(call.messagesOf("data_connection_tool_invocation")).toEqual([]);
    const invocationId =
      invocation !== undefined && "invocationId" in invocation ? invocation.invocationId : "";
    receives(call, { type: "data_connection_tool_result", invocationId, result: "found" });
    call.run(5_000);
    expect(results(call).map(({ text }) => text)).toEqual(["found"]);
    expect(call.transcript.at(-1)).toBe("agent: So it is.");
  });

  it("fail as tools when it is lost meanwhile, at once, and the call continues", () => {
    const call = callWithTool();
    call.post(opened);
    call.says("Look it up, please.").run(1_500);
    call.post(lost);
    const atMs = call.atMs;
    expect(results(call).map(({ text }) => text)).toEqual(["The tool failed: the data connection was lost"]);
    expect(call.eventsOf("tool.failed")).toHaveLength(1);
    call.run(5_000);
    expect(call.timesOf("generateReply").at(-1)).toBe(atMs);
    expect(call.transcript.at(-1)).toBe("agent: So it is.");
  });

  it("fail where there is none", () => {
    const call = callWithTool();
    call.says("Look it up, please.").run(6_000);
    expect(results(call).map(({ text }) => text)).toEqual([
      "The tool failed: the data connection is not open",
    ]);
  });
});

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ClientDataMessage, parseClientDataMessage, ServerDataMessage } from "./data-messages.ts";

function parse(message: unknown) {
  return parseClientDataMessage(JSON.stringify(message));
}

describe("messages to the service", () => {
  it.each([
    [{ type: "ping", timestamp: 1767322800.123 }, {}],
    [
      { type: "user_text_message", text: "hi" },
      { urgency: "soon", threadId: "UI" },
    ],
    [{ type: "user_text_message", text: "", urgency: "immediate", deferResponse: false }, { threadId: "UI" }],
    [{ type: "input_text_message", text: "hi" }, { deferResponse: false }],
    [{ type: "set_output_medium" }, { medium: "voice" }],
    [{ type: "hang_up" }, { message: "" }],
    [{ type: "hang_up", message: "Bye." }, {}],
    [
      { type: "client_tool_result", invocationId: "i" },
      { result: "", responseType: "tool-response" },
    ],
    [
      { type: "data_connection_tool_result", invocationId: "i", result: "r", agentReaction: "listens" },
      { responseType: "tool-response" },
    ],
    [
      { type: "forced_agent_message" },
      {
        content: "",
        toolCalls: [],
        knownToolResults: [],
        uninterruptible: false,
        urgency: "soon",
        threadId: "UI",
      },
    ],
    [
      { type: "spawn_thread", newThreadId: "side" },
      {
        parentThreadId: "UI",
        ifExists: "reject",
        additionalMessages: [],
        toolFilter: { allowedTools: [], disallowedTools: [] },
        limits: {
          threadOutputTokenLimit: 0,
          threadFuzzyInputTokenLimit: 0,
          generationLimit: 0,
          generationOutputTokenLimit: 0,
          generationFuzzyInputTokenLimit: 0,
        },
      },
    ],
  ])("fills the defaults of %j", (message, defaults) => {
    expect(parse(message)).toEqual({ ok: true, message: { ...defaults, ...message } });
  });

  it("takes snake_case at any depth but not inside the user's own values", () => {
    expect(
      parse({ type: "client_tool_result", invocation_id: "i", update_call_state: { a_b: { c_d: 1 } } }),
    ).toMatchObject({ ok: true, message: { invocationId: "i", updateCallState: { a_b: { c_d: 1 } } } });
    expect(
      parse({ type: "spawn_thread", new_thread_id: "x", limits: { generation_limit: 3 } }),
    ).toMatchObject({
      ok: true,
      message: { limits: { generationLimit: 3 } },
    });
  });

  it("prints tool results as text", () => {
    expect(
      parse({ type: "client_tool_result", invocationId: "i", result: { a_b: [1, null] } }),
    ).toMatchObject({
      ok: true,
      message: { result: '{"a_b":[1,null]}' },
    });
    expect(parse({ type: "client_tool_result", invocationId: "i", result: "as is" })).toMatchObject({
      message: { result: "as is" },
    });
  });

  it("takes forced calls in both spellings", () => {
    const toolCalls = [
      { id: "1", name: "a", arguments: { x_y: 1 } },
      { toolName: "b", parameters: { z: 2 } },
    ];
    expect(parse({ type: "forced_agent_message", toolCalls })).toMatchObject({
      ok: true,
      message: {
        toolCalls: [
          { id: "1", name: "a", arguments: { x_y: 1 } },
          { name: "b", arguments: { z: 2 } },
        ],
      },
    });
  });

  it("ignores unknown fields and null", () => {
    expect(parse({ type: "ping", timestamp: 1, newer: true })).toEqual({
      ok: true,
      message: { type: "ping", timestamp: 1 },
    });
    expect(parse({ type: "hang_up", message: null })).toEqual({
      ok: true,
      message: { type: "hang_up", message: "" },
    });
  });

  it.each([
    ["{", "invalid", "not JSON"],
    ["", "invalid", "not JSON"],
    ["[]", "invalid", "not a JSON object"],
    ["null", "invalid", "not a JSON object"],
    ['"ping"', "invalid", "not a JSON object"],
    ["{}", "invalid", "type is required"],
    ['{"type":7}', "invalid", "type is required"],
    ['{"type":"dance"}', "unknown", 'unknown type "dance"'],
    ['{"type":"constructor"}', "unknown", 'unknown type "constructor"'],
    ['{"type":"ping"}', "invalid", "ping: timestamp is required"],
    ['{"type":"ping","timestamp":"1"}', "invalid", "ping: timestamp must be a number"],
    ['{"type":"user_text_message"}', "invalid", "user_text_message: text is required"],
    [
      '{"type":"user_text_message","text":"a secret","urgency":"now"}',
      "invalid",
      "user_text_message: urgency must be one of immediate, soon, later",
    ],
    [
      '{"type":"client_tool_result","invocationId":"i","invocation_id":"j"}',
      "invalid",
      "client_tool_result: invocationId must not be given twice, as invocationId and as invocation_id",
    ],
    [
      '{"type":"forced_agent_message","toolCalls":[{"id":"1"}]}',
      "invalid",
      "forced_agent_message: toolCalls.0.name is required",
    ],
    [
      '{"type":"forced_agent_message","toolCalls":[{"name":"a","toolName":"b"}]}',
      "invalid",
      "forced_agent_message: toolCalls.0.name must not be given together with toolName",
    ],
    [
      '{"type":"spawn_thread","newThreadId":"a","limits":{"generationLimit":-1}}',
      "invalid",
      "spawn_thread: limits.generationLimit must be at least 0",
    ],
  ])("refuses %s", (text, cause, detail) => {
    expect(parseClientDataMessage(text)).toEqual({ ok: false, cause, detail });
  });

  it("repeats no more than the beginning of an unknown type", () => {
    const parsed = parse({ type: "x".repeat(10_000) });
    expect(parsed).toMatchObject({ ok: false, cause: "unknown" });
    expect(parsed.ok ? "" : parsed.detail.length).toBeLessThan(100);
  });

  it("answers to anything without throwing", () => {
    const types = ClientDataMessage.options.map((option) => option.shape.type.value);
    const message = fc.record(
      {
        type: fc.oneof(fc.constantFrom(...types), fc.string()),
        text: fc.jsonValue(),
        toolCalls: fc.jsonValue(),
      },
      { requiredKeys: ["type"] },
    );
    fc.assert(
      fc.property(fc.oneof(message, fc.jsonValue()), (value) => {
        const parsed = parse(value);
        const sound = parsed.ok ? ClientDataMessage.safeParse(parsed.message).success : parsed.detail !== "";
        expect(sound).toBe(true);
      }),
    );
  });
});

describe("messages from the service", () => {
  const invocation = { toolName: "t", invocationId: "call_1", parameters: { a_b: 1 } };
  const event = {
    callId: "00000000-0000-4000-8000-000000000000",
    callStageId: "00000000-0000-4000-8000-000000000001",
    callTimestamp: "4.1s",
    wallClockTimestamp: "4.2s",
    severity: "warning",
    type: "media.underflow",
    text: "…",
    extras: null,
  };

  it.each([
    { type: "call_started", callId: event.callId },
    { type: "state", state: "listening" },
    { type: "pong", timestamp: 1 },
    { type: "transcript", role: "agent", medium: "voice", text: "Hello", final: false, ordinal: 0 },
    { type: "transcript", role: "agent", medium: "voice", delta: " there", final: false, ordinal: 0 },
    { type: "client_tool_invocation", ...invocation },
    { type: "data_connection_tool_invocation", ...invocation },
    { type: "invoking_tool", ...invocation },
    { type: "tool_used", ...invocation },
    { type: "tool_used", ...invocation, result: "r" },
    { type: "tool_used", ...invocation, errorDetails: "e" },
    { type: "playback_clear_buffer" },
    { type: "user_started_speaking", callTimestamp: "3.2s" },
    { type: "user_stopped_speaking", callTimestamp: "4.1s" },
    { type: "call_event", event },
    { type: "debug", message: "m" },
    { type: "thread_spawned", threadId: "a" },
    { type: "thread_rejected", threadId: "a", reason: "exists" },
    { type: "thread_terminated", threadId: "a", reason: "call_ended" },
    { type: "side_generation_delta", threadId: "a", delta: "d" },
    {
      type: "side_generation_completed",
      threadId: "a",
      text: "t",
      toolCalls: [{ id: "1", name: "n", arguments: {} }],
    },
  ])("have the shape of %j", (message) => {
    expect(ServerDataMessage.parse(message)).toEqual(message);
  });

  it.each([
    { type: "transcript", role: "agent", medium: "voice", final: false, ordinal: 0 },
    { type: "transcript", role: "agent", medium: "voice", text: "a", delta: "b", final: false, ordinal: 0 },
    { type: "state", state: "dancing" },
    { type: "pong" },
    { type: "user_started_speaking", callTimestamp: 3.2 },
  ])("never have the shape of %j", (message) => {
    expect(ServerDataMessage.safeParse(message).success).toBe(false);
  });
});

import type { ClientDataMessage, ServerDataMessage } from "@parley/schema";
import { ClientDataMessage as ClientSchema } from "@parley/schema";
import { describe, expect, expectTypeOf, it } from "vitest";
import { type ClientMessage, readServerMessage, type ServerMessage } from "./messages.ts";

describe("data messages", () => {
  it("of the service are those of its schema, and no others", () => {
    expectTypeOf<ServerDataMessage>().toExtend<ServerMessage>();
    expectTypeOf<ServerMessage["type"]>().toEqualTypeOf<ServerDataMessage["type"]>();
  });

  it("of the client are taken by the schema of the service", () => {
    expectTypeOf<ClientMessage["type"]>().toExtend<ClientDataMessage["type"]>();
    const messages: readonly ClientMessage[] = [
      { type: "ping", timestamp: 1 },
      { type: "user_text_message", text: "x", urgency: "later", deferResponse: true, threadId: "UI" },
      { type: "set_output_medium", medium: "text" },
      {
        type: "client_tool_result",
        invocationId: "1",
        result: "x",
        responseType: "hang-up",
        agentReaction: "listens",
      },
      {
        type: "client_tool_result",
        invocationId: "1",
        errorType: "undefined",
        errorMessage: "x",
        updateCallState: {},
      },
      {
        type: "forced_agent_message",
        content: "x",
        toolCalls: [{ id: "1", name: "x", arguments: {} }],
        knownToolResults: [{ invocationId: "1", result: "x" }],
        uninterruptible: true,
        urgency: "immediate",
        threadId: "UI",
      },
      { type: "hang_up", message: "x" },
      {
        type: "spawn_thread",
        newThreadId: "x",
        parentThreadId: "UI",
        ifExists: "replace",
        additionalMessages: [
          { role: "MESSAGE_ROLE_USER", text: "x" },
          { role: "MESSAGE_ROLE_TOOL_CALL", toolName: "x", invocationId: "1" },
        ],
        toolFilter: { allowedTools: ["x"], disallowedTools: [] },
        limits: { generationLimit: 3 },
      },
    ];
    for (const message of messages) expect(ClientSchema.safeParse(message)).toMatchObject({ success: true });
  });

  it("are read from texts; what is none is null", () => {
    expect(readServerMessage('{"type":"state","state":"idle"}')).toEqual({ type: "state", state: "idle" });
    for (const text of ["", "{", "7", "null", "[]", "{}", '{"type":7}'])
      expect(readServerMessage(text)).toBeNull();
  });
});

/** The data messages on the reference page, one card for each type. */

import type { ClientDataMessage, DataMessageFlag, ServerDataMessage } from "@parley/schema";
import type { Card } from "./card.ts";
import { html } from "./html.ts";
import type { JsonSchema } from "@parley/schema/openapi/described-schema";
import type { OpenApiDocument } from "./open-api.ts";
import { fieldsTable, prose } from "./schema-view.ts";

type ClientType = ClientDataMessage["type"];
type ServerType = ServerDataMessage["type"];

const INVOCATION = { toolName: "lookUpRoom", invocationId: "call_7f3a", parameters: { beds: 2 } } as const;

/** An example of each type, as sent. */
export const CLIENT_EXAMPLES: Readonly<Record<ClientType, object>> = {
  ping: { type: "ping", timestamp: 1767322800.123 },
  user_text_message: { type: "user_text_message", text: "A room for two, please.", urgency: "soon" },
  input_text_message: { type: "input_text_message", text: "A room for two, please." },
  set_output_medium: { type: "set_output_medium", medium: "text" },
  client_tool_result: { type: "client_tool_result", invocationId: "call_7f3a", result: "Room 12 is free." },
  data_connection_tool_result: {
    type: "data_connection_tool_result",
    invocationId: "call_7f3a",
    result: "Room 12 is free.",
  },
  forced_agent_message: {
    type: "forced_agent_message",
    content: "One moment, please.",
    urgency: "immediate",
  },
  hang_up: { type: "hang_up", message: "Thank you for calling. Goodbye." },
  spawn_thread: { type: "spawn_thread", newThreadId: "summary" },
};

/** The same for these types; several where one is not enough. */
export const SERVER_EXAMPLES: Readonly<Record<ServerType, readonly object[]>> = {
  call_started: [{ type: "call_started", callId: "6f0c2f0e-3f6f-4b2e-9a55-0d9c1f6f6a11" }],
  state: [{ type: "state", state: "listening" }],
  pong: [{ type: "pong", timestamp: 1767322800.123 }],
  transcript: [
    { type: "transcript", role: "user", medium: "voice", text: "Any rooms?", final: true, ordinal: 0 },
    { type: "transcript", role: "agent", medium: "voice", text: "Yes,", final: false, ordinal: 1 },
    { type: "transcript", role: "agent", medium: "voice", delta: " two.", final: false, ordinal: 1 },
    { type: "transcript", role: "agent", medium: "voice", text: "Yes, two.", final: true, ordinal: 1 },
  ],
  client_tool_invocation: [{ type: "client_tool_invocation", ...INVOCATION }],
  data_connection_tool_invocation: [{ type: "data_connection_tool_invocation", ...INVOCATION }],
  invoking_tool: [{ type: "invoking_tool", ...INVOCATION }],
  tool_used: [
    { type: "tool_used", ...INVOCATION, result: "Room 12 is free." },
    {
      type: "tool_used",
      ...INVOCATION,
      result: "The tool failed: timeout after 2.5s",
      errorDetails: "no answer within 2.5s",
    },
  ],
  playback_clear_buffer: [{ type: "playback_clear_buffer" }],
  reconnect: [{ type: "reconnect" }],
  user_started_speaking: [{ type: "user_started_speaking", callTimestamp: "3.2s" }],
  user_stopped_speaking: [{ type: "user_stopped_speaking", callTimestamp: "4.1s" }],
  call_event: [
    {
      type: "call_event",
      event: {
        callId: "6f0c2f0e-3f6f-4b2e-9a55-0d9c1f6f6a11",
        callStageId: "0c8a1d52-6a0e-4d0c-8b52-3f5f2b1f7c90",
        callTimestamp: "4.1s",
        wallClockTimestamp: "4.2s",
        severity: "warning",
        type: "media.underflow",
        text: "240 ms of audio were missing",
        extras: null,
      },
    },
  ],
  debug: [{ type: "debug", message: "the user's turn began" }],
  thread_spawned: [{ type: "thread_spawned", threadId: "summary" }],
  thread_rejected: [{ type: "thread_rejected", threadId: "summary", reason: "exists" }],
  thread_terminated: [{ type: "thread_terminated", threadId: "summary", reason: "call_ended" }],
  side_generation_delta: [{ type: "side_generation_delta", threadId: "summary", delta: "Two nights" }],
  side_generation_completed: [
    { type: "side_generation_completed", threadId: "summary", text: "Two nights for two.", toolCalls: [] },
  ],
};

/** The setting that turns each message of the service on or off, and whether it is on by default. */
export const FLAGS: Readonly<Partial<Record<ServerType, readonly [DataMessageFlag, boolean]>>> = {
  call_started: ["callStarted", true],
  state: ["state", true],
  pong: ["pong", true],
  transcript: ["transcript", true],
  client_tool_invocation: ["clientToolInvocation", true],
  data_connection_tool_invocation: ["dataConnectionToolInvocation", false],
  invoking_tool: ["invokingTool", false],
  tool_used: ["toolUsed", false],
  playback_clear_buffer: ["playbackClearBuffer", true],
  user_started_speaking: ["userStartedSpeaking", false],
  user_stopped_speaking: ["userStoppedSpeaking", false],
  call_event: ["callEvent", false],
  debug: ["debug", false],
};

interface MessageSchema {
  readonly type: string;
  readonly schema: JsonSchema;
}

interface MessageNotes {
  readonly examples: readonly object[];
  /** Whether it is sent; empty for messages of clients. */
  readonly setting: string;
}

function typeIn({ properties }: JsonSchema): string {
  const type = properties?.["type"]?.const;
  return typeof type === "string" ? type : "";
}

function variantsOf(schema: JsonSchema | undefined): MessageSchema[] {
  return (schema?.oneOf ?? schema?.anyOf ?? []).map((variant) => ({
    type: typeIn(variant),
    schema: variant,
  }));
}

function messageCard({ type, schema }: MessageSchema, { examples, setting }: MessageNotes): Card {
  const id = `message-${type}`;
  // The type is the same on every message of the card, and is its title.
  const { type: _, ...properties } = schema.properties ?? {};
  const rest = { ...schema, properties };
  const lines = examples.map((example) => JSON.stringify(example)).join("\n");
  return {
    id,
    entry: html`<code>${type}</code>`,
    words: [type, "data message", ...Object.keys(properties), schema.description ?? "", setting]
      .join(" ")
      .toLowerCase(),
    content: html`<h3><a class="path" href="#${id}">${type}</a></h3>
      ${schema.description === undefined ? null : html`<p class="summary">${prose(schema.description)}</p>`}
      ${setting === "" ? null : html`<p class="soft">${prose(setting)}</p>`}
      ${Object.keys(properties).length === 0 ? null : fieldsTable(rest)}
      <pre tabindex="0" aria-label="Example of ${type}">${lines}</pre>`,
  };
}

/** Messages that a client may send. */
export function clientMessageCards(document: OpenApiDocument): Card[] {
  const examples: Readonly<Record<string, object>> = CLIENT_EXAMPLES;
  return variantsOf(document.components?.schemas?.["ClientDataMessage"]).map((variant) =>
    messageCard(variant, {
      examples: [examples[variant.type] ?? {}],
      setting: "",
    }),
  );
}

/** Messages that the service sends. */
export function serverMessageCards(document: OpenApiDocument): Card[] {
  const examples: Readonly<Record<string, readonly object[]>> = SERVER_EXAMPLES;
  const flags: Readonly<Record<string, readonly [string, boolean]>> = FLAGS;
  return variantsOf(document.components?.schemas?.["ServerDataMessage"]).map((variant) => {
    const [flag, on] = flags[variant.type] ?? ["", true];
    return messageCard(variant, {
      examples: examples[variant.type] ?? [],
      setting: flag === "" ? "" : `${on ? "On" : "Off"} unless \`dataMessages.${flag}\` says otherwise.`,
    });
  });
}

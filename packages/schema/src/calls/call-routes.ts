/** Routes of calls. */

import { z } from "zod";
import { ListCallsQuery, ListEventsQuery, ListMessagesQuery, StartCallQuery } from "../routes/queries.ts";
import { json, noContent, plain, type Route } from "../routes/route.ts";
import { Uuid } from "../values/fields.ts";
import { pageOf } from "../values/page.ts";
import { CallEvent } from "./call-event.ts";
import { StartCallRequest } from "./call-requests.ts";
import { Call, CallTool } from "./call.ts";
import { SendCallDataMessage } from "./data-messages.ts";
import { Message } from "./message.ts";

const CallParams = z.strictObject({ call_id: Uuid });

/** Pages have one schema each, so that the OpenAPI document names them. */
export const CallPage = pageOf(Call);
export const CallEventPage = pageOf(CallEvent);
export const MessagePage = pageOf(Message);

export const callRoutes = {
  listCalls: {
    ...plain,
    method: "GET",
    scope: "read",
    path: "/api/calls",
    tag: "calls",
    summary: "List calls",
    query: ListCallsQuery,
    responses: { 200: json(CallPage, "A page of calls.") },
  },
  createCall: {
    ...plain,
    method: "POST",
    scope: "calls",
    path: "/api/calls",
    tag: "calls",
    summary: "Create a call",
    idempotent: true,
    takesTraceParent: true,
    query: StartCallQuery,
    request: StartCallRequest,
    responses: { 201: json(Call, "The new call.") },
    errors: ["not_found", "conflict", "wrong_state", "not_available", "no_capacity"],
  },
  getCall: {
    ...plain,
    method: "GET",
    scope: "read",
    path: "/api/calls/{call_id}",
    tag: "calls",
    summary: "Get a call",
    params: CallParams,
    responses: { 200: json(Call, "The call.") },
    errors: ["not_found"],
  },
  listCallMessages: {
    ...plain,
    method: "GET",
    scope: "read",
    path: "/api/calls/{call_id}/messages",
    tag: "calls",
    summary: "List the messages of a call",
    params: CallParams,
    query: ListMessagesQuery,
    responses: { 200: json(MessagePage, "A page of messages, oldest first.") },
    errors: ["not_found"],
  },
  listCallEvents: {
    ...plain,
    method: "GET",
    scope: "read",
    path: "/api/calls/{call_id}/events",
    tag: "calls",
    summary: "List the events of a call",
    params: CallParams,
    query: ListEventsQuery,
    responses: { 200: json(CallEventPage, "A page of call events, oldest first.") },
    errors: ["not_found"],
  },
  getCallRecording: {
    ...plain,
    method: "GET",
    scope: "read",
    path: "/api/calls/{call_id}/recording",
    tag: "calls",
    summary: "Get the recording of a call",
    params: CallParams,
    responses: {
      200: {
        description:
          "16-bit stereo WAV: the caller left, the agent right. Available after the end of a call with `recordingEnabled`.",
        schema: null,
        contentType: "audio/wav",
      },
      302: {
        description:
          "Only if the deployment is configured so: the recording is at the address in `Location`, which needs no API key and is valid for some minutes.",
        schema: null,
        contentType: null,
      },
    },
    errors: ["not_found", "too_early"],
  },
  sendDataMessage: {
    ...plain,
    method: "POST",
    scope: "calls",
    path: "/api/calls/{call_id}/send_data_message",
    tag: "calls",
    summary: "Send a data message to a running call: a user message, words for the agent, or a hang-up",
    params: CallParams,
    request: SendCallDataMessage,
    responses: { 204: { ...noContent, description: "Accepted. The effect is visible in the call." } },
    errors: ["not_found", "wrong_state", "call_elsewhere"],
  },
  listCallTools: {
    ...plain,
    method: "GET",
    scope: "read",
    path: "/api/calls/{call_id}/tools",
    tag: "calls",
    summary: "List the tools that were available in a call",
    params: CallParams,
    responses: { 200: json(z.array(CallTool), "The tools of all stages in order, each once.") },
    errors: ["not_found"],
  },
  getCallEventLog: {
    ...plain,
    method: "GET",
    scope: "read",
    path: "/api/calls/{call_id}/event_log",
    tag: "calls",
    summary: "Get the event log of the conversation engine",
    params: CallParams,
    responses: {
      200: {
        description:
          'JSON lines: first `{"plan": …}`, the settings of the call without secrets; then one event per line. ' +
          "Sufficient to replay the call. Available for ended calls, if the deployment stores event logs.",
        schema: null,
        contentType: "application/x-ndjson",
      },
    },
    errors: ["not_found", "too_early"],
  },
} as const satisfies Record<string, Route>;

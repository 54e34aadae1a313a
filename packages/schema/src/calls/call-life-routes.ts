/** Routes to delete a call and to get its SIP log and audio. */

import { z } from "zod";
import { Uuid } from "../values/fields.ts";
import { pageOf } from "../values/page.ts";
import { PageQuery } from "../routes/queries.ts";
import { json, noContent, plain, type Route } from "../routes/route.ts";
import { SipMessage } from "../telephony/sip-messages.ts";

const CallParams = z.strictObject({ call_id: Uuid });

export const SipMessagePage = pageOf(SipMessage);

/** Positions of messages are stored as 32-bit numbers. */
const MAX_MESSAGE_INDEX = 2 ** 31 - 1;

const MessageParams = z.strictObject({
  call_id: Uuid,
  call_stage_id: Uuid,
  call_stage_message_index: z.int().min(0).max(MAX_MESSAGE_INDEX),
});

export const callLifeRoutes = {
  deleteCall: {
    ...plain,
    method: "DELETE",
    scope: "admin",
    path: "/api/calls/{call_id}",
    tag: "calls",
    summary: "Delete an ended call with its messages, events and recording; a record without content remains",
    params: CallParams,
    responses: { 204: noContent },
    errors: ["not_found", "too_early"],
  },
  getCallSipLogs: {
    ...plain,
    method: "GET",
    scope: "read",
    path: "/api/calls/{call_id}/sip_logs",
    tag: "calls",
    summary: "Get the SIP messages of an ended SIP call",
    params: CallParams,
    responses: {
      302: {
        description: "A temporary address of the text, which needs no API key.",
        schema: null,
        contentType: null,
        headers: { Location: "The address of the text." },
      },
    },
    errors: ["not_found", "too_early"],
  },
  listCallSipMessages: {
    ...plain,
    method: "GET",
    scope: "read",
    path: "/api/calls/{call_id}/sip_messages",
    tag: "calls",
    summary: "List the SIP messages of a call, also while it runs",
    params: CallParams,
    query: PageQuery,
    responses: {
      200: json(SipMessagePage, "A page of messages, oldest first. Calls over other media have none."),
    },
    errors: ["not_found"],
  },
  getCallStageMessageAudio: {
    ...plain,
    method: "GET",
    scope: "read",
    path: "/api/calls/{call_id}/stages/{call_stage_id}/messages/{call_stage_message_index}/audio",
    tag: "stages",
    summary: "Get the part of the recording that contains a message",
    params: MessageParams,
    responses: {
      200: {
        description: "16-bit stereo WAV, like the recording: the caller left, the agent right.",
        schema: null,
        contentType: "audio/wav",
      },
    },
    errors: ["not_found", "too_early"],
  },
} as const satisfies Record<string, Route>;

/** The end of a call's record, and what else is kept of a call besides its words. */

import { z } from "zod";
import { Uuid } from "./fields.ts";
import { noContent, plain, type Route } from "./route.ts";

const CallParams = z.strictObject({ call_id: Uuid });

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
    path: "/api/calls/{call_id}",
    tag: "calls",
    summary: "Erase a call that is over, with everything that was said in it; a note without content stays",
    params: CallParams,
    responses: { 204: noContent },
    errors: ["not_found", "too_early"],
  },
  getCallSipLogs: {
    ...plain,
    method: "GET",
    path: "/api/calls/{call_id}/sip_logs",
    tag: "calls",
    summary: "Get the SIP messages of a call by SIP, once it is over",
    params: CallParams,
    responses: {
      302: {
        description: "Where the text is, for a while and without a key.",
        schema: null,
        contentType: null,
        headers: { Location: "Of the text." },
      },
    },
    errors: ["not_found", "too_early", "not_available"],
  },
  getCallStageMessageAudio: {
    ...plain,
    method: "GET",
    path: "/api/calls/{call_id}/stages/{call_stage_id}/messages/{call_stage_message_index}/audio",
    tag: "stages",
    summary: "Get the part of the recording in which a message was said",
    params: MessageParams,
    responses: {
      200: {
        description: "16-bit stereo WAV as the recording: the caller left, the agent right.",
        schema: null,
        contentType: "audio/wav",
      },
    },
    errors: ["not_found", "too_early"],
  },
} as const satisfies Record<string, Route>;

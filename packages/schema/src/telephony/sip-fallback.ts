/** What the fallback handler of an account answers about a call that names no agent. */

import { z } from "zod";
import { StartAgentCallRequest, StartCallRequest } from "../calls/call-requests.ts";
import { text, wholeNumber } from "../values/fields.ts";
import { oneOf } from "../values/one-of.ts";

/** Longest reason phrase of a refusal. */
const MAX_MESSAGE = 200;

export const SipFallbackHandlerResponse = oneOf({
  startAgentCall: StartAgentCallRequest.refine(({ agentId }) => agentId !== undefined, {
    path: ["agentId"],
    error: "is required",
  }),
  startCall: StartCallRequest,
  reject: z.strictObject({
    sipRejectCode: wholeNumber(400, 699).meta({ default: 603 }).optional(),
    message: text(1, MAX_MESSAGE)
      .refine((value) => !/\p{Cc}/u.test(value), { error: "must not contain control characters" })
      .optional(),
  }),
});
export type SipFallbackHandlerResponse = z.output<typeof SipFallbackHandlerResponse>;

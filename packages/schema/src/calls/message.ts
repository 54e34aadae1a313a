/** Messages of a call, as the API returns and accepts them. */

import { z } from "zod";
import { Duration } from "../values/duration.ts";
import { FreeObject, ignoring, Uuid } from "../values/fields.ts";

export const MESSAGE_ROLES = [
  "MESSAGE_ROLE_USER",
  "MESSAGE_ROLE_AGENT",
  "MESSAGE_ROLE_TOOL_CALL",
  "MESSAGE_ROLE_TOOL_RESULT",
] as const;

export const MessageRole = z.enum(MESSAGE_ROLES);
export type MessageRole = z.output<typeof MessageRole>;

/** Roles as the service stores them and models get them. */
export const ROLE_OF_MESSAGE = {
  MESSAGE_ROLE_USER: "user",
  MESSAGE_ROLE_AGENT: "agent",
  MESSAGE_ROLE_TOOL_CALL: "tool_call",
  MESSAGE_ROLE_TOOL_RESULT: "tool_result",
} as const satisfies Record<MessageRole, string>;

/** The other way. */
export const MESSAGE_ROLE_OF = {
  user: "MESSAGE_ROLE_USER",
  agent: "MESSAGE_ROLE_AGENT",
  tool_call: "MESSAGE_ROLE_TOOL_CALL",
  tool_result: "MESSAGE_ROLE_TOOL_RESULT",
} as const satisfies Record<(typeof ROLE_OF_MESSAGE)[MessageRole], MessageRole>;

export const MessageMedium = z.enum(["MESSAGE_MEDIUM_VOICE", "MESSAGE_MEDIUM_TEXT"]);
export type MessageMedium = z.output<typeof MessageMedium>;

export const Timespan = z.strictObject({ start: Duration, end: Duration });
export type Timespan = z.output<typeof Timespan>;

const shared = {
  role: MessageRole,
  invocationId: z.string().optional().describe("A tool call and its result have the same id."),
  toolName: z.string().optional(),
  errorDetails: z.string().optional().describe("Not shown to the model."),
  medium: MessageMedium.optional(),
  callState: FreeObject.optional(),
  metadata: FreeObject.optional(),
};

/** A stored message. Fields without a value are left out. */
export const Message = z.strictObject({
  ...shared,
  text: z.string(),
  callStageMessageIndex: z.int().min(0),
  callStageId: Uuid,
  timespan: Timespan.optional(),
  wallClockTimespan: Timespan.optional(),
});
export type Message = z.output<typeof Message>;

/** A message of the history that a call or stage starts with. Missing text becomes empty text. */
export const InitialMessage = ignoring(z.strictObject({ ...shared, text: z.string().optional() }), [
  "timespan",
  "wallClockTimespan",
  "callStageMessageIndex",
  "callStageId",
]);
export type InitialMessage = z.output<typeof InitialMessage>;

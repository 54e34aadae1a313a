/** What was said in a call, as the API shows and takes it. */

import { z } from "zod";
import { Duration } from "./duration.ts";
import { FreeObject, ignoring, Uuid } from "./fields.ts";

export const MESSAGE_ROLES = [
  "MESSAGE_ROLE_USER",
  "MESSAGE_ROLE_AGENT",
  "MESSAGE_ROLE_TOOL_CALL",
  "MESSAGE_ROLE_TOOL_RESULT",
] as const;

export const MessageRole = z.enum(MESSAGE_ROLES);
export type MessageRole = z.output<typeof MessageRole>;

export const MessageMedium = z.enum(["MESSAGE_MEDIUM_VOICE", "MESSAGE_MEDIUM_TEXT"]);
export type MessageMedium = z.output<typeof MessageMedium>;

export const Timespan = z.strictObject({ start: Duration, end: Duration });
export type Timespan = z.output<typeof Timespan>;

const shared = {
  role: MessageRole,
  invocationId: z.string().optional().describe("Ids of a tool call and its result are equal."),
  toolName: z.string().optional(),
  errorDetails: z.string().optional().describe("Hidden from the model."),
  medium: MessageMedium.optional(),
  callState: FreeObject.optional(),
  metadata: FreeObject.optional(),
};

/** A stored message. What has no value is left out. */
export const Message = z.strictObject({
  ...shared,
  text: z.string(),
  callStageMessageIndex: z.int().min(0),
  callStageId: Uuid,
  timespan: Timespan.optional(),
  wallClockTimespan: Timespan.optional(),
});
export type Message = z.output<typeof Message>;

/** A message of the history that a call or stage starts with. A message without text is kept as empty. */
export const InitialMessage = ignoring(z.strictObject({ ...shared, text: z.string().optional() }), [
  "timespan",
  "wallClockTimespan",
  "callStageMessageIndex",
  "callStageId",
]);
export type InitialMessage = z.output<typeof InitialMessage>;

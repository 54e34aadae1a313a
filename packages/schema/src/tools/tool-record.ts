/** Stored tools, which calls and agents refer to. */

import { z } from "zod";
import { Call } from "../calls/call.ts";
import { FreeObject, ignoring, name, Timestamp, Uuid } from "../values/fields.ts";
import { BaseToolDefinition } from "./tool.ts";

export const MAX_TOOL_NAME_LENGTH = 40;

const ToolName = name(MAX_TOOL_NAME_LENGTH);

export const ToolOwnership = z.enum(["public", "private"]);
export type ToolOwnership = z.output<typeof ToolOwnership>;

/** A tool as the API returns it. */
export const Tool = z.strictObject({
  toolId: Uuid,
  name: ToolName,
  created: Timestamp,
  definition: BaseToolDefinition,
  ownership: ToolOwnership,
});
export type Tool = z.output<typeof Tool>;

/** The body that creates or replaces a tool. */
export const ToolWrite = ignoring(z.strictObject({ name: ToolName, definition: BaseToolDefinition }), [
  "toolId",
  "created",
  "ownership",
]).meta({
  examples: [
    { name: "openDoor", definition: { description: "Opens the door of the guest's room.", client: {} } },
  ],
});
export type ToolWrite = z.output<typeof ToolWrite>;

/** A call that had a tool. */
export const ToolHistory = z.strictObject({
  call: Call,
  errorCount: z.int().min(0).describe("Failed invocations of the tool in this call."),
});
export type ToolHistory = z.output<typeof ToolHistory>;

/** One test run of a tool outside a call. */
export const ToolTest = FreeObject.describe(
  "Values of parameters by name. `authTokens`, an object of texts, meets the security requirements of the tool; " +
    "it is the value of a parameter if the tool has one of that name.",
);

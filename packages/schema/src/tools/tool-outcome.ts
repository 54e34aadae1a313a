/**
 * The result of one tool invocation. Not on the wire as a whole. The adapters of tools write it and the engine reads
 * it; it is declared here because neither may import the other, and both may import the schema.
 */

import type { Reaction, ToolResponseType } from "../calls/data-messages.ts";

export type ToolOutcome =
  | {
      readonly kind: "completed";
      /** The text for the model, at most 64 KiB; the document of a hang-up, new stage or message to a thread. */
      readonly result: string;
      readonly responseType: ToolResponseType;
      /** Null: the tool's own. */
      readonly reaction: Reaction | null;
      /** To be merged into the state of the call; null: nothing. */
      readonly updateCallState: Readonly<Record<string, unknown>> | null;
    }
  | {
      readonly kind: "failed";
      readonly cause: "timeout" | "error";
      /** What the model sees, such as `The tool failed: HTTP 404`. */
      readonly text: string;
      /** Stored with the call, hidden from the model; contains no secrets. */
      readonly errorDetails: string;
    };

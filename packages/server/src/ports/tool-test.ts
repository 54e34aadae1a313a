/** Port that runs an HTTP tool once outside a call, for its author. */

import type { BaseToolDefinition } from "@parley/schema";

export type ToolTestOutcome =
  | {
      readonly kind: "answered";
      readonly status: number;
      /** As the tool's server sends it, or null. */
      readonly contentType: string | null;
      readonly body: Uint8Array;
      /** The body was longer than the part read. */
      readonly truncated: boolean;
    }
  /** No server was reached, or no request was sent. `reason` ends a sentence and holds no secret. */
  | { readonly kind: "failed"; readonly reason: string };

export type RunToolTest = (
  definition: BaseToolDefinition,
  values: Readonly<Record<string, unknown>>,
  signal?: AbortSignal,
) => Promise<ToolTestOutcome>;

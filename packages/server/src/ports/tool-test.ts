/** Port that runs an HTTP tool once outside a call, for its author. */

import type { ToolTarget, ToolValue } from "./tool-invoker.ts";

export interface ToolTest {
  readonly target: Extract<ToolTarget, { readonly kind: "http" }>;
  /** Every parameter that has a value. */
  readonly values: readonly ToolValue[];
  readonly timeoutMs: number;
}

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

export type RunToolTest = (test: ToolTest, signal?: AbortSignal) => Promise<ToolTestOutcome>;

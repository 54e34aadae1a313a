/** Port for tools that the service itself runs: over HTTP, through an MCP server, or inside the service. */

import type { ToolOutcome } from "@parley/schema";

export interface ToolInvocation {
  /** Globally and permanently unique; sent along so that the other side can detect a repetition. */
  readonly invocationId: string;
  readonly callId: string;
  readonly accountId: string;
  readonly toolName: string;
  readonly implementation: ToolTarget;
  /** Every parameter that has a value. */
  readonly values: readonly ToolValue[];
  readonly timeoutMs: number;
}

export interface ToolValue {
  readonly name: string;
  readonly location: "query" | "path" | "header" | "body";
  readonly value: unknown;
  /** Set by the one who selected the tool, by a static parameter or an override: in a header it may be a key. */
  readonly fixed?: true;
}

export type ToolTarget =
  | {
      readonly kind: "http";
      readonly method: string;
      readonly urlPattern: string;
      readonly credentials: readonly {
        readonly place: "query" | "header";
        readonly name: string;
        readonly value: string;
      }[];
      readonly callToken: string | null;
    }
  | {
      readonly kind: "mcp";
      readonly serverUrl: string;
      readonly headers: Readonly<Record<string, string>>;
      readonly toolName: string;
    }
  | { readonly kind: "builtIn"; readonly builtIn: string };

export interface ToolInvoker {
  /** Sends at most one request that may have an effect; answers within `timeoutMs`; rejects only when aborted. */
  invoke(invocation: ToolInvocation, signal: AbortSignal): Promise<ToolOutcome>;
  close(): Promise<void>;
}

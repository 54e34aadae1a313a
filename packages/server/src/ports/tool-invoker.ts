/** Tools that the service reaches by itself: by HTTP, through an MCP server, or inside the service. */

export interface ToolCall {
  /** Unique for ever; sent along so that the other side can tell a repetition (D146). */
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
  /** Of whoever selected the tool, by a static parameter or an override: in a header it may be a key. */
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

/** Same shape as the engine's outcome, so that the runner passes it on. */
export type ToolAnswer =
  | {
      readonly kind: "completed";
      /** Within 64 KiB (D145). */
      readonly result: string;
      readonly responseType: "tool-response" | "hang-up" | "new-stage" | "send-to-thread";
      readonly reaction: "speaks" | "listens" | "speaks-once" | null;
      readonly updateCallState: Readonly<Record<string, unknown>> | null;
    }
  | {
      readonly kind: "failed";
      readonly cause: "timeout" | "error";
      readonly text: string;
      readonly errorDetails: string;
    };

export interface ToolInvoker {
  /** Sends at most one request that may have an effect; answers within `timeoutMs`; rejects only when aborted. */
  invoke(call: ToolCall, signal: AbortSignal): Promise<ToolAnswer>;
  close(): Promise<void>;
}

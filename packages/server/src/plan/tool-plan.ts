/**
 * A tool in one stage of a call: its parameters grouped by the source of their values, and its credentials with their
 * places.
 */

import type { BuiltInToolName, Reaction } from "@parley/schema";

export interface ToolPlan {
  /** The name that the model uses. */
  readonly name: string;
  /** Id of the tool in the list of the stage's tools. */
  readonly callToolId: string;
  /** Null for a tool that was defined in place. */
  readonly toolId: string | null;
  readonly description: string;
  /** JSON Schema of the model's arguments: an object with the dynamic parameters that are not overridden. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** The names and locations of the dynamic parameters. */
  readonly dynamic: readonly ParameterPlace[];
  /** Static parameters, and all overrides. */
  readonly fixed: readonly FixedParameter[];
  readonly automatic: readonly AutomaticParameter[];
  readonly implementation: ToolImplementation;
  readonly timeoutMs: number;
  readonly precomputable: boolean;
  readonly defaultReaction: Reaction;
  /** Result that the model gets at once; the real result is then not awaited. Null: the model gets the real result. */
  readonly staticResponse: string | null;
}

export type ParameterLocation = "query" | "path" | "header" | "body";

export interface ParameterPlace {
  readonly name: string;
  readonly location: ParameterLocation;
}

export interface FixedParameter extends ParameterPlace {
  readonly value: unknown;
}

export interface AutomaticParameter extends ParameterPlace {
  readonly known: KnownValue;
}

export type KnownValue =
  | "callId"
  | "conversationHistory"
  | "outputSampleRate"
  | "callState"
  | "callStageId"
  | "threadId"
  | "threadStates"
  | "callMetadata";

/** Of a conversation with the person who is to take over a caller; no request can select them. */
export const CONSULTATION_TOOLS = ["acceptTransfer", "refuseTransfer"] as const;
export type ConsultationTool = (typeof CONSULTATION_TOOLS)[number];

/**
 * `queryCorpus`, the transfers and the tools of a consultation are invoked like tools of others; the engine runs the rest
 * by itself.
 */
export type BuiltInTool = BuiltInToolName | ConsultationTool;

export type ToolImplementation =
  | {
      readonly kind: "http";
      /** HTTP method in upper case. */
      readonly method: string;
      /** URL in which `{name}` is replaced by the path parameter of that name. */
      readonly urlPattern: string;
      /** Secrets: never logged or recorded. */
      readonly credentials: readonly ToolCredential[];
      /** Sent as `X-Service-Call-Token`; null: the tool does not require it. Secret. */
      readonly callToken: string | null;
    }
  | {
      readonly kind: "mcp";
      readonly serverUrl: string;
      readonly headers: Readonly<Record<string, string>>;
      /** The name of the tool on the server. */
      readonly toolName: string;
    }
  | { readonly kind: "client" }
  | { readonly kind: "dataConnection" }
  /** The static response is the only result. */
  | { readonly kind: "static" }
  | { readonly kind: "builtIn"; readonly builtIn: BuiltInTool };

export interface ToolCredential {
  readonly place: "query" | "header";
  readonly name: string;
  readonly value: string;
}

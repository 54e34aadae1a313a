/** A tool as one stage of a call has it: parameters sorted by who gives their values, credentials in their places. */

export interface ToolPlan {
  /** By which the model calls it. */
  readonly name: string;
  /** Of the listing of the stage's tools. */
  readonly callToolId: string;
  /** Null for a tool that was defined in place. */
  readonly toolId: string | null;
  readonly description: string;
  /** JSON Schema of what the model gives: an object with the dynamic parameters that are not overridden. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Places of the dynamic parameters. */
  readonly dynamic: readonly ParameterPlace[];
  /** Static parameters, and overrides of any kind. */
  readonly fixed: readonly FixedParameter[];
  readonly automatic: readonly AutomaticParameter[];
  readonly implementation: ToolImplementation;
  readonly timeoutMs: number;
  readonly precomputable: boolean;
  readonly defaultReaction: Reaction;
  /** Given to the model at once; the real result is then not awaited. Null: the real result counts. */
  readonly staticResponse: string | null;
}

export type ParameterLocation = "query" | "path" | "header" | "body";
export type Reaction = "speaks" | "listens" | "speaks-once";

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

export type BuiltInTool = "hangUp" | "leaveVoicemail" | "playDtmfSounds" | "queryCorpus";

export type ToolImplementation =
  | {
      readonly kind: "http";
      /** Upper case. */
      readonly method: string;
      /** `{name}` stands for the path parameter of that name. */
      readonly urlPattern: string;
      /** Secrets: never logged, never in a record. */
      readonly credentials: readonly ToolCredential[];
      /** Sent as `X-Service-Call-Token`; null: the tool does not ask for it. Secret. */
      readonly callToken: string | null;
    }
  | {
      readonly kind: "mcp";
      readonly serverUrl: string;
      readonly headers: Readonly<Record<string, string>>;
      /** By which the server knows it. */
      readonly toolName: string;
    }
  | { readonly kind: "client" }
  | { readonly kind: "dataConnection" }
  /** The static response is all there is. */
  | { readonly kind: "static" }
  | { readonly kind: "builtIn"; readonly builtIn: BuiltInTool };

export interface ToolCredential {
  readonly place: "query" | "header";
  readonly name: string;
  readonly value: string;
}

/**
 * Input of a language model, and its tool calls. Not on the wire. The engine writes these values and the adapters of
 * models read them; they are declared here because neither may import the other, and both may import the schema.
 */

export type LlmMessage =
  | {
      readonly role: "user";
      readonly text: string;
      /** What was said, in order, where the model may hear it in place of the text. Absent: the text only. */
      readonly utteranceIds?: readonly number[];
    }
  | { readonly role: "agent"; readonly text: string; readonly toolCalls?: readonly LlmToolCall[] }
  | {
      readonly role: "tool";
      readonly invocationId: string;
      readonly toolName: string;
      readonly text: string;
    };

export interface LlmToolCall {
  readonly id: string;
  readonly name: string;
  /** Parsed JSON arguments. */
  readonly arguments: Readonly<Record<string, unknown>>;
}

export interface LlmTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

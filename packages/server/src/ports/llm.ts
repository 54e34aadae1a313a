/** Port for language models: one streamed generation per request. */

import type { LlmMessage, LlmTool, LlmToolCall } from "@parley/schema";
import type { EngineOrigin, ServedBy } from "./engine-origin.ts";
import type { EngineUser } from "./engine-steps.ts";
import type { UseListener } from "./engine-use.ts";

export interface LlmRequest {
  /** A configured model's name, or `default`. */
  readonly model: string;
  /** 0..1 */
  readonly temperature: number;
  readonly systemPrompt: string;
  readonly messages: readonly LlmMessage[];
  readonly tools: readonly LlmTool[];
  /** Shown to the model for this generation only, for example how to greet. */
  readonly instruction: string | null;
  /** BCP 47 or null. */
  readonly language: string | null;
  /** The voice of user messages, in place of their text. Only for a model of which `takesAudio` is true. */
  readonly audio?: readonly LlmAudio[];
  /** For lists of engines; others ignore it. */
  readonly user?: EngineUser;
  /** The same. */
  readonly servedBy?: ServedBy;
  /** For engines whose use is counted; others ignore it. */
  readonly meter?: UseListener | undefined;
}

export interface LlmAudio {
  /** Position in `messages` of a message of the user. */
  readonly messageIndex: number;
  /** A WAV file of at most a minute: 16 kHz, mono, 16 bits. */
  readonly wav: Uint8Array;
}

export type LlmPart =
  | { readonly type: "text-delta"; readonly text: string }
  /** The model writes a call of a tool, which follows when it is whole. It says only that the model works. */
  | { readonly type: "tool-call-delta" }
  | { readonly type: "tool-call"; readonly call: LlmToolCall }
  | {
      readonly type: "finish";
      readonly reason: "stop" | "length" | "tool-calls" | "content-filter" | "other";
      readonly inputTokens: number | null;
      readonly outputTokens: number | null;
      /** Of the input tokens, those that the server had in its cache. Unset: none, or not reported. */
      readonly cachedInputTokens?: number;
    };

export interface LlmEngine extends EngineOrigin {
  readonly name: string;
  /** Names that `LlmRequest.model` may take besides `default`. */
  readonly models: readonly string[];
  /** The engine that answers requests with this model, where a name selects one of several. Unset: this one. */
  readonly engineOf?: (model: string) => LlmEngine;
  /** Whether the model understands the caller's voice. Unset: no model does. */
  readonly takesAudio?: (model: string) => boolean;
  /** See `SttEngine`. */
  readonly unusable?: () => string | null;
  /** Examples of what it answers, for an engine that answers only certain phrases. */
  readonly examplePhrases?: readonly string[];
  /**
   * Ends after exactly one `finish` part. Throws (never ends early without `finish`) on a failure, a broken stream or
   * an answer that is not understood; throws an `AbortError` soon after `signal` aborts. No retries inside.
   */
  generate(request: LlmRequest, signal: AbortSignal): AsyncIterable<LlmPart>;
  close(): Promise<void>;
}

/** Made from the OpenAPI document by `node packages/client/scripts/api-types.ts`; not to be edited. */

/** What requests to engines cost, by the prices of the operator. */
export interface Cost {
  amount: string;
  currency: string;
  /** Whether all requests have a price and were counted. */
  isComplete: boolean;
  /** Engines with requests that the amount lacks. */
  withoutPrice: string[];
}

/** What calls have used of an engine. */
export interface EngineUsage {
  kind: "stt" | "llm" | "tts";
  /** As in the metrics: of a list the name of its entry, of an external voice the vendor. */
  engine: string;
  /** The adapter or the vendor, such as `openai` or `ElevenLabs`. */
  provider: string;
  model: string | null;
  /** At least 0. */
  requests: number;
  /** At least 0. */
  failures: number;
  /** Requests that the call gave up, for example after an interruption. At least 0. */
  dropped: number;
  /** A duration in seconds, such as `30s`. */
  maxLatency: string | null;
  /** As the model server counted them, with those from its cache. At least 0. */
  inputTokens: number;
  /** At least 0. */
  cachedInputTokens: number;
  /** At least 0. */
  outputTokens: number;
  /** Requests whose tokens the model server did not count. At least 0. */
  uncountedRequests: number;
  /** Audio that a recogniser was given. A duration in seconds, such as `30s`. */
  heard: string;
  /** Characters that a voice was given. At least 0. */
  characters: number;
  /** Audio that a voice gave. A duration in seconds, such as `30s`. */
  spoken: string;
  /** Null without a table of prices. */
  cost: string | null;
  /** Requests that `cost` lacks: without a price, or not counted. At least 0. */
  unpricedRequests: number;
  /** A duration in seconds, such as `30s`. */
  meanLatency: string | null;
  /** Of `cost`. Null without a table of prices. */
  currency: string | null;
}

/** What a call has used of an engine. */
export interface EngineUse {
  kind: "stt" | "llm" | "tts";
  /** As in the metrics: of a list the name of its entry, of an external voice the vendor. */
  engine: string;
  /** The adapter or the vendor, such as `openai` or `ElevenLabs`. */
  provider: string;
  model: string | null;
  /** At least 0. */
  requests: number;
  /** At least 0. */
  failures: number;
  /** Requests that the call gave up, for example after an interruption. At least 0. */
  dropped: number;
  /** A duration in seconds, such as `30s`. */
  maxLatency: string | null;
  /** As the model server counted them, with those from its cache. At least 0. */
  inputTokens: number;
  /** At least 0. */
  cachedInputTokens: number;
  /** At least 0. */
  outputTokens: number;
  /** Requests whose tokens the model server did not count. At least 0. */
  uncountedRequests: number;
  /** Audio that a recogniser was given. A duration in seconds, such as `30s`. */
  heard: string;
  /** Characters that a voice was given. At least 0. */
  characters: number;
  /** Audio that a voice gave. A duration in seconds, such as `30s`. */
  spoken: string;
  /** Null without a table of prices. */
  cost: string | null;
  /** Requests that `cost` lacks: without a price, or not counted. At least 0. */
  unpricedRequests: number;
  /**
   * From the request to the first token, the first audio or the transcript. Null if there was none. A
   * duration in seconds, such as `30s`.
   */
  medianLatency: string | null;
}

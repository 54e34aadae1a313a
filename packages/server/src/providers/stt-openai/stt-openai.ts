import type { SttEngine } from "../../ports/stt.ts";

export interface OpenAiSttOptions {
  /** Like `http://host:port/v1`, with or without a trailing slash. */
  readonly baseUrl: string;
  /** Sent as a bearer token; null for a server that wants none. */
  readonly apiKey: string | null;
  readonly model: string;
  readonly timeoutMs?: number;
  readonly fetch?: typeof fetch;
}

/** One line for the operator: model and address, never the key. */
export function describeOpenAiStt(options: Pick<OpenAiSttOptions, "baseUrl" | "model">): string {
  return `${options.model} at ${options.baseUrl}`;
}

/** Throws on a base URL that is not http(s) or an empty model. No request is made before the first transcript. */
export function openOpenAiStt(options: OpenAiSttOptions): SttEngine {
  throw new Error(`not written yet: ${options.model}`);
}

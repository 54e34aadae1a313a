/** Language models behind an OpenAI-compatible `POST {base}/chat/completions`. */

import type { LlmEngine } from "../../ports/llm.ts";
import { serverOf } from "../../ports/engine-origin.ts";
import { boundedFetch } from "../llm-sdk/bounded-fetch.ts";
import { PLAIN_SHAPE } from "../llm-sdk/prompt.ts";
import { openSdkLlm } from "../llm-sdk/sdk-llm.ts";

export interface OpenAiLlmOptions {
  /** With the version, without a slash at the end, for example `http://127.0.0.1:8000/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string | null;
  /** The model that the name `default` selects. */
  readonly model: string;
  /** Further model names that a request may use. */
  readonly models?: readonly string[];
  /** The model is given the caller's voice in place of the transcript. */
  readonly takesAudio?: boolean;
}

/** The server is not contacted before the first request. */
export async function openOpenAiLlm(options: OpenAiLlmOptions): Promise<LlmEngine> {
  const { baseUrl, apiKey, model, models = [], takesAudio = false } = options;
  const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
  const provider = createOpenAICompatible({
    name: "openai",
    baseURL: baseUrl,
    includeUsage: true,
    fetch: boundedFetch,
    ...(apiKey === null ? {} : { apiKey }),
  });
  return openSdkLlm({
    name: "openai",
    subject: "the model server",
    models: new Map([model, ...models].map((name) => [name, name])),
    server: serverOf(baseUrl),
    secrets: apiKey === null ? [] : [apiKey],
    shape: PLAIN_SHAPE,
    takesAudio,
    connect: (name) => provider.chatModel(name),
  });
}

/**
 * A recogniser behind an OpenAI-compatible `POST {base}/audio/transcriptions`: each request sends the whole utterance as
 * a WAV file (multipart, `response_format` json) and takes `{ "text": … }`.
 */

import type { SttEngine } from "../../ports/stt.ts";
import { openBatchStt } from "../batch-stt.ts";
import { readAnswer, refusalOf, SpeechServerError, transportFailureOf } from "./answer.ts";
import { transcriptionForm } from "./transcription-form.ts";

export interface OpenAiSttOptions {
  /** With the version, with or without a slash at the end, for example `http://127.0.0.1:8000/v1`. */
  readonly baseUrl: string;
  /** Sent as a bearer token; null for a server that wants none. */
  readonly apiKey: string | null;
  readonly model: string;
  /** Bounds one transcript from the request to the last byte of the answer. Default `TRANSCRIPT_TIMEOUT_MS`. */
  readonly timeoutMs?: number;
  readonly fetch?: typeof fetch;
}

/**
 * A call gives a transcript up sooner by its own timer; this one frees the socket. A minute of speech takes a local
 * model on a plain machine about that long.
 */
export const TRANSCRIPT_TIMEOUT_MS = 30_000;

/** One line for the operator: model and address, never the key. */
export function describeOpenAiStt({ baseUrl, model }: Pick<OpenAiSttOptions, "baseUrl" | "model">): string {
  return `${model} at ${endpointOf(baseUrl).origin}`;
}

/** Throws on a base URL that is not http(s) and on an empty model. The server is not asked before the first request. */
export function openOpenAiStt(options: OpenAiSttOptions): SttEngine {
  const endpoint = endpointOf(options.baseUrl);
  if (options.model.trim() === "") throw new Error("the recogniser's model has no name");
  return openBatchStt({
    name: "openai",
    transcribe: (samples, language, signal) => transcribe(endpoint, options, samples, language, signal),
    // The protocol cannot be asked which languages a model knows.
    warningFor: () => null,
    close: () => Promise.resolve(),
  });
}

function endpointOf(baseUrl: string): URL {
  const base = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (base === null || !["http:", "https:"].includes(base.protocol)) {
    throw new Error("the recogniser's base URL is not an http or https address");
  }
  base.pathname = `${base.pathname.replace(/\/+$/, "")}/audio/transcriptions`;
  return base;
}

/** The protocol wants ISO 639-1: the first part of a BCP 47 tag, where it is one. */
function languageCodeOf(language: string | null): string | null {
  return /^([a-z]{2,3})(-|$)/i.exec(language ?? "")?.[1]?.toLowerCase() ?? null;
}

async function transcribe(
  endpoint: URL,
  options: OpenAiSttOptions,
  samples: Int16Array,
  language: string | null,
  signal: AbortSignal,
): Promise<string> {
  const code = languageCodeOf(language);
  const { contentType, body } = transcriptionForm(samples, {
    model: options.model,
    response_format: "json",
    ...(code === null ? {} : { language: code }),
  });
  const timeoutMs = options.timeoutMs ?? TRANSCRIPT_TIMEOUT_MS;
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const response = await (options.fetch ?? fetch)(endpoint, {
      method: "POST",
      headers: {
        "content-type": contentType,
        ...(options.apiKey === null ? {} : { authorization: `Bearer ${options.apiKey}` }),
      },
      body,
      // The key and the caller's voice go to the address that the operator named and to no other.
      redirect: "error",
      signal: AbortSignal.any([signal, timeout]),
    });
    if (!response.ok) throw await refusalOf(response, options.apiKey);
    return await readAnswer(response);
  } catch (error) {
    if (error instanceof SpeechServerError) throw error;
    if (timeout.aborted) {
      throw new SpeechServerError(`the speech server did not answer within ${String(timeoutMs)} ms`);
    }
    throw transportFailureOf(error);
  }
}

/**
 * A recogniser behind an OpenAI-compatible `POST {base}/audio/transcriptions`: each request sends the whole utterance
 * as a WAV file (multipart, `response_format` json) and reads `{ "text": … }`.
 */

import { serverOf } from "../../ports/engine-origin.ts";
import type { SttEngine } from "../../ports/stt.ts";
import { openBatchStt } from "../batch-stt.ts";
import { readAnswer, refusalOf, SpeechServerError, transportFailureOf } from "./answer.ts";
import { transcriptionForm } from "./transcription-form.ts";

export interface OpenAiSttOptions {
  /** With the version, with or without a slash at the end, for example `http://127.0.0.1:8000/v1`. */
  readonly baseUrl: string;
  /** Sent as a bearer token; null for a server that needs none. */
  readonly apiKey: string | null;
  readonly model: string;
  /** Limit of one transcript, from the request to the last byte of the response. Default `TRANSCRIPT_TIMEOUT_MS`. */
  readonly timeoutMs?: number;
  readonly fetch?: typeof fetch;
}

/**
 * A call stops waiting earlier by its own timer; this limit frees the socket. A minute of speech takes a local model on
 * an ordinary machine about that long.
 */
export const TRANSCRIPT_TIMEOUT_MS = 30_000;

/** One line for the operator: model and address, never the key. */
export function describeOpenAiStt({ baseUrl, model }: Pick<OpenAiSttOptions, "baseUrl" | "model">): string {
  return `${model} at ${endpointOf(baseUrl).origin}`;
}

/**
 * Throws on a base URL that is not http(s) or contains a password, an empty model and a key that no header can carry.
 * The server is not contacted before the first request.
 */
export function openOpenAiStt(options: OpenAiSttOptions): SttEngine {
  const endpoint = endpointOf(options.baseUrl);
  // Fetch would refuse both at each request, with a message that contains them.
  if (endpoint.username !== "" || endpoint.password !== "") {
    throw new Error("the recogniser's base URL contains a user or a password: set them as the API key");
  }
  if (options.apiKey !== null && !/^[\x21-\x7e]+$/.test(options.apiKey)) {
    throw new Error("the recogniser's API key is empty or contains spaces or characters other than ASCII");
  }
  if (options.model.trim() === "") throw new Error("the recogniser's model has no name");
  return openBatchStt({
    name: "openai",
    origin: { model: options.model, server: serverOf(options.baseUrl) },
    transcribe: (samples, language, signal) => transcribe(endpoint, options, samples, language, signal),
    warningFor: (language) =>
      languageCodeOf(language) === null
        ? `"${language}" is not a language that a speech server knows; the server detects the language itself`
        : null,
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

/** Languages for which Whisper, whose codes the servers use, has another code than the BCP 47 registry. */
const WHISPER_CODES: Readonly<Record<string, string>> = { nb: "no", fil: "tl" };

/** The protocol uses ISO 639-1: the first part of a BCP 47 tag in its shortest form, where it is such a code. */
function languageCodeOf(language: string | null): string | null {
  if (language === null) return null;
  let code: string | undefined;
  try {
    code = new Intl.Locale(language).language;
  } catch {
    return null; // Not a language tag at all: the caller warns.
  }
  if (code === "und" || !/^[a-z]{2,3}$/.test(code)) return null;
  return WHISPER_CODES[code] ?? code;
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
      // The key and the caller's audio may go only to the configured address, so redirects are not followed.
      redirect: "error",
      signal: AbortSignal.any([signal, timeout]),
    });
    if (!response.ok) throw await refusalOf(response, options.apiKey);
    return await readAnswer(response, options.apiKey);
  } catch (error) {
    if (error instanceof SpeechServerError) throw error;
    if (timeout.aborted) {
      throw new SpeechServerError(`the speech server did not answer within ${String(timeoutMs)} ms`, {
        type: "timeout",
      });
    }
    throw transportFailureOf(error);
  }
}

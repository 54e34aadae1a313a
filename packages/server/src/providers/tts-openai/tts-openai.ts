/**
 * A voice behind an OpenAI-compatible `POST {base}/audio/speech`. PCM is requested and streamed as it arrives; a WAV
 * answer is read as well, because many local servers ignore `response_format`. No word times: the protocol has none.
 */

import { setImmediate as nextTurn } from "node:timers/promises";
import type { TtsEngine, TtsPart, TtsRequest } from "../../ports/tts.ts";
import { readSpeechBody, type SpeechSamples } from "../speech-body.ts";
import { cutParts, isFullPart } from "../speech-parts.ts";
import { watchStalls } from "../stall-watch.ts";
import { EngineFailure, networkErrorCode } from "../../ports/engine-failure.ts";
import { serverOf } from "../../ports/engine-origin.ts";
import { isPermanentRefusal } from "../permanent-refusal.ts";
import { describeFailure, readErrorBody, serverMessage } from "../voice-failure.ts";
import { throwIfAborted } from "../../pacing/abort.ts";

export interface OpenAiTtsOptions {
  /** With the version, without a slash at the end, for example `http://127.0.0.1:8000/v1`. */
  readonly baseUrl: string;
  readonly apiKey: string | null;
  readonly model: string;
  /** The default voice. */
  readonly voice: string;
  /** Further voice names that a request may take. */
  readonly voices?: readonly string[];
  /** Limit of silence of the server, before or within its response. Default `STALL_TIMEOUT_MS`. */
  readonly stallTimeoutMs?: number;
}

/**
 * A call stops waiting for a sentence earlier by its own timer; this limit frees the socket. A cold local model may
 * take seconds to load, so not shorter.
 */
export const STALL_TIMEOUT_MS = 10_000;
/** OpenAI's own limit on `input`; a sentence of a call is a tenth of it. */
export const MAX_TEXT_CHARS = 4_096;
/** Limit of one response: the longest text takes about five minutes, which at 48 kHz s16 is 29 MB. */
export const MAX_AUDIO_BYTES = 32 * 1_024 * 1_024;

/** Resolves at once: the server is not contacted before the first request. */
export function openOpenAiTts(options: OpenAiTtsOptions): Promise<TtsEngine> {
  const closing = new AbortController();
  const voices = [...new Set([options.voice, ...(options.voices ?? [])])];
  return Promise.resolve({
    name: "openai",
    model: options.model,
    server: serverOf(options.baseUrl),
    voices,
    synthesize(request, signal) {
      return synthesize({ ...options, voices }, request, signal, closing.signal);
    },
    /** Unknown from the protocol: the operator chooses a model for the languages. */
    speaks: () => true,
    close() {
      closing.abort();
      return Promise.resolve();
    },
  });
}

async function* synthesize(
  options: OpenAiTtsOptions & { readonly voices: readonly string[] },
  request: TtsRequest,
  signal: AbortSignal,
  closing: AbortSignal,
): AsyncGenerator<TtsPart> {
  const check = (): void => {
    throwIfAborted(signal);
    if (closing.aborted) throw new Error("the voice is closed");
  };
  check();
  const voice = request.voice ?? options.voice;
  if (!options.voices.includes(voice)) {
    throw new EngineFailure(`the voice server has no voice named ${voice}`, {
      isPermanent: true,
      type: "unknown_voice",
    });
  }
  if (request.text.length > MAX_TEXT_CHARS)
    throw new Error(`text of ${String(request.text.length)} characters is over ${String(MAX_TEXT_CHARS)}`);
  if (!/[^\s\p{C}]/u.test(request.text)) return;

  const stall = watchStalls(options.stallTimeoutMs ?? STALL_TIMEOUT_MS);
  const leaving = new AbortController();
  const any = AbortSignal.any([signal, closing, stall.signal, leaving.signal]);
  try {
    const response = await ask(options, request.text, voice, any);
    for await (const piece of read(response, stall.kick)) {
      for (const part of cutParts(piece)) {
        check();
        stall.pause();
        yield part;
        check();
        stall.kick();
        if (isFullPart(part)) await nextTurn();
      }
    }
    check();
  } catch (error) {
    check();
    if (stall.signal.aborted)
      throw new EngineFailure("the voice server stopped answering", { cause: error, type: "timeout" });
    const isPermanent = error instanceof EngineFailure && error.isPermanent;
    throw new EngineFailure(`the voice server ${describeFailure(error, options.apiKey)}`, {
      cause: error,
      isPermanent,
      type: error instanceof EngineFailure ? error.type : networkErrorCode(error),
    });
  } finally {
    stall.pause();
    leaving.abort();
  }
}

async function ask(
  { baseUrl, apiKey, model }: OpenAiTtsOptions,
  input: string,
  voice: string,
  signal: AbortSignal,
): Promise<Response> {
  const response = await fetch(`${baseUrl}/audio/speech`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "audio/pcm, audio/wav;q=0.9, application/octet-stream;q=0.5",
      ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
    },
    body: JSON.stringify({ model, input, voice, response_format: "pcm" }),
    // A redirected POST becomes a GET and fails with a misleading error; the setting must contain the final URL.
    redirect: "error",
    signal,
  });
  if (!response.ok) {
    const body = await readErrorBody(response);
    const message = `answered HTTP ${String(response.status)}${serverMessage(body)}`;
    throw new EngineFailure(message, {
      isPermanent: isPermanentRefusal(response.status, body),
      type: String(response.status),
    });
  }
  const type = response.headers.get("content-type")?.toLowerCase() ?? "";
  if (type.includes("json") || type.startsWith("text/"))
    throw new Error(
      `answered ${type.split(";", 1)[0] ?? type}, not audio${serverMessage(await readErrorBody(response))}`,
    );
  return response;
}

async function* read(response: Response, kick: () => void): AsyncGenerator<SpeechSamples> {
  const body = readSpeechBody(response.headers.get("content-type"));
  let received = 0;
  if (response.body !== null) {
    for await (const bytes of response.body) {
      kick();
      received += bytes.length;
      if (received > MAX_AUDIO_BYTES) throw new Error(`answered more than ${String(MAX_AUDIO_BYTES)} bytes`);
      const piece = body.push(bytes);
      if (piece !== null) yield piece;
    }
  }
  const last = body.end();
  if (last !== null) yield last;
}

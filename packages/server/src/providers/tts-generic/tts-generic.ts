/**
 * A voice of any server that speaks HTTP: a POST with a JSON body for each sentence, whose answer is audio or JSON with
 * audio in it. The address is one that a user names, so every request goes through the guarded client.
 */

import { setImmediate as nextTurn } from "node:timers/promises";
import type { GuardedClient } from "../../net/guarded-fetch.ts";
import { throwIfAborted } from "../../pacing/abort.ts";
import type { TtsPart } from "../../ports/tts.ts";
import type { ProviderSpeech, VoiceProvider } from "../../ports/voice-provider.ts";
import { isPermanentRefusal } from "../permanent-refusal.ts";
import { readSpeechBody, type SpeechSamples } from "../speech-body.ts";
import { cutParts, isFullPart } from "../speech-parts.ts";
import { mustSound, spokenText } from "../spoken-text.ts";
import { watchStalls, type StallWatch } from "../stall-watch.ts";
import { readErrorBody, serverMessage } from "../voice-failure.ts";
import { answerKind } from "./answer-kind.ts";
import { documentsByLine, wholeDocument } from "./documents.ts";
import { ADVICE, failed, failureOf } from "./failure.ts";
import { openJsonAudio } from "./json-audio.ts";
import { requestBody, requestHeaders, secretsOf, type GenericVoice } from "./request.ts";
import { openWordTimes } from "./word-times.ts";

export interface GenericVoiceOptions {
  readonly client: GuardedClient;
  /** Limit of silence of the server, before or within its answer. */
  readonly stallTimeoutMs?: number;
  /** Limit of one answer, however often something comes. */
  readonly sentenceLimitMs?: number;
  readonly maxAnswerBytes?: number;
}

/** The same as of other voice servers: a call stops waiting earlier by its own timer. */
const STALL_TIMEOUT_MS = 10_000;
/** A sentence is spoken in half a minute, and made faster than it is spoken. */
const SENTENCE_LIMIT_MS = 120_000;
/** A sentence is a tenth of it. */
const TEXT_LIMITS = { vendor: "the voice server", maxChars: 4_096, keepsControls: true } as const;
/** Five minutes of 48 kHz samples; as base64 four. */
const MAX_ANSWER_BYTES = 32 * 1_024 * 1_024;

export function openGenericVoice(options: GenericVoiceOptions): VoiceProvider<"generic"> {
  const closing = new AbortController();
  return {
    kind: "generic",
    name: "generic",
    // Each request has a connection of its own.
    prepare: () => undefined,
    synthesize: (speech, signal) => synthesize(options, speech, signal, closing.signal),
    close() {
      closing.abort();
      return Promise.resolve();
    },
  };
}

async function* synthesize(
  options: GenericVoiceOptions,
  { voice, text: wanted }: ProviderSpeech<"generic">,
  signal: AbortSignal,
  closing: AbortSignal,
): AsyncGenerator<TtsPart> {
  const check = (): void => {
    throwIfAborted(signal);
    if (closing.aborted) throw failed("is closed here", { type: "closed" });
  };
  check();
  const text = spokenText(wanted, TEXT_LIMITS);
  if (text === null) return;
  const stall = watchStalls(options.stallTimeoutMs ?? STALL_TIMEOUT_MS);
  const leaving = new AbortController();
  const late = setTimeout(() => leaving.abort(), options.sentenceLimitMs ?? SENTENCE_LIMIT_MS);
  const words = openWordTimes(wanted, voice.responseWordsPerMinute);
  let isAnswered = false;
  let heardMs = 0;
  try {
    const any = AbortSignal.any([signal, closing, stall.signal, leaving.signal]);
    const response = await ask(options, voice, text, any);
    isAnswered = true;
    for await (const piece of audioOf(response, voice, stall)) {
      for (const part of cutParts(piece)) {
        check();
        stall.pause();
        heardMs += (part.samples.length * 1_000) / part.sampleRateHz;
        for (const word of words.before(heardMs)) {
          yield word;
          check();
        }
        yield part;
        check();
        stall.kick();
        if (isFullPart(part)) await nextTurn();
      }
    }
    check();
    if (heardMs === 0 && mustSound(text)) throw failed("answered no audio", { type: "no_audio" });
    for (const word of words.rest(heardMs)) {
      yield word;
      check();
    }
  } catch (error) {
    check();
    if (stall.signal.aborted) throw failed("stopped answering", { type: "timeout" });
    if (leaving.signal.aborted) throw failed("took too long for one sentence", { type: "timeout" });
    throw failureOf(error, { isAnswered, secrets: secretsOf(voice) });
  } finally {
    clearTimeout(late);
    stall.pause();
    leaving.abort();
  }
}

async function ask(
  { client, maxAnswerBytes = MAX_ANSWER_BYTES }: GenericVoiceOptions,
  voice: GenericVoice,
  text: string,
  signal: AbortSignal,
): Promise<Response> {
  const init = { method: "POST", headers: requestHeaders(voice), body: requestBody(voice, text), signal };
  const response = await client.fetch(voice.url, init, maxAnswerBytes);
  if (response.ok) return response;
  const body = await readErrorBody(response);
  throw failed(`answered HTTP ${String(response.status)}${serverMessage(body)}`, {
    type: String(response.status),
    isPermanent: isPermanentRefusal(response.status, body),
  });
}

async function* audioOf(
  response: Response,
  voice: GenericVoice,
  stall: StallWatch,
): AsyncGenerator<SpeechSamples> {
  const answer = answerKind(voice, response.headers.get("content-type"));
  const pieces = kicking(response, stall);
  if (answer.kind === "text") {
    const said = serverMessage(await readErrorBody(response));
    throw failed(`answered ${answer.mediaType}, not audio${said}; ${ADVICE}`, { type: "garbage" });
  }
  if (answer.kind === "audio") {
    yield* plainAudio(pieces, voice, answer.contentType);
    return;
  }
  const audio = openJsonAudio(voice);
  for await (const document of documentsOf(answer.kind, pieces)) {
    const samples = audio.take(document);
    if (samples !== null) yield samples;
  }
  const last = audio.end();
  if (last !== null) yield last;
}

async function* documentsOf(kind: "json" | "lines", pieces: AsyncIterable<Uint8Array>): AsyncGenerator {
  if (kind === "lines") yield* documentsByLine(pieces);
  else yield await wholeDocument(pieces);
}

async function* plainAudio(
  pieces: AsyncIterable<Uint8Array>,
  { responseSampleRate: pcmRateHz, responseMimeType }: GenericVoice,
  contentType: string | null,
): AsyncGenerator<SpeechSamples> {
  const body = readSpeechBody(contentType, {
    pcmRateHz,
    advice: ADVICE,
    mustBeWav: responseMimeType === "audio/wav",
  });
  for await (const bytes of pieces) {
    const samples = body.push(bytes);
    if (samples !== null) yield samples;
  }
  const last = body.end();
  if (last !== null) yield last;
}

async function* kicking(response: Response, stall: StallWatch): AsyncGenerator<Uint8Array> {
  if (response.body === null) return;
  for await (const bytes of response.body) {
    stall.kick();
    yield bytes;
  }
}

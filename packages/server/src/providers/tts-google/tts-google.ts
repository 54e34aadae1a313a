/**
 * Voices of Google Cloud Text-to-Speech: one call for each sentence, which streams for the voices of Chirp 3: HD and gives
 * the whole sentence at once for all others. There are no word times; cancelling the call ends it.
 */

import { setImmediate as nextTurn } from "node:timers/promises";
import { throwIfAborted } from "../../pacing/abort.ts";
import { EngineFailure } from "../../ports/engine-failure.ts";
import { serverOf } from "../../ports/engine-origin.ts";
import type { TtsPart } from "../../ports/tts.ts";
import type { ProviderSpeech, VoiceProvider } from "../../ports/voice-provider.ts";
import { cutParts, isFullPart } from "../speech-parts.ts";
import { mustSound, spokenText } from "../spoken-text.ts";
import { watchStalls, type StallWatch } from "../stall-watch.ts";
import { type AccessToken, type AccessTokens, openAccessTokens } from "./access-tokens.ts";
import { openAudioBytes } from "./audio-bytes.ts";
import { MAX_INPUT_BYTES, SpeechAnswer } from "./contract.ts";
import { failureOf, statusOf, stopped } from "./failure.ts";
import { openSpeechChannel, type SpeechCall, type SpeechChannel } from "./speech-channel.ts";
import { type SentenceRequest, sentenceRequest } from "./speech-request.ts";

export interface GoogleTtsOptions {
  /** Null: Google. `http://` means without encryption. A region is `https://eu-texttospeech.googleapis.com`. */
  readonly baseUrl: string | null;
  readonly log: (message: string) => void;
  /** Where tokens come from, for tests. The documents of service accounts cannot change it. */
  readonly tokenUrl?: string;
  readonly tokenTimeoutMs?: number;
  /** Limit of silence of Google, before or within a sentence. */
  readonly stallTimeoutMs?: number;
}

/** The same as of other voice servers: a call stops waiting earlier by its own timer. */
const STALL_TIMEOUT_MS = 10_000;
/** Deadline of one sentence, which Google sees as well. A reader takes audio faster than it is played. */
const SENTENCE_LIMIT_MS = 120_000;
/** The longest text takes about six minutes, which at 24 kHz is 17 MB. */
const MAX_AUDIO_BYTES = 32 * 1_024 * 1_024;
const TEXT_LIMITS = { vendor: "Google", maxChars: MAX_INPUT_BYTES, maxBytes: MAX_INPUT_BYTES };
/** The first attempt and one more, and only where nothing was heard. */
const MAX_ATTEMPTS = 2;

interface Connected {
  readonly channel: SpeechChannel;
  readonly tokens: AccessTokens;
  readonly closing: AbortSignal;
  readonly stallTimeoutMs: number;
}

export function openGoogleTts(options: GoogleTtsOptions): VoiceProvider<"provider4"> {
  const { baseUrl, log, tokenUrl, tokenTimeoutMs, stallTimeoutMs = STALL_TIMEOUT_MS } = options;
  const closing = new AbortController();
  const channel = openSpeechChannel(baseUrl);
  const tokens = openAccessTokens({
    closing: closing.signal,
    ...(tokenUrl === undefined ? {} : { tokenUrl }),
    ...(tokenTimeoutMs === undefined ? {} : { timeoutMs: tokenTimeoutMs }),
  });
  const connected: Connected = { channel, tokens, closing: closing.signal, stallTimeoutMs };
  return {
    kind: "provider4",
    name: "Google",
    server: baseUrl === null ? { address: "texttospeech.googleapis.com", port: 443 } : serverOf(baseUrl),
    prepare({ key }) {
      if (closing.signal.aborted) return;
      Promise.all([tokens.of(key), channel.connect()]).catch((error: unknown) => {
        log(`a voice of Google could not be prepared: ${failureOf(error, []).message}`);
      });
    },
    synthesize: (speech, signal) => synthesize(connected, speech, signal),
    close() {
      closing.abort();
      channel.close();
      return Promise.resolve();
    },
  };
}

async function* synthesize(
  connected: Connected,
  speech: ProviderSpeech<"provider4">,
  signal: AbortSignal,
): AsyncGenerator<TtsPart> {
  const check = (): void => {
    throwIfAborted(signal);
    if (connected.closing.aborted)
      throw new EngineFailure("the voices of Google are closed", { type: "closed" });
  };
  check();
  const text = spokenText(speech.text, TEXT_LIMITS);
  if (text === null) return;
  const request = sentenceRequest(speech, text);
  for (let attempt = 1; ; attempt += 1) {
    const token = await unlessEnded(connected.tokens.of(speech.key), [signal, connected.closing], check);
    let isHeard = false;
    try {
      for await (const part of speak(connected, { request, token }, signal)) {
        check();
        isHeard = true;
        yield part;
        check();
      }
      check();
      if (!isHeard && mustSound(text))
        throw new EngineFailure("Google answered no audio", { type: "no_audio" });
      return;
    } catch (error) {
      check();
      const isTokenOld = token.isKept && statusOf(error) === "UNAUTHENTICATED";
      if (isTokenOld) connected.tokens.drop(speech.key, token.value);
      const mayRepeat = isTokenOld || statusOf(error) === "ABORTED";
      if (isHeard || !mayRepeat || attempt === MAX_ATTEMPTS) throw failureOf(error, [token.value]);
    }
  }
}

interface Sentence {
  readonly request: SentenceRequest;
  readonly token: AccessToken;
}

async function* speak(
  { channel, closing, stallTimeoutMs }: Connected,
  { request, token }: Sentence,
  signal: AbortSignal,
): AsyncGenerator<TtsPart & { type: "audio" }> {
  const stall = watchStalls(stallTimeoutMs);
  const any = AbortSignal.any([signal, closing, stall.signal]);
  let call: SpeechCall | null = null;
  const cancel = (): void => call?.end();
  try {
    call = await channel.open(request, token.value, Date.now() + SENTENCE_LIMIT_MS);
    // Whose signal it is, `synthesize` finds out.
    if (any.aborted) throw stopped();
    any.addEventListener("abort", cancel, { once: true });
    for await (const part of audioOf(call, request, stall)) {
      stall.pause();
      yield part;
      stall.kick();
      if (isFullPart(part)) await nextTurn();
    }
  } catch (error) {
    throw stall.signal.aborted ? stopped() : error;
  } finally {
    stall.pause();
    any.removeEventListener("abort", cancel);
    cancel();
  }
}

async function* audioOf(
  { stream }: SpeechCall,
  { encoding, sampleRateHz }: SentenceRequest,
  stall: StallWatch,
): AsyncGenerator<TtsPart & { type: "audio" }> {
  const audio = openAudioBytes(encoding);
  let received = 0;
  for await (const message of stream) {
    stall.kick();
    const bytes = SpeechAnswer.parse(message).audio_content;
    if (bytes === undefined || bytes.length === 0) continue;
    received += bytes.length;
    if (received > MAX_AUDIO_BYTES)
      throw new EngineFailure(`Google answered more than ${String(MAX_AUDIO_BYTES)} bytes`, {
        type: "too_long",
      });
    yield* cutParts({ samples: audio.push(bytes), sampleRateHz });
  }
  yield* cutParts({ samples: audio.end(), sampleRateHz });
}

/** Waits for `work`, which others may need as well and which goes on when this request ends. */
async function unlessEnded<T>(
  work: Promise<T>,
  signals: readonly AbortSignal[],
  check: () => void,
): Promise<T> {
  const ended = Promise.withResolvers<never>();
  const any = AbortSignal.any([...signals]);
  const end = (): void => ended.reject(new Error("ended"));
  any.addEventListener("abort", end, { once: true });
  if (any.aborted) end();
  try {
    return await Promise.race([work, ended.promise]);
  } catch (error) {
    check();
    throw error;
  } finally {
    any.removeEventListener("abort", end);
  }
}

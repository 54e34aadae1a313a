/** Voices of Cartesia over its websocket: one socket for each key serves all its voices, each sentence as a context. */

import { EngineFailure } from "../../ports/engine-failure.ts";
import { serverOf } from "../../ports/engine-origin.ts";
import type { TtsPart } from "../../ports/tts.ts";
import type { ProviderSpeech, VoiceProvider, VoiceUse } from "../../ports/voice-provider.ts";
import { throwIfAborted } from "../../pacing/abort.ts";
import { SocketPool, type SocketPoolOptions } from "../sockets/socket-pool.ts";
import { type SocketTarget, socketUrl } from "../sockets/socket-protocol.ts";
import { SILENCE_LIMIT_MS } from "../sockets/socket-voice.ts";
import { MAX_TEXT_CHARS, readSpeech, type SpeechMessage } from "../sockets/speech.ts";
import { spokenText } from "../spoken-text.ts";
import { readAnswer } from "./answers.ts";
import { audioFormat, cancelRequest, DEFAULT_BASE_URL, generationRequest, VENDOR } from "./requests.ts";
import { settingsFor } from "./voice-settings.ts";

export interface CartesiaOptions {
  /** Null: the vendor's own. */
  readonly baseUrl: string | null;
  readonly log: (message: string) => void;
  /** Default `SILENCE_LIMIT_MS`. */
  readonly silenceLimitMs?: number;
  readonly pool?: Partial<
    Pick<SocketPoolOptions, "handshakeLimitMs" | "settleLimitMs" | "timers" | "idleLimitMs">
  >;
}

/** The vendor allows dozens. Fewer sentences are lost when a socket breaks. */
const CONTEXTS_PER_SOCKET = 8;
/** More contexts than any plan has. */
const SOCKETS_PER_KEY = 25;
/** Idle sockets are closed after some five minutes. */
const IDLE_LIMIT_MS = 240_000;

export function openCartesia(options: CartesiaOptions): VoiceProvider<"provider2"> {
  const baseUrl = options.baseUrl ?? DEFAULT_BASE_URL;
  const silenceLimitMs = options.silenceLimitMs ?? SILENCE_LIMIT_MS;
  const pool = new SocketPool<SpeechMessage>({
    vendor: VENDOR,
    log: options.log,
    requestsPerSocket: CONTEXTS_PER_SOCKET,
    socketsPerTarget: SOCKETS_PER_KEY,
    idleLimitMs: IDLE_LIMIT_MS,
    ...options.pool,
  });
  return {
    kind: "provider2",
    name: VENDOR,
    server: serverOf(baseUrl),
    prepare: (use) => {
      if (use.key !== "") pool.prepare(targetOf(baseUrl, use));
    },
    synthesize: (speech, signal) => speak(pool, baseUrl, silenceLimitMs, speech, signal),
    close: () => pool.close(),
  };
}

/** The version of the API depends on the model and its settings; the rest of the voice is in each request. */
function targetOf(baseUrl: string, { key, voice }: VoiceUse<"provider2">): SocketTarget<SpeechMessage> {
  const secrets = [key];
  return {
    url: socketUrl(baseUrl, "/tts/websocket"),
    headers: { "X-API-Key": key, "Cartesia-Version": settingsFor(voice).version },
    secrets,
    protocol: { read: (data) => readAnswer(data, secrets) },
  };
}

async function* speak(
  pool: SocketPool<SpeechMessage>,
  baseUrl: string,
  silenceLimitMs: number,
  speech: ProviderSpeech<"provider2">,
  signal: AbortSignal,
): AsyncGenerator<TtsPart> {
  throwIfAborted(signal);
  if (speech.key === "")
    throw new EngineFailure(`${VENDOR} needs an API key`, { isPermanent: true, type: "no_key" });
  const text = spokenText(speech.text, { vendor: VENDOR, maxChars: MAX_TEXT_CHARS });
  if (text === null) return;
  const format = audioFormat(speech);
  // Throws before a connection is made. The pool names the context, for each attempt anew.
  const message = generationRequest("", speech, text);
  let isOver = true;
  const ended = (): void => {
    isOver = true;
  };
  yield* pool.request(
    targetOf(baseUrl, speech),
    {
      async *run(request) {
        request.send(JSON.stringify({ ...message, context_id: request.id }));
        isOver = false;
        yield* readSpeech(request, { vendor: VENDOR, text, format, silenceLimitMs, ended });
      },
      // Its place is free at once: a chunk that is still on its way is dropped by its context.
      settle(request) {
        if (!isOver) request.send(JSON.stringify(cancelRequest(request.id)));
        return Promise.resolve();
      },
    },
    signal,
  );
}

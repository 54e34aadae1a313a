/**
 * Voices of ElevenLabs over its multi-context websockets: one socket for each key, voice, model and format, with five
 * sentences at a time. Eleven v3 and v4 have another websocket, whose sockets serve all voices of a key.
 */

import { EngineFailure } from "../../ports/engine-failure.ts";
import { serverOf } from "../../ports/engine-origin.ts";
import type { TtsPart } from "../../ports/tts.ts";
import type { ProviderSpeech, VoiceProvider, VoiceUse } from "../../ports/voice-provider.ts";
import { throwIfAborted } from "../../pacing/abort.ts";
import { SocketPool, type SocketPoolOptions } from "../sockets/socket-pool.ts";
import type { SocketTarget } from "../sockets/socket-protocol.ts";
import { SILENCE_LIMIT_MS } from "../sockets/socket-voice.ts";
import { MAX_TEXT_CHARS, readSpeech, type SpeechMessage } from "../sockets/speech.ts";
import { spokenText } from "../spoken-text.ts";
import { readAnswer, readClose } from "./answers.ts";
import { audioFormat, DEFAULT_BASE_URL, messagesFor, urlOf, usesDialogue, VENDOR } from "./requests.ts";

export interface ElevenLabsOptions {
  /** Null: the vendor's own. */
  readonly baseUrl: string | null;
  readonly log: (message: string) => void;
  /** Default `SILENCE_LIMIT_MS`. */
  readonly silenceLimitMs?: number;
  readonly pool?: Partial<
    Pick<SocketPoolOptions, "handshakeLimitMs" | "settleLimitMs" | "timers" | "idleLimitMs">
  >;
}

/** The vendor closes a socket with more. */
const CONTEXTS_PER_SOCKET = 5;
/** Two hundred sentences at a time in one voice. */
const SOCKETS_PER_VOICE = 40;
/** The vendor counts 180 s from the last text, the pool from the end of the last answer. */
const IDLE_LIMIT_MS = 150_000;
/** The websocket for dialogue closes after 20 s without a message, and none keeps it open without a context. */
const DIALOGUE_IDLE_LIMIT_MS = 15_000;
/** A sentence that nobody wants any longer is still generated to its end, in about a second. */
const SETTLE_LIMIT_MS = 5_000;

export function openElevenLabs(options: ElevenLabsOptions): VoiceProvider<"provider1"> {
  const baseUrl = options.baseUrl ?? DEFAULT_BASE_URL;
  const silenceLimitMs = options.silenceLimitMs ?? SILENCE_LIMIT_MS;
  const openPool = (idleLimitMs: number): SocketPool<SpeechMessage> =>
    new SocketPool<SpeechMessage>({
      vendor: VENDOR,
      log: options.log,
      requestsPerSocket: CONTEXTS_PER_SOCKET,
      socketsPerTarget: SOCKETS_PER_VOICE,
      idleLimitMs,
      settleLimitMs: SETTLE_LIMIT_MS,
      ...options.pool,
    });
  const speeches = openPool(IDLE_LIMIT_MS);
  const dialogues = openPool(DIALOGUE_IDLE_LIMIT_MS);
  const poolOf = ({ voice }: VoiceUse<"provider1">): SocketPool<SpeechMessage> =>
    usesDialogue(voice) ? dialogues : speeches;
  return {
    kind: "provider1",
    name: VENDOR,
    server: serverOf(baseUrl),
    prepare: (use) => {
      // A voice or key that cannot be used is told by the sentence.
      if (use.voice.voiceId !== undefined && use.key !== "") poolOf(use).prepare(targetOf(baseUrl, use));
    },
    synthesize: (speech, signal) => speak(poolOf(speech), baseUrl, silenceLimitMs, speech, signal),
    async close() {
      await Promise.all([speeches.close(), dialogues.close()]);
    },
  };
}

function targetOf(baseUrl: string, use: VoiceUse<"provider1">): SocketTarget<SpeechMessage> {
  const secrets = [use.key];
  return {
    url: urlOf(baseUrl, use),
    headers: { "xi-api-key": use.key },
    secrets,
    protocol: { read: (data) => readAnswer(data, secrets), onClose: readClose },
  };
}

async function* speak(
  pool: SocketPool<SpeechMessage>,
  baseUrl: string,
  silenceLimitMs: number,
  speech: ProviderSpeech<"provider1">,
  signal: AbortSignal,
): AsyncGenerator<TtsPart> {
  throwIfAborted(signal);
  if (speech.key === "")
    throw new EngineFailure(`${VENDOR} needs an API key`, { isPermanent: true, type: "no_key" });
  const text = spokenText(speech.text, { vendor: VENDOR, maxChars: MAX_TEXT_CHARS });
  if (text === null) return;
  const format = audioFormat(speech);
  let isOver = false;
  const ended = (): void => {
    isOver = true;
  };
  yield* pool.request(
    targetOf(baseUrl, speech),
    {
      async *run(request) {
        isOver = false;
        for (const message of messagesFor(request.id, speech.voice, text)) request.send(message);
        yield* readSpeech(request, { vendor: VENDOR, text, format, silenceLimitMs, ended });
      },
      // A context counts until its last message; a sixth one would end the socket with all its sentences.
      async settle(request) {
        while (!isOver) {
          const { isLast, failure } = await request.next(silenceLimitMs);
          isOver = isLast === true || failure !== undefined;
        }
      },
    },
    signal,
  );
}

/**
 * Voices of LMNT over its speech websocket, protocol 1.1. A socket has one voice with its settings, and speaks one text
 * at a time. An interruption is a `reset`: what comes before its `reset_complete` is dropped, then the socket is free.
 */

import { throwIfAborted } from "../../pacing/abort.ts";
import { EngineFailure } from "../../ports/engine-failure.ts";
import { serverOf } from "../../ports/engine-origin.ts";
import type { TtsPart } from "../../ports/tts.ts";
import type { ProviderSpeech, VoiceProvider, VoiceUse } from "../../ports/voice-provider.ts";
import { nearestRate } from "../sockets/audio-frames.ts";
import { SocketPool, type Exchange } from "../sockets/socket-pool.ts";
import { socketUrl, type SocketTarget } from "../sockets/socket-protocol.ts";
import type { SocketRequest } from "../sockets/socket-request.ts";
import { SILENCE_LIMIT_MS, type SocketVoiceOptions, withoutSilentSockets } from "../sockets/socket-voice.ts";
import { SpokenParts, type SpokenPiece } from "../sockets/spoken-parts.ts";
import { spokenText } from "../spoken-text.ts";
import {
  LMNT_MAX_TEXT_CHARS,
  LMNT_RATES_HZ,
  LMNT_VERSION,
  type LmntClientMessage,
  type LmntStart,
} from "./contract.ts";
import { lmntProtocol, type LmntMessage } from "./protocol.ts";

export const LMNT_NAME = "LMNT";
const LMNT_URL = "https://api.lmnt.com";
/** LMNT states no limit. A socket that waits costs little, and the next reply of a call comes within this time. */
const IDLE_LIMIT_MS = 120_000;
/** One call has one socket while it speaks; plans of LMNT limit less than this. */
const SOCKETS_PER_VOICE = 200;
/** Of "Synthesize speech", `language`, in LMNT's documentation. It recognises others by itself. */
const LANGUAGES: readonly string[] = "ar de en es fr hi id it ja ko nl pl pt ru sv th tr uk ur vi zh".split(
  " ",
);
/** Numbers of flushes and resets begin again after it. */
const NONCES = 2 ** 31;

export function openLmnt(options: SocketVoiceOptions): VoiceProvider<"provider3"> {
  const baseUrl = options.baseUrl ?? LMNT_URL;
  const { silenceLimitMs = SILENCE_LIMIT_MS, ...limits } = options.limits ?? {};
  const pool = new SocketPool<LmntMessage>({
    vendor: LMNT_NAME,
    log: options.log,
    requestsPerSocket: 1,
    socketsPerTarget: SOCKETS_PER_VOICE,
    idleLimitMs: IDLE_LIMIT_MS,
    ...limits,
  });
  let nonces = 0;
  const nextNonce = (): number => {
    nonces = (nonces + 1) % NONCES;
    return nonces;
  };
  return {
    kind: "provider3",
    name: LMNT_NAME,
    server: serverOf(baseUrl),
    prepare(use) {
      // A voice without an id is refused by the next sentence, which can tell it.
      if (use.voice.voiceId !== undefined) pool.prepare(targetOf(baseUrl, use));
    },
    async *synthesize(speech: ProviderSpeech<"provider3">, signal) {
      throwIfAborted(signal);
      const text = spokenText(speech.text, { vendor: LMNT_NAME, maxChars: LMNT_MAX_TEXT_CHARS });
      if (text === null) return;
      const exchange = exchangeOf({ text, sampleRateHz: rateOf(speech), silenceLimitMs, nextNonce });
      yield* pool.request(targetOf(baseUrl, speech), withoutSilentSockets(exchange), signal);
    },
    close: () => pool.close(),
  };
}

/** Its `ulaw` comes with a WAV header in a stream, so G.711 is asked for as samples of 8 kHz. */
function rateOf({ output }: VoiceUse): number {
  return nearestRate(LMNT_RATES_HZ, output.encoding === "mulaw" ? 8_000 : output.sampleRateHz);
}

function targetOf(baseUrl: string, use: VoiceUse<"provider3">): SocketTarget<LmntMessage> {
  const { voice, key } = use;
  if (voice.voiceId === undefined)
    throw new EngineFailure("a voice of LMNT needs its voiceId", { isPermanent: true, type: "no_voice" });
  const sampleRateHz = rateOf(use);
  const start = {
    "X-API-Key": key,
    "lmnt-version": LMNT_VERSION,
    voice: voice.voiceId,
    format: "pcm_s16le",
    sample_rate: sampleRateHz,
    language: languageOf(use.language),
    return_timestamps: true,
    ...(voice.model === undefined ? {} : { model: voice.model }),
    ...(voice.speed === undefined ? {} : { speed: voice.speed }),
    ...(voice.conversational === undefined ? {} : { conversational: voice.conversational }),
  } satisfies Omit<LmntStart, "sample_rate"> & { readonly sample_rate: number };
  return {
    url: socketUrl(baseUrl, "/v1/ai/speech/stream"),
    // The key is in the first message.
    headers: {},
    secrets: [key],
    protocol: lmntProtocol(JSON.stringify(start), { key, sampleRateHz }),
  };
}

function languageOf(language: string | null): string {
  const primary = language?.toLowerCase().split("-", 1)[0] ?? "auto";
  return LANGUAGES.includes(primary) ? primary : "auto";
}

interface Speaking {
  readonly text: string;
  readonly sampleRateHz: number;
  readonly silenceLimitMs: number;
  readonly nextNonce: () => number;
}

function exchangeOf({
  text,
  sampleRateHz,
  silenceLimitMs,
  nextNonce,
}: Speaking): Exchange<LmntMessage, TtsPart> {
  return {
    async *run(request) {
      const spoken = new SpokenParts(LMNT_NAME, text, { encoding: "pcm_s16le", sampleRateHz });
      const nonce = nextNonce();
      tell(request, { type: "text", text });
      tell(request, { type: "flush", nonce });
      let originMs: number | null = null;
      for (;;) {
        const message = await request.next(silenceLimitMs);
        if (message.type === "audio") {
          originMs ??= message.beforeMs;
          yield* spoken.take({ audio: message.bytes });
        } else if (message.type === "timestamps") {
          originMs ??= message.beforeMs;
          yield* spoken.take({ words: wordsOf(message.timestamps, originMs) });
        } else if (message.type === "flush_complete" && (message.nonce ?? nonce) === nonce) break;
      }
      yield* spoken.end();
    },
    async settle(request, isComplete) {
      if (isComplete) return;
      const nonce = nextNonce();
      tell(request, { type: "reset", nonce });
      for (;;) {
        const message = await request.next(silenceLimitMs);
        if (message.type === "reset_complete" && (message.nonce ?? nonce) === nonce) return;
      }
    },
  };
}

function tell(request: SocketRequest<LmntMessage>, message: LmntClientMessage): void {
  request.send(JSON.stringify(message));
}

/**
 * LMNT does not say whether times count from the beginning of the socket or of the flush. `originMs` is the audio of
 * the socket before this text, usually a sentence: times that are all beyond it count from the socket.
 */
function wordsOf(
  timestamps: readonly { readonly text: string; readonly start: number }[],
  originMs: number,
): NonNullable<SpokenPiece["words"]> {
  const isOfSocket = originMs > 0 && timestamps.every(({ start }) => start * 1_000 >= originMs - 1);
  const baseMs = isOfSocket ? originMs : 0;
  return (times) => {
    for (const { text, start } of timestamps) times.word(text, Math.max(0, start * 1_000 - baseMs));
  };
}

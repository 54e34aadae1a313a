/**
 * Voices of Inworld over its speech websocket. Each text has a context of its own: created, given the text, flushed and
 * closed. Inworld cannot cancel: an interrupted context is closed, and what it still sends is dropped.
 */

import { throwIfAborted } from "../../pacing/abort.ts";
import { EngineFailure } from "../../ports/engine-failure.ts";
import { serverOf } from "../../ports/engine-origin.ts";
import type { TtsPart } from "../../ports/tts.ts";
import type { VoiceProvider, VoiceUse } from "../../ports/voice-provider.ts";
import type { AudioFormat } from "../sockets/audio-frames.ts";
import { SocketPool, type Exchange } from "../sockets/socket-pool.ts";
import { socketUrl, type SocketTarget } from "../sockets/socket-protocol.ts";
import type { SocketRequest } from "../sockets/socket-request.ts";
import { SILENCE_LIMIT_MS, type SocketVoiceOptions, withoutSilentSockets } from "../sockets/socket-voice.ts";
import { formatFor } from "../sockets/speech.ts";
import { SpokenParts, type SpokenPiece } from "../sockets/spoken-parts.ts";
import { spokenText } from "../spoken-text.ts";
import {
  INWORLD_CONTEXTS,
  INWORLD_RATES_HZ,
  INWORLD_SOCKETS,
  type InworldClientMessage,
  type InworldCreate,
  type InworldRateHz,
} from "./contract.ts";
import { inworldProtocol, statusFailure, type InworldResult } from "./protocol.ts";
import { textPieces } from "./text-pieces.ts";

export const INWORLD_NAME = "Inworld";
const INWORLD_URL = "https://api.inworld.ai";
/** Inworld requires a model; this is its current one. There is no `inworld-tts-1.5` without `-mini` or `-max`. */
export const INWORLD_DEFAULT_MODEL = "inworld-tts-2";
/** Inworld closes after ten minutes. */
const IDLE_LIMIT_MS = 300_000;
/** Of an empty text without a context, as Inworld's documentation of connections advises. */
const KEEP_ALIVE_MS = 60_000;
/** Less than the 1,000 of a message and of the buffer, at which Inworld would flush by itself. */
export const PIECE_CHARS = 900;
/** Of one request: more than any sentence, and some five minutes of speech. */
const MAX_TEXT_CHARS = 5_000;

export function openInworld(options: SocketVoiceOptions): VoiceProvider<"provider5"> {
  const baseUrl = options.baseUrl ?? INWORLD_URL;
  const { silenceLimitMs = SILENCE_LIMIT_MS, ...limits } = options.limits ?? {};
  const pool = new SocketPool<InworldResult>({
    vendor: INWORLD_NAME,
    log: options.log,
    requestsPerSocket: INWORLD_CONTEXTS,
    socketsPerTarget: INWORLD_SOCKETS,
    idleLimitMs: IDLE_LIMIT_MS,
    ...limits,
  });
  return {
    kind: "provider5",
    name: INWORLD_NAME,
    server: serverOf(baseUrl),
    prepare(use) {
      pool.prepare(targetOf(baseUrl, use.key));
    },
    async *synthesize(speech, signal) {
      throwIfAborted(signal);
      const text = spokenText(speech.text, { vendor: INWORLD_NAME, maxChars: MAX_TEXT_CHARS });
      if (text === null) return;
      const { key } = speech;
      const speaking = { text, create: createOf(speech), format: formatOf(speech), silenceLimitMs, key };
      yield* pool.request(targetOf(baseUrl, key), withoutSilentSockets(exchangeOf(speaking)), signal);
    },
    close: () => pool.close(),
  };
}

/** The key of Inworld's portal is base64 already. */
function targetOf(baseUrl: string, key: string): SocketTarget<InworldResult> {
  return {
    url: socketUrl(baseUrl, "/tts/v1/voice:streamBidirectional"),
    headers: { authorization: `Basic ${key}` },
    secrets: [key],
    protocol: {
      ...inworldProtocol(key),
      keepAlive: { everyMs: KEEP_ALIVE_MS, message: JSON.stringify({ send_text: { text: "" } }) },
    },
  };
}

function formatOf({ output }: VoiceUse): AudioFormat {
  return formatFor(output, INWORLD_RATES_HZ);
}

function createOf(use: VoiceUse<"provider5">): InworldCreate {
  const { voiceId, modelId, speakingRate, temperature, applyTextNormalization } = use.voice;
  if (voiceId === undefined)
    throw new EngineFailure("a voice of Inworld needs its voiceId", { isPermanent: true, type: "no_voice" });
  const { encoding, sampleRateHz } = formatOf(use);
  return {
    voiceId,
    modelId: modelId ?? INWORLD_DEFAULT_MODEL,
    audioConfig: {
      // `LINEAR16` has a WAV header, in a stream before each piece.
      audioEncoding: encoding === "mulaw" ? "MULAW" : "PCM",
      sampleRateHertz: sampleRateHz as InworldRateHz,
      ...(speakingRate === undefined ? {} : { speakingRate }),
    },
    ...(temperature === undefined ? {} : { temperature }),
    ...(applyTextNormalization === undefined
      ? {}
      : { applyTextNormalization: applyTextNormalization ? ("ON" as const) : ("OFF" as const) }),
    timestampType: "WORD",
    // The words of a piece of audio come with it.
    timestampTransportStrategy: "SYNC",
  };
}

interface Speaking {
  readonly text: string;
  readonly create: InworldCreate;
  readonly format: AudioFormat;
  readonly silenceLimitMs: number;
  readonly key: string;
}

/** A context that may be open at the vendor. */
interface Context {
  isOpen: boolean;
  isClosing: boolean;
}

function exchangeOf({
  text,
  create,
  format,
  silenceLimitMs,
  key,
}: Speaking): Exchange<InworldResult, TtsPart> {
  let context: Context = { isOpen: false, isClosing: false };
  const close = (request: SocketRequest<InworldResult>): void => {
    context.isClosing = true;
    tell(request, { contextId: request.id, close_context: {} });
  };
  return {
    async *run(request) {
      context = { isOpen: true, isClosing: false };
      let isCreated = false;
      const pieces = textPieces(text, PIECE_CHARS);
      tell(request, { contextId: request.id, create });
      for (const piece of pieces)
        tell(request, { contextId: request.id, send_text: { text: piece, flush_context: {} } });
      const spoken = new SpokenParts(INWORLD_NAME, text, format);
      // Times of words begin again with each flush.
      let flushMs = 0;
      let flushed = 0;
      while (context.isOpen) {
        const result = await request.next(silenceLimitMs);
        const { status, contextCreated, audioChunk, flushCompleted, contextClosed } = result;
        if ((status?.code ?? 0) !== 0) {
          context.isOpen = isCreated;
          throw statusFailure(status ?? {}, { isCreated, key });
        }
        if (contextCreated !== undefined && contextCreated !== null) isCreated = true;
        if (audioChunk !== undefined && audioChunk !== null) {
          const { audioContent: audio, timestampInfo } = audioChunk;
          yield* spoken.take({
            ...(typeof audio === "string" ? { audio: withoutHeader(audio) } : {}),
            words: wordsOf(timestampInfo?.wordAlignment ?? {}, flushMs),
          });
        }
        if (flushCompleted !== undefined && flushCompleted !== null) {
          flushMs = spoken.durationMs;
          flushed += 1;
          // What Inworld had not spoken yet would follow before the context is closed.
          if (flushed === pieces.length) close(request);
        }
        if (contextClosed !== undefined && contextClosed !== null) {
          context.isOpen = false;
          if (flushed < pieces.length)
            throw new EngineFailure("Inworld closed the context of a text early", { type: "closed" });
        }
      }
      yield* spoken.end();
    },
    async settle(request) {
      if (!context.isOpen) return;
      if (!context.isClosing) close(request);
      for (;;) {
        const { status, contextClosed } = await request.next(silenceLimitMs);
        // The vendor has closed it, or never had it.
        if ((contextClosed !== undefined && contextClosed !== null) || (status?.code ?? 0) !== 0) return;
      }
    },
  };
}

function tell(request: SocketRequest<InworldResult>, message: InworldClientMessage): void {
  request.send(JSON.stringify(message));
}

interface WordAlignment {
  readonly words?: readonly string[] | undefined;
  readonly wordStartTimeSeconds?: readonly number[] | undefined;
}

function wordsOf(
  { words = [], wordStartTimeSeconds = [] }: WordAlignment,
  baseMs: number,
): NonNullable<SpokenPiece["words"]> {
  return (times) => {
    for (const [index, word] of words.entries()) {
      const start = wordStartTimeSeconds[index];
      if (start !== undefined) times.word(word, baseMs + start * 1_000);
    }
  };
}

/** Of a WAV file: "RIFF", size, "WAVE", `fmt ` with 16 bytes, `data` and its size. */
const WAV_HEADER_BYTES = 44;
/** "RIFF" in base64, but for the last letter, which depends on the size. */
const RIFF_BASE64 = "UklGR";

/** Models that send PCM as WAV do so in each piece. */
function withoutHeader(audio: string): string | Uint8Array {
  if (!audio.startsWith(RIFF_BASE64)) return audio;
  const bytes = Buffer.from(audio, "base64");
  return bytes.toString("latin1", 8, 12) === "WAVE" ? bytes.subarray(WAV_HEADER_BYTES) : audio;
}

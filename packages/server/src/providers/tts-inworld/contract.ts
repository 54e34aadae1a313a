/**
 * The messages of Inworld's speech websocket at `/tts/v1/voice:streamBidirectional`. Each comment names the place in
 * Inworld's public documentation (docs.inworld.ai).
 */

import { z } from "zod";

/** Longest text of a `send_text`: "Synthesize speech (WebSocket)", send_text. */
export const INWORLD_MAX_TEXT_CHARS = 1_000;
/** Contexts of a connection: "Synthesize speech (WebSocket)", overview. */
export const INWORLD_CONTEXTS = 5;
/** Connections of a key: "Synthesize speech (WebSocket)", overview. */
export const INWORLD_SOCKETS = 20;
/** Rates of `sampleRateHertz`: "Synthesize speech", audioConfig. Others between 8,000 and 48,000 are refused. */
export const INWORLD_RATES_HZ = [8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000] as const;
export type InworldRateHz = (typeof INWORLD_RATES_HZ)[number];

const contextId = z.string().min(1).max(64);
const Empty = z.strictObject({});

/** "Synthesize speech (WebSocket)", create. */
const Create = z.strictObject({
  /** "Voices". */
  voiceId: z.string().min(1),
  /** "TTS models": `inworld-tts-2`, `inworld-tts-1.5-max`, `inworld-tts-1.5-mini` and older ones. */
  modelId: z.string().min(1),
  audioConfig: z.strictObject({
    /** `PCM` and `MULAW` have no header; `LINEAR16` has one. */
    audioEncoding: z.enum(["LINEAR16", "PCM", "MP3", "OGG_OPUS", "ALAW", "MULAW", "FLAC", "WAV"]),
    sampleRateHertz: z.literal(INWORLD_RATES_HZ), // "Synthesize speech (WebSocket)": `sampleRateHertz`
    speakingRate: z.number().min(0.5).max(1.5).optional(), // "Synthesize speech (WebSocket)": `speakingRate`
  }),
  /** "Synthesize speech", temperature. */
  temperature: z.number().gt(0).max(2).optional(),
  /** "Timestamps". */
  timestampType: z.enum(["WORD", "CHARACTER"]).optional(),
  /** `SYNC`: times come with the audio that they belong to. */
  timestampTransportStrategy: z.enum(["SYNC", "ASYNC"]).optional(),
  /** "Synthesize speech", applyTextNormalization; unset: automatic. */
  applyTextNormalization: z.enum(["ON", "OFF"]).optional(),
  /** How long text waits for more. */
  maxBufferDelayMs: z.int().min(0).optional(),
  /** How much text waits for more, at most 1,000 characters. */
  bufferCharThreshold: z.int().min(1).max(1_000).optional(),
  /** The server decides when to speak; for texts of whole sentences. */
  autoMode: z.boolean().optional(),
});
export type InworldCreate = z.output<typeof Create>;

/** "Synthesize speech (WebSocket)", client messages. Each has one verb. */
export const InworldClientMessage = z.union([
  z.strictObject({ contextId, create: Create }),
  /** Without a context and with an empty text it keeps the connection open. */
  z.strictObject({
    contextId: contextId.optional(),
    send_text: z.strictObject({
      text: z.string().max(INWORLD_MAX_TEXT_CHARS), // "Synthesize speech (WebSocket)": `text`
      flush_context: Empty.optional(), // "Synthesize speech (WebSocket)": `flush_context`
    }),
  }),
  z.strictObject({ contextId, flush_context: Empty }),
  z.strictObject({ contextId, close_context: Empty }),
]);
export type InworldClientMessage = z.output<typeof InworldClientMessage>;

/** "Errors": a status of gRPC. 0, or none: success. */
const Status = z.object({ code: z.int().optional(), message: z.string().optional() });

const AudioChunk = z.object({
  /** Base64. */
  audioContent: z.string().nullish(),
  /** "Timestamps": in seconds. They begin again at 0 after each `flushCompleted`. */
  timestampInfo: z
    .object({
      wordAlignment: z
        .object({
          words: z.array(z.string()).optional(), // "Synthesize speech (WebSocket)": `words`
          wordStartTimeSeconds: z.array(z.number()).optional(), // "Synthesize speech (WebSocket)": `wordStartTimeSeconds`
        })
        .nullish(),
    })
    .nullish()
    // Times of another shape are left out: the audio is worth more than they are.
    .catch(null),
});

/** "Synthesize speech (WebSocket)", server messages. Fields that are not listed are ignored. */
export const InworldServerMessage = z.union([
  z.object({
    result: z.object({
      contextId: z.string().optional(), // "Synthesize speech (WebSocket)": `contextId`
      context_id: z.string().optional(), // "Synthesize speech (WebSocket)": `context_id`
      status: Status.nullish(), // "Synthesize speech (WebSocket)": `status`
      contextCreated: z.object({}).nullish(), // "Synthesize speech (WebSocket)": `contextCreated`
      audioChunk: AudioChunk.nullish(), // "Synthesize speech (WebSocket)": `audioChunk`
      flushCompleted: z.object({}).nullish(), // "Synthesize speech (WebSocket)": `flushCompleted`
      contextClosed: z.object({}).nullish(), // "Synthesize speech (WebSocket)": `contextClosed`
    }),
  }),
  z.object({ error: Status.extend({ contextId: z.string().optional() }) }),
]);
export type InworldServerMessage = z.output<typeof InworldServerMessage>;

/** Codes of gRPC ("Status codes and their use in gRPC", grpc.io) that are looked at. */
export const GRPC = {
  invalidArgument: 3,
  notFound: 5,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

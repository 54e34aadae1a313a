/** A fake of Inworld's speech websocket that refuses what Inworld refuses. */

import { setImmediate as nextTurn } from "node:timers/promises";
import { encodeMulaw } from "../../../media/g711.ts";
import { bytesOfSamples } from "../../../media/pcm.ts";
import {
  fakeSpeech,
  fakeWords,
  observed,
  piecesOf,
  type FakePace,
} from "../../sockets/testing/fake-voice.ts";
import {
  openFakeVoiceVendor,
  type FakeSocket,
  type FakeVoiceVendor,
} from "../../sockets/testing/fake-voice-vendor.ts";
import {
  GRPC,
  INWORLD_CONTEXTS,
  INWORLD_SOCKETS,
  InworldClientMessage,
  type InworldCreate,
} from "../contract.ts";

/** As the portal of Inworld shows it: already base64. */
export const INWORLD_KEY = "aW53b3JsZDpzZWNyZXQta2V5LTE=";
export const INWORLD_VOICES = ["Ashley", "Craig"];
/** "TTS models". */
export const INWORLD_MODELS = ["inworld-tts-2", "inworld-tts-1.5-max", "inworld-tts-1.5-mini"];

export interface FakeInworldOptions extends FakePace {
  /** Bytes of audio in a chunk, before base64. Odd ones split samples. Default 1,001. */
  readonly chunkBytes?: number;
  /** Words are told in the last chunk of a flush, after their audio. */
  readonly lateWords?: boolean;
  /** Each chunk of PCM is a WAV file of its own, as `LINEAR16` may be. */
  readonly riffHeaders?: boolean;
  /** A context that is closed stops speaking. Default: it speaks what was flushed to its end. */
  readonly stopsAtClose?: boolean;
  /** The audio is not base64. */
  readonly spoilsAudio?: boolean;
  /** `send_text` in any context is refused with this status. */
  readonly refuses?: { readonly code: number; readonly message: string };
}

export async function openFakeInworld(options: FakeInworldOptions = {}): Promise<FakeVoiceVendor> {
  let openSockets = (): number => 0;
  const vendor = await openFakeVoiceVendor({
    upgrade: (request, url) => {
      if (url.pathname !== "/tts/v1/voice:streamBidirectional" || url.search !== "")
        return { status: 404, body: '{"code":5,"message":"no such endpoint"}' };
      const { authorization } = request.headers;
      if (authorization !== `Basic ${INWORLD_KEY}`)
        return { status: 401, body: `{"code":16,"message":"Invalid key ${authorization ?? ""}"}` };
      if (openSockets() >= INWORLD_SOCKETS)
        return { status: 429, body: '{"code":8,"message":"too many connections"}' };
      return null;
    },
    open: (socket) => new FakeConnection(socket, options).take,
  });
  openSockets = () => vendor.openSockets;
  return vendor;
}

interface Context {
  readonly create: InworldCreate;
  text: string;
  isClosed: boolean;
  /** What is asked for is done in order. */
  work: Promise<void>;
}

class FakeConnection {
  readonly #socket: FakeSocket;
  readonly #options: FakeInworldOptions;
  readonly #contexts = new Map<string, Context>();
  /** Contexts that could not be created: their messages are not known to the vendor. */
  readonly #refusedIds = new Set<string>();

  constructor(socket: FakeSocket, options: FakeInworldOptions) {
    this.#socket = socket;
    this.#options = options;
  }

  readonly take = (value: unknown): void => {
    const read = InworldClientMessage.safeParse(value);
    if (!read.success) {
      this.#socket.refused(read.error.message);
      this.#socket.send({ error: { code: GRPC.invalidArgument, message: "unknown message" } });
      return;
    }
    const message = read.data;
    if ("create" in message) {
      this.#create(message.contextId, message.create);
      return;
    }
    const { contextId } = message;
    if (contextId === undefined) {
      if ("send_text" in message && message.send_text.text !== "")
        this.#socket.refused("a text without a context");
      this.#tell("", { status: { code: GRPC.notFound, message: "Context not found" } });
      return;
    }
    const context = this.#contexts.get(contextId);
    if (context === undefined || context.isClosed) {
      if (!this.#refusedIds.has(contextId)) this.#socket.refused(`${contextId} is not open`);
      this.#tell(contextId, { status: { code: GRPC.notFound, message: "Context not found" } });
      return;
    }
    if ("send_text" in message) this.#send(contextId, context, message.send_text);
    else if ("flush_context" in message) this.#flush(contextId, context);
    else this.#close(contextId, context);
  };

  #create(contextId: string, create: InworldCreate): void {
    this.#refusedIds.add(contextId);
    if (this.#contexts.has(contextId)) {
      this.#socket.refused(`${contextId} is open already`);
      this.#tell(contextId, { status: { code: 6, message: "Context already exists" } });
    } else if (this.#contexts.size >= INWORLD_CONTEXTS) {
      this.#socket.refused("a sixth context");
      this.#tell(contextId, { status: { code: GRPC.resourceExhausted, message: "Too many contexts" } });
    } else if (!INWORLD_VOICES.includes(create.voiceId)) {
      this.#tell(contextId, {
        status: { code: GRPC.notFound, message: `Unknown voice: ${create.voiceId} not found!` },
      });
    } else if (!INWORLD_MODELS.includes(create.modelId)) {
      this.#tell(contextId, {
        status: { code: GRPC.invalidArgument, message: `Unknown model: ${create.modelId} not found!` },
      });
    } else if (create.audioConfig.audioEncoding === "MULAW" && create.audioConfig.sampleRateHertz !== 8_000) {
      this.#socket.refused("MULAW at another rate than 8000");
      this.#tell(contextId, { status: { code: GRPC.invalidArgument, message: "MULAW needs 8000 Hz" } });
    } else {
      this.#refusedIds.delete(contextId);
      this.#contexts.set(contextId, { create, text: "", isClosed: false, work: Promise.resolve() });
      this.#tell(contextId, {
        status: { code: 0, message: "" },
        contextCreated: { voiceId: create.voiceId },
      });
    }
  }

  #send(
    contextId: string,
    context: Context,
    sent: { readonly text: string; readonly flush_context?: object | undefined },
  ): void {
    const { refuses } = this.#options;
    if (refuses !== undefined) {
      this.#tell(contextId, { status: refuses });
      return;
    }
    this.#options.observe?.("text", sent.text);
    context.text += sent.text;
    if (sent.flush_context !== undefined) this.#flush(contextId, context);
  }

  #flush(contextId: string, context: Context): void {
    const { text } = context;
    context.text = "";
    context.work = context.work.then(() => this.#speak(contextId, context, text));
  }

  /** Closing speaks what waits first. */
  #close(contextId: string, context: Context): void {
    if (context.text !== "") this.#flush(contextId, context);
    context.isClosed = true;
    context.work = context.work.then(async () => {
      await nextTurn();
      this.#contexts.delete(contextId);
      this.#tell(contextId, { status: { code: 0 }, contextClosed: {} });
    });
  }

  async #speak(contextId: string, context: Context, text: string): Promise<void> {
    const { sampleRateHertz, audioEncoding } = context.create.audioConfig;
    const samples = fakeSpeech(text, sampleRateHertz, this.#options.msPerChar);
    const bytes = audioEncoding === "MULAW" ? encodeMulaw(samples) : bytesOfSamples(samples);
    const bytesPerMs = (sampleRateHertz * (audioEncoding === "MULAW" ? 1 : 2)) / 1_000;
    const words = context.create.timestampType === "WORD" ? fakeWords(text, this.#options.msPerChar) : [];
    const pieces = piecesOf(bytes, this.#options.chunkBytes ?? 1_001);
    let sentMs = 0;
    const frames = pieces.map((piece, index) => {
      const fromMs = sentMs;
      sentMs += piece.length / bytesPerMs;
      const isLast = index === pieces.length - 1;
      const told =
        this.#options.lateWords === true
          ? isLast
            ? words
            : []
          : wordsWithin(words, fromMs, isLast ? Infinity : sentMs);
      return () => {
        this.#tell(contextId, { status: { code: 0 }, audioChunk: this.#chunk(piece, told, sampleRateHertz) });
      };
    });
    const stops = (): boolean => context.isClosed && this.#options.stopsAtClose === true;
    const outcome = await this.#socket.deliver(observed(frames, text, this.#options), stops);
    if (outcome === "sent") this.#tell(contextId, { status: { code: 0 }, flushCompleted: {} });
  }

  #chunk(piece: Uint8Array, words: ReturnType<typeof fakeWords>, rateHz: number): object {
    const audio =
      this.#options.riffHeaders === true ? Buffer.concat([riffHeader(piece.length, rateHz), piece]) : piece;
    const wordAlignment = {
      words: words.map(({ word }) => word),
      wordStartTimeSeconds: words.map(({ startSeconds }) => startSeconds),
      wordEndTimeSeconds: words.map(({ endSeconds }) => endSeconds),
    };
    return {
      audioContent: this.#options.spoilsAudio === true ? "~noise~" : Buffer.from(audio).toString("base64"),
      ...(words.length === 0 ? {} : { timestampInfo: { wordAlignment } }),
    };
  }

  #tell(contextId: string, fields: object): void {
    this.#socket.send({ result: { contextId, ...fields } });
  }
}

function wordsWithin(
  words: ReturnType<typeof fakeWords>,
  fromMs: number,
  toMs: number,
): ReturnType<typeof fakeWords> {
  return words.filter(({ startSeconds }) => startSeconds * 1_000 >= fromMs && startSeconds * 1_000 < toMs);
}

/** Of a WAV file of 16-bit samples of one channel. */
function riffHeader(dataBytes: number, rateHz: number): Buffer {
  const header = Buffer.alloc(44);
  header.write("RIFF", 0, "latin1");
  header.writeUInt32LE(36 + dataBytes, 4);
  header.write("WAVEfmt ", 8, "latin1");
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(rateHz, 24);
  header.writeUInt32LE(rateHz * 2, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write("data", 36, "latin1");
  header.writeUInt32LE(dataBytes, 40);
  return header;
}

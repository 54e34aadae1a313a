/**
 * A fake ElevenLabs on 127.0.0.1, as strict as the vendor's documentation: it refuses unknown fields, wrong formats,
 * settings after the first message of a context, a sixth context and a missing key, and closes the socket then.
 */

import type { IncomingMessage } from "node:http";
import { z } from "zod";
import {
  cutInTwo,
  type FakeAudio,
  type FakeWord,
  fakeWords,
  type Fault,
  turns,
} from "../../sockets/testing/fake-speech.ts";
import type { FakePace } from "../../sockets/testing/fake-voice.ts";
import {
  openSocketServer,
  sendInPieces,
  type ServerConnection,
  type SocketServer,
  type UpgradeAnswer,
} from "../../sockets/testing/socket-server.ts";
import {
  type AudioOutput,
  CloseContext,
  CloseSocket,
  DialogueQuery,
  type FinalOutput,
  FlushContext,
  InitialiseContext,
  type InitialiseDialogue,
  KeepContextAlive,
  Query,
  SendText,
  type SocketError,
} from "../contract.ts";
import { readDialogue, turnEnd } from "./dialogue-messages.ts";

export const KEY = "xi-secret-key-1";
const MAX_CONTEXTS = 5;
const PATH = /^\/v1\/text-to-speech\/([^/]+)\/multi-stream-input$/;
const DIALOGUE_PATH = "/v1/text-to-dialogue/multi-stream-input";
const DIALOGUE_MODEL = /^eleven_v[34]/;

export interface FakeElevenLabsOptions extends FakePace {
  /** Called for each context that is flushed; null: all is well. */
  readonly fault?: (contextId: string) => Fault | null;
  readonly upgrade?: (request: IncomingMessage) => UpgradeAnswer | null;
  /** Voices that exist. Default: all. */
  readonly voices?: readonly string[];
  /** The other spelling of the vendor's sources. */
  readonly isSnakeCase?: boolean;
  /** Each message in small pieces. */
  readonly splits?: boolean;
  /** The audio comes without times, or with those of the spoken text alone. */
  readonly times?: "none" | "normalized";
  /** Contexts for dialogue end with their last audio, and no message ends them. */
  readonly neverEnds?: boolean;
  /** Turns of the event loop between two messages. Default 1. */
  readonly slowness?: number;
}

export interface FakeElevenLabs extends SocketServer {
  /** What the adapter did that the vendor does not allow. */
  readonly violations: readonly string[];
  /** The first messages of all contexts. */
  readonly contexts: readonly InitialiseContext[];
  /** The first messages of all contexts for dialogue. */
  readonly dialogues: readonly InitialiseDialogue[];
  /** Contexts that are open now, on all sockets. */
  readonly liveContexts: number;
  /** Resolves when a request has reached a fault. */
  readonly reached: Promise<void>;
  /** What the vendor does with sockets that got no text for their timeout. */
  expireIdle(): void;
}

interface Context {
  /** Of dialogue. */
  readonly voices: readonly string[];
  text: string;
  isFlushed: boolean;
  /** All that was flushed has been sent. */
  isSpoken: boolean;
  isClosed: boolean;
}

function newContext(text: string, voices: readonly string[] = []): Context {
  return { voices, text, isFlushed: false, isSpoken: false, isClosed: false };
}

const Client = z.union([CloseContext, CloseSocket, FlushContext, KeepContextAlive, SendText]);

export async function openFakeElevenLabs(options: FakeElevenLabsOptions = {}): Promise<FakeElevenLabs> {
  const violations: string[] = [];
  const contexts: InitialiseContext[] = [];
  const dialogues: InitialiseDialogue[] = [];
  const live = new Map<ServerConnection, Map<string, Context>>();
  const reached = Promise.withResolvers<void>();
  const server = await openSocketServer({
    upgrade: (request) => options.upgrade?.(request) ?? checkUpgrade(request, options, violations),
    connected: (connection) => {
      const own = new Map<string, Context>();
      live.set(connection, own);
      const socket = new FakeSocket(connection, own, {
        options,
        violations,
        contexts,
        dialogues,
        reached: reached.resolve,
      });
      connection.socket.on("message", (data: Buffer, isBinary) => {
        socket.read(data.toString("utf8"), isBinary);
      });
      connection.socket.on("close", () => live.delete(connection));
    },
  });
  return {
    ...server,
    get openCount() {
      return server.openCount;
    },
    violations,
    contexts,
    dialogues,
    reached: reached.promise,
    get liveContexts() {
      return [...live.values()].reduce((sum, own) => sum + own.size, 0);
    },
    expireIdle: () => {
      for (const [connection, own] of live) {
        if (own.size > 0) continue;
        const message = "Have not received a new text input within the timeout of 180.0 seconds.";
        const error: SocketError = { error: "input_timeout_exceeded", message, code: 1_008 };
        connection.socket.send(JSON.stringify(error));
        connection.socket.close(1_008, message);
      }
    },
  };
}

function checkUpgrade(
  request: IncomingMessage,
  { voices }: FakeElevenLabsOptions,
  violations: string[],
): UpgradeAnswer {
  const url = new URL(request.url ?? "", "http://fake");
  const refuse = (status: number, word: string, message: string): UpgradeAnswer => ({
    status,
    body: JSON.stringify({ detail: { status: word, message } }),
  });
  if (request.headers["xi-api-key"] !== KEY)
    return refuse(401, "invalid_api_key", `Invalid API key ${String(request.headers["xi-api-key"])}`);
  const isDialogue = url.pathname === DIALOGUE_PATH;
  if (DIALOGUE_MODEL.test(url.searchParams.get("model_id") ?? "") !== isDialogue)
    return refuse(400, "unsupported_model", "This model is not available here.");
  const voice = isDialogue ? "" : PATH.exec(url.pathname)?.[1];
  if (voice === undefined) return refuse(404, "not_found", "Not Found");
  if (!isDialogue && voices !== undefined && !voices.includes(decodeURIComponent(voice)))
    return refuse(404, "voice_not_found", "A voice with this id was not found.");
  const query = (isDialogue ? DialogueQuery : Query).safeParse(Object.fromEntries(url.searchParams));
  if (query.success) return "accept";
  violations.push(z.prettifyError(query.error));
  return refuse(400, "invalid_query", "Invalid query");
}

interface Shared {
  readonly options: FakeElevenLabsOptions;
  readonly violations: string[];
  readonly contexts: InitialiseContext[];
  readonly dialogues: InitialiseDialogue[];
  readonly reached: () => void;
}

class FakeSocket {
  readonly #connection: ServerConnection;
  readonly #contexts: Map<string, Context>;
  readonly #shared: Shared;
  readonly #audio: FakeAudio;
  readonly #isDialogue: boolean;

  constructor(connection: ServerConnection, contexts: Map<string, Context>, shared: Shared) {
    this.#connection = connection;
    this.#contexts = contexts;
    this.#shared = shared;
    const url = new URL(connection.request.url ?? "", "http://fake");
    this.#isDialogue = url.pathname === DIALOGUE_PATH;
    const format = url.searchParams.get("output_format") ?? "";
    const [name, rate] = format.split("_");
    const { msPerChar } = shared.options;
    this.#audio = {
      encoding: name === "ulaw" ? "mulaw" : "pcm",
      sampleRateHz: Number(rate),
      ...(msPerChar === undefined ? {} : { msPerChar }),
    };
  }

  read(text: string, isBinary: boolean): void {
    // Nothing is read after a refusal.
    if (this.#connection.socket.readyState !== this.#connection.socket.OPEN) return;
    if (isBinary) {
      this.#refuse("invalid_message", "A binary message");
      return;
    }
    const json = this.#isDialogue ? this.#inWordsOfSpeech(JSON.parse(text)) : (JSON.parse(text) as unknown);
    if (json === null) return;
    const contextId = (json as { context_id?: string }).context_id ?? "";
    const context = this.#contexts.get(contextId);
    if (context === undefined && !("close_socket" in (json as object))) {
      this.#open(json);
      return;
    }
    const parsed = Client.safeParse(json);
    if (!parsed.success) {
      this.#refuse("invalid_message", z.prettifyError(parsed.error));
      return;
    }
    const message = parsed.data;
    if ("close_socket" in message) {
      this.#connection.socket.close(1_000);
      return;
    }
    if (context === undefined) return;
    if (context.isClosed) {
      this.#refuse("invalid_message", `context ${contextId} is closed`);
    } else if ("close_context" in message) {
      context.isClosed = true;
      if (!context.isFlushed || context.isSpoken) this.#end(contextId);
    } else {
      const more = message.text ?? "";
      if (more !== "" && !more.endsWith(" "))
        this.#refuse("invalid_message", "text without a space at its end");
      context.text += more;
      if ("flush" in message && message.flush === true && !context.isFlushed) {
        context.isFlushed = true;
        void this.#speak(contextId, context);
      }
    }
  }

  /** A message of dialogue as one of speech. Null: it opened a context, or was refused. */
  #inWordsOfSpeech(json: unknown): object | null {
    const read = readDialogue(json, (contextId) => this.#contexts.get(contextId)?.voices ?? []);
    if ("message" in read) return read.message;
    if ("refusal" in read) {
      this.#refuse("invalid_message", read.refusal);
      return null;
    }
    const { voices } = this.#shared.options;
    const { context_id: contextId, voices: own } = read.opens;
    if (this.#contexts.size >= MAX_CONTEXTS) this.#refuse("too_many_contexts", "More than 5 contexts.");
    else if (voices !== undefined && own.some((voice) => !voices.includes(voice)))
      this.#refuseBlameless("voice_not_found", "A voice with this id was not found.");
    else {
      this.#shared.dialogues.push(read.opens);
      this.#contexts.set(contextId, newContext("", own));
    }
    return null;
  }

  #open(json: unknown): void {
    const parsed = InitialiseContext.safeParse(json);
    if (!parsed.success) {
      this.#refuse("invalid_message", z.prettifyError(parsed.error));
      return;
    }
    const message = parsed.data;
    if (this.#contexts.size >= MAX_CONTEXTS) {
      this.#refuse(
        "max_active_conversations",
        "Maximum simultaneous contexts per WebSocket connection exceeded (5).",
      );
      return;
    }
    this.#shared.contexts.push(message);
    this.#contexts.set(message.context_id, newContext(message.text));
  }

  async #speak(contextId: string, context: Context): Promise<void> {
    const { options, reached } = this.#shared;
    const fault = options.fault?.(contextId) ?? null;
    const text = context.text.trim();
    options.observe?.("text", text);
    const words = fakeWords(context.text, this.#audio);
    await turns(options.slowness ?? 1);
    if (fault !== null && this.#fail(fault, contextId)) {
      reached();
      return;
    }
    for (const [index, word] of (fault === "no audio" ? [] : words).entries()) {
      await turns(options.slowness ?? 1);
      if (this.#connection.socket.readyState !== this.#connection.socket.OPEN) return;
      const [head, tail] = cutInTwo(word.bytes);
      if (index === 0) options.observe?.("audio", text);
      this.#send(this.#output(contextId, head, word));
      if (fault === "hang in the middle") {
        reached();
        return;
      }
      if (fault === "drop in the middle") {
        this.#connection.tcp.destroySoon();
        return;
      }
      this.#send(this.#output(contextId, tail, null));
    }
    await turns(options.slowness ?? 1);
    context.isSpoken = true;
    if (this.#isDialogue) this.#connection.socket.send(turnEnd(contextId));
    if (context.isClosed) this.#end(contextId);
  }

  /** True: nothing more comes for this context. */
  #fail(fault: Fault, contextId: string): boolean {
    const { socket, tcp } = this.#connection;
    const error = (word: string, message: string): void => {
      const body: SocketError = { error: word, message: `${message} ${KEY}`, code: 1_011, contextId };
      socket.send(JSON.stringify(body));
      this.#contexts.delete(contextId);
    };
    if (fault === "garbage") socket.send(`{"audio": ${KEY}`);
    else if (fault === "garbage in the audio")
      this.#send({ audio: "no base64!", contextId, alignment: null, normalizedAlignment: null });
    else if (fault === "binary") socket.send(Buffer.of(1, 2, 3));
    else if (fault === "drop") tcp.destroy();
    else if (fault === "rate limit") error("too_many_concurrent_requests", "Too many requests.");
    else if (fault === "server error") error("internal_server_error", "Something broke.");
    return fault !== "hang in the middle" && fault !== "drop in the middle" && fault !== "no audio";
  }

  #output(contextId: string, audio: string, word: FakeWord | null): AudioOutput {
    const { times } = this.#shared.options;
    if (word === null || times === "none")
      return { audio, contextId, alignment: null, normalizedAlignment: null };
    const chars = Array.from(word.text);
    const stepMs = word.durationMs / chars.length;
    const alignment = {
      chars,
      charStartTimesMs: chars.map((_, index) => Math.round(index * stepMs)),
      charDurationsMs: chars.map(() => Math.round(stepMs)),
    };
    return times === "normalized"
      ? { audio, contextId, alignment: null, normalizedAlignment: alignment }
      : { audio, contextId, alignment, normalizedAlignment: alignment };
  }

  #end(contextId: string): void {
    this.#contexts.delete(contextId);
    if (this.#shared.options.neverEnds === true) return;
    const final: FinalOutput = { isFinal: true, contextId };
    this.#send(final);
  }

  #send(message: AudioOutput | FinalOutput): void {
    const { isSnakeCase = false, splits = false } = this.#shared.options;
    const { socket } = this.#connection;
    if (socket.readyState !== socket.OPEN) return;
    let text = JSON.stringify(message);
    if (isSnakeCase || this.#isDialogue)
      text = text
        .replace('"contextId"', '"context_id"')
        .replace('"isFinal"', '"is_final"')
        .replaceAll('"charStartTimesMs"', '"char_start_times_ms"');
    if (splits) sendInPieces(this.#connection, text);
    else socket.send(text);
  }

  #refuse(word: string, message: string): void {
    this.#shared.violations.push(`${word}: ${message}`);
    this.#refuseBlameless(word, message);
  }

  /** What is no fault of the adapter. */
  #refuseBlameless(word: string, message: string): void {
    const error: SocketError = { error: word, message, code: 1_008 };
    this.#connection.socket.send(JSON.stringify(error));
    this.#connection.socket.close(1_008, word);
  }
}

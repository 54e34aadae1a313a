/**
 * Deepgram's live transcription on 127.0.0.1, as strict as its documentation: it refuses wrong keys, unknown
 * parameters, empty or odd audio and unknown messages, closes idle sockets, and leaves a `Finalize` unanswered where
 * little audio is left.
 */

import type { IncomingMessage } from "node:http";
import type { WebSocket } from "ws";
import type { Clock } from "../../../pacing/clock.ts";
import {
  JSON_TYPE,
  openSocketServer,
  sendInFragments,
  type SocketServer,
  type UpgradeAnswer,
  urlOf,
} from "../../sockets/testing/socket-server.ts";
import { wordsIn, type HeardWord } from "../../../ports/testing/word-audio.ts";
import { ClientMessage, ListenQuery, Refusal, ServerMessage } from "../contract.ts";

const RATE_HZ = 16_000;
/** Without audio or `KeepAlive` for this long, the socket is closed. */
const IDLE_MS = 10_000;
/** An interim result is sent for each of these pieces of audio. */
const INTERIM_SAMPLES = RATE_HZ / 2;
/** A result becomes final by itself after so much audio. */
const FINAL_SAMPLES = 5 * RATE_HZ;
/** With less audio left than this, `Finalize` has no answer. */
const NOTICEABLE_SAMPLES = RATE_HZ / 20;

export interface FakeDeepgramOptions {
  readonly key?: string;
  /** Refuses every upgrade with this status; "never": does not answer it. */
  readonly refuse?: number | "never";
  readonly lacks?: readonly string[];
  /**
   * What happens at a `Finalize`: the answer, nothing, interim results instead of it, text that is no message, or the
   * end of the connection. Called for each.
   */
  readonly atFinalize?: (count: number) => "answer" | "hang" | "interim" | "garbage" | "drop" | "error";
  /** Noise in which no silence is found: the end of the speech is told by the gap between words alone. */
  readonly isNoisy?: boolean;
  /** Messages arrive in frames of one character. */
  readonly inPieces?: boolean;
  readonly answerDelayMs?: number;
  /** For delays and the closing of idle sockets. Unset: no socket is idle, nothing is delayed. */
  readonly clock?: Pick<Clock, "nowMs" | "after">;
  readonly hear?: (samples: Int16Array, sampleRateHz: number) => readonly HeardWord[];
}

export class FakeDeepgram {
  readonly baseUrl: string;
  /** What a client did wrong. */
  readonly violations: string[] = [];
  readonly connections: FakeListen[] = [];
  finalizes = 0;
  readonly options: FakeDeepgramOptions;
  readonly #server: SocketServer;

  private constructor(server: SocketServer, options: FakeDeepgramOptions) {
    this.#server = server;
    this.baseUrl = server.baseUrl;
    this.options = options;
  }

  static async open(options: FakeDeepgramOptions = {}): Promise<FakeDeepgram> {
    let fake: FakeDeepgram | null = null;
    const server = await openSocketServer({
      upgrade: (request) => fake?.answer(request) ?? "accept",
      connected: ({ socket, request }) => fake?.accept(socket, urlOf(request)),
    });
    fake = new FakeDeepgram(server, options);
    return fake;
  }

  get requests(): readonly string[] {
    return this.#server.requests.map(({ url = "" }) => url);
  }

  answer(request: IncomingMessage): UpgradeAnswer {
    const { key = "dg-key", refuse, lacks = [] } = this.options;
    if (refuse === "never") return "hang";
    const url = urlOf(request);
    const no = (status: number, code: string, message: string): UpgradeAnswer => {
      const body = Refusal.parse({ err_code: code, err_msg: message, request_id: "r-1" });
      return { status, headers: JSON_TYPE, body: JSON.stringify(body) };
    };
    if (refuse !== undefined) return no(refuse, "REFUSED", `refused for ${key}`);
    if (url.pathname !== "/v1/listen") return no(404, "NOT_FOUND", "no such path");
    if (request.headers.authorization !== `Token ${key}`)
      return no(401, "INVALID_AUTH", "Invalid credentials.");
    const query = queryOf(url);
    const parsed = ListenQuery.safeParse(query);
    if (!parsed.success) {
      this.violations.push(parsed.error.message);
      return no(400, "Bad Request", "unknown parameters");
    }
    if (parsed.data.keyterm !== undefined && !parsed.data.model.startsWith("nova-3")) {
      this.violations.push("keyterm for a model that has none");
    }
    if (lacks.includes(parsed.data.language ?? "")) {
      return no(400, "Bad Request", "No such model/language/tier combination found.");
    }
    return "accept";
  }

  accept(socket: WebSocket, url: URL): void {
    this.connections.push(new FakeListen(this, socket, queryOf(url)));
  }

  async close(): Promise<void> {
    await this.#server.close();
  }
}

/** Parameters that may be repeated are lists. */
function queryOf(url: URL): Record<string, string | string[]> {
  const names = new Set(url.searchParams.keys());
  return Object.fromEntries(
    [...names].map((name) => {
      const values = url.searchParams.getAll(name);
      const isList = name === "keyterm" || name === "keywords" || values.length > 1;
      return [name, isList ? values : (values[0] ?? "")];
    }),
  );
}

interface ResultMarks {
  readonly isFinal: boolean;
  readonly isFinalize?: boolean;
  readonly isSpeechFinal?: boolean;
}

/** One connection. */
export class FakeListen {
  readonly query: Readonly<Record<string, string | string[]>>;
  readonly messages: string[] = [];
  readonly socket: WebSocket;
  closeCode: number | null = null;
  readonly #fake: FakeDeepgram;
  #audio = new Int16Array(RATE_HZ);
  #samples = 0;
  /** Begin of what is not final. */
  #openFrom = 0;
  #interimAt = INTERIM_SAMPLES;
  /** Ends of the last words for which an end of speech and a gap were sent. */
  #speechFinalMs = -1;
  #utteranceEndMs = -1;
  #cancelIdle: (() => void) | null = null;

  constructor(fake: FakeDeepgram, socket: WebSocket, query: Readonly<Record<string, string | string[]>>) {
    this.#fake = fake;
    this.socket = socket;
    this.query = query;
    this.#notIdle();
    socket.on("message", (data: Buffer, isBinary) => {
      this.#notIdle();
      if (isBinary) this.#take(data);
      else this.#read(data.toString("utf8"));
    });
    socket.on("close", (code) => {
      this.closeCode = code;
      this.#cancelIdle?.();
    });
  }

  /** Audio so far, in ms. */
  get audioMs(): number {
    return (this.#samples * 1_000) / RATE_HZ;
  }

  /** The words of all audio so far. */
  heard(): string {
    return wordsIn(this.#audio.subarray(0, this.#samples), RATE_HZ)
      .map(({ word }) => word)
      .join(" ");
  }

  #notIdle(): void {
    this.#cancelIdle?.();
    const { clock } = this.#fake.options;
    this.#cancelIdle =
      clock?.after(IDLE_MS, () => {
        this.socket.close(1011, "NET-0001");
      }) ?? null;
  }

  #violate(what: string): void {
    this.#fake.violations.push(what);
    this.socket.close(1008, "DATA-0000");
  }

  #take(data: Buffer): void {
    if (data.length === 0) return this.#violate("an empty message");
    if (data.length % 2 !== 0) return this.#violate("half of a sample");
    if (data.length > RATE_HZ / 2) return this.#violate("a message of more than 250 ms");
    const count = data.length / 2;
    while (this.#samples + count > this.#audio.length) {
      const larger = new Int16Array(this.#audio.length * 2);
      larger.set(this.#audio);
      this.#audio = larger;
    }
    for (let at = 0; at < count; at += 1) this.#audio[this.#samples + at] = data.readInt16LE(2 * at);
    this.#samples += count;
    if (this.#samples - this.#openFrom >= FINAL_SAMPLES) this.#result({ isFinal: true });
    else if (this.#samples >= this.#interimAt) {
      this.#result({ isFinal: false });
      this.#tellEnds();
    }
  }

  /** The end of the speech by its silence, and by the gap after the last word. */
  #tellEnds(): void {
    const { endpointing, utterance_end_ms: gap } = this.query;
    if (endpointing === "false" && gap === undefined) return;
    const { hear = wordsIn } = this.#fake.options;
    const endMs = hear(this.#audio.subarray(0, this.#samples), RATE_HZ).at(-1)?.endMs ?? null;
    if (endMs === null) return;
    const silentMs = this.audioMs - endMs;
    if (endpointing !== "false" && silentMs >= Number(endpointing) && endMs > this.#speechFinalMs) {
      this.#speechFinalMs = endMs;
      if (this.#fake.options.isNoisy !== true) this.#result({ isFinal: true, isSpeechFinal: true });
    }
    if (gap !== undefined && silentMs >= Number(gap) && endMs > this.#utteranceEndMs) {
      this.#utteranceEndMs = endMs;
      const ended = { type: "UtteranceEnd", channel: [0, 1], last_word_end: endMs / 1_000 };
      this.send(JSON.stringify(ServerMessage.parse(ended)));
    }
  }

  #read(text: string): void {
    this.messages.push(text);
    let json: unknown;
    try {
      json = JSON.parse(text);
    } catch {
      return this.#violate("a text that is not JSON");
    }
    const message = ClientMessage.safeParse(json);
    if (!message.success) return this.#violate(`an unknown message: ${text}`);
    if (message.data.type === "CloseStream") this.socket.close(1000);
    else if (message.data.type === "Finalize") this.#finalize();
  }

  #finalize(): void {
    this.#fake.finalizes += 1;
    const act = this.#fake.options.atFinalize?.(this.#fake.finalizes) ?? "answer";
    if (act === "drop") this.socket.terminate();
    else if (act === "garbage") this.socket.send("<html>busy</html>");
    else if (act === "error") {
      this.socket.send(JSON.stringify({ type: "Error", description: "no GPU is free", variant: "BUSY" }));
    } else if (act === "interim") this.#result({ isFinal: false });
    else if (act === "answer" && this.#samples - this.#openFrom >= NOTICEABLE_SAMPLES) {
      // Some versions mark these as well, whatever the silence was.
      this.#result({ isFinal: true, isFinalize: true, isSpeechFinal: true });
    }
  }

  #result({ isFinal, isFinalize = false, isSpeechFinal = false }: ResultMarks): void {
    const { hear = wordsIn } = this.#fake.options;
    const from = this.#openFrom;
    const words = hear(this.#audio.subarray(from, this.#samples), RATE_HZ);
    const start = from / RATE_HZ;
    const message = ServerMessage.parse({
      type: "Results",
      channel_index: [0, 1],
      start,
      duration: (this.#samples - from) / RATE_HZ,
      is_final: isFinal,
      speech_final: isSpeechFinal,
      from_finalize: isFinalize,
      channel: {
        alternatives: [
          {
            transcript: words.map(({ word }) => word).join(" "),
            confidence: 0.9,
            words: words.map(({ word, startMs, endMs }) => ({
              word: word.toLowerCase(),
              punctuated_word: word,
              start: start + startMs / 1_000,
              end: start + endMs / 1_000,
              confidence: 0.9,
            })),
          },
        ],
      },
      metadata: { request_id: "r-1" },
    });
    this.#interimAt = this.#samples + INTERIM_SAMPLES;
    if (isFinal) this.#openFrom = this.#samples;
    this.send(JSON.stringify(message));
  }

  send(text: string): void {
    const { clock, answerDelayMs = 0, inPieces = false } = this.#fake.options;
    const send = (): void => {
      if (this.socket.readyState !== this.socket.OPEN) return;
      if (inPieces) sendInFragments(this.socket, text);
      else this.socket.send(text);
    };
    if (clock === undefined || answerDelayMs === 0) send();
    else clock.after(answerDelayMs, send);
  }
}

/**
 * Deepgram's live transcription on 127.0.0.1, as strict as its documentation: it refuses wrong keys, unknown
 * parameters, empty or odd audio and unknown messages, closes idle sockets, and leaves a `Finalize` unanswered where
 * little audio is left.
 */

import type { IncomingMessage } from "node:http";
import type { WebSocket } from "ws";
import type { Clock } from "../../../pacing/clock.ts";
import {
  sendInFragments,
  type SocketServer,
  type UpgradeAnswer,
  urlOf,
} from "../../sockets/testing/socket-server.ts";
import { wordsIn, type HeardWord } from "../../../ports/testing/word-audio.ts";
import { ClientMessage, ListenQuery, ServerMessage } from "../contract.ts";
import { ListenConnection, ListenFake, openListenFake } from "./listen-fake.ts";
import { jsonOf, queryOf, refusal, wrongUpgrade } from "./received.ts";

const RATE_HZ = 16_000;
/** Parameters that may be repeated. */
const LISTS = ["keyterm", "keywords"];
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

export class FakeDeepgram extends ListenFake<FakeListen> {
  finalizes = 0;
  readonly options: FakeDeepgramOptions;

  private constructor(server: SocketServer, options: FakeDeepgramOptions) {
    super(server);
    this.options = options;
  }

  static open(options: FakeDeepgramOptions = {}): Promise<FakeDeepgram> {
    return openListenFake((server) => new FakeDeepgram(server, options));
  }

  answer(request: IncomingMessage): UpgradeAnswer {
    const { key = "dg-key", refuse, lacks = [] } = this.options;
    if (refuse === "never") return "hang";
    if (refuse !== undefined) return refusal(refuse, "REFUSED", `refused for ${key}`);
    const wrong = wrongUpgrade(request, "/v1/listen", key);
    if (wrong !== null) return wrong;
    const parsed = ListenQuery.safeParse(queryOf(urlOf(request), LISTS));
    if (!parsed.success) {
      this.violations.push(parsed.error.message);
      return refusal(400, "Bad Request", "unknown parameters");
    }
    if (parsed.data.keyterm !== undefined && !parsed.data.model.startsWith("nova-3")) {
      this.violations.push("keyterm for a model that has none");
    }
    if (lacks.includes(parsed.data.language ?? "")) {
      return refusal(400, "Bad Request", "No such model/language/tier combination found.");
    }
    return "accept";
  }

  connect(socket: WebSocket, url: URL): FakeListen {
    return new FakeListen(this, socket, url);
  }
}

interface ResultMarks {
  readonly isFinal: boolean;
  readonly isFinalize?: boolean;
  readonly isSpeechFinal?: boolean;
}

/** One connection. */
export class FakeListen extends ListenConnection {
  readonly #fake: FakeDeepgram;
  /** Begin of what is not final. */
  #openFrom = 0;
  #interimAt = INTERIM_SAMPLES;
  /** Ends of the last words for which an end of speech and a gap were sent. */
  #speechFinalMs = -1;
  #utteranceEndMs = -1;

  constructor(fake: FakeDeepgram, socket: WebSocket, url: URL) {
    const { violations, options } = fake;
    super({ socket, url, lists: LISTS, violations, clock: options.clock, idleMs: IDLE_MS });
    this.#fake = fake;
  }

  protected hear(): void {
    if (this.audio.samples - this.#openFrom >= FINAL_SAMPLES) this.#result({ isFinal: true });
    else if (this.audio.samples >= this.#interimAt) {
      this.#result({ isFinal: false });
      this.#tellEnds();
    }
  }

  /** The end of the speech by its silence, and by the gap after the last word. */
  #tellEnds(): void {
    const { endpointing, utterance_end_ms: gap } = this.query;
    if (endpointing === "false" && gap === undefined) return;
    const { hear = wordsIn } = this.#fake.options;
    const endMs = hear(this.audio.from(0), RATE_HZ).at(-1)?.endMs ?? null;
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

  protected read(text: string): void {
    const message = ClientMessage.safeParse(jsonOf(text));
    if (!message.success) return this.violate(`an unknown message: ${text}`);
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
    else if (act === "answer" && this.audio.samples - this.#openFrom >= NOTICEABLE_SAMPLES) {
      // Some versions mark these as well, whatever the silence was.
      this.#result({ isFinal: true, isFinalize: true, isSpeechFinal: true });
    }
  }

  #result({ isFinal, isFinalize = false, isSpeechFinal = false }: ResultMarks): void {
    const { hear = wordsIn } = this.#fake.options;
    const from = this.#openFrom;
    const words = hear(this.audio.from(from), RATE_HZ);
    const start = from / RATE_HZ;
    const message = ServerMessage.parse({
      type: "Results",
      channel_index: [0, 1],
      start,
      duration: (this.audio.samples - from) / RATE_HZ,
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
    this.#interimAt = this.audio.samples + INTERIM_SAMPLES;
    if (isFinal) this.#openFrom = this.audio.samples;
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

/**
 * Deepgram's Flux models on 127.0.0.1, as strict as their documentation: the fake refuses wrong keys, unknown parameters,
 * empty or odd audio and unknown messages, of which `KeepAlive` is one, and closes idle sockets.
 */

import type { IncomingMessage } from "node:http";
import type { WebSocket } from "ws";
import type { Clock } from "../../../pacing/clock.ts";
import { wordsIn, type HeardWord } from "../../../ports/testing/word-audio.ts";
import {
  sendInFragments,
  type SocketServer,
  type UpgradeAnswer,
  urlOf,
} from "../../sockets/testing/socket-server.ts";
import { FluxClientMessage, FluxQuery, FluxServerMessage } from "../flux-contract.ts";
import { ListenConnection, ListenFake, openListenFake } from "./listen-fake.ts";
import { jsonOf, queryOf, refusal, wrongUpgrade } from "./received.ts";

const RATE_HZ = 16_000;
/** Parameters that may be repeated. */
const LISTS = ["keyterm", "language_hint"];
/** Without audio or a ping for this long, the socket is closed. */
const IDLE_MS = 60_000;
/** An update for each of these pieces of audio. */
const UPDATE_MS = 250;
/** Silence after which the fake is rather sure, and sure, that the user has finished. */
const EAGER_MS = 200;
const END_MS = 450;

type TurnInfo = Extract<FluxServerMessage, { readonly type: "TurnInfo" }>;

export interface FakeFluxOptions {
  readonly key?: string;
  /** Refuses every upgrade with this status. */
  readonly refuse?: number;
  /** Hints that are refused. */
  readonly lacks?: readonly string[];
  /** What a connection does once it has heard a word; counted from 1. */
  readonly act?: (connection: number) => "answer" | "hang" | "garbage" | "drop" | "error";
  /** Messages arrive in frames of one character. */
  readonly inPieces?: boolean;
  /** As older versions: words have no times. */
  readonly isUntimed?: boolean;
  /** As older versions: `ForceEndTurn` has no effect. */
  readonly ignoresForce?: boolean;
  /** Only `ForceEndTurn` ends a turn: the user never sounds as if they had finished. */
  readonly neverEnds?: boolean;
  /** Called for each message with audio. */
  readonly heard?: () => void;
  /** For the closing of idle sockets. Unset: no socket is idle. */
  readonly clock?: Pick<Clock, "after">;
}

export class FakeFlux extends ListenFake<FakeFluxConnection> {
  readonly options: FakeFluxOptions;

  private constructor(server: SocketServer, options: FakeFluxOptions) {
    super(server);
    this.options = options;
  }

  static open(options: FakeFluxOptions = {}): Promise<FakeFlux> {
    return openListenFake((server) => new FakeFlux(server, options));
  }

  answer(request: IncomingMessage): UpgradeAnswer {
    const { key = "dg-key", refuse, lacks = [] } = this.options;
    if (refuse !== undefined) return refusal(refuse, "REFUSED", `refused for ${key}`);
    const wrong = wrongUpgrade(request, "/v2/listen", key);
    if (wrong !== null) return wrong;
    const parsed = FluxQuery.safeParse(queryOf(urlOf(request), LISTS));
    if (!parsed.success) {
      this.violations.push(parsed.error.message);
      return refusal(400, "Bad Request", "unknown parameters");
    }
    const { model, language_hint: hint = [], eager_eot_threshold: eager, eot_threshold: end } = parsed.data;
    if (hint.length > 0 && !model.endsWith("-multi")) this.violations.push("a hint for one language");
    if (Number(eager) > Number(end)) this.violations.push("an early end that is later than the end");
    if (hint.some((one) => lacks.includes(one)))
      return refusal(400, "Bad Request", "unsupported language_hint");
    return "accept";
  }

  connect(socket: WebSocket, url: URL): FakeFluxConnection {
    return new FakeFluxConnection(this, socket, url);
  }
}

/** One connection. */
export class FakeFluxConnection extends ListenConnection {
  readonly events: string[] = [];
  readonly #fake: FakeFlux;
  readonly #number: number;
  /** Where the turn begins, in ms of audio. */
  #turnFromMs = 0;
  #turnIndex = 0;
  #sequence = 0;
  #updateAtMs = UPDATE_MS;
  #hasBegun = false;
  /** Words at the early end that stands; null: none does. */
  #eagerWords: number | null = null;
  #isMute = false;

  constructor(fake: FakeFlux, socket: WebSocket, url: URL) {
    const { violations, options } = fake;
    super({ socket, url, lists: LISTS, violations, clock: options.clock, idleMs: IDLE_MS });
    this.#fake = fake;
    this.#number = fake.connections.length + 1;
    socket.on("ping", () => this.notIdle());
    this.#send({ type: "Connected", request_id: "r-1", sequence_id: this.#sequence });
  }

  protected hear(): void {
    this.#fake.options.heard?.();
    if (this.#isMute) return;
    const words = this.#words();
    const last = words.at(-1);
    if (last !== undefined && !this.#misbehaves()) {
      if (!this.#hasBegun) {
        this.#hasBegun = true;
        this.#tell("StartOfTurn", words, 0.1);
      }
      if (this.#eagerWords !== null && words.length > this.#eagerWords) {
        this.#eagerWords = null;
        this.#tell("TurnResumed", words, 0.1);
      }
      const silentMs = this.audioMs - last.endMs;
      const mayEnd = this.#fake.options.neverEnds !== true;
      if (mayEnd && silentMs >= EAGER_MS && this.#eagerWords === null) {
        this.#eagerWords = words.length;
        this.#tell("EagerEndOfTurn", words, 0.6);
      }
      if (mayEnd && silentMs >= END_MS) return this.#endTurn("model");
    }
    if (this.#isMute || this.audioMs < this.#updateAtMs) return;
    this.#tell("Update", words, 0.2);
  }

  /** @returns whether there is nothing more to be said. */
  #misbehaves(): boolean {
    const act = this.#fake.options.act?.(this.#number) ?? "answer";
    if (act === "answer") return false;
    this.#isMute = true;
    if (act === "drop") this.socket.terminate();
    else if (act === "garbage") this.socket.send("<html>busy</html>");
    else if (act === "error") {
      const description = "no GPU is free";
      this.#send({ type: "Error", sequence_id: this.#sequence, code: "INTERNAL_SERVER_ERROR", description });
    }
    return true;
  }

  /** The words of the turn, in times of the connection. */
  #words(): HeardWord[] {
    const from = Math.round((this.#turnFromMs * RATE_HZ) / 1_000);
    return wordsIn(this.audio.from(from), RATE_HZ).map(({ word, startMs, endMs }) => ({
      word,
      startMs: startMs + this.#turnFromMs,
      endMs: endMs + this.#turnFromMs,
    }));
  }

  #endTurn(trigger: "model" | "manual"): void {
    const words = this.#words();
    // What is at the end of the audio and not whole yet belongs to the next turn.
    const toMs = words.at(-1)?.endMs ?? this.audioMs;
    this.#tell("EndOfTurn", words, 0.8, trigger);
    this.#turnIndex += 1;
    this.#turnFromMs = trigger === "model" ? this.audioMs : toMs;
    this.#hasBegun = false;
    this.#eagerWords = null;
  }

  protected read(text: string): void {
    const message = FluxClientMessage.safeParse(jsonOf(text));
    if (!message.success) return this.violate(`an unknown message: ${text}`);
    if (message.data.type === "CloseStream") this.socket.close(1000);
    else if (this.#hasBegun && !this.#isMute && this.#fake.options.ignoresForce !== true)
      this.#endTurn("manual");
  }

  #tell(
    event: TurnInfo["event"],
    words: readonly HeardWord[],
    confidence: number,
    trigger?: TurnInfo["trigger"],
  ): void {
    const { isUntimed = false } = this.#fake.options;
    this.events.push(event);
    this.#updateAtMs = this.audioMs + UPDATE_MS;
    this.#send({
      type: "TurnInfo",
      request_id: "r-1",
      sequence_id: this.#sequence,
      event,
      turn_index: this.#turnIndex,
      audio_window_start: this.#turnFromMs / 1_000,
      audio_window_end: this.audioMs / 1_000,
      transcript: words.map(({ word }) => word).join(" "),
      words: words.map(({ word, startMs, endMs }) => ({
        word,
        confidence: 0.9,
        ...(isUntimed ? {} : { start: startMs / 1_000, end: endMs / 1_000 }),
      })),
      end_of_turn_confidence: confidence,
      ...(trigger === undefined ? {} : { trigger }),
    });
  }

  #send(message: FluxServerMessage): void {
    this.#sequence += 1;
    const text = JSON.stringify(FluxServerMessage.parse(message));
    if (this.socket.readyState !== this.socket.OPEN) return;
    if (this.#fake.options.inPieces === true) sendInFragments(this.socket, text);
    else this.socket.send(text);
  }
}

/**
 * A carrier of a test: opens the websocket of a stream, plays what it is sent in real time by a given clock, echoes
 * marks, and writes down everything that the real carrier would refuse.
 */

import type { CarrierKind } from "@parley/schema";
import { WebSocket } from "ws";
import { decodeAudio, encodeAudio, type AudioFormat } from "../../../media/audio-format.ts";
import { openClock, type Clock } from "../../../pacing/clock.ts";
import { CarrierBuffer } from "./carrier-buffer.ts";
import { CARRIER_RULES, type CarrierRules } from "./carrier-rules.ts";
import type { FakeStream } from "./rule-checks.ts";

export interface FakeCarrierOptions {
  readonly kind: CarrierKind;
  readonly url: string;
  readonly clock?: Clock;
  /** Of the stream, where it is not the carrier's usual one. */
  readonly input?: AudioFormat;
  readonly output?: AudioFormat;
  /** Sends the line in real time, silence included. Default true. */
  readonly sendsLine?: boolean;
  /** The carrier's call, where it has had a stream before. */
  readonly callId?: string;
}

let count = 0;

export class FakeCarrier {
  readonly socket: WebSocket;
  readonly stream: FakeStream;
  readonly rules: CarrierRules;
  readonly buffer: CarrierBuffer;
  /** What the carrier would have refused. */
  readonly broken: string[] = [];
  /** Samples of all audio that came, in one piece for each message. */
  readonly received: Int16Array[] = [];
  readonly marks: string[] = [];
  readonly digits: string[] = [];
  /** When the buffer was cleared. */
  readonly clearedAtMs: number[] = [];
  /** The code that the socket was closed with; null: it is open. */
  closeCode: number | null = null;
  readonly closed: Promise<number>;
  readonly #clock: Clock;
  readonly #options: FakeCarrierOptions;
  readonly #line: Int16Array[] = [];
  #stopTicking: (() => void) | null = null;
  #sequence = 1;
  #chunk = 0;
  #lineSentMs = 0;

  constructor(options: FakeCarrierOptions) {
    count += 1;
    this.rules = CARRIER_RULES[options.kind];
    this.#options = options;
    this.#clock = options.clock ?? openClock();
    this.stream = {
      streamId: `stream-${String(count)}`,
      callId: options.callId ?? `carrier-call-${String(count)}`,
      input: options.input ?? this.rules.input,
      output: options.output ?? this.rules.output,
    };
    this.buffer = new CarrierBuffer(this.stream.output.sampleRateHz, (name) => {
      this.send(this.rules.mark(this.stream, this.#next(), name));
    });
    this.socket = new WebSocket(options.url, { perMessageDeflate: false });
    this.closed = new Promise((resolve) => {
      this.socket.once("close", (code) => {
        this.closeCode = code;
        this.rest();
        resolve(code);
      });
    });
    // `close` follows.
    this.socket.on("error", () => this.rest());
    this.socket.on("message", (data: Buffer, isBinary) => {
      this.#take(data, isBinary);
    });
  }

  /** Opens the stream: the greeting, the start, and from then on the line. */
  async begin(): Promise<this> {
    await new Promise<void>((resolve, reject) => {
      this.socket.once("open", resolve);
      this.socket.once("close", (code) => reject(new Error(`closed with ${String(code)}`)));
    });
    for (const message of this.rules.begin(this.stream)) this.send(message);
    this.#lineSentMs = this.#clock.nowMs();
    this.#stopTicking = this.#clock.onTick((nowMs) => {
      this.buffer.advance(nowMs);
      if (this.#options.sendsLine !== false) this.#sendLine(nowMs);
    });
    return this;
  }

  /** Sends no line and plays nothing from now on. */
  rest(): void {
    this.#stopTicking?.();
    this.#stopTicking = null;
  }

  /** The caller says this, after what they are saying already. Samples at the rate of the stream. */
  say(samples: Int16Array): void {
    for (let at = 0; at < samples.length; at += this.#frame) {
      const frame = new Int16Array(this.#frame);
      frame.set(samples.subarray(at, at + this.#frame));
      this.#line.push(frame);
    }
  }

  /** Whether the caller has said everything. */
  get isQuiet(): boolean {
    return this.#line.length === 0;
  }

  press(keys: string): void {
    for (const key of keys) this.send(this.rules.digit(this.stream, this.#next(), key));
  }

  /** One message of audio, of any length. */
  sendAudio(samples: Int16Array): void {
    const payload = Buffer.from(encodeAudio(this.stream.input.encoding, samples)).toString("base64");
    this.#chunk += 1;
    this.send(this.rules.media(this.stream, this.#next(), this.#chunk, payload));
  }

  stop(): void {
    this.send(this.rules.stop(this.stream, this.#next()));
  }

  send(message: Readonly<Record<string, unknown>>): void {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  get #frame(): number {
    return (this.stream.input.sampleRateHz * this.rules.frameMs) / 1_000;
  }

  #next(): number {
    this.#sequence += 1;
    return this.#sequence;
  }

  #sendLine(nowMs: number): void {
    while (nowMs - this.#lineSentMs >= this.rules.frameMs) {
      this.#lineSentMs += this.rules.frameMs;
      this.sendAudio(this.#line.shift() ?? new Int16Array(this.#frame));
    }
  }

  #take(data: Buffer, isBinary: boolean): void {
    if (isBinary) {
      this.broken.push("a binary frame");
      return;
    }
    try {
      this.#obey(data.toString("utf8"));
    } catch (error) {
      this.broken.push(error instanceof Error ? error.message : String(error));
    }
  }

  #obey(text: string): void {
    const nowMs = this.#clock.nowMs();
    const command = this.rules.accept(text, this.stream);
    switch (command.type) {
      case "audio": {
        // A copy, so that linear samples are aligned.
        const samples = decodeAudio(this.stream.output.encoding, command.payload.slice()).slice();
        this.received.push(samples);
        if (this.buffer.bufferedMs > this.rules.longestBufferMs) {
          this.broken.push(`a buffer of ${String(Math.round(this.buffer.bufferedMs))} ms`);
          return;
        }
        this.buffer.push(samples, nowMs);
        return;
      }
      case "mark":
        this.marks.push(command.name);
        this.buffer.mark(command.name, nowMs);
        return;
      case "clear": {
        const { echoesCleared: echoes, finishesBegun } = this.rules;
        this.clearedAtMs.push(nowMs);
        this.buffer.clear(nowMs, { echoes, finishesBegun });
        const told = this.rules.cleared(this.stream, this.#next());
        if (told !== null) this.send(told);
        return;
      }
      case "digits":
        this.digits.push(command.digits);
    }
  }
}

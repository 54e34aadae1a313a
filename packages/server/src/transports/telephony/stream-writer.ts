/**
 * What goes to a carrier: audio in messages of the carrier's size, marks behind it, and their generations. A cleared
 * buffer echoes the marks that were in it, so only marks since the last clear count.
 */

import { bytesPerSample, encodeAudio, type AudioFormat } from "../../media/audio-format.ts";
import type { CarrierCodec, StreamStart } from "./codec.ts";

/** Marks whose echo is awaited: 51 s of audio. A carrier that echoes none loses the oldest. */
const MOST_MARKS = 256;

const SILENCE: Readonly<Record<AudioFormat["encoding"], number>> = {
  mulaw: 0xff,
  alaw: 0xd5,
  s16le: 0,
  s16be: 0,
};

export interface WriterSocket {
  /** False: it was dropped. */
  sendAudio(text: string): boolean;
  sendMessage(text: string): void;
}

interface WaitingMark {
  /** Sent as soon as so many bytes of this generation have been. */
  readonly afterBytes: number;
  readonly name: string;
}

export class StreamWriter {
  readonly #codec: CarrierCodec;
  readonly #start: StreamStart;
  readonly #socket: WriterSocket;
  /** Fills up to one message; null: each frame is one. */
  readonly #message: Uint8Array | null;
  #filled = 0;
  /** Bytes of this generation, those that wait for the rest of their message included. */
  #written = 0;
  #sent = 0;
  #waiting: WaitingMark[] = [];
  readonly #positions = new Map<string, number>();
  #generation = 1;
  #marks = 0;

  constructor(codec: CarrierCodec, start: StreamStart, socket: WriterSocket) {
    this.#codec = codec;
    this.#start = start;
    this.#socket = socket;
    this.#message = codec.messageBytes === null ? null : new Uint8Array(codec.messageBytes);
  }

  /** Audio of one message in ms; 0: each frame is one. */
  get messageMs(): number {
    const { encoding, sampleRateHz } = this.#start.output;
    return ((this.#codec.messageBytes ?? 0) * 1_000) / (bytesPerSample(encoding) * sampleRateHz);
  }

  /** Whether audio waits for the rest of its message. */
  get isWaiting(): boolean {
    return this.#filled > 0;
  }

  /** False: some of it was dropped. */
  frame(samples: Int16Array): boolean {
    const bytes = encodeAudio(this.#start.output.encoding, samples);
    if (this.#message === null) return this.#send(bytes);
    let isSent = true;
    for (let at = 0; at < bytes.length;) {
      const count = Math.min(bytes.length - at, this.#message.length - this.#filled);
      this.#message.set(bytes.subarray(at, at + count), this.#filled);
      at += count;
      this.#filled += count;
      this.#written += count;
      if (this.#filled === this.#message.length) isSent = this.#sendMessage() && isSent;
    }
    return isSent;
  }

  /** Fills the message that waits with silence and sends it. */
  flush(): void {
    if (this.#message === null || this.#filled === 0) return;
    this.#message.fill(SILENCE[this.#start.output.encoding], this.#filled);
    this.#written += this.#message.length - this.#filled;
    this.#sendMessage();
  }

  /** One message of silence, where the carrier wants to hear something at once. */
  answer(): void {
    if (this.#message === null || !this.#codec.answersAtOnce) return;
    this.#message.fill(SILENCE[this.#start.output.encoding]);
    this.#filled = this.#message.length;
    this.#written += this.#message.length;
    this.#sendMessage();
  }

  mark(position: number): void {
    this.#marks += 1;
    const name = `g${String(this.#generation)}:${String(this.#marks)}`;
    this.#positions.set(name, position);
    if (this.#positions.size > MOST_MARKS) {
      const [oldest] = this.#positions.keys();
      if (oldest !== undefined) this.#positions.delete(oldest);
    }
    this.#waiting.push({ afterBytes: this.#written, name });
    this.#sendMarks();
  }

  /** The position of an echoed mark; null: it was cleared, is doubled, or was never sent. */
  echoed(name: string): number | null {
    const position = this.#positions.get(name) ?? null;
    if (position === null) return null;
    for (const [earlier, at] of this.#positions) if (at <= position) this.#positions.delete(earlier);
    return position;
  }

  /** `tail` would fill no long message, so it is left out there. */
  clear(tail: Int16Array): void {
    this.#generation += 1;
    this.#positions.clear();
    this.#waiting = [];
    this.#filled = 0;
    this.#written = 0;
    this.#sent = 0;
    this.#socket.sendMessage(this.#codec.encode({ type: "clear" }, this.#start));
    if (this.#message === null) this.frame(tail);
  }

  digits(digits: string): void {
    this.#socket.sendMessage(this.#codec.encode({ type: "digits", digits }, this.#start));
  }

  #sendMessage(): boolean {
    const message = this.#message;
    if (message === null) return true;
    this.#filled = 0;
    this.#sent = this.#written;
    const isSent = this.#socket.sendAudio(
      this.#codec.encode({ type: "audio", payload: message }, this.#start),
    );
    this.#sendMarks();
    return isSent;
  }

  #send(payload: Uint8Array): boolean {
    return this.#socket.sendAudio(this.#codec.encode({ type: "audio", payload }, this.#start));
  }

  #sendMarks(): void {
    while (this.#waiting.length > 0) {
      const mark = this.#waiting[0];
      // Without long messages nothing waits: both are 0.
      if (mark === undefined || mark.afterBytes > this.#sent) return;
      this.#waiting.shift();
      this.#socket.sendMessage(this.#codec.encode({ type: "mark", name: mark.name }, this.#start));
    }
  }
}

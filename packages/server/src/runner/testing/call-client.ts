/** Test client of a serverWebSocket call: sends tones at real-time pace and records what it receives. */

import { WebSocket } from "ws";
import type { ServerDataMessage } from "@parley/schema";

export interface ReceivedFrame {
  readonly atMs: number;
  readonly samples: Int16Array;
}

export interface ReceivedMessage {
  readonly atMs: number;
  /** Audio frames received before it. */
  readonly afterFrames: number;
  readonly message: ServerDataMessage;
}

const FRAME_MS = 20;
const TONE_HZ = 440;
const TONE_LEVEL = 6_000;

export class CallClient {
  readonly socket: WebSocket;
  readonly frames: ReceivedFrame[] = [];
  readonly messages: ReceivedMessage[] = [];
  /** Resolves with the close code. */
  readonly closed: Promise<number>;
  readonly #rate: number;
  #speaking = false;
  /** Samples before this one are a tone. */
  #toneUntil = 0;
  #sent = 0;
  #startMs = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(url: string, sampleRateHz = 16_000) {
    this.#rate = sampleRateHz;
    this.socket = new WebSocket(url, { perMessageDeflate: false });
    this.closed = new Promise((resolve) => {
      this.socket.on("close", (code) => {
        this.stop();
        resolve(code);
      });
    });
    this.socket.on("error", () => {
      // `close` follows and has what the tests need.
      this.stop();
    });
    this.socket.on("message", (data: Buffer, isBinary) => {
      const atMs = performance.now();
      if (isBinary) {
        const copy = Uint8Array.from(data);
        this.frames.push({ atMs, samples: new Int16Array(copy.buffer) });
        return;
      }
      const message = JSON.parse(data.toString("utf8")) as ServerDataMessage;
      this.messages.push({ atMs, afterFrames: this.frames.length, message });
    });
  }

  async opened(): Promise<void> {
    if (this.socket.readyState === WebSocket.OPEN) return;
    await new Promise<void>((resolve, reject) => {
      this.socket.once("open", resolve);
      this.socket.once("close", (code) => {
        reject(new Error(`closed with ${String(code)}`));
      });
    });
  }

  /** Sends silence in real time from now on, and a tone while it speaks. */
  start(): void {
    this.#startMs = performance.now() - (this.#sent * 1_000) / this.#rate;
    this.#timer ??= setInterval(() => {
      this.#send();
    }, FRAME_MS);
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  speak(on: boolean): void {
    this.#speaking = on;
  }

  /** Speaks for `ms` of audio, also where a busy machine sends it late; resolves with the time of the last frame. */
  async say(ms: number): Promise<number> {
    this.#toneUntil = this.#sent + (ms * this.#rate) / 1_000;
    const endMs = performance.now() + ms;
    // A client that has been stopped or cut off sends no more.
    const sending = (): boolean => this.#timer !== null && this.socket.readyState === WebSocket.OPEN;
    while (sending() ? this.#sent < this.#toneUntil : performance.now() < endMs) await wait(5);
    return performance.now();
  }

  send(message: Readonly<Record<string, unknown>>): void {
    this.socket.send(JSON.stringify(message));
  }

  /** Messages of one type, in order of arrival. */
  of<Type extends ServerDataMessage["type"]>(type: Type): Extract<ServerDataMessage, { type: Type }>[] {
    return this.messages
      .map(({ message }) => message)
      .filter((message): message is Extract<ServerDataMessage, { type: Type }> => message.type === type);
  }

  /** The call event types that were sent. */
  eventTypes(): string[] {
    return this.of("call_event").map(({ event }) => event.type);
  }

  #send(): void {
    if (this.socket.readyState !== WebSocket.OPEN) return;
    const due = Math.floor(((performance.now() - this.#startMs) * this.#rate) / 1_000);
    const frame = (this.#rate * FRAME_MS) / 1_000;
    while (this.#sent + frame <= due) {
      const samples = new Int16Array(frame);
      if (this.#speaking || this.#sent < this.#toneUntil) {
        const step = (2 * Math.PI * TONE_HZ) / this.#rate;
        for (let i = 0; i < frame; i += 1) {
          samples[i] = Math.round(TONE_LEVEL * Math.sin((this.#sent + i) * step));
        }
      }
      this.#sent += frame;
      this.socket.send(new Uint8Array(samples.buffer));
    }
  }
}

/** Opens connections until one is taken, as clients do. */
export async function taken(open: () => CallClient): Promise<CallClient> {
  for (let attempt = 0; attempt < 60; attempt += 1) {
    const client = open();
    try {
      await client.opened();
      client.start();
      return client;
    } catch {
      await wait(500);
    }
  }
  throw new Error("the call could not be joined");
}

export function wait(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** Polls every 5 ms until `ready` is true; throws after `limitMs`. */
export async function until(ready: () => boolean, what: string, limitMs = 60_000): Promise<void> {
  const endMs = performance.now() + limitMs;
  while (!ready()) {
    if (performance.now() > endMs) throw new Error(`timed out waiting for: ${what}`);
    await wait(5);
  }
}

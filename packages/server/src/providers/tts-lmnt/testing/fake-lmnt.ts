/** A fake of LMNT's speech websocket that refuses what LMNT refuses. */

import { setImmediate as nextTurn } from "node:timers/promises";
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
import { LmntClientMessage, LmntStart } from "../contract.ts";

export const LMNT_KEY = "lmnt-secret-key-1";
export const LMNT_VOICES = ["leah", "morgan"];

export interface FakeLmntOptions extends FakePace {
  /** Bytes of a binary frame. Odd ones split samples. Default 1,001. */
  readonly frameBytes?: number;
  /** Where the times of words are counted from. LMNT does not say. Default `flush`. */
  readonly timesFrom?: "flush" | "socket";
  /** Sockets that one key may have open; another one is refused by a `rate_limit_error`. */
  readonly maxSockets?: number;
  /** Whether `reset_complete` never comes. */
  readonly neverResets?: boolean;
}

export function openFakeLmnt(options: FakeLmntOptions = {}): Promise<FakeVoiceVendor> {
  const used = { sockets: 0 };
  return openFakeVoiceVendor({
    upgrade: (request, url) => {
      if (url.pathname !== "/v1/ai/speech/stream" || url.search !== "")
        return { status: 404, body: '{"error":{"type":"not_found_error","message":"no such endpoint"}}' };
      if (request.headers["x-api-key"] !== undefined && request.headers["x-api-key"] !== LMNT_KEY)
        return { status: 401, body: '{"error":{"type":"authentication_error","message":"wrong key"}}' };
      return null;
    },
    open: (socket) => new FakeConnection(socket, options, used).take,
  });
}

class FakeConnection {
  readonly #socket: FakeSocket;
  readonly #options: FakeLmntOptions;
  readonly #used: { sockets: number };
  #start: LmntStart | null = null;
  #text = "";
  /** Increased by each reset, which cancels what began before. */
  #generation = 0;
  #spokenSeconds = 0;
  #isFinished = false;
  /** What is asked for is done in order. */
  #work: Promise<void> = Promise.resolve();

  constructor(socket: FakeSocket, options: FakeLmntOptions, used: { sockets: number }) {
    this.#socket = socket;
    this.#options = options;
    this.#used = used;
  }

  readonly take = (message: unknown): void => {
    if (this.#start === null) {
      this.#begin(message);
      return;
    }
    const read = LmntClientMessage.safeParse(message);
    if (!read.success) {
      this.#refuse("invalid_request_error", `unknown message: ${read.error.message}`);
      return;
    }
    if (this.#isFinished) {
      this.#refuse("invalid_request_error", "a message after finish");
      return;
    }
    this.#obey(read.data);
  };

  #begin(message: unknown): void {
    const start = LmntStart.safeParse(message);
    if (!start.success) {
      this.#refuse("invalid_request_error", `wrong first message: ${start.error.message}`);
      return;
    }
    const { "X-API-Key": key, voice } = start.data;
    if (key !== LMNT_KEY) this.#fail("authentication_error", `The key ${key} is not valid`);
    else if (!LMNT_VOICES.includes(voice)) this.#fail("not_found_error", `There is no voice ${voice}`);
    else if (start.data.format === "ulaw") this.#refuse("invalid_request_error", "ulaw has a WAV header");
    else if (start.data.model === "blizzard" && start.data.conversational !== undefined)
      this.#fail("invalid_request_error", "blizzard has no conversational");
    else if (this.#used.sockets >= (this.#options.maxSockets ?? Infinity))
      this.#fail("rate_limit_error", "Too many connections");
    else {
      this.#used.sockets += 1;
      this.#start = start.data;
      this.#socket.send({ type: "ready", request_id: `r${String(this.#socket.index)}` });
    }
  }

  #obey(message: LmntClientMessage): void {
    const generation = this.#generation;
    if (message.type === "text") {
      this.#options.observe?.("text", message.text);
      this.#text += message.text;
    } else if (message.type === "flush") {
      const text = this.#takeText();
      this.#then(() => this.#speak(text, generation, { type: "flush_complete", nonce: message.nonce }));
    } else if (message.type === "reset") {
      this.#generation += 1;
      this.#takeText();
      if (this.#options.neverResets === true) return;
      // What was on its way when the reset came.
      this.#socket.sendBinary(new Uint8Array(999).fill(0x55));
      this.#then(async () => {
        await nextTurn();
        this.#socket.sendBinary(new Uint8Array(777).fill(0x66));
        this.#socket.send({ type: "reset_complete", nonce: message.nonce });
      });
    } else {
      this.#isFinished = true;
      const text = this.#takeText();
      this.#then(async () => {
        await this.#speak(text, generation, null);
        this.#socket.close(1000, "finished");
      });
    }
  }

  #takeText(): string {
    const text = this.#text;
    this.#text = "";
    return text;
  }

  #then(work: () => Promise<void>): void {
    this.#work = this.#work.then(work);
  }

  async #speak(text: string, generation: number, last: object | null): Promise<void> {
    const start = this.#start;
    if (start === null || generation !== this.#generation) return;
    const samples = fakeSpeech(text, start.sample_rate, this.#options.msPerChar);
    const offset = this.#options.timesFrom === "socket" ? this.#spokenSeconds : 0;
    const frames = piecesOf(bytesOfSamples(samples), this.#options.frameBytes ?? 1_001).map((piece) => () => {
      this.#socket.sendBinary(piece);
    });
    if (start.return_timestamps && frames.length > 0) {
      const timestamps = fakeWords(text, this.#options.msPerChar).map(
        ({ word, startSeconds, endSeconds }) => ({
          text: word,
          start: startSeconds + offset,
          duration: endSeconds - startSeconds,
        }),
      );
      // Beside the audio, not in step with it.
      frames.splice(1, 0, () => {
        this.#socket.send({ type: "timestamps", timestamps });
      });
    }
    const outcome = await this.#socket.deliver(
      observed(frames, text, this.#options),
      () => generation !== this.#generation,
    );
    this.#spokenSeconds += samples.length / start.sample_rate;
    if (outcome === "sent" && last !== null) this.#socket.send(last);
  }

  /** The client broke a rule. */
  #refuse(type: string, message: string): void {
    this.#socket.refused(message);
    this.#fail(type, message);
  }

  #fail(type: string, message: string): void {
    this.#socket.send({ type: "error", error: { type, message }, request_id: "r1" });
    this.#socket.close(1008, type);
  }
}

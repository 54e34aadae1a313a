/** Fake transport without a network: records what is sent, and plays the other side. */

import type { ServerDataMessage } from "@parley/schema";
import type { Transport, TransportListener, TransportProblem } from "../transport.ts";

export interface FakeTransportOptions {
  readonly inputSampleRateHz?: number;
  readonly outputSampleRateHz?: number;
  readonly outputEncoding?: "pcm" | "mulaw";
  readonly aheadMs?: number;
  /** The other side is a telephone network: it has marks, drops audio and signals keys. */
  readonly isCarrier?: boolean;
  /** It plays keys by a means of its own. */
  readonly sendsDigits?: boolean;
}

export interface FakeTransport extends Transport {
  readonly frames: Int16Array[];
  readonly messages: ServerDataMessage[];
  /** The code of our own close; null while open. */
  readonly closedWith: number | null;
  /** The other side sends audio. */
  hear(samples: Int16Array): void;
  /** The other side sends a text frame. */
  read(text: string, tooLong?: boolean): void;
  notice(problem: TransportProblem): void;
  /** The other side is gone. */
  lose(regular: boolean, code: number): void;
  /** Audio is refused from now on, as by a full send buffer. */
  block(on: boolean): void;
  /** The other side presses a key. */
  press(key: string): void;
  /** The other side has played what was sent before the mark. */
  play(position: number): void;
  /** Positions of marks, `clear` for each `clearAudio`, and digits, in their order, where the options want them. */
  readonly commands: (number | "clear" | { readonly digits: string })[];
  /** The result of `probe`. */
  alive: boolean;
}

export function openFakeTransport(
  listener: TransportListener,
  options: FakeTransportOptions = {},
): FakeTransport {
  const { inputSampleRateHz = 16_000, outputSampleRateHz = 16_000, outputEncoding, aheadMs = 60 } = options;
  let closedWith: number | null = null;
  let gone = false;
  let blocked = false;
  const frames: Int16Array[] = [];
  const messages: ServerDataMessage[] = [];
  const lose = (regular: boolean, code: number) => {
    if (gone) return;
    gone = true;
    listener.closed(regular, code);
  };
  const open = () => !gone && closedWith === null;
  const commands: FakeTransport["commands"] = [];
  return {
    ...meansOf(options, commands),
    commands,
    press: (key) => {
      if (open()) listener.digit(key);
    },
    play: (position) => {
      if (open()) listener.played(position);
    },
    inputSampleRateHz,
    outputSampleRateHz,
    ...(outputEncoding === undefined ? {} : { outputEncoding }),
    aheadMs,
    frames,
    messages,
    alive: true,
    get closedWith() {
      return closedWith;
    },
    sendAudio: (frame) => {
      if (!open() || blocked) return false;
      frames.push(frame.slice());
      return true;
    },
    sendData: (message) => {
      if (open()) messages.push(structuredClone(message));
    },
    probe() {
      return Promise.resolve(open() && this.alive);
    },
    close: (code) => {
      if (!open()) return;
      closedWith = code;
      queueMicrotask(() => {
        lose(true, code);
      });
    },
    hear: (samples) => {
      if (open()) listener.audio(samples);
    },
    read: (text, tooLong = false) => {
      if (open()) listener.data(text, tooLong);
    },
    notice: (problem) => {
      if (open()) listener.problem(problem);
    },
    lose,
    block: (on) => {
      blocked = on;
    },
  };
}

/** What a carrier has, and notes it. */
function meansOf(
  { isCarrier = false, sendsDigits = false }: FakeTransportOptions,
  commands: FakeTransport["commands"],
): Partial<Transport> {
  const carrier = {
    signalsDigits: true,
    mark: (position: number) => void commands.push(position),
    clearAudio: () => void commands.push("clear"),
  };
  const digitSender = { sendDigits: (digits: string) => void commands.push({ digits }) };
  return { ...(isCarrier ? carrier : {}), ...(sendsDigits ? digitSender : {}) };
}

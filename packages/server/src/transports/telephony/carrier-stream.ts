/**
 * The websocket of a carrier, whichever it is: waits for the start of the stream, which says how the audio is coded,
 * and becomes the transport of a call.
 */

import { traitsOf, type ServerDataMessage } from "@parley/schema";
import type { WebSocket } from "ws";
import type { Transport, TransportListener } from "../../ports/transport.ts";
import { isRegularClose, SocketLine } from "../socket-line.ts";
import type { CarrierCodec, StreamStart } from "./codec.ts";
import { StreamReader } from "./stream-reader.ts";
import { StreamWriter } from "./stream-writer.ts";

/** Carriers send the start right after the upgrade; one of them gives up by itself after this time. */
export const START_LIMIT_MS = 10_000;
/** Characters of one message: a second of the widest audio in base64 (128 KiB at 48 kHz), and some room. */
export const LONGEST_MESSAGE_BYTES = 160 * 1024;
/** Messages that arrive between the start and the join, which reads the socket no further: those of one read. */
const MOST_HELD = 512;
/** Wait for the rest of a message of audio before silence fills it up: five frames, so that a late tick fits in. */
const FILL_WAIT_MS = 100;
/** How far beyond the audio of one message the service must be ahead, so that the carrier never runs dry. */
const MESSAGE_LEAD_MS = 100;

/**
 * Of a stream that comes back: a silent one is checked after this, and is lost after twice this time. Carriers send audio
 * every 20 ms, so a caller whose carrier has lost the connection waits no longer than that.
 */
const RETURNING_CHECK_MS = 2_000;

const CODE_REGULAR = 1000;

export type CarrierOpening =
  | { readonly kind: "started"; readonly stream: StartedStream }
  /** `reason` ends a sentence that begins with "The stream". The socket is open and belongs to the caller again. */
  | { readonly kind: "refused"; readonly reason: string }
  | { readonly kind: "closed" };

/** What the stream needs to know of its call. */
export interface StreamUse {
  /** The carrier comes back when the stream breaks. */
  readonly returns: boolean;
  /** The service has closed the stream while the carrier had it open. */
  readonly closedHere?: () => void;
}

export interface StartedStream {
  readonly start: StreamStart;
  /** At most once. The listener is not called before this has returned. */
  open(listener: TransportListener, use: StreamUse): Transport;
  /** Gives the socket back, open as it is. */
  leave(): void;
}

/** Takes over an open socket until the stream has begun, or cannot. The socket is paused then. */
export function awaitCarrierStream(
  socket: WebSocket,
  codec: CarrierCodec,
  startLimitMs = START_LIMIT_MS,
): Promise<CarrierOpening> {
  return new Promise((resolve) => {
    const stream = new CarrierStream(socket, codec, (opening) => {
      clearTimeout(timer);
      resolve(opening);
    });
    const timer = setTimeout(() => stream.giveUp("did not begin in time"), startLimitMs);
    socket.resume();
  });
}

class CarrierStream implements StartedStream {
  readonly #socket: WebSocket;
  readonly #codec: CarrierCodec;
  readonly #line: SocketLine;
  readonly #reader: StreamReader;
  #settle: ((opening: CarrierOpening) => void) | null;
  #start: StreamStart | null = null;
  #transport: CarrierTransport | null = null;
  /** What came after the start, until the call takes it. */
  readonly #held: (() => void)[] = [];
  #closedBy: number | null = null;

  constructor(socket: WebSocket, codec: CarrierCodec, settle: (opening: CarrierOpening) => void) {
    this.#socket = socket;
    this.#codec = codec;
    this.#settle = settle;
    this.#line = new SocketLine(socket, {
      frame: (data, isBinary) => {
        this.#read(data, isBinary);
      },
      congested: () => this.#transport?.congested(),
      closed: (code) => {
        this.#closed(code);
      },
    });
    this.#reader = new StreamReader(codec, {
      started: (start) => {
        this.#start = start;
        socket.pause();
        this.#settled({ kind: "started", stream: this });
      },
      refused: (reason) => {
        this.giveUp(reason);
      },
      audio: (samples) => this.#hand((transport) => transport.listener.audio(samples)),
      marked: (name) => this.#hand((transport) => transport.marked(name)),
      digit: (key) => this.#hand((transport) => transport.listener.digit(key)),
      stopped: () => this.#hand((transport) => transport.stopped()),
      problem: (problem) => this.#hand((transport) => transport.listener.problem(problem)),
    });
  }

  get start(): StreamStart {
    if (this.#start === null) throw new Error("the stream has not begun");
    return this.#start;
  }

  open(listener: TransportListener, use: StreamUse): Transport {
    const opened = { codec: this.#codec, start: this.start, line: this.#line };
    const transport = new CarrierTransport(opened, listener, use);
    if (use.returns) this.#line.checkEvery(RETURNING_CHECK_MS);
    this.#transport = transport;
    setImmediate(() => {
      for (const hand of this.#held.splice(0)) hand();
      if (this.#closedBy !== null) transport.closed(this.#closedBy);
    });
    this.#socket.resume();
    return transport;
  }

  leave(): void {
    this.#line.detach();
  }

  giveUp(reason: string): void {
    if (this.#settle === null) return;
    this.#socket.pause();
    this.#line.detach();
    this.#settled({ kind: "refused", reason });
  }

  #read(data: Buffer, isBinary: boolean): void {
    if (isBinary || data.byteLength > LONGEST_MESSAGE_BYTES) {
      this.#hand((transport) => transport.listener.problem("malformed_message"));
      return;
    }
    this.#reader.read(data.toString("utf8"), performance.now());
  }

  #hand(to: (transport: CarrierTransport) => void): void {
    if (this.#start === null) return;
    const transport = this.#transport;
    if (transport !== null && this.#held.length === 0) {
      transport.take(to);
    } else if (this.#held.length < MOST_HELD) {
      this.#held.push(() => this.#transport?.take(to));
    }
  }

  #closed(code: number): void {
    if (this.#settle !== null) this.#settled({ kind: "closed" });
    else if (this.#transport === null || this.#held.length > 0) this.#closedBy = code;
    else this.#transport.closed(code);
  }

  #settled(opening: CarrierOpening): void {
    this.#settle?.(opening);
    this.#settle = null;
  }
}

interface OpenedStream {
  readonly codec: CarrierCodec;
  readonly start: StreamStart;
  readonly line: SocketLine;
}

class CarrierTransport implements Transport {
  readonly inputSampleRateHz: number;
  readonly outputSampleRateHz: number;
  readonly outputEncoding: "pcm" | "mulaw";
  readonly aheadMs: number;
  readonly signalsDigits = true;
  readonly sendDigits?: (digits: string) => void;
  readonly listener: TransportListener;
  readonly #use: StreamUse;
  readonly #line: SocketLine;
  readonly #writer: StreamWriter;
  #fillWait: NodeJS.Timeout | null = null;
  #closing = false;
  #closed = false;

  constructor({ codec, start, line }: OpenedStream, listener: TransportListener, use: StreamUse) {
    this.#use = use;
    this.inputSampleRateHz = start.input.sampleRateHz;
    this.outputSampleRateHz = start.output.sampleRateHz;
    this.outputEncoding = start.output.encoding === "mulaw" ? "mulaw" : "pcm";
    this.listener = listener;
    this.#line = line;
    this.#writer = new StreamWriter(codec, start, line);
    const { messageMs } = this.#writer;
    const leadMs = messageMs === 0 ? 0 : messageMs + MESSAGE_LEAD_MS;
    this.aheadMs = Math.max(traitsOf(codec.kind).aheadMs ?? 0, leadMs);
    if (codec.sendsDigits) {
      this.sendDigits = (digits) => {
        if (!this.#isOver()) this.#writer.digits(digits);
      };
    }
    this.#writer.answer();
  }

  /** Hands on what has come, unless the transport is over. */
  take(to: (transport: this) => void): void {
    if (!this.#isOver()) to(this);
  }

  sendAudio(frame: Int16Array): boolean {
    if (this.#isOver()) return false;
    const isSent = this.#writer.frame(frame);
    this.#restartFillWait();
    return isSent;
  }

  /** Carriers have no messages for a client. */
  sendData(_message: ServerDataMessage): void {}

  mark(position: number): void {
    if (!this.#isOver()) this.#writer.mark(position);
  }

  clearAudio(tail: Int16Array): void {
    if (this.#isOver()) return;
    this.#stopFillWait();
    this.#writer.clear(tail);
  }

  probe(limitMs: number): Promise<boolean> {
    return this.#isOver() ? Promise.resolve(false) : this.#line.probe(limitMs);
  }

  close(code: number, reason: string): void {
    if (this.#isOver()) return;
    this.#closing = true;
    this.#stopFillWait();
    this.#line.close(code, reason);
    this.#use.closedHere?.();
  }

  congested(): void {
    if (!this.#isOver()) this.listener.problem("congested");
  }

  marked(name: string): void {
    const position = this.#writer.echoed(name);
    if (position !== null) this.listener.played(position);
  }

  /** The carrier ended the stream; some of them leave the socket open. */
  stopped(): void {
    this.#line.close(CODE_REGULAR, "stopped");
    this.closed(CODE_REGULAR);
  }

  /** A carrier that does not come back has hung up, however the socket ends (D122). */
  closed(code: number): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#stopFillWait();
    this.listener.closed(!this.#use.returns || isRegularClose(code), code);
  }

  #isOver(): boolean {
    return this.#closing || this.#closed;
  }

  #restartFillWait(): void {
    this.#stopFillWait();
    if (!this.#writer.isWaiting) return;
    this.#fillWait = setTimeout(() => {
      this.#fillWait = null;
      this.#writer.flush();
    }, FILL_WAIT_MS);
  }

  #stopFillWait(): void {
    if (this.#fillWait !== null) clearTimeout(this.#fillWait);
    this.#fillWait = null;
  }
}

/** A websocket connection of a call: 16-bit samples in binary frames, data messages in text frames. */

import { SocketAudio, type SocketRates } from "../audio/socket-audio.ts";
import type { Sound } from "../audio/sound.ts";
import { asCallError, CallError } from "./call-error.ts";
import type { Link, LinkListener } from "./link.ts";
import { Watchdog } from "./watchdog.ts";

/** Without messages from the service, a connection counts as joined this long after it was opened. */
const SILENT_JOIN_MS = 2_000;
/** Unsent bytes at which microphone frames are dropped: two seconds at 16 kHz, too late to be useful. */
const CONGESTED_BYTES = 64 * 1024;
const CODE_REGULAR = 1000;
/** Our own close code: the call continues over another connection. */
const CODE_DROPPED = 4000;
/** Close codes after which the same URL can be opened again: network failures, our own, a restarting service. */
const PASSING_CODES: ReadonlySet<number> = new Set([1006, 1011, 1012, 1013]);

export interface SocketLinkOptions {
  /** The join URL with ws or wss. */
  readonly url: string;
  /** Requested if the call was created for WebRTC. */
  readonly protocol: string | null;
  readonly rates: SocketRates;
  readonly workletUrl: string | null;
  readonly sound: Sound;
  readonly track: MediaStreamTrack;
  readonly listener: LinkListener;
}

export class SocketLink implements Link {
  readonly transport = "webSocket";
  readonly joined: Promise<void>;
  readonly #options: SocketLinkOptions;
  readonly #join = Promise.withResolvers<void>();
  readonly #watchdog: Watchdog;
  readonly #empty = new MediaStream();
  #track: MediaStreamTrack;
  #audio: SocketAudio | null = null;
  #socket: WebSocket | null = null;
  #silentJoin: ReturnType<typeof setTimeout> | undefined;
  #isJoined = false;
  #closed = false;

  constructor(options: SocketLinkOptions) {
    this.#options = options;
    this.#track = options.track;
    this.joined = this.#join.promise;
    // If another link is awaited, a rejection of this one is not an uncaught error.
    this.joined.catch(() => undefined);
    this.#watchdog = new Watchdog({ send: (text) => this.send(text), silent: () => this.#lose() });
    this.#open().catch((error: unknown) => {
      this.#fail(asCallError(error, "network", "A websocket could not be opened."));
    });
  }

  get output(): MediaStream {
    return this.#audio?.output ?? this.#empty;
  }

  get unsentBytes(): number {
    return this.#socket?.bufferedAmount ?? 0;
  }

  send(text: string): boolean {
    if (this.#closed || this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(text);
    return true;
  }

  setTrack(track: MediaStreamTrack): Promise<void> {
    this.#track = track;
    this.#audio?.setTrack(track);
    return Promise.resolve();
  }

  /** A socket cannot be restarted; a new connection joins the call. */
  restart(): Promise<boolean> {
    return Promise.resolve(!this.#closed && this.#socket?.readyState === WebSocket.OPEN);
  }

  stats(): Promise<null> {
    return Promise.resolve(null);
  }

  hangUp(): void {
    this.#close(CODE_REGULAR);
  }

  drop(): void {
    this.#close(CODE_DROPPED);
  }

  async #open(): Promise<void> {
    const { url, protocol, rates, workletUrl, sound } = this.#options;
    const audio = await SocketAudio.open(sound, rates, workletUrl, (frame) => this.#sendFrame(frame));
    if (this.#closed) {
      audio.close();
      return;
    }
    this.#audio = audio;
    audio.setTrack(this.#track);
    const socket = protocol === null ? new WebSocket(url) : new WebSocket(url, protocol);
    this.#socket = socket;
    socket.binaryType = "arraybuffer";
    socket.addEventListener("open", () => {
      this.#silentJoin = setTimeout(() => this.#welcome(), SILENT_JOIN_MS);
    });
    socket.addEventListener("message", ({ data }: MessageEvent<unknown>) => this.#take(data));
    socket.addEventListener("close", ({ code }) => this.#end(code));
  }

  #sendFrame(samples: ArrayBuffer): void {
    const socket = this.#socket;
    if (!this.#isJoined || this.#closed || socket?.readyState !== WebSocket.OPEN) return;
    if (socket.bufferedAmount <= CONGESTED_BYTES) socket.send(samples);
  }

  #take(data: unknown): void {
    if (this.#closed) return;
    this.#welcome();
    if (data instanceof ArrayBuffer) {
      this.#watchdog.heard();
      this.#audio?.play(data);
    } else if (typeof data === "string" && !this.#watchdog.read(data)) {
      if (data.startsWith('{"type":"playback_clear_buffer"')) this.#audio?.clear();
      this.#options.listener.text(data);
    }
  }

  #welcome(): void {
    if (this.#isJoined || this.#closed) return;
    this.#isJoined = true;
    clearTimeout(this.#silentJoin);
    this.#watchdog.start();
    this.#join.resolve();
  }

  #end(code: number): void {
    if (this.#closed) return;
    if (!this.#isJoined) this.#fail(refusal(code));
    else if (PASSING_CODES.has(code)) this.#lose();
    else {
      this.#close(CODE_REGULAR);
      this.#options.listener.closed(code === CODE_REGULAR ? null : refusal(code));
    }
  }

  #lose(): void {
    if (this.#closed) return;
    this.#close(CODE_DROPPED);
    this.#options.listener.lost();
  }

  #fail(error: CallError): void {
    this.#join.reject(error);
    this.#close(CODE_DROPPED);
  }

  #close(code: number): void {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#silentJoin);
    this.#watchdog.stop();
    this.#audio?.close();
    this.#socket?.close(code);
    this.#join.reject(new CallError("over", "The connection was closed."));
  }
}

function refusal(code: number): CallError {
  switch (code) {
    case 4406:
      return new CallError("refused", "This service accepts calls of this medium only over WebRTC.");
    case 4408:
      return new CallError("network", "The service received no audio for too long.");
    case 4409:
      return new CallError("already_joined", "The call is already joined by another connection.");
    case 4410:
      return new CallError("gone", "The call has ended.");
    case 1006:
      return new CallError(
        "network",
        "The websocket could not be opened: the service cannot be reached, or there is no call to join at this URL.",
      );
    default:
      return new CallError("network", `The service closed the connection (code ${String(code)}).`);
  }
}

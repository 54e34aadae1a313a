/** One socket of a pool: its handshake, the requests on it, and its end. */

import { randomUUID } from "node:crypto";
import { EngineFailure } from "../../ports/engine-failure.ts";
import { messageOf } from "../../pacing/error-text.ts";
import { dialSocket, type SocketListener, type VendorSocket } from "./dial-socket.ts";
import { bounded } from "./failure-text.ts";
import type { SocketTarget } from "./socket-protocol.ts";
import { RequestQueue, type Timers } from "./socket-request.ts";

/** A ping that is not answered until the next one takes an idle socket out of use. */
const PING_EVERY_MS = 20_000;
/** Messages in a row for requests that are gone. An aborted minute of audio in the smallest usual pieces has 3,000. */
const MAX_STRAY_MESSAGES = 10_000;

export interface PooledSocketOptions<Message> {
  readonly vendor: string;
  readonly target: SocketTarget<Message>;
  readonly timers: Timers;
  readonly handshakeLimitMs: number;
  readonly maxMessageBytes: number;
  readonly maxUnreadBytes: number;
  /** Called once, when no request can use it any longer. */
  readonly onGone: () => void;
}

export class PooledSocket<Message> {
  readonly target: SocketTarget<Message>;
  /** Resolves when it is open. Rejects with the reason why it will not be. */
  readonly opened: Promise<void>;
  /** Resolves when the connection has ended. */
  readonly ended: Promise<void>;
  readonly #options: PooledSocketOptions<Message>;
  readonly #requests = new Map<string, RequestQueue<Message>>();
  readonly #dialing = new AbortController();
  readonly #open = Promise.withResolvers<void>();
  readonly #end = Promise.withResolvers<void>();
  #socket: VendorSocket | null = null;
  #openedAtMs: number | null = null;
  #isRetired = false;
  #isGone = false;
  #strays = 0;
  #heard = true;
  #cancelReadyLimit = (): void => undefined;
  #cancelPing = (): void => undefined;
  #cancelKeepAlive = (): void => undefined;
  #cancelIdle = (): void => undefined;

  constructor(options: PooledSocketOptions<Message>) {
    this.#options = options;
    this.target = options.target;
    this.opened = this.#open.promise;
    this.ended = this.#end.promise;
    // Each request that waits for it hears the failure; there may be none.
    this.opened.catch(() => undefined);
    void this.#dial();
  }

  get isOpen(): boolean {
    return this.#openedAtMs !== null && !this.#isGone;
  }

  get load(): number {
    return this.#requests.size;
  }

  /** New requests may use it. */
  get isUsable(): boolean {
    return !this.#isRetired && !this.#isGone;
  }

  /** 0 while it is being opened. */
  get ageMs(): number {
    return this.#openedAtMs === null ? 0 : this.#options.timers.nowMs() - this.#openedAtMs;
  }

  /** A place for one request. It is free again after `leave`. */
  enter(signal: AbortSignal): RequestQueue<Message> {
    const { vendor, timers, maxUnreadBytes } = this.#options;
    this.#cancelIdle();
    const request = new RequestQueue<Message>({
      id: randomUUID(),
      vendor,
      isReused: this.isOpen,
      signal,
      timers,
      maxUnreadBytes,
      send: (data) => {
        if (this.#socket === null) throw new EngineFailure(`${vendor} is not connected`, { type: "closed" });
        this.#socket.send(data);
      },
    });
    this.#requests.set(request.id, request);
    return request;
  }

  leave(request: RequestQueue<Message>, idleLimitMs: number): void {
    request.detach();
    this.#requests.delete(request.id);
    if (this.#requests.size > 0) return;
    if (this.#isRetired) this.close();
    else this.waitIdle(idleLimitMs);
  }

  /** Closes it when no request comes for `limitMs`. */
  waitIdle(limitMs: number): void {
    this.#cancelIdle();
    if (this.#isGone || this.#requests.size > 0) return;
    this.#cancelIdle = this.#options.timers.after(limitMs, () => {
      this.close();
    });
  }

  /** No new requests; it closes after the last one. */
  retire(): void {
    this.#isRetired = true;
    if (this.#requests.size === 0) this.close();
  }

  /** Fails what is under way. */
  close(failure = new EngineFailure(`the connection to ${this.#options.vendor} was closed`)): void {
    for (const request of this.#requests.values()) request.end(failure);
    this.#gone(failure);
    if (this.#socket === null) this.#dialing.abort();
    else this.#socket.close();
  }

  async #dial(): Promise<void> {
    const { vendor, target, handshakeLimitMs, maxMessageBytes } = this.#options;
    const { url, headers, secrets, protocol } = target;
    try {
      await dialSocket(
        { vendor, url, headers, secrets, handshakeLimitMs, maxMessageBytes },
        (socket) => this.#listen(socket),
        this.#dialing.signal,
      );
    } catch (error) {
      // A lost greeting was told to `#lose` already.
      this.#gone(
        error instanceof EngineFailure
          ? error
          : new EngineFailure(`the connection to ${vendor} was not opened`, { cause: error, type: "closed" }),
      );
      this.#end.resolve();
      return;
    }
    if (this.#isGone) return;
    if (protocol.isReady === undefined) this.#becomeOpen();
    else if (!this.isOpen)
      this.#cancelReadyLimit = this.#options.timers.after(handshakeLimitMs, () => {
        this.#lose(new EngineFailure(`${vendor} did not say that it is ready`, { type: "timeout" }));
      });
  }

  #listen(socket: VendorSocket): SocketListener {
    this.#socket = socket;
    for (const message of this.target.protocol.greeting ?? []) socket.send(message);
    return {
      text: (text) => {
        this.#read(text, text.length);
      },
      binary: (bytes) => {
        this.#read(bytes, bytes.byteLength);
      },
      sign: () => {
        this.#heard = true;
      },
      closed: (failure, code, reason) => {
        this.#gone(this.target.protocol.onClose?.(code, reason) ?? failure);
        this.#end.resolve();
      },
    };
  }

  #becomeOpen(): void {
    this.#cancelReadyLimit();
    this.#openedAtMs = this.#options.timers.nowMs();
    this.#pingLater();
    this.#keepAliveLater();
    this.#open.resolve();
  }

  #read(data: string | Uint8Array, bytes: number): void {
    const { vendor, target } = this.#options;
    this.#heard = true;
    if (this.#isGone) return;
    let routed;
    try {
      routed = target.protocol.read(data);
    } catch (error) {
      const why = bounded(messageOf(error), target.secrets);
      this.#lose(
        new EngineFailure(`${vendor} sent what cannot be read: ${why}`, { cause: error, type: "garbage" }),
      );
      return;
    }
    if (routed === null) return;
    if ("lost" in routed) {
      this.#lose(routed.lost);
      return;
    }
    if (!this.isOpen) {
      if (target.protocol.isReady?.(routed.message) === true) {
        this.#becomeOpen();
        return;
      }
      // Vendors that say nothing first may speak before the promise of the handshake has been read.
      if (target.protocol.isReady !== undefined) return;
    }
    if (routed.to === null) {
      for (const request of this.#requests.values()) request.push(routed.message, bytes);
      return;
    }
    const request = this.#requests.get(routed.to);
    if (request !== undefined) {
      this.#strays = 0;
      request.push(routed.message, bytes);
      return;
    }
    this.#strays += 1;
    if (this.#strays > MAX_STRAY_MESSAGES)
      this.#lose(new EngineFailure(`${vendor} sends what nobody asked for`, { type: "flood" }));
  }

  #pingLater(): void {
    this.#cancelPing = this.#options.timers.after(PING_EVERY_MS, () => {
      // Requests have limits of their own, which say more than a missing answer to a ping.
      if (!this.#heard && this.#requests.size === 0) {
        this.#lose(new EngineFailure(`${this.#options.vendor} does not answer`, { type: "timeout" }));
        return;
      }
      this.#heard = false;
      this.#socket?.ping();
      this.#pingLater();
    });
  }

  #keepAliveLater(): void {
    const { keepAlive } = this.target.protocol;
    if (keepAlive === undefined) return;
    this.#cancelKeepAlive = this.#options.timers.after(keepAlive.everyMs, () => {
      if (this.#requests.size === 0 && this.#socket?.isOpen === true) {
        try {
          this.#socket.send(keepAlive.message);
        } catch (error) {
          // Only a vendor that does not read gets here.
          this.#lose(new EngineFailure(messageOf(error), { cause: error, type: "closed" }));
          return;
        }
      }
      this.#keepAliveLater();
    });
  }

  /** The vendor cannot be used any longer on this socket. */
  #lose(failure: EngineFailure): void {
    this.#gone(failure);
    this.#socket?.cut();
  }

  #gone(failure: EngineFailure): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#cancelReadyLimit();
    this.#cancelPing();
    this.#cancelKeepAlive();
    this.#cancelIdle();
    this.#open.reject(failure);
    for (const request of this.#requests.values()) request.lose(failure);
    this.#options.onGone();
  }
}

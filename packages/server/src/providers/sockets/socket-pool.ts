/**
 * Sockets to one vendor, kept open between requests. Sockets with the same address and headers serve the same requests;
 * each serves several at a time where the vendor has contexts.
 */

import { createHash } from "node:crypto";
import { throwIfAborted } from "../../pacing/abort.ts";
import { openClock } from "../../pacing/clock.ts";
import { EngineFailure } from "../../ports/engine-failure.ts";
import { HANDSHAKE_LIMIT_MS, MAX_MESSAGE_BYTES } from "./dial-socket.ts";
import { PooledSocket } from "./pooled-socket.ts";
import type { SocketTarget } from "./socket-protocol.ts";
import { MAX_UNREAD_BYTES, type RequestQueue, type SocketRequest, type Timers } from "./socket-request.ts";
import { WaitingLine } from "./waiting-line.ts";

export interface SocketPoolOptions {
  /** The name of the vendor, for messages. */
  readonly vendor: string;
  readonly log: (message: string) => void;
  readonly requestsPerSocket: number;
  /** Sockets with the same address and headers. */
  readonly socketsPerTarget: number;
  /** Of all targets together; beyond it the one that has been idle longest is closed. */
  readonly sockets?: number;
  /** Less than the vendor's own limit. */
  readonly idleLimitMs: number;
  /** Less than the vendor's own limit. */
  readonly ageLimitMs?: number;
  /** Requests that wait for a place. */
  readonly maxWaiting?: number;
  readonly waitLimitMs?: number;
  readonly handshakeLimitMs?: number;
  readonly maxMessageBytes?: number;
  readonly maxUnreadBytes?: number;
  readonly settleLimitMs?: number;
  readonly timers?: Timers;
}

/** A thousand calls, each with a voice of its own, have one socket each. */
const MAX_SOCKETS = 1_000;
/** No vendor guarantees more than some hours for a connection; a new one an hour costs nothing. */
const AGE_LIMIT_MS = 3_600_000;
/** Sentences of a hundred calls, each with the next one ahead. */
const MAX_WAITING = 200;
/** A caller does not wait longer for a sentence; the next engine may have it sooner. */
const WAIT_LIMIT_MS = 5_000;
/** The vendor's answer to a cancelled request; then the socket is not used again. */
const SETTLE_LIMIT_MS = 3_000;

/** A request and what follows it. */
export interface Exchange<Message, Part> {
  /** Runs once more on a fresh socket when a used one died before it had said anything to this request. */
  run(request: SocketRequest<Message>): AsyncIterable<Part>;
  /**
   * Follows `run`, however it ended, while the socket lives; `isComplete`: `run` ended by itself. The place is free when
   * it resolves. A rejection takes the socket out of use. Unset: the place is free at once.
   */
  settle?(request: SocketRequest<Message>, isComplete: boolean): Promise<void>;
}

export class SocketPool<Message> {
  readonly #options: SocketPoolOptions;
  readonly #timers: Timers;
  readonly #sockets = new Map<string, Set<PooledSocket<Message>>>();
  readonly #ending = new Set<Promise<void>>();
  readonly #line: WaitingLine<RequestQueue<Message>>;
  readonly #ownerOf = new WeakMap<RequestQueue<Message>, PooledSocket<Message>>();
  #count = 0;
  #isClosed = false;

  constructor(options: SocketPoolOptions) {
    this.#options = options;
    this.#timers = options.timers ?? openClock();
    this.#line = new WaitingLine({
      vendor: options.vendor,
      most: options.maxWaiting ?? MAX_WAITING,
      limitMs: options.waitLimitMs ?? WAIT_LIMIT_MS,
      timers: this.#timers,
    });
  }

  /** Sockets that are open or being opened. */
  get size(): number {
    return this.#count;
  }

  /** Opens a socket unless one has a free place. A failure is logged; the next request finds it out for itself. */
  prepare(target: SocketTarget<Message>): void {
    if (this.#isClosed) return;
    const key = keyOf(target);
    const hasPlace = this.#usable(key).some(({ load }) => load < this.#options.requestsPerSocket);
    if (hasPlace || !this.#hasRoom(key)) return;
    const socket = this.#dial(key, target);
    socket.opened.then(
      () => {
        socket.waitIdle(this.#options.idleLimitMs);
      },
      (error: unknown) => {
        if (error instanceof EngineFailure && !this.#isClosed) this.#options.log(error.message);
      },
    );
  }

  /** Throws an `AbortError` soon after `signal` aborts, an `EngineFailure` otherwise, or what `run` throws. */
  async *request<Part>(
    target: SocketTarget<Message>,
    exchange: Exchange<Message, Part>,
    signal: AbortSignal,
  ): AsyncGenerator<Part, void, undefined> {
    for (let attempt = 1; ; attempt += 1) {
      throwIfAborted(signal);
      const request = await this.#enter(target, signal, attempt > 1);
      let isComplete = false;
      try {
        for await (const part of exchange.run(request)) {
          request.check();
          yield part;
          request.check();
        }
        request.check();
        isComplete = true;
        return;
      } catch (error) {
        const mayRepeat = attempt === 1 && request.isReused && request.diedUnanswered;
        if (!mayRepeat || signal.aborted || this.#isClosed) throw error;
      } finally {
        void this.#settle(request, exchange, isComplete);
      }
    }
  }

  /** Fails what is under way or waits. Resolves when all connections have ended. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#line.close(this.#closedFailure());
    for (const sockets of this.#sockets.values())
      for (const socket of sockets) socket.close(this.#closedFailure());
    await Promise.all(this.#ending);
  }

  #closedFailure(): EngineFailure {
    return new EngineFailure(`the connections to ${this.#options.vendor} are closed`, { type: "closed" });
  }

  /** A place on an open socket. */
  async #enter(
    target: SocketTarget<Message>,
    signal: AbortSignal,
    isFresh: boolean,
  ): Promise<RequestQueue<Message>> {
    if (this.#isClosed) throw this.#closedFailure();
    const key = keyOf(target);
    const take = (): RequestQueue<Message> | null => this.#take(key, target, signal, isFresh);
    const request = (this.#line.has(key) ? null : take()) ?? (await this.#line.wait(key, take, signal));
    try {
      const socket = this.#ownerOf.get(request);
      if (socket !== undefined && !socket.isOpen) await untilOpen(socket, signal);
      request.check();
      return request;
    } catch (error) {
      this.#leave(request);
      throw error;
    }
  }

  #take(
    key: string,
    target: SocketTarget<Message>,
    signal: AbortSignal,
    isFresh: boolean,
  ): RequestQueue<Message> | null {
    const free = this.#usable(key).filter(
      (socket) => socket.load < this.#options.requestsPerSocket && !(isFresh && socket.isOpen),
    );
    // An open socket before one that is being opened; of each the one with the fewest requests.
    const [best] = free.sort((a, b) => Number(b.isOpen) - Number(a.isOpen) || a.load - b.load);
    if (best === undefined && isFresh) this.#closeIdle(key);
    if (best === undefined && !this.#hasRoom(key)) return null;
    const socket = best ?? this.#dial(key, target);
    const request = socket.enter(signal);
    this.#ownerOf.set(request, socket);
    // Targets that were used last are at the end: the idle ones among the first have been idle longest.
    const sockets = this.#sockets.get(key);
    if (sockets !== undefined) {
      this.#sockets.delete(key);
      this.#sockets.set(key, sockets);
    }
    return request;
  }

  /** Sockets for new requests. Those past their age are taken out. */
  #usable(key: string): PooledSocket<Message>[] {
    const sockets = [...(this.#sockets.get(key) ?? [])].filter(({ isUsable }) => isUsable);
    const limitMs = this.#options.ageLimitMs ?? AGE_LIMIT_MS;
    for (const socket of sockets) if (socket.ageMs > limitMs) socket.retire();
    return sockets.filter(({ isUsable }) => isUsable);
  }

  /** Whether one more socket may be opened; closes an idle one of another target if that is needed. */
  #hasRoom(key: string): boolean {
    if ((this.#sockets.get(key)?.size ?? 0) >= this.#options.socketsPerTarget) return false;
    const most = this.#options.sockets ?? MAX_SOCKETS;
    if (this.#count < most) return true;
    for (const other of this.#sockets.keys()) if (other !== key && this.#closeIdle(other)) break;
    return this.#count < most;
  }

  #closeIdle(key: string): boolean {
    for (const socket of this.#sockets.get(key) ?? []) {
      if (socket.load > 0 || !socket.isOpen) continue;
      socket.close();
      return true;
    }
    return false;
  }

  #dial(key: string, target: SocketTarget<Message>): PooledSocket<Message> {
    const { vendor, handshakeLimitMs, maxMessageBytes, maxUnreadBytes } = this.#options;
    const sockets = this.#sockets.get(key) ?? new Set();
    this.#sockets.set(key, sockets);
    const socket = new PooledSocket<Message>({
      vendor,
      target,
      timers: this.#timers,
      handshakeLimitMs: handshakeLimitMs ?? HANDSHAKE_LIMIT_MS,
      maxMessageBytes: maxMessageBytes ?? MAX_MESSAGE_BYTES,
      maxUnreadBytes: maxUnreadBytes ?? MAX_UNREAD_BYTES,
      onGone: () => {
        sockets.delete(socket);
        if (sockets.size === 0 && this.#sockets.get(key) === sockets) this.#sockets.delete(key);
        this.#count -= 1;
        this.#line.serve();
      },
    });
    sockets.add(socket);
    this.#count += 1;
    const ending = socket.ended.finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
    return socket;
  }

  async #settle<Part>(
    request: RequestQueue<Message>,
    exchange: Exchange<Message, Part>,
    isComplete: boolean,
  ): Promise<void> {
    const socket = this.#ownerOf.get(request);
    if (exchange.settle !== undefined && socket?.isOpen === true && !this.#isClosed) {
      const limitMs = this.#options.settleLimitMs ?? SETTLE_LIMIT_MS;
      request.reopen();
      const cancel = this.#timers.after(limitMs, () => {
        request.end(new EngineFailure(`${this.#options.vendor} did not end a request`, { type: "timeout" }));
      });
      try {
        await exchange.settle(request, isComplete);
        request.check();
      } catch {
        // Its requests end as usual. What the vendor did wrong is no failure of a request, all of which are over.
        socket.retire();
      } finally {
        cancel();
      }
    }
    this.#leave(request);
  }

  #leave(request: RequestQueue<Message>): void {
    const socket = this.#ownerOf.get(request);
    this.#ownerOf.delete(request);
    socket?.leave(request, this.#options.idleLimitMs);
    this.#line.serve();
  }
}

/** No key of a vendor is part of a key of a map, which may be printed. */
function keyOf({ url, headers, protocol }: SocketTarget<unknown>): string {
  const what = [url, Object.entries(headers).sort(([a], [b]) => (a < b ? -1 : 1)), protocol.greeting ?? []];
  return createHash("sha256").update(JSON.stringify(what)).digest("base64");
}

function untilOpen(socket: PooledSocket<unknown>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      reject(new DOMException("aborted", "AbortError"));
    };
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    socket.opened.then(resolve, reject).finally(() => {
      signal.removeEventListener("abort", abort);
    });
  });
}

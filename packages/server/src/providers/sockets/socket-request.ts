/** One request on a socket that others may use as well. */

import { abortError } from "../../pacing/abort.ts";
import type { Clock } from "../../pacing/clock.ts";
import { EngineFailure } from "../../ports/engine-failure.ts";

export type Timers = Pick<Clock, "nowMs" | "after">;

/** What an adapter sees of its request. */
export interface SocketRequest<Message> {
  /** Its name for the vendor, such as a context id: never used twice. */
  readonly id: string;
  /** The socket was open before this request came. */
  readonly isReused: boolean;
  /** Throws `EngineFailure` when the socket is closed or the vendor does not read. */
  send(data: string | Uint8Array): void;
  /**
   * The next message for this request. Rejects with an `AbortError` when the request is aborted, with an `EngineFailure`
   * when the socket is lost, or of the type `timeout` when nothing comes for `silenceLimitMs`.
   */
  next(silenceLimitMs: number): Promise<Message>;
}

/**
 * Messages of one request that are not read yet: 16 MB of base64 are four minutes of 24 kHz audio. A request has one
 * sentence.
 */
export const MAX_UNREAD_BYTES = 16 * 1_024 * 1_024;

export interface QueueOptions {
  readonly id: string;
  readonly vendor: string;
  readonly isReused: boolean;
  readonly signal: AbortSignal;
  readonly timers: Timers;
  readonly maxUnreadBytes: number;
  readonly send: (data: string | Uint8Array) => void;
}

/** The messages of a request, from the socket to the adapter. */
export class RequestQueue<Message> implements SocketRequest<Message> {
  readonly id: string;
  readonly isReused: boolean;
  readonly #options: QueueOptions;
  #messages: { readonly message: Message; readonly bytes: number }[] = [];
  #unreadBytes = 0;
  #wasAnswered = false;
  /** Thrown when all that came before is read. */
  #loss: EngineFailure | null = null;
  /** Thrown at once. */
  #end: Error | null = null;
  #wake: (() => void) | null = null;
  readonly #abort = (): void => {
    this.end(abortError());
  };

  constructor(options: QueueOptions) {
    this.id = options.id;
    this.isReused = options.isReused;
    this.#options = options;
    if (options.signal.aborted) this.#abort();
    else options.signal.addEventListener("abort", this.#abort, { once: true });
  }

  /** The socket died before it said anything to this request. */
  get diedUnanswered(): boolean {
    return this.#loss !== null && !this.#wasAnswered;
  }

  send(data: string | Uint8Array): void {
    if (this.#loss !== null) throw this.#loss;
    try {
      this.#options.send(data);
    } catch (error) {
      if (error instanceof EngineFailure) this.lose(error);
      throw error;
    }
  }

  async next(silenceLimitMs: number): Promise<Message> {
    if (this.#end === null && this.#messages.length === 0 && this.#loss === null)
      await this.#wait(silenceLimitMs);
    if (this.#end !== null) throw this.#end;
    const first = this.#messages.shift();
    if (first !== undefined) {
      this.#unreadBytes -= first.bytes;
      return first.message;
    }
    if (this.#loss !== null) throw this.#loss;
    throw new EngineFailure(`${this.#options.vendor} stopped answering`, { type: "timeout" });
  }

  /** Throws when it was aborted or closed. */
  check(): void {
    if (this.#end !== null) throw this.#end;
  }

  push(message: Message, bytes: number): void {
    if (this.#end !== null) return;
    this.#wasAnswered = true;
    this.#unreadBytes += bytes;
    if (this.#unreadBytes > this.#options.maxUnreadBytes) {
      const { vendor, maxUnreadBytes } = this.#options;
      this.end(
        new EngineFailure(`${vendor} sent more than ${String(maxUnreadBytes)} bytes ahead`, {
          type: "flood",
        }),
      );
      return;
    }
    this.#messages.push({ message, bytes });
    this.#wake?.();
  }

  lose(failure: EngineFailure): void {
    this.#loss ??= failure;
    this.#wake?.();
  }

  end(error: Error): void {
    this.#end ??= error;
    this.#messages = [];
    this.#unreadBytes = 0;
    this.#wake?.();
  }

  /** Reading goes on without the signal, so that the end of an aborted request can be awaited. */
  reopen(): void {
    this.detach();
    this.#end = null;
  }

  detach(): void {
    this.#options.signal.removeEventListener("abort", this.#abort);
  }

  async #wait(limitMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = this.#options.timers.after(limitMs, resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
    });
    this.#wake = null;
  }
}

/**
 * Limits the data messages of one sender: of the client, over whichever connection, or of the data connection. Audio
 * is limited elsewhere. What comes too fast waits in order; only beyond `WAITING_MAX` is it dropped. The result of a
 * tool that the call waits for passes at once: there are never more of them than open invocations.
 */

import { parseClientDataMessage } from "@parley/schema";
import type { CallEngineEventBody } from "../../call/events.ts";
import type { AwaitedResult } from "../../call/tools/awaited.ts";
import type { Clock } from "../../pacing/clock.ts";
import { readClientData } from "./client-data.ts";

/** A person types one a second; programs of a client that set up a call send a handful. */
export const MESSAGES_PER_SECOND = 20;
/**
 * Messages that wait: ten seconds of them. Our client library sends up to 100 at once when it has reconnected, and
 * none of those may be lost.
 */
export const WAITING_MAX = 200;
/** Characters of the messages that wait: four of the longest. */
export const WAITING_MAX_CHARS = 1024 * 1024;
const SECOND_MS = 1_000;

export interface MessageGateOptions {
  readonly source: "client" | "dataConnection";
  readonly clock: Pick<Clock, "nowMs" | "after">;
  readonly post: (event: CallEngineEventBody) => void;
  /** The results of tools that the call waits for now and that may come from here. */
  readonly awaited: () => readonly AwaitedResult[];
}

interface Message {
  readonly text: string;
  readonly tooLong: boolean;
}

export class MessageGate {
  readonly #options: MessageGateOptions;
  /** When the last messages were handed on, at most one second of them. */
  readonly #handedAtMs: number[] = [];
  readonly #waiting: Message[] = [];
  #waitingChars = 0;
  #cancelTimer: (() => void) | null = null;
  /** Since the last report. */
  #dropped = 0;
  #reportedAtMs = Number.NEGATIVE_INFINITY;
  #closed = false;

  constructor(options: MessageGateOptions) {
    this.#options = options;
  }

  /** @param tooLong `text` is not all of it */
  take(text: string, tooLong: boolean): void {
    if (this.#closed) return;
    const { source, post } = this.#options;
    if (!tooLong && this.#isAwaited(text)) {
      post(readClientData(text, false, source));
      return;
    }
    if (this.#waiting.length === 0 && this.#delayMs() === 0) {
      this.#hand({ text, tooLong });
    } else if (this.#waiting.length < WAITING_MAX && this.#waitingChars + text.length <= WAITING_MAX_CHARS) {
      this.#waiting.push({ text, tooLong });
      this.#waitingChars += text.length;
      this.#setTimer();
    } else {
      this.#dropped += 1;
      this.#report();
    }
  }

  /** What waits is dropped: the call is over. Idempotent. */
  close(): void {
    this.#closed = true;
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    this.#waiting.length = 0;
  }

  /** The text is searched for the ids first: a flood of other messages is not even parsed. */
  #isAwaited(text: string): boolean {
    const awaited = this.#options.awaited().filter(({ invocationId }) => text.includes(invocationId));
    if (awaited.length === 0) return false;
    const parsed = parseClientDataMessage(text);
    if (!parsed.ok || !("invocationId" in parsed.message)) return false;
    const { invocationId, type } = parsed.message;
    return awaited.some((result) => result.invocationId === invocationId && result.type === type);
  }

  /** Until the next may be handed on. */
  #delayMs(): number {
    const nowMs = this.#options.clock.nowMs();
    while ((this.#handedAtMs[0] ?? nowMs) <= nowMs - SECOND_MS) this.#handedAtMs.shift();
    const [oldest] = this.#handedAtMs;
    if (oldest === undefined || this.#handedAtMs.length < MESSAGES_PER_SECOND) return 0;
    return oldest + SECOND_MS - nowMs;
  }

  #hand({ text, tooLong }: Message): void {
    const { source, clock, post } = this.#options;
    this.#handedAtMs.push(clock.nowMs());
    post(readClientData(text, tooLong, source));
  }

  #setTimer(): void {
    this.#cancelTimer ??= this.#options.clock.after(this.#delayMs(), () => {
      this.#cancelTimer = null;
      this.#drain();
    });
  }

  #drain(): void {
    // Handing one on may end the call.
    while (!this.#closed && this.#delayMs() === 0) {
      const message = this.#waiting.shift();
      if (message === undefined) break;
      this.#waitingChars -= message.text.length;
      this.#hand(message);
    }
    if (this.#closed) return;
    this.#report();
    if (this.#waiting.length > 0) this.#setTimer();
  }

  /** At most once a second, with the number of messages that were dropped since the last time. */
  #report(): void {
    const { clock, post, source } = this.#options;
    const nowMs = clock.nowMs();
    if (this.#dropped === 0 || nowMs - this.#reportedAtMs < SECOND_MS) return;
    const sender = source === "client" ? "the client" : "the data connection";
    const detail =
      `${sender} sends more than ${String(MESSAGES_PER_SECOND)} a second, and too many are waiting ` +
      `(${String(this.#dropped)} dropped since the last warning)`;
    this.#dropped = 0;
    this.#reportedAtMs = nowMs;
    post({ type: "dataMessageRejected", cause: "limited", detail });
  }
}

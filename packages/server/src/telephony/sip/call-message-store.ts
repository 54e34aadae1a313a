/**
 * Stores the SIP messages of calls: in batches, behind the calls. What cannot be stored is counted and left out, because
 * a log must not hold up a call or fill the memory.
 */

import type { Logger } from "pino";
import { messageOf } from "../../pacing/error-text.ts";
import type { SipCallMessage, SipCallOwner } from "../../ports/sip-calls.ts";
import type { NewSipMessage } from "../../store/telephony/sip-messages.ts";

/** Of one call. One with a refresh a minute and keys by INFO has a few hundred in an hour. */
export const MAX_CALL_MESSAGES = 500;
/** Characters of one call; beyond them only the first lines are stored. A usual call has 10,000. */
export const MAX_CALL_CHARS = 500_000;
/** Characters of a first line that is stored alone. */
const MAX_LINE_CHARS = 200;
export const LOG_FULL = "(Not stored: the log of this call is full.)";

/** Messages become visible within about this time. */
export const WRITE_INTERVAL_MS = 1_000;
/** Of one statement: 200 messages of a usual size have 200 KB. */
const MAX_BATCH = 200;
/** Messages that wait for the database: those of 1,000 calls that begin at once. */
export const MAX_WAITING = 10_000;
/** Characters that wait: 32 MB of memory at most. */
export const MAX_WAITING_CHARS = 16_000_000;

/** Attempts for one batch, a second apart. Then it is left out: it may be the batch that the database refuses. */
export const MAX_TRIES = 60;

/** Calls whose number of messages is remembered; about 100 bytes each. The one that began first is forgotten first. */
const MAX_CALLS = 20_000;

export interface CallMessageStoreDeps {
  readonly save: (messages: readonly NewSipMessage[]) => Promise<void>;
  readonly logger: Pick<Logger, "error">;
}

interface Stored {
  messages: number;
  chars: number;
  lastPosition: number;
}

export class CallMessageStore {
  readonly #deps: CallMessageStoreDeps;
  readonly #calls = new Map<string, Stored>();
  #waiting: NewSipMessage[] = [];
  #waitingChars = 0;
  #lost = 0;
  /** Of the first batch that waits. */
  #tries = 0;
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(deps: CallMessageStoreDeps) {
    this.#deps = deps;
  }

  /** Never throws. */
  readonly add = ({ callId, accountId }: SipCallOwner, message: SipCallMessage): void => {
    const call = this.#callOf(callId);
    if (this.#isClosed || call.messages >= MAX_CALL_MESSAGES) return;
    if (this.#waiting.length >= MAX_WAITING || this.#waitingChars >= MAX_WAITING_CHARS) {
      this.#lost += 1;
      return;
    }
    const { direction, text: whole, ...rest } = message;
    const text = call.chars >= MAX_CALL_CHARS ? firstLineOf(whole) : whole;
    // Unique also where another process, or this one before its restart, has messages of the same call.
    const position = Math.max(message.atMs, call.lastPosition + 1);
    call.lastPosition = position;
    call.messages += 1;
    call.chars += text.length;
    this.#waitingChars += text.length;
    this.#waiting.push({ callId, accountId, position, isSent: direction === "sent", ...rest, text });
    this.#schedule();
  };

  /** Stores what waits, as far as the database takes it. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#writing;
    await this.#write();
  }

  #callOf(callId: string): Stored {
    const known = this.#calls.get(callId);
    if (known !== undefined) return known;
    const made: Stored = { messages: 0, chars: 0, lastPosition: 0 };
    this.#calls.set(callId, made);
    const [oldest] = this.#calls.keys();
    if (this.#calls.size > MAX_CALLS && oldest !== undefined) this.#calls.delete(oldest);
    return made;
  }

  #schedule(): void {
    if (this.#timer !== null || this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#writing = this.#write().finally(() => {
        this.#timer = null;
        if (this.#waiting.length > 0) this.#schedule();
      });
    }, WRITE_INTERVAL_MS).unref();
  }

  /** Never rejects. What was not stored waits for the next time. */
  async #write(): Promise<void> {
    if (this.#lost > 0) {
      this.#deps.logger.error(
        { messages: this.#lost },
        "SIP messages of calls were not stored: too many wait",
      );
      this.#lost = 0;
    }
    try {
      while (this.#waiting.length > 0) {
        const batch = this.#waiting.slice(0, MAX_BATCH);
        await this.#deps.save(batch);
        this.#drop(batch);
      }
    } catch (error) {
      this.#tries += 1;
      const fields = { messages: this.#waiting.length, error: messageOf(error) };
      if (this.#tries === 1) this.#deps.logger.error(fields, "SIP messages of calls could not be stored yet");
      if (this.#tries < MAX_TRIES) return;
      const batch = this.#waiting.slice(0, MAX_BATCH);
      this.#drop(batch);
      this.#deps.logger.error({ ...fields, messages: batch.length }, "SIP messages of calls were not stored");
    }
  }

  #drop(batch: readonly NewSipMessage[]): void {
    this.#tries = 0;
    this.#waiting = this.#waiting.slice(batch.length);
    this.#waitingChars -= batch.reduce((sum, { text }) => sum + text.length, 0);
  }
}

function firstLineOf(text: string): string {
  const [line = ""] = text.split("\r\n", 1);
  return `${line.slice(0, MAX_LINE_CHARS)}\r\n\r\n${LOG_FULL}`;
}

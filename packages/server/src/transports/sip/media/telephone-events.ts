/** Keys as RTP packets of their own (RFC 4733): sent frame by frame, and found in what comes. Time comes in as a number. */

import { FRAME_MS } from "../../../media/frame.ts";

const KEYS = "0123456789*#ABCD";
/** 100 ms of tone and of pause are understood by every device; Q.24 asks receivers for 40 ms of each. */
export const TONE_MS = 100;
export const PAUSE_MS = 100;
/** Of 0 to 63 below full scale (section 2.5.1.2); receivers do not need it. */
const VOLUME = 10;
/** The last packet comes three times, so that the end of a key is not lost (section 2.5.1.4). */
export const LAST_PACKETS = 3;
/** Keys that wait: as many as the service renders as tones at once. */
export const MOST_WAITING = 64;
/** A packet of the same key so soon is a part of it, whatever its timestamp: nobody presses a key twice in it. */
const SAME_KEY_MS = 60;
/** After such a pause a timestamp that is older counts as a new numbering. */
const NEW_NUMBERING_MS = 5_000;
const EVENT_BYTES = 4;
const END = 0x80;
const LONGEST_TICKS = 0xffff;

export interface EventPacket {
  readonly payload: Uint8Array;
  readonly timestamp: number;
  /** The first packet of a key. */
  readonly marker: boolean;
}

/** Keys, from left to right; others than 0-9 * # A-D are left out. */
export function keysIn(digits: string): string[] {
  return Array.from(digits.toUpperCase()).filter((key) => key !== "" && KEYS.includes(key));
}

/** Sends keys one after the other, one packet in 20 ms. */
export class EventSender {
  readonly #waiting: string[] = [];
  #current: { readonly key: string; readonly timestamp: number; frame: number } | null = null;

  /** Keys beyond `MOST_WAITING` are left out. */
  push(digits: string): void {
    this.#waiting.push(...keysIn(digits).slice(0, MOST_WAITING - this.#waiting.length));
  }

  /** From the first frame of the first key to the pause after the last one. */
  get isActive(): boolean {
    return this.#current !== null || this.#waiting.length > 0;
  }

  clear(): void {
    this.#waiting.length = 0;
    this.#current = null;
  }

  /** The packet of the next 20 ms; null in a pause, and when there is nothing to send. */
  next(timestamp: number, clockHz: number): EventPacket | null {
    if (this.#current === null) {
      const key = this.#waiting.shift();
      if (key === undefined) return null;
      this.#current = { key, timestamp, frame: 0 };
    }
    const current = this.#current;
    current.frame += 1;
    const toneFrames = TONE_MS / FRAME_MS;
    const lastFrame = toneFrames + Math.max(LAST_PACKETS - 1, PAUSE_MS / FRAME_MS);
    if (current.frame >= lastFrame) this.#current = null;
    if (current.frame >= toneFrames + LAST_PACKETS) return null;
    const isEnd = current.frame >= toneFrames;
    const lengthMs = Math.min(current.frame, toneFrames) * FRAME_MS;
    const payload = Buffer.alloc(EVENT_BYTES);
    payload.writeUInt8(KEYS.indexOf(current.key), 0);
    payload.writeUInt8((isEnd ? END : 0) | VOLUME, 1);
    payload.writeUInt16BE(Math.min(LONGEST_TICKS, (lengthMs * clockHz) / 1_000), 2);
    return { payload, timestamp: current.timestamp, marker: current.frame === 1 };
  }
}

interface LastEvent {
  readonly ssrc: number;
  readonly timestamp: number;
  readonly key: string;
  readonly hasEnded: boolean;
  readonly atMs: number;
}

/** Finds each key once, in its first packet that comes, whichever packets are lost or doubled. */
export class EventReceiver {
  #last: LastEvent | null = null;

  /** The key that begins with this packet; null: none does. */
  take(payload: Uint8Array, ssrc: number, timestamp: number, nowMs: number): string | null {
    const key = KEYS[payload[0] ?? KEYS.length];
    if (payload.length < EVENT_BYTES || key === undefined) return null;
    const hasEnded = ((payload[1] ?? 0) & END) !== 0;
    const last = this.#last?.ssrc === ssrc ? this.#last : null;
    const ahead = last === null ? 1 : (timestamp - last.timestamp) | 0;
    if (last !== null && ahead < 0 && nowMs - last.atMs < NEW_NUMBERING_MS) return null;
    const isSame =
      last !== null &&
      (ahead === 0 || (last.key === key && !last.hasEnded && nowMs - last.atMs < SAME_KEY_MS));
    this.#last = {
      ssrc,
      timestamp,
      key,
      hasEnded: hasEnded || (ahead === 0 && last?.hasEnded === true),
      atMs: nowMs,
    };
    return isSame ? null : key;
  }
}

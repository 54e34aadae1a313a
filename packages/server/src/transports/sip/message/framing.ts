/** Messages in a stream (RFC 3261, 18.3), with the keep-alive of RFC 5626, 3.5.1. */

import { MAX_MESSAGE_BYTES } from "./message.ts";
import { longName } from "./headers.ts";
import { wholeNumber } from "./syntax.ts";

export interface StreamListener {
  message(bytes: Buffer): void;
  /** Two empty lines, or several such pairs that came together: to be answered with one empty line. */
  pinged(): void;
  /** The stream cannot be read any further and is to be closed. Nothing is called afterwards. */
  broken(reason: string): void;
}

/** Longest header of a message. Those of real calls have up to 5,000 bytes. */
export const MAX_HEAD_BYTES = 32_768;

const END_OF_HEAD = Buffer.from("\r\n\r\n");

export class StreamFraming {
  readonly #listener: StreamListener;
  #buffered: Buffer = Buffer.alloc(0);
  /** Up to here there is no end of the header. */
  #searched = 0;
  /** Of the message whose header was read. */
  #wholeBytes: number | null = null;
  #isBroken = false;

  constructor(listener: StreamListener) {
    this.#listener = listener;
  }

  push(chunk: Buffer): void {
    if (this.#isBroken) return;
    this.#buffered = this.#buffered.length === 0 ? chunk : Buffer.concat([this.#buffered, chunk]);
    const received = this.#buffered;
    while (!this.#isBroken && this.#readOne());
    // A copy, so that a short rest does not hold on to the memory of long chunks.
    if (this.#buffered !== received) this.#buffered = Buffer.from(this.#buffered);
  }

  /** False: more bytes are needed. */
  #readOne(): boolean {
    if (this.#wholeBytes === null && !this.#readHead()) return false;
    const length = this.#wholeBytes;
    if (length === null || this.#buffered.length < length) return false;
    const bytes = this.#buffered.subarray(0, length);
    this.#drop(length);
    this.#wholeBytes = null;
    this.#listener.message(bytes);
    return this.#buffered.length > 0;
  }

  #readHead(): boolean {
    this.#skipBlankLines();
    const end = this.#buffered.indexOf(END_OF_HEAD, Math.max(0, this.#searched - END_OF_HEAD.length));
    if (end === -1 || end > MAX_HEAD_BYTES) {
      this.#searched = this.#buffered.length;
      if (this.#buffered.length > MAX_HEAD_BYTES) this.#break("the header is too long");
      return false;
    }
    const length = contentLength(this.#buffered.toString("latin1", 0, end));
    if (length === null) {
      this.#break("Content-Length is missing or not well-formed");
      return false;
    }
    this.#wholeBytes = end + END_OF_HEAD.length + length;
    if (this.#wholeBytes > MAX_MESSAGE_BYTES) this.#break("the message is too long");
    return !this.#isBroken;
  }

  /** All at once: a peer may send nothing else. */
  #skipBlankLines(): void {
    let at = 0;
    let isPinged = false;
    while (this.#buffered[at] === 0x0d || this.#buffered[at] === 0x0a) {
      const same = this.#samePingBytes(at);
      const isPing = same === END_OF_HEAD.length;
      // Half of a ping: the rest may follow.
      if (!isPing && at + same === this.#buffered.length) break;
      at += isPing ? same : 1;
      isPinged ||= isPing;
    }
    if (at > 0) this.#drop(at);
    if (isPinged) this.#listener.pinged();
  }

  /** How many bytes from there are those of a ping. */
  #samePingBytes(at: number): number {
    let same = 0;
    while (same < END_OF_HEAD.length && this.#buffered[at + same] === END_OF_HEAD[same]) same += 1;
    return same;
  }

  #drop(bytes: number): void {
    this.#buffered = this.#buffered.subarray(bytes);
    this.#searched = 0;
  }

  #break(reason: string): void {
    this.#isBroken = true;
    this.#buffered = Buffer.alloc(0);
    this.#listener.broken(reason);
  }
}

function contentLength(head: string): number | null {
  const lengths = head
    .replaceAll(/\r?\n[ \t]+/g, " ")
    .split(/\r?\n/)
    .flatMap((line) => {
      const [name = "", ...value] = line.split(":");
      return longName(name.trimEnd()) === "content-length" ? [value.join(":").trim()] : [];
    });
  const [length] = lengths;
  return length === undefined || lengths.length > 1 ? null : wholeNumber(length, MAX_MESSAGE_BYTES);
}

/** Reads bits, the highest first, of bytes that arrive in chunks. */

import { ArchiveError } from "./archive-error.ts";

export class BitReader {
  readonly #chunks: AsyncIterator<Buffer>;
  #bytes: Buffer = Buffer.alloc(0);
  /** Of the next byte in `#bytes`. */
  #at = 0;
  #held = 0;
  #heldBits = 0;

  constructor(source: AsyncIterable<Buffer>) {
    this.#chunks = source[Symbol.asyncIterator]();
  }

  /** Waits until `count` bytes are there, or all that come. False: there are none at all. */
  async fill(count: number): Promise<boolean> {
    const parts = [this.#bytes.subarray(this.#at)];
    let length = this.#bytes.length - this.#at;
    while (length < count) {
      const next = await this.#chunks.next();
      if (next.done === true) break;
      parts.push(next.value);
      length += next.value.length;
    }
    if (parts.length > 1) {
      this.#bytes = Buffer.concat(parts);
      this.#at = 0;
    }
    return length > 0 || this.#heldBits > 0;
  }

  bit(): number {
    if (this.#heldBits === 0) {
      const byte = this.#bytes[this.#at];
      if (byte === undefined) throw new ArchiveError("it ends too early");
      this.#at += 1;
      this.#held = byte;
      this.#heldBits = 8;
    }
    this.#heldBits -= 1;
    return (this.#held >> this.#heldBits) & 1;
  }

  /** At most 24. */
  bits(count: number): number {
    while (this.#heldBits < count) {
      const byte = this.#bytes[this.#at];
      if (byte === undefined) throw new ArchiveError("it ends too early");
      this.#at += 1;
      this.#held = ((this.#held << 8) | byte) & 0xff_ff_ff_ff;
      this.#heldBits += 8;
    }
    this.#heldBits -= count;
    return (this.#held >>> this.#heldBits) & ((1 << count) - 1);
  }

  uint32(): number {
    return this.bits(16) * 0x1_00_00 + this.bits(16);
  }

  /** Skips what is left of the present byte. */
  align(): void {
    this.#heldBits -= this.#heldBits % 8;
  }
}

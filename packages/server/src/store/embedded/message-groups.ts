/**
 * Cuts the stream of a client into groups that the database executes as one: everything up to a Sync or a simple
 * Query (PostgreSQL documentation, "Message Formats": one type byte, then a 32-bit length that counts itself). The
 * first message of a connection has no type byte.
 */
export class MessageGroups {
  #pending: Buffer = Buffer.alloc(0);
  #started = false;

  /** The groups that are complete now. `startup` is the opening message; `end` is the client's goodbye. */
  push(bytes: Uint8Array): MessageGroup[] {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#pending = this.#pending.byteLength === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    const groups: MessageGroup[] = [];
    for (;;) {
      const group = this.#next();
      if (group === null) return groups;
      groups.push(group);
    }
  }

  #next(): MessageGroup | null {
    if (!this.#started) {
      if (this.#pending.byteLength < LENGTH_BYTES) return null;
      const length = this.#pending.readUInt32BE(0);
      if (this.#pending.byteLength < length) return null;
      this.#started = true;
      return { kind: "startup", bytes: this.#take(length) };
    }
    let offset = 0;
    while (this.#pending.byteLength >= offset + HEADER_BYTES) {
      const type = this.#pending[offset];
      const end = offset + 1 + this.#pending.readUInt32BE(offset + 1);
      if (this.#pending.byteLength < end) return null;
      if (type === SYNC || type === QUERY) return { kind: "query", bytes: this.#take(end) };
      if (type === TERMINATE) return { kind: "end", bytes: this.#take(end) };
      offset = end;
    }
    return null;
  }

  #take(length: number): Buffer {
    const taken = this.#pending.subarray(0, length);
    this.#pending = this.#pending.subarray(length);
    return taken;
  }
}

export interface MessageGroup {
  readonly kind: "startup" | "query" | "end";
  readonly bytes: Buffer;
}

const LENGTH_BYTES = 4;
const HEADER_BYTES = 5;
const SYNC = "S".charCodeAt(0);
const QUERY = "Q".charCodeAt(0);
const TERMINATE = "X".charCodeAt(0);

/**
 * Splits the stream of a client into groups that the database executes together: everything up to a Sync or a simple Query
 * (PostgreSQL documentation, "Message Formats": one type byte, then a 32-bit length that counts itself). The
 * first message of a connection has no type byte.
 */
export class MessageGroups {
  #pending: Buffer = Buffer.alloc(0);
  #started = false;
  readonly #limitBytes: number;

  /** @param limitBytes of one group; a longer one is refused as soon as its length is known */
  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /**
   * The groups that are complete now. `startup` is the opening message; `end` is Terminate; after
   * `refused` the connection must be closed.
   */
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
      if (this.#pending.byteLength < STARTUP_HEADER_BYTES) return null;
      const length = this.#pending.readUInt32BE(0);
      // Requests for encryption or for cancelling look like a start in another version.
      if (length > MAXIMUM_STARTUP_BYTES || this.#pending.readUInt16BE(LENGTH_BYTES) !== PROTOCOL_VERSION) {
        return this.#refuse();
      }
      if (this.#pending.byteLength < length) return null;
      this.#started = true;
      return { kind: "startup", bytes: this.#take(length) };
    }
    let offset = 0;
    while (this.#pending.byteLength >= offset + HEADER_BYTES) {
      const type = this.#pending[offset];
      const length = this.#pending.readUInt32BE(offset + 1);
      const end = offset + 1 + length;
      if (type === undefined || !ALLOWED_TYPES.has(type) || length < LENGTH_BYTES || end > this.#limitBytes) {
        return this.#refuse();
      }
      if (this.#pending.byteLength < end) return null;
      if (type === SYNC || type === QUERY) return { kind: "query", bytes: this.#take(end) };
      if (type === TERMINATE) return { kind: "end", bytes: this.#take(end) };
      offset = end;
    }
    return null;
  }

  #refuse(): MessageGroup {
    return { kind: "refused", bytes: this.#take(this.#pending.byteLength) };
  }

  #take(length: number): Buffer {
    const taken = this.#pending.subarray(0, length);
    this.#pending = this.#pending.subarray(length);
    return taken;
  }
}

export interface MessageGroup {
  readonly kind: "startup" | "query" | "end" | "refused";
  readonly bytes: Buffer;
}

const LENGTH_BYTES = 4;
const HEADER_BYTES = 5;
const STARTUP_HEADER_BYTES = 8;
/** PostgreSQL's own limit. */
const MAXIMUM_STARTUP_BYTES = 10_000;
/** The major version. */
const PROTOCOL_VERSION = 3;
const SYNC = "S".charCodeAt(0);
const QUERY = "Q".charCodeAt(0);
const TERMINATE = "X".charCodeAt(0);
const EXECUTE = "E".charCodeAt(0);

/**
 * Parse, Bind, Describe, Execute, Close, Flush, Sync, Query, Terminate, and the COPY messages. The backend hangs on an unknown
 * type, and when its input ends during COPY.
 */
const ALLOWED_TYPES: ReadonlySet<number> = new Set(Buffer.from("PBDECHSQXdcf"));

/** CopyData, CopyDone, CopyFail. */
const COPY_TYPES: ReadonlySet<number> = new Set(Buffer.from("dcf"));

/** CopyFail, with its reason. */
const copyFail = Buffer.from("f\0\0\0\u0011not possible\0", "latin1");

/**
 * The group with a CopyFail after each message that may begin COPY FROM STDIN: so it fails like any statement, where the
 * backend would otherwise wait for data and hang. Outside COPY the backend ignores it.
 */
export function endingCopies(group: Buffer): Buffer {
  const parts: Buffer[] = [];
  let offset = 0;
  while (offset < group.byteLength) {
    const type = group[offset];
    const end = offset + 1 + group.readUInt32BE(offset + 1);
    // COPY messages of the client have no meaning, because the COPY has ended.
    if (type === undefined || !COPY_TYPES.has(type)) parts.push(group.subarray(offset, end));
    if (type === EXECUTE || type === QUERY) parts.push(copyFail);
    offset = end;
  }
  return Buffer.concat(parts);
}

/** Reads the websocket frames of the service: neither masked nor divided, as `ws` sends them. */

const EXTENDED_16 = 126;
const EXTENDED_64 = 127;
/** Longer than anything that the service sends to a caller of a benchmark. */
const LONGEST_FRAME_BYTES = 1024 * 1024;

/** `payload` is valid only during the call. */
export type TakeFrame = (opcode: number, payload: Buffer) => void;

export class PeerFrames {
  #rest: Buffer | null = null;

  /** @param chunk may be used again by its owner when this has returned */
  push(chunk: Buffer, take: TakeFrame): void {
    const bytes = this.#rest === null ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    for (;;) {
      const head = headAt(bytes, at);
      if (head === null || head.end > bytes.length) break;
      take(head.opcode, bytes.subarray(head.begin, head.end));
      at = head.end;
    }
    this.#rest = at === bytes.length ? null : Buffer.from(bytes.subarray(at));
  }
}

/** Null: not all of it is there yet. @throws RangeError */
function headAt(
  bytes: Buffer,
  at: number,
): { readonly opcode: number; readonly begin: number; readonly end: number } | null {
  if (bytes.length < at + 2) return null;
  const opcode = bytes.readUInt8(at) & 0x0f;
  const short = bytes.readUInt8(at + 1);
  const headBytes = short === EXTENDED_64 ? 10 : short === EXTENDED_16 ? 4 : 2;
  if (bytes.length < at + headBytes) return null;
  const length =
    short === EXTENDED_64
      ? Number(bytes.readBigUInt64BE(at + 2))
      : short === EXTENDED_16
        ? bytes.readUInt16BE(at + 2)
        : short;
  if (length > LONGEST_FRAME_BYTES)
    throw new RangeError(`the service sent a frame of ${String(length)} bytes`);
  return { opcode, begin: at + headBytes, end: at + headBytes + length };
}

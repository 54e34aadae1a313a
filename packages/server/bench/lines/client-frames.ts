/**
 * Websocket frames (RFC 6455, section 5) of a client that sends the same audio again and again: they are made once, so
 * that hundreds of callers cost little beside the service that they measure. The service cannot tell the difference: each
 * frame is masked, with one key for all.
 */

/** The key of the example in RFC 6455, section 5.7. None of its bytes is 0, so the other side has to unmask them all. */
const MASK = Buffer.from([0x37, 0xfa, 0x21, 0x3d]);

const FINAL = 0x80;
const MASKED = 0x80;
const LONG = 126;
/** Lengths with 16 bits; nothing here is longer. */
const LONGEST_PAYLOAD = 0xffff;

export const OPCODE = { text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

export interface ClientFrame {
  readonly bytes: Buffer;
  /** Where the payload begins. */
  readonly payloadAt: number;
}

export function clientFrame(opcode: number, payload: Uint8Array): ClientFrame {
  const { length } = payload;
  if (length > LONGEST_PAYLOAD) throw new RangeError(`a frame of ${String(length)} bytes`);
  const isLong = length >= LONG;
  const maskAt = isLong ? 4 : 2;
  const payloadAt = maskAt + MASK.length;
  const bytes = Buffer.alloc(payloadAt + length);
  bytes[0] = FINAL | opcode;
  bytes[1] = MASKED | (isLong ? LONG : length);
  if (isLong) bytes.writeUInt16BE(length, 2);
  bytes.set(MASK, maskAt);
  for (let i = 0; i < length; i += 1) bytes[payloadAt + i] = (payload[i] ?? 0) ^ (MASK[i & 3] ?? 0);
  return { bytes, payloadAt };
}

const ZERO = 0x30;

/** Writes `value` with `digits` decimal digits at this place of a masked payload. */
export function writeMaskedDigits(
  frame: Buffer,
  { payloadAt, at, digits }: { readonly payloadAt: number; readonly at: number; readonly digits: number },
  value: number,
): void {
  let rest = value;
  for (let place = at + digits - 1; place >= at; place -= 1) {
    frame[payloadAt + place] = (ZERO + (rest % 10)) ^ (MASK[place & 3] ?? 0);
    rest = Math.floor(rest / 10);
  }
}

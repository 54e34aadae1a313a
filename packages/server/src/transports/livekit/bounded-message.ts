/** Messages of protobuf, reduced to the fields that are used before the library decodes them. */

/**
 * Fields of one message. LiveKit clients send at most 20. The library makes an object of each field that it does not
 * know, and 80 KB of them took it 25 to 66 ms.
 */
const MAX_FIELDS = 32;
/** Bytes of the longest varint, which has 64 bits. */
const MAX_VARINT_BYTES = 10;

const WIRE_VARINT = 0;
const WIRE_64_BITS = 1;
const WIRE_BYTES = 2;
const WIRE_32_BITS = 5;

/** Options of the library: fields that it does not know are skipped. */
export const KNOWN_FIELDS = { readUnknownFields: false } as const;

/** The numbers of the fields that are used; of a message in a field those of its own fields, otherwise null. */
export interface UsedFields {
  readonly [fieldNumber: number]: UsedFields | null;
}

export interface Field {
  readonly number: number;
  readonly isBytes: boolean;
  /** Its tag and its value. */
  readonly whole: Uint8Array;
  /** Without the tag, and of bytes without their length. */
  readonly value: Uint8Array;
}

/** The fields of a message, which are not decoded. @throws RangeError */
export function fieldsOf(bytes: Uint8Array, maxFields = MAX_FIELDS): readonly Field[] {
  const fields: Field[] = [];
  for (let at = 0; at < bytes.length;) {
    if (fields.length >= maxFields) throw new RangeError(`more than ${String(maxFields)} fields`);
    const tag = varintAt(bytes, at);
    const wire = tag.value % 8;
    const number = Math.floor(tag.value / 8);
    if (number === 0 || tag.value > 0xff_ff_ff_ff) throw new RangeError("a tag that is not valid");
    const { start, end } = valueAt(bytes, tag.end, wire);
    if (end > bytes.length) throw new RangeError("a field that is longer than its message");
    const [whole, value] = [bytes.subarray(at, end), bytes.subarray(start, end)];
    fields.push({ number, isBytes: wire === WIRE_BYTES, whole, value });
    at = end;
  }
  return fields;
}

/** The message with the used fields alone. @throws RangeError */
export function reduced(bytes: Uint8Array, used: UsedFields): Uint8Array {
  const parts: Uint8Array[] = [];
  for (const { number, isBytes, whole, value } of fieldsOf(bytes)) {
    const inner = used[number];
    if (inner === undefined) continue;
    if (inner === null) {
      parts.push(whole);
      continue;
    }
    if (!isBytes) throw new RangeError("a field that is not a message");
    const message = reduced(value, inner);
    parts.push(varint(number * 8 + WIRE_BYTES), varint(message.length), message);
  }
  return Buffer.concat(parts);
}

function valueAt(bytes: Uint8Array, at: number, wire: number): { start: number; end: number } {
  if (wire === WIRE_VARINT) return { start: at, end: varintAt(bytes, at).end };
  if (wire === WIRE_64_BITS) return { start: at, end: at + 8 };
  if (wire === WIRE_32_BITS) return { start: at, end: at + 4 };
  // Groups are no part of these messages, and a reader descends into them.
  if (wire !== WIRE_BYTES) throw new RangeError("a field of an unknown type");
  const length = varintAt(bytes, at);
  return { start: length.end, end: length.end + length.value };
}

/** Not exact above 2^53, which no tag and no length may be. */
function varintAt(bytes: Uint8Array, start: number): { value: number; end: number } {
  let value = 0;
  for (let index = 0; index < MAX_VARINT_BYTES; index += 1) {
    const byte = bytes[start + index];
    if (byte === undefined) throw new RangeError("a number that is cut off");
    value += (byte % 128) * 2 ** (7 * index);
    if (byte < 128) return { value, end: start + index + 1 };
  }
  throw new RangeError("a number that is too long");
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Uint8Array.of(...bytes, rest);
}

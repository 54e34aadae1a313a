/** Changes captured packets: what they say of lengths and kinds, and any of their bytes. */

import type { Draw } from "../../sim/draw.ts";
import type { Field, FieldsOf } from "./fields.ts";

/** A datagram of Ethernet has 1,472 bytes; some inputs are longer than any that a client sends. */
export const MAX_INPUT_BYTES = 4_096;
const MAX_CHANGES = 4;
const MAX_INSERTED_BYTES = 64;
const NUMBERS: readonly [number, ...number[]] = [
  0, 1, 2, 3, 4, 5, 7, 8, 12, 16, 20, 63, 64, 127, 128, 129, 191, 192, 254, 255, 256, 1_023, 1_024, 4_096,
  16_384, 32_767, 32_768, 65_534, 65_535, 65_536, 0xff_ffff, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe,
  0xffff_ffff,
];

type Change = (draw: Draw, packet: Buffer, fields: readonly Field[], others: readonly Buffer[]) => Buffer;

/** @param others further captures, of which parts are put in */
export function mutated(draw: Draw, packet: Buffer, fieldsOf: FieldsOf, others: readonly Buffer[]): Buffer {
  let changed: Buffer = Buffer.from(packet);
  for (let left = draw.whole(1, MAX_CHANGES); left > 0; left -= 1) {
    const fields = fieldsOf(changed);
    const change = fields.length > 0 && draw.chance(0.5) ? setField : draw.one(CHANGES);
    changed = change(draw, changed, fields, others);
  }
  return changed.subarray(0, MAX_INPUT_BYTES);
}

/** One of the captures, or random bytes where nothing was captured. */
export function oneOf(draw: Draw, captures: readonly Buffer[]): Buffer {
  return captures[draw.whole(0, captures.length - 1)] ?? bytes(draw, draw.whole(1, 100));
}

export function bytes(draw: Draw, length: number): Buffer {
  const made = Buffer.alloc(length);
  for (let at = 0; at < length; at += 1) made[at] = draw.whole(0, 255);
  return made;
}

const setField: Change = (draw, packet, fields) => {
  const { at, bytes: length } = fields[draw.whole(0, fields.length - 1)] ?? { at: 0, bytes: 1 };
  if (packet.length < at + length) return packet;
  const present = packet.readUIntBE(at, length);
  const most = 2 ** (8 * length);
  const near = present + draw.whole(-4, 4);
  const value = draw.chance(0.4) ? near : draw.chance(0.8) ? draw.one(NUMBERS) : draw.whole(0, most - 1);
  packet.writeUIntBE(((value % most) + most) % most, at, length);
  return packet;
};

const CHANGES: readonly [Change, ...Change[]] = [
  setField,
  // One bit.
  (draw, packet) => {
    const at = draw.whole(0, packet.length - 1);
    if (packet.length > 0) packet[at] = (packet[at] ?? 0) ^ (1 << draw.whole(0, 7));
    return packet;
  },
  // Any byte.
  (draw, packet) => {
    if (packet.length > 0) packet[draw.whole(0, packet.length - 1)] = draw.whole(0, 255);
    return packet;
  },
  // A number in any place.
  (draw, packet) => {
    const length = draw.one([1, 2, 4]);
    if (packet.length < length) return packet;
    packet.writeUIntBE(draw.one(NUMBERS) % 2 ** (8 * length), draw.whole(0, packet.length - length), length);
    return packet;
  },
  // The end is missing.
  (draw, packet) => packet.subarray(0, draw.whole(0, packet.length)),
  // A part is missing.
  (draw, packet) => {
    const from = draw.whole(0, packet.length);
    return Buffer.concat([packet.subarray(0, from), packet.subarray(from + draw.whole(1, 16))]);
  },
  // A part comes twice, or something of another packet comes between.
  (draw, packet, _fields, others) => {
    const source = draw.chance(0.5) ? packet : oneOf(draw, others);
    const from = draw.whole(0, source.length);
    const part = source.subarray(from, from + draw.whole(1, MAX_INSERTED_BYTES));
    const at = draw.whole(0, packet.length);
    return Buffer.concat([packet.subarray(0, at), part, packet.subarray(at)]);
  },
  // More at the end.
  (draw, packet) => Buffer.concat([packet, bytes(draw, draw.whole(1, MAX_INSERTED_BYTES))]),
  // Another packet at the end.
  (draw, packet, _fields, others) => Buffer.concat([packet, oneOf(draw, others)]),
];

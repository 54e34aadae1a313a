/** Where packets have lengths, counts and types: changes there reach more code than changes anywhere. */

export interface Field {
  readonly at: number;
  readonly bytes: 1 | 2 | 4;
}

export type FieldsOf = (packet: Buffer) => readonly Field[];

/** Of one packet; a packet that says it has more is broken already. */
const MAX_FIELDS = 200;

/** RFC 8489, section 5: type and length, then attributes with a type and a length each. */
export const stunFields: FieldsOf = (packet) => {
  const fields: Field[] = [field(0, 2), field(2, 2), field(4, 4)];
  for (let at = 20; at + 4 <= packet.length && fields.length < MAX_FIELDS;) {
    fields.push(field(at, 2), field(at + 2, 2));
    at += 4 + padded(packet.readUInt16BE(at + 2));
  }
  return within(packet, fields);
};

/** RFC 6347, section 4.1: records with a type, an epoch, a number and a length; of handshakes also their messages. */
export const dtlsFields: FieldsOf = (packet) => {
  const fields: Field[] = [];
  for (let at = 0; at + 13 <= packet.length && fields.length < MAX_FIELDS;) {
    fields.push(field(at, 1), field(at + 1, 2), field(at + 3, 2), field(at + 7, 4), field(at + 11, 2));
    const length = packet.readUInt16BE(at + 11);
    // Type, length, number, offset and length of the fragment; then the lengths inside of the message.
    for (const inner of [0, 1, 3, 4, 6, 8, 9, 11]) fields.push(field(at + 13 + inner, inner === 4 ? 2 : 1));
    for (let inner = 25; inner < 13 + length && fields.length < MAX_FIELDS; inner += 7) {
      fields.push(field(at + inner, 2));
    }
    at += 13 + length;
  }
  return within(packet, fields);
};

/** RFC 3550, section 5.1: version, padding, extension and number of sources; type; number; time; source; extension. */
export const rtpFields: FieldsOf = (packet) => {
  const extensionAt = 12 + 4 * ((packet[0] ?? 0) & 0x0f);
  return within(packet, [
    field(0, 1),
    field(1, 1),
    field(2, 2),
    field(4, 4),
    field(8, 4),
    field(extensionAt, 2),
    field(extensionAt + 2, 2),
    // The configuration of the Opus packet, and its padding.
    field(12, 1),
    field(13, 1),
    field(packet.length - 1, 1),
  ]);
};

/** RFC 3550, section 6.4: packets with a count, a type and a length each. */
export const rtcpFields: FieldsOf = (packet) => {
  const fields: Field[] = [];
  for (let at = 0; at + 4 <= packet.length && fields.length < MAX_FIELDS;) {
    fields.push(field(at, 1), field(at + 1, 1), field(at + 2, 2), field(at + 4, 4), field(at + 8, 2));
    at += 4 + 4 * packet.readUInt16BE(at + 2);
  }
  return within(packet, [...fields, field(packet.length - 1, 1)]);
};

/** RFC 9260, section 3: chunks with a type, flags and a length each, and what they begin with. */
export const sctpFields: FieldsOf = (packet) => {
  const fields: Field[] = [];
  for (let at = 12; at + 4 <= packet.length && fields.length < MAX_FIELDS;) {
    fields.push(field(at, 1), field(at + 1, 1), field(at + 2, 2));
    for (const inner of [4, 8, 10, 12, 14, 16]) fields.push(field(at + inner, inner === 4 ? 4 : 2));
    at += Math.max(4, padded(packet.readUInt16BE(at + 2)));
  }
  return within(packet, fields);
};

function field(at: number, bytes: Field["bytes"]): Field {
  return { at, bytes };
}

function within(packet: Buffer, fields: readonly Field[]): readonly Field[] {
  return fields.filter(({ at, bytes }) => at >= 0 && at + bytes <= packet.length);
}

function padded(length: number): number {
  return (length + 3) & ~3;
}

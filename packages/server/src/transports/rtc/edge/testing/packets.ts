/** Builds packets as clients and attackers send them. */

import { createHmac } from "node:crypto";
import type { IceCredentials } from "../stun.ts";

const HEADER_BYTES = 20;

export interface StunOptions {
  readonly type?: number;
  readonly username?: string;
  readonly password?: string;
  /** 12 bytes. */
  readonly transactionId?: Buffer;
  /** In place of the user name, the priority and USE-CANDIDATE. */
  readonly attributes?: readonly Buffer[];
  /** Before and after MESSAGE-INTEGRITY. */
  readonly before?: readonly Buffer[];
  readonly after?: readonly Buffer[];
}

export const CREDENTIALS: IceCredentials = {
  localUsername: "ours1234",
  localPassword: "a password of 24 letters",
  remoteUsername: "theirs12",
};

export function stunAttribute(type: number, value: Buffer): Buffer {
  const header = Buffer.alloc(4);
  header.writeUInt16BE(type, 0);
  header.writeUInt16BE(value.length, 2);
  return Buffer.concat([header, value, Buffer.alloc((4 - (value.length % 4)) % 4)]);
}

/** A signed binding request with USE-CANDIDATE. */
export function stunRequest(options: StunOptions = {}): Buffer {
  const { localUsername, localPassword, remoteUsername } = CREDENTIALS;
  const username = options.username ?? `${localUsername}:${remoteUsername}`;
  const attributes = options.attributes ?? [
    stunAttribute(0x0006, Buffer.from(username)),
    stunAttribute(0x0024, Buffer.from([0x6e, 0x7f, 0x1e, 0xff])),
    stunAttribute(0x0025, Buffer.alloc(0)),
  ];
  const body = Buffer.concat([...attributes, ...(options.before ?? [])]);
  const hmac = createHmac("sha1", options.password ?? localPassword)
    .update(Buffer.concat([stunHeader(options, body.length + 24), body]))
    .digest();
  const whole = Buffer.concat([body, stunAttribute(0x0008, hmac), ...(options.after ?? [])]);
  return Buffer.concat([stunHeader(options, whole.length), whole]);
}

function stunHeader({ type = 0x0001, transactionId }: StunOptions, length: number): Buffer {
  const header = Buffer.alloc(HEADER_BYTES, 7);
  transactionId?.copy(header, 8, 0, 12);
  header.writeUInt16BE(type, 0);
  header.writeUInt16BE(length, 2);
  header.writeUInt32BE(0x2112a442, 4);
  return header;
}

export interface RecordOptions {
  readonly type?: number;
  readonly epoch?: number;
  readonly number?: number;
  readonly fragment?: Buffer;
}

export function dtlsRecord({ type = 22, epoch = 0, number = 0, fragment }: RecordOptions): Buffer {
  const body = fragment ?? handshakeMessage({});
  const header = Buffer.alloc(13);
  header.writeUInt8(type, 0);
  header.writeUInt16BE(0xfefd, 1);
  header.writeUInt16BE(epoch, 3);
  header.writeUIntBE(number, 5, 6);
  header.writeUInt16BE(body.length, 11);
  return Buffer.concat([header, body]);
}

export interface MessageOptions {
  readonly type?: number;
  readonly length?: number;
  readonly offset?: number;
  readonly fragment?: Buffer;
}

export function handshakeMessage({ type = 1, fragment = Buffer.alloc(40), ...rest }: MessageOptions): Buffer {
  const header = Buffer.alloc(12);
  header.writeUInt8(type, 0);
  header.writeUIntBE(rest.length ?? fragment.length, 1, 3);
  header.writeUIntBE(rest.offset ?? 0, 6, 3);
  header.writeUIntBE(fragment.length, 9, 3);
  return Buffer.concat([header, fragment]);
}

export function sctpChunk(type: number, body: Buffer, length = body.length + 4): Buffer {
  const header = Buffer.alloc(4);
  header.writeUInt8(type, 0);
  header.writeUInt16BE(length, 2);
  return Buffer.concat([header, body, Buffer.alloc((4 - (body.length % 4)) % 4)]);
}

/** Without a checksum: the library compares it. */
export function sctpPacket(tag: number, ...chunks: readonly Buffer[]): Buffer {
  const header = Buffer.alloc(12);
  header.writeUInt16BE(5000, 0);
  header.writeUInt16BE(5000, 2);
  header.writeUInt32BE(tag, 4);
  return Buffer.concat([header, ...chunks]);
}

export function numbers(...values: readonly (readonly [bytes: 2 | 4, value: number])[]): Buffer {
  return Buffer.concat(
    values.map(([bytes, value]) => {
      const buffer = Buffer.alloc(bytes);
      buffer.writeUIntBE(value, 0, bytes);
      return buffer;
    }),
  );
}

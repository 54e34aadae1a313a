/** One input of each protocol and sender: drawn, changed, protected where its sender has the keys, and sent. */

import { stunAttribute, stunRequest } from "../../src/transports/rtc/edge/testing/packets.ts";
import type { Draw } from "../../sim/draw.ts";
import type { Caller } from "./caller.ts";
import type { Captures } from "./captures.ts";
import { dtlsOf, sendRecord } from "./client-inside.ts";
import { dtlsFields, type FieldsOf, rtcpFields, rtpFields, stunFields } from "./fields.ts";
import { bytes, mutated, oneOf } from "./mutate.ts";
import type { Protocol, Sender } from "./protocols.ts";
import { SctpInputs } from "./sctp-inputs.ts";
import type { Stranger } from "./stranger.ts";

export interface Target {
  readonly caller: Caller;
  readonly stranger: Stranger;
  readonly captures: Captures;
}

/** Sends one input. Returns it as it was before it was protected. */
export type Deliver = (draw: Draw) => Promise<Buffer>;

export interface AttackKind {
  /** Of one connection. Then there is another one, because packets that were accepted change what it accepts. */
  readonly inputsPerCall: number;
  /** Connections that are attacked at the same time. */
  readonly lanes: number;
  readonly begin: (target: Target) => Deliver;
}

/** Content types of DTLS: changes of the cipher, alerts, handshakes, data, and unknown ones. */
const RECORD_TYPES: readonly [number, ...number[]] = [20, 21, 22, 22, 23, 23, 24, 63, 0];
const CHUNKS_OF_DTLS = 0.05;
/** The connection takes at most 1,000 packets of audio a second and drops the others before they are decoded. */
const MEDIA_LANES = 6;
const MIN_RTCP_BYTES = 8;

type Raw = Pick<Captures, "stun" | "dtls" | "srtp" | "srtcp">;

function unkeyed(
  kind: keyof Raw,
  fieldsOf: FieldsOf,
  send: (target: Target, data: Buffer) => Promise<void>,
): AttackKind {
  return {
    inputsPerCall: 5_000,
    lanes: 2,
    begin: (target) => async (draw) => {
      const all = target.captures[kind];
      const input = mutated(draw, oneOf(draw, all), fieldsOf, all);
      await send(target, input);
      return input;
    },
  };
}

const byStranger = ({ caller, stranger }: Target, data: Buffer): Promise<void> =>
  stranger.send(data, caller.place);
const bySpoofer = ({ caller }: Target, data: Buffer): Promise<void> => caller.sendRaw(data);

function withoutKeys(
  kind: keyof Raw,
  fieldsOf: FieldsOf,
): Readonly<Record<"stranger" | "spoofer", AttackKind>> {
  return { stranger: unkeyed(kind, fieldsOf, byStranger), spoofer: unkeyed(kind, fieldsOf, bySpoofer) };
}

/** Requests with a valid signature; some from another address, which then counts as one of the caller's. */
const signedRequests: AttackKind = {
  inputsPerCall: 2_000,
  lanes: 2,
  begin: (target) => {
    const { caller, captures } = target;
    const attributes = captures.stun.map((packet) => packet.subarray(20));
    return async (draw) => {
      const part = mutated(draw, oneOf(draw, attributes), attributeFields, attributes);
      const input = stunRequest({
        type: draw.chance(0.9) ? 1 : draw.whole(0, 0x3fff),
        username: caller.username,
        password: caller.password,
        transactionId: bytes(draw, 12),
        attributes: [stunAttribute(0x0006, Buffer.from(caller.username)), part],
      });
      await (draw.chance(0.1) ? byStranger : bySpoofer)(target, input);
      return input;
    };
  },
};

const attributeFields: FieldsOf = (attributes) =>
  stunFields(Buffer.concat([Buffer.alloc(20), attributes]))
    .filter(({ at }) => at >= 20)
    .map(({ at, bytes: length }) => ({ at: at - 20, bytes: length }));

/** Records of an encrypted connection: some with a valid signature, the others as somebody without keys sends them. */
const records: AttackKind = {
  inputsPerCall: 2_000,
  lanes: 2,
  begin: (target) => {
    const { caller, captures } = target;
    // What the service answers is not for the client's library.
    caller.isDeaf = true;
    return async (draw) => {
      const input = mutated(draw, oneOf(draw, captures.dtls), dtlsFields, captures.dtls);
      if (draw.chance(CHUNKS_OF_DTLS))
        await sendRecord(caller.client, draw.one(RECORD_TYPES), input.subarray(13, 1_200));
      else await caller.sendRaw(input);
      return input;
    };
  },
};

const rtpOfCaller: AttackKind = {
  inputsPerCall: 2_000,
  lanes: MEDIA_LANES,
  begin: ({ caller, captures }) => {
    const { localContext } = dtlsOf(caller.client).srtp;
    const { ssrc } = caller.rtpSender;
    let sequence = 0;
    return async (draw) => {
      const packet = Buffer.from(oneOf(draw, captures.rtp));
      // Its own numbers go on, so that most of the packets are decoded.
      sequence = (sequence + draw.one([1, 1, 1, 1, 1, 1, 2, 3, 65_535])) & 0xffff;
      if (packet.length >= 12) {
        packet.writeUInt16BE(sequence, 2);
        packet.writeUInt32BE((sequence * 960) >>> 0, 4);
        packet.writeUInt32BE(draw.chance(0.95) ? ssrc : draw.whole(0, 300), 8);
      }
      const input = mutated(draw, packet, rtpFields, captures.rtp);
      await caller.sendRaw(input.length < 12 ? input : encryptedRtp(input, localContext));
      return input;
    };
  },
};

/** The header as it is, whatever it says; all else is encrypted. */
function encryptedRtp(packet: Buffer, context: ReturnType<typeof dtlsOf>["srtp"]["localContext"]): Buffer {
  const header = packet.subarray(0, Math.min(packet.length, headerBytes(packet)));
  return context.encryptRtp(packet.subarray(header.length), {
    ssrc: packet.readUInt32BE(8),
    sequenceNumber: packet.readUInt16BE(2),
    serializeSize: header.length,
    serialize: () => header,
  });
}

/** RFC 3550, section 5.1. */
function headerBytes(packet: Buffer): number {
  const [first = 0] = packet;
  const fixed = 12 + 4 * (first & 0x0f);
  const hasExtension = (first & 0x10) !== 0 && packet.length >= fixed + 4;
  return hasExtension ? fixed + 4 + 4 * packet.readUInt16BE(fixed + 2) : fixed;
}

const rtcpOfCaller: AttackKind = {
  inputsPerCall: 2_000,
  lanes: 2,
  begin: ({ caller, captures }) => {
    const { srtcp } = dtlsOf(caller.client);
    return async (draw) => {
      const input = mutated(draw, oneOf(draw, captures.rtcp), rtcpFields, captures.rtcp);
      await caller.sendRaw(input.length < MIN_RTCP_BYTES ? input : srtcp.encrypt(input));
      return input;
    };
  },
};

const sctpOfCaller: AttackKind = {
  inputsPerCall: 500,
  lanes: 4,
  begin: ({ caller, captures }) => {
    // What the service answers is about packets that the client's library has not sent.
    caller.isDeaf = true;
    const inputs = new SctpInputs(caller.client, captures.sctp);
    const transport = dtlsOf(caller.client);
    return async (draw) => {
      const input = inputs.next(draw);
      await transport.sendData(input);
      return input;
    };
  },
};

/** Offers and handshakes are not among them, because they are made before there is a connection. */
export const ATTACK_KINDS: Readonly<Record<Exclude<Protocol, "sdp">, Partial<Record<Sender, AttackKind>>>> = {
  stun: { ...withoutKeys("stun", stunFields), caller: signedRequests },
  dtls: { ...withoutKeys("dtls", dtlsFields), caller: records },
  rtp: { ...withoutKeys("srtp", rtpFields), caller: rtpOfCaller },
  rtcp: { ...withoutKeys("srtcp", rtcpFields), caller: rtcpOfCaller },
  sctp: { caller: sctpOfCaller },
};

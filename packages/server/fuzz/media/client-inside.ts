/** What the attacks use of the inside of a client's WebRTC library, of the version in `werift-internals.ts`. */

import type { RTCPeerConnection } from "werift";

export type Place = readonly [address: string, port: number];

/** The UDP socket of a connection. */
export interface UdpInside {
  send(data: Buffer, to: Place): Promise<void>;
  onData(data: Buffer, from: Place): void;
}

/** What the encryption of RTP reads of a header. */
export interface HeaderInside {
  readonly ssrc: number;
  readonly sequenceNumber: number;
  readonly serializeSize: number;
  serialize(size: number): Buffer;
}

export interface DtlsTransportInside {
  sendData(data: Buffer): Promise<void>;
  sendRtp(payload: Buffer, header: HeaderInside): Promise<number>;
  readonly srtp: {
    readonly localContext: { encryptRtp(payload: Buffer, header: HeaderInside): Buffer };
  };
  readonly srtcp: { encrypt(packet: Buffer): Buffer };
  sendRtcp(packets: readonly { serialize(): Buffer }[]): Promise<void>;
  readonly dtls?: {
    send(data: Buffer): Promise<void>;
    readonly cipher: { encryptPacket(record: RecordInside): RecordInside };
  };
}

export interface RecordInside {
  readonly recordLayerHeader: { contentType: number };
}

export interface SctpInside {
  readonly localPort: number;
  readonly remotePort: number;
  readonly remoteVerificationTag: number;
  readonly localTsn: number;
  readonly lastReceivedTsn: number;
}

export function udpOf(client: RTCPeerConnection): UdpInside {
  const agent: unknown = client.iceTransports[0]?.connection;
  const { protocols } = agent as { readonly protocols: readonly { readonly transport: UdpInside }[] };
  const [socket] = protocols;
  if (socket === undefined) throw new Error("the client has no socket");
  return socket.transport;
}

export function dtlsOf(client: RTCPeerConnection): DtlsTransportInside {
  const inside: unknown = client.dtlsTransports[0];
  return inside as DtlsTransportInside;
}

export function sctpOf(client: RTCPeerConnection): SctpInside {
  const inside: unknown = client.sctpTransport?.sctp;
  return inside as SctpInside;
}

/** Encrypts and sends a record of any type. */
export async function sendRecord(client: RTCPeerConnection, type: number, content: Buffer): Promise<void> {
  const { dtls } = dtlsOf(client);
  if (dtls === undefined) throw new Error("the client is not encrypted");
  const { cipher } = dtls;
  const encryptPacket = cipher.encryptPacket.bind(cipher);
  cipher.encryptPacket = (record) => {
    record.recordLayerHeader.contentType = type;
    return encryptPacket(record);
  };
  // The record is encrypted before this returns.
  const sent = dtls.send(content);
  cipher.encryptPacket = encryptPacket;
  await sent;
}

/**
 * What we use of the inside of the WebRTC library. Nothing of it is promised by the library, so a test pins the version
 * that was read.
 */

import type { RTCPeerConnection } from "werift";

/** The version whose inside is described here. */
export const WERIFT_VERSION = "0.25.2";

export interface IceInternals {
  localUsername: string;
  localPassword: string;
  remoteUsername: string;
  readonly state: string;
  /** Passwords by user name, of this and of earlier generations. */
  userHistory: Record<string, string>;
  /** Makes new credentials. */
  restart(): Promise<void>;
  /** Gets each new socket before it is bound. */
  ensureProtocol(protocol: SocketInternals): void;
  send(data: Buffer): Promise<void>;
  /** Closes its sockets. */
  close(): Promise<void>;
}

export interface SocketInternals {
  datagramReceived(data: Buffer, address: readonly [string, number]): void;
}

export interface HandshakeMessage {
  readonly msg_type: number;
  readonly message_seq: number;
  readonly fragment: Buffer;
  serialize(): Buffer;
}

export interface RecordInternals {
  readonly recordLayerHeader: {
    readonly contentType: number;
    readonly protocolVersion: { readonly major: number; readonly minor: number };
    readonly epoch: number;
    readonly sequenceNumber: number;
    readonly contentLen: number;
  };
  readonly fragment: Buffer;
}

/** The server's side of a handshake. */
export interface DtlsInternals {
  readonly connected: boolean;
  onHandleHandshakes: (messages: readonly HandshakeMessage[]) => Promise<void>;
  readonly dtls: {
    readonly flight: number;
    /** Messages by flight; 5 is the client's last one. */
    readonly handshakeCache: Record<number, unknown>;
    readonly sortedHandshakeCache: readonly HandshakeMessage[];
  };
  readonly cipher: {
    readonly masterSecret?: Buffer | undefined;
    readonly remoteCertificate?: Buffer | undefined;
    decryptPacket(record: RecordInternals): Buffer;
  };
}

export interface SrtpInternals {
  readonly config: { readonly profile: number };
  decrypt: (packet: Buffer) => Buffer;
}

export interface DtlsTransportInternals {
  dtls?: DtlsInternals | undefined;
  srtp?: SrtpInternals | undefined;
  srtcp?: SrtpInternals | undefined;
}

export interface SctpInternals {
  readonly localVerificationTag: number;
  /** 4: established. */
  readonly associationState: number;
  readonly lastReceivedTsn?: number | undefined;
  readonly lastSackedTsn: number;
  /** The number of the next chunk that is queued. */
  readonly localTsn: number;
  readonly outboundQueue: readonly unknown[];
  readonly inboundStreams: Readonly<
    Record<number, { readonly reassembly: readonly { readonly userData: Buffer }[] }>
  >;
  handleData(packet: Buffer): Promise<void>;
}

export interface PeerInternals {
  readonly ice: readonly IceInternals[];
  readonly dtls: readonly DtlsTransportInternals[];
  readonly sctp: SctpInternals | null;
}

/** @throws where the library has not the inside that we know */
export function internalsOf(connection: RTCPeerConnection): PeerInternals {
  const sctp: unknown = connection.sctpTransport?.sctp ?? null;
  const ice: unknown[] = connection.iceTransports.map((transport) => transport.connection);
  const dtls: unknown[] = connection.dtlsTransports;
  if (!ice.every(isIce)) throw new Error("the WebRTC library has another ICE agent than expected");
  if (!dtls.every(isDtls)) throw new Error("the WebRTC library has another DTLS transport than expected");
  if (sctp !== null && !isSctp(sctp)) throw new Error("the WebRTC library has another SCTP than expected");
  return { ice, dtls, sctp };
}

function isIce(value: unknown): value is IceInternals {
  return (
    hasMembers(value, { localUsername: "string", localPassword: "string", userHistory: "object" }) &&
    hasMembers(value, { restart: "function", ensureProtocol: "function", send: "function" }) &&
    hasMembers(value, { close: "function", state: "string" })
  );
}

function isDtls(value: unknown): value is DtlsTransportInternals {
  return hasMembers(value, { dataReceiver: "function", startSrtp: "function" });
}

function isSctp(value: unknown): value is SctpInternals {
  return (
    hasMembers(value, {
      localVerificationTag: "number",
      associationState: "number",
      lastSackedTsn: "number",
    }) && hasMembers(value, { localTsn: "number", inboundStreams: "object", handleData: "function" })
  );
}

function hasMembers(value: unknown, members: Readonly<Record<string, string>>): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    Object.entries(members).every(([name, type]) => typeof Reflect.get(value, name) === type)
  );
}

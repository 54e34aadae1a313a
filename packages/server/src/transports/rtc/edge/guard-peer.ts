/** Puts our checks between the network and the WebRTC library, for one connection. */

import { randomBytes } from "node:crypto";
import type { RTCPeerConnection } from "werift";
import { kindOf } from "../error-kind.ts";
import { DatagramGate } from "./datagram-gate.ts";
import { HandshakeGuard } from "./handshake-guard.ts";
import { onAssignment } from "./on-assignment.ts";
import { problemOfPacket } from "./sctp-packets.ts";
import { refuseRtcpReplays, refuseRtpReplays } from "./srtp-replays.ts";
import type { IceCredentials } from "./stun.ts";
import { type IceInternals, internalsOf, type SctpInternals } from "./werift-internals.ts";

/** RFC 8445, section 5.3, demands 24 bits and 128 bits of randomness. Base64 has the characters that ICE allows. */
const USERNAME_BYTES = 6;
const PASSWORD_BYTES = 18;
const SCTP_ESTABLISHED = 4;
/** Of all channels together: the largest message, and what may come before its missing part. */
const MAX_REASSEMBLY_BYTES = 640 * 1_024;
const MAX_REASSEMBLY_CHUNKS = 1_024;

export interface GuardListener {
  /** The other side has ended its encryption. */
  ended(): void;
  /** The other side, authenticated, has broken a protocol. `detail` holds nothing of what it sent. */
  fault(detail: string): void;
}

export interface PeerGuard {
  /** To be called after each further remote description. False: the media go over another connection than ours. */
  holds(): boolean;
  /** To be called when the library has closed the connection: closes what it has not. */
  close(): Promise<void>;
}

/**
 * To be called when the remote description is set for the first time, before there are sockets.
 *
 * @throws where the library has not the inside that we know
 */
export function guardPeer(connection: RTCPeerConnection, listener: GuardListener): PeerGuard {
  const { ice, dtls, sctp } = internalsOf(connection);
  const [agent] = ice;
  const [transport] = dtls;
  // All media of a call share one connection (BUNDLE, RFC 8843); a second one would have no guard.
  if (agent === undefined || transport === undefined || ice.length > 1 || dtls.length > 1) {
    throw new Error("the offer must have one connection for all media (BUNDLE)");
  }
  let handshake: HandshakeGuard | null = null;
  const credentials = renewCredentials(agent);
  const gate = new DatagramGate(
    {
      get credentials() {
        return credentials();
      },
      get isEncrypted() {
        return transport.dtls?.connected ?? false;
      },
    },
    (record) => {
      if (handshake?.isEnd(record) === true) listener.ended();
    },
  );
  guardSockets(agent, gate);
  onAssignment(transport, "dtls", (dtlsSocket) => {
    handshake = new HandshakeGuard(dtlsSocket);
  });
  onAssignment(transport, "srtp", refuseRtpReplays);
  onAssignment(transport, "srtcp", refuseRtcpReplays);
  if (sctp !== null) guardSctp(sctp, listener);
  return {
    holds: () => {
      const now = internalsOf(connection);
      return (
        now.ice.length === 1 && now.ice[0] === agent && now.dtls.length === 1 && now.dtls[0] === transport
      );
    },
    close: async () => {
      // The library forgets sockets of a connection that it has replaced.
      if (agent.state !== "closed") await agent.close();
    },
  };
}

/**
 * Returns the credentials of this and the previous generation: clients use the old ones until they have the answer to a
 * restart. The library's own have 16 and 88 bits.
 */
function renewCredentials(agent: IceInternals): () => readonly IceCredentials[] {
  let previous: IceCredentials | null = null;
  const current = (): IceCredentials => {
    const { localUsername, localPassword, remoteUsername } = agent;
    return { localUsername, localPassword, remoteUsername };
  };
  const forget = (username: string): boolean => Reflect.deleteProperty(agent.userHistory, username);
  const renew = (): void => {
    forget(agent.localUsername);
    agent.localUsername = randomBytes(USERNAME_BYTES).toString("base64");
    agent.localPassword = randomBytes(PASSWORD_BYTES).toString("base64");
    agent.userHistory[agent.localUsername] = agent.localPassword;
  };
  const restart = agent.restart.bind(agent);
  agent.restart = async () => {
    if (previous !== null) forget(previous.localUsername);
    previous = current();
    const restarted = restart();
    renew();
    await restarted;
  };
  renew();
  return () => (previous === null ? [current()] : [current(), previous]);
}

function guardSockets(agent: IceInternals, gate: DatagramGate): void {
  const ensureProtocol = agent.ensureProtocol.bind(agent);
  agent.ensureProtocol = (socket) => {
    const process = socket.datagramReceived.bind(socket);
    socket.datagramReceived = (data, source) => {
      const admitted = gate.admit(data, source);
      if (admitted !== null) process(admitted, source);
    };
    ensureProtocol(socket);
  };
  // What cannot be sent is lost, as on any network. The library leaves some of these errors to nobody.
  const send = agent.send.bind(agent);
  agent.send = async (data) => {
    await send(data).catch(() => undefined);
  };
}

function guardSctp(sctp: SctpInternals, listener: GuardListener): void {
  const handle = sctp.handleData.bind(sctp);
  const fault = (detail: string): void => listener.fault(`SCTP: ${detail}`);
  sctp.handleData = async (packet) => {
    const problem = problemOfPacket(packet, {
      localVerificationTag: sctp.localVerificationTag,
      isEstablished: sctp.associationState === SCTP_ESTABLISHED,
      lastReceivedTsn: sctp.lastReceivedTsn,
      lastConfirmedTsn: sctp.lastSackedTsn,
      lastSentTsn: (sctp.localTsn - 1 - sctp.outboundQueue.length) >>> 0,
    });
    if (problem !== null) return fault(problem);
    try {
      await handle(packet);
    } catch (error) {
      return fault(kindOf(error));
    }
    if (isOverfull(sctp)) fault("messages that are too long, or never end");
  };
}

function isOverfull({ inboundStreams }: SctpInternals): boolean {
  let bytes = 0;
  let chunks = 0;
  for (const { reassembly } of Object.values(inboundStreams)) {
    chunks += reassembly.length;
    for (const { userData } of reassembly) bytes += userData.length;
  }
  return bytes > MAX_REASSEMBLY_BYTES || chunks > MAX_REASSEMBLY_CHUNKS;
}

/**
 * Our part of the server's side of a DTLS handshake (RFC 6347, RFC 5246): the library reads the client's last messages
 * without checking them, in the order in which they come, and begins anew on every ClientHello.
 */

import { isFinishedOfClient, isSignedByCertificate } from "./dtls-client-proof.ts";
import { RECORD_HEADER_BYTES } from "./dtls-records.ts";
import { ReplayGuard } from "./replay-window.ts";
import type { DtlsInternals, HandshakeMessage } from "./werift-internals.ts";

const CLIENT_HELLO = 1;
const CERTIFICATE = 11;
const CERTIFICATE_VERIFY = 15;
const CLIENT_KEY_EXCHANGE = 16;
const FINISHED = 20;
/** The client's messages between our last one and the change of the cipher, in the order of RFC 5246, section 7.3. */
const CLIENT_PROOF = [CERTIFICATE, CLIENT_KEY_EXCHANGE, CERTIFICATE_VERIFY];
/** Our certificate and key exchange. */
const SERVER_FLIGHT = 4;
/** Under which the library stores what the client answers. */
const CLIENT_FLIGHT = 5;
const CLOSE_NOTIFY = 0;
const FATAL = 2;
/** Alerts and data. */
const CONTENT_TYPES = 2;
const HANDSHAKE_RECORD = 22;
/**
 * Encrypted handshake records of one connection. The only one that is processed is the client's Finished message, which
 * it sends again until it has got ours: ten times, where it runs the same library.
 */
const MAX_HANDSHAKE_RECORDS = 16;

export class HandshakeGuard {
  readonly #dtls: DtlsInternals;
  readonly #handle: (messages: readonly HandshakeMessage[]) => Promise<void>;
  readonly #waiting = new Map<number, HandshakeMessage>();
  #isVerified = false;

  constructor(dtls: DtlsInternals) {
    this.#dtls = dtls;
    this.#handle = dtls.onHandleHandshakes;
    dtls.onHandleHandshakes = async (messages) => {
      for (const message of messages) await this.#take(message);
    };
    refuseReplays(dtls);
  }

  /** Whether an encrypted alert record is of the other side and ends the connection. */
  isEnd(record: Buffer): boolean {
    try {
      const alert = this.#dtls.cipher.decryptPacket(recordOf(record));
      return alert.length === 2 && (alert[0] === FATAL || alert[1] === CLOSE_NOTIFY);
    } catch {
      // Not from the other side, or sent twice.
      return false;
    }
  }

  async #take(message: HandshakeMessage): Promise<void> {
    const { dtls, connected } = this.#dtls;
    if (message.msg_type === FINISHED) await this.#finish(message);
    // No renegotiation.
    else if (connected) return;
    else if (message.msg_type === CLIENT_HELLO) {
      // One without a cookie, late, would replace the keys of the handshake that is under way.
      if (dtls.flight < SERVER_FLIGHT || hasCookie(message.fragment)) await this.#handle([message]);
    } else if (CLIENT_PROOF.includes(message.msg_type) && dtls.flight === SERVER_FLIGHT) {
      if (!this.#waiting.has(message.msg_type)) this.#waiting.set(message.msg_type, message);
      await this.#prove();
    }
  }

  /**
   * Processes the client's messages as soon as all are there. Nothing is awaited before the end: the Finished message
   * in the same datagram can be decrypted only afterwards.
   */
  async #prove(): Promise<void> {
    const [certificate, keyExchange, proof] = CLIENT_PROOF.map((type) => this.#waiting.get(type));
    if (this.#isVerified || certificate === undefined || keyExchange === undefined || proof === undefined)
      return;
    this.#waiting.clear();
    const handled = [this.#handle([certificate]), this.#handle([keyExchange])];
    const { remoteCertificate } = this.#dtls.cipher;
    if (
      remoteCertificate !== undefined &&
      isSignedByCertificate(proof.fragment, remoteCertificate, this.#transcript())
    ) {
      handled.push(this.#handle([proof]));
      this.#isVerified = true;
    } else {
      // Somebody else may have sent one of them. The client sends its own again.
      Reflect.deleteProperty(this.#dtls.dtls.handshakeCache, CLIENT_FLIGHT);
    }
    await Promise.all(handled);
  }

  async #finish(message: HandshakeMessage): Promise<void> {
    if (!this.#isVerified) return;
    // One more after the handshake: the client has not got our last messages, and the library sends them again.
    if (!this.#dtls.connected) {
      const { masterSecret } = this.#dtls.cipher;
      if (
        masterSecret === undefined ||
        !isFinishedOfClient(message.fragment, masterSecret, this.#transcript())
      ) {
        throw new Error("the client's Finished message does not match the handshake");
      }
    }
    await this.#handle([message]);
  }

  #transcript(): Buffer {
    return Buffer.concat(this.#dtls.dtls.sortedHandshakeCache.map((message) => message.serialize()));
  }
}

/** A ClientHello: version (2), random (32), session id, cookie (RFC 6347, section 4.2.1). */
function hasCookie(hello: Buffer): boolean {
  const idBytes = hello[34];
  return idBytes !== undefined && (hello[35 + idBytes] ?? 0) > 0;
}

/**
 * Each content type has a window of its own, which is as safe because the type is signed: clients that run the same
 * library use the number of their Finished message again for data. They also send that message again with the number
 * that it had, so handshake records are counted instead: the same one twice changes nothing.
 */
function refuseReplays({ cipher }: DtlsInternals): void {
  const guard = new ReplayGuard(CONTENT_TYPES);
  let handshakeRecords = 0;
  const decrypt = cipher.decryptPacket.bind(cipher);
  cipher.decryptPacket = (record) => {
    const { contentType, sequenceNumber } = record.recordLayerHeader;
    if (contentType === HANDSHAKE_RECORD) {
      if (handshakeRecords >= MAX_HANDSHAKE_RECORDS) throw new Error("too many handshake records");
      const message = decrypt(record);
      handshakeRecords += 1;
      return message;
    }
    return guard.once(
      contentType,
      () => sequenceNumber,
      () => decrypt(record),
    );
  };
}

function recordOf(record: Buffer): Parameters<DtlsInternals["cipher"]["decryptPacket"]>[0] {
  return {
    recordLayerHeader: {
      contentType: record.readUInt8(0),
      protocolVersion: { major: record.readUInt8(1), minor: record.readUInt8(2) },
      epoch: record.readUInt16BE(3),
      sequenceNumber: record.readUIntBE(5, 6),
      contentLen: record.readUInt16BE(11),
    },
    fragment: record.subarray(RECORD_HEADER_BYTES),
  };
}

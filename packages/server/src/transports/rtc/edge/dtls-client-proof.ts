/** What a DTLS client proves in its last messages: that it has the key of its certificate, and the whole handshake. */

import { createHmac, createHash, timingSafeEqual, verify, X509Certificate } from "node:crypto";

const VERIFY_DATA_BYTES = 12;

/** Types of keys by the signature schemes that we ask for, all with SHA-256 (RFC 5246, section 7.4.1.4.1). */
const KEY_TYPES: Readonly<Record<number, string>> = { 0x0403: "ec", 0x0401: "rsa" };

/**
 * Checks the body of a CertificateVerify message (RFC 5246, section 7.4.8).
 *
 * @param certificate the client's, in DER
 * @param transcript all handshake messages before this one, with their headers, not fragmented
 */
export function isSignedByCertificate(body: Buffer, certificate: Buffer, transcript: Buffer): boolean {
  if (body.length < 4 || body.length !== 4 + body.readUInt16BE(2)) return false;
  const keyType = KEY_TYPES[body.readUInt16BE(0)];
  try {
    const key = new X509Certificate(certificate).publicKey;
    return key.asymmetricKeyType === keyType && verify("sha256", transcript, key, body.subarray(4));
  } catch {
    // A certificate or signature that cannot be read proves nothing.
    return false;
  }
}

/**
 * Checks the body of a client's Finished message (RFC 5246, section 7.4.9), for cipher suites with SHA-256.
 *
 * @param transcript all handshake messages before this one, with their headers, not fragmented
 */
export function isFinishedOfClient(body: Buffer, masterSecret: Buffer, transcript: Buffer): boolean {
  const seed = Buffer.concat([
    Buffer.from("client finished"),
    createHash("sha256").update(transcript).digest(),
  ]);
  const mac = (data: Buffer): Buffer => createHmac("sha256", masterSecret).update(data).digest();
  // P_SHA256 (RFC 5246, section 5); its first block has more bytes than are needed.
  const expected = mac(Buffer.concat([mac(seed), seed])).subarray(0, VERIFY_DATA_BYTES);
  return body.length === VERIFY_DATA_BYTES && timingSafeEqual(expected, body);
}

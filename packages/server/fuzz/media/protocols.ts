/** The protocols of a WebRTC call that are attacked, and who sends the inputs of each. */

export const PROTOCOLS = ["stun", "dtls", "rtp", "rtcp", "sctp", "sdp"] as const;
export type Protocol = (typeof PROTOCOLS)[number];

/**
 * - `stranger`: another address, without credentials.
 * - `spoofer`: the address of the caller, without keys: what somebody can send who forges source addresses.
 * - `caller`: the holder of the join URL, with the keys of the connection.
 */
export type Sender = "stranger" | "spoofer" | "caller";

/** SCTP is inside of DTLS, and offers are accepted from holders of a join URL only: others cannot send either. */
export const SENDERS: Readonly<Record<Protocol, readonly [Sender, ...Sender[]]>> = {
  stun: ["stranger", "spoofer", "caller"],
  dtls: ["stranger", "spoofer", "caller"],
  rtp: ["stranger", "spoofer", "caller"],
  rtcp: ["stranger", "spoofer", "caller"],
  sctp: ["caller"],
  sdp: ["caller"],
};

/** @throws for a name that is no protocol */
export function protocolsIn(text: string): readonly Protocol[] {
  return text.split(",").map((name) => {
    const protocol = PROTOCOLS.find((known) => known === name.trim());
    if (protocol === undefined) throw new Error(`--only: ${name} is none of ${PROTOCOLS.join(", ")}`);
    return protocol;
  });
}

/** The packets of one call of a client, which are captured at the start of a run and changed by the attacks. */

import type { RTCPeerConnection } from "werift";
import { dtlsOf, udpOf } from "./client-inside.ts";

/** Of each kind; a call of a second has some 50 of most. */
const MAX_CAPTURES = 400;

export interface Captures {
  /** As they were on the wire. */
  readonly stun: Buffer[];
  readonly dtls: Buffer[];
  readonly srtp: Buffer[];
  readonly srtcp: Buffer[];
  /** Before their encryption. */
  readonly rtp: Buffer[];
  readonly rtcp: Buffer[];
  readonly sctp: Buffer[];
  readonly offers: string[];
}

export function noCaptures(): Captures {
  return { stun: [], dtls: [], srtp: [], srtcp: [], rtp: [], rtcp: [], sctp: [], offers: [] };
}

function keep(list: Buffer[], packet: Buffer): void {
  if (list.length < MAX_CAPTURES) list.push(Buffer.from(packet));
}

/** To be called when the client has made its offer, and before it gets the answer. */
export function captureFrom(client: RTCPeerConnection, captures: Captures): void {
  const udp = udpOf(client);
  const send = udp.send.bind(udp);
  udp.send = (data, to) => {
    keep(kindOf(data, captures), data);
    return send(data, to);
  };
  const dtls = dtlsOf(client);
  const sendData = dtls.sendData.bind(dtls);
  const sendRtp = dtls.sendRtp.bind(dtls);
  const sendRtcp = dtls.sendRtcp.bind(dtls);
  dtls.sendData = (packet) => {
    keep(captures.sctp, packet);
    return sendData(packet);
  };
  dtls.sendRtp = (payload, header) => {
    keep(captures.rtp, Buffer.concat([header.serialize(header.serializeSize), payload]));
    return sendRtp(payload, header);
  };
  dtls.sendRtcp = (packets) => {
    keep(captures.rtcp, Buffer.concat(packets.map((packet) => packet.serialize())));
    return sendRtcp(packets);
  };
}

/** RFC 7983, section 7, and RFC 5761, section 4. */
function kindOf(data: Buffer, { stun, dtls, srtp, srtcp }: Captures): Buffer[] {
  const [first = 0, second = 0] = data;
  if (first <= 3) return stun;
  if (first <= 63) return dtls;
  return second >= 192 && second <= 223 ? srtcp : srtp;
}

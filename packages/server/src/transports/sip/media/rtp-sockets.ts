/** A pair of UDP sockets: RTP on an even port, RTCP on the next one (RFC 3550, section 11). */

import { createSocket, type Socket } from "node:dgram";
import { randomInt } from "node:crypto";
import { isIPv6 } from "node:net";
import { NoPortError } from "../../rtc/peer.ts";
import type { RtpSocketOptions } from "../../rtc/rtp-media.ts";

/** Trials where any port may be taken: half of the ports that the system gives are odd. */
const FREE_PORT_TRIALS = 64;
/** Pairs of a range that are tried; a range with so many pairs in use is too small for its calls. */
const RANGE_TRIALS = 4_096;

export interface RtpSockets {
  readonly rtp: Socket;
  readonly rtcp: Socket;
  readonly port: number;
  readonly rtcpPort: number;
}

/** @throws NoPortError */
export async function openRtpSockets({ bindAddress, portRange }: RtpSocketOptions): Promise<RtpSockets> {
  for (const port of portRange === null ? freePorts() : portsOf(portRange)) {
    const sockets = await openPair(bindAddress, port);
    if (sockets !== null) return sockets;
  }
  throw new NoPortError("no pair of UDP ports is free");
}

function freePorts(): number[] {
  return Array.from({ length: FREE_PORT_TRIALS }, () => 0);
}

/** Even ports whose next one is in the range too, from a random one on, so that no call gets the last one's port. */
export function* portsOf([first, last]: readonly [number, number]): Generator<number> {
  const lowest = first + (first % 2);
  const pairs = Math.floor((last - lowest + 1) / 2);
  if (pairs < 1) return;
  const from = randomInt(pairs);
  for (let n = 0; n < Math.min(pairs, RANGE_TRIALS); n += 1) yield lowest + 2 * ((from + n) % pairs);
}

/** Null where one of the two is in use. `port` 0: any, of which only an even one is kept. */
async function openPair(address: string, port: number): Promise<RtpSockets | null> {
  const rtp = await bound(address, port);
  if (rtp === null) return null;
  const own = rtp.address().port;
  const rtcp = own % 2 === 0 && own < 65_535 ? await bound(address, own + 1) : null;
  if (rtcp !== null) return { rtp, rtcp, port: own, rtcpPort: own + 1 };
  rtp.close();
  return null;
}

/** Null where the port is in use. @throws NoPortError where the address cannot be bound */
function bound(address: string, port: number): Promise<Socket | null> {
  const isIpv6 = isIPv6(address);
  const socket = createSocket({
    type: isIpv6 ? "udp6" : "udp4",
    ipv6Only: isIpv6,
    // Media go to addresses, never to names. The system's resolver would look at each of them and answer later, which
    // costs a third of a datagram's time in this process.
    lookup: (other, _options, found) => found(null, other, isIpv6 ? 6 : 4),
  });
  return new Promise((resolve, reject) => {
    const failed = (error: Error): void => {
      socket.close();
      const code = "code" in error ? String(error.code) : "";
      if (code === "EADDRINUSE" || code === "EACCES") resolve(null);
      else reject(new NoPortError(`the address cannot be bound for media: ${code}`));
    };
    socket.once("error", failed);
    socket.bind({ address, port, exclusive: true }, () => {
      socket.off("error", failed);
      resolve(socket);
    });
  });
}

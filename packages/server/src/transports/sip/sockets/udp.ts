/** Datagrams. */

import { createSocket } from "node:dgram";
import { isIP } from "node:net";
import type { Hop, SendFailed } from "../transactions/wire.ts";
import type { SipSource } from "../user-agent.ts";
import { plainAddress, type Inbound } from "./inbound.ts";

interface UdpOptions extends Inbound {
  readonly bind: string;
  readonly port: number;
}

interface UdpSocket {
  readonly bound: SipSource;
  send(bytes: Buffer, hop: Hop, failed: SendFailed): void;
  close(): Promise<void>;
}

/** Smallest datagram that can be a message; keep-alives have 2 or 4 bytes. */
const MIN_MESSAGE_BYTES = 20;
/** A burst of INVITEs waits here while the thread does something else: 1 MB is a thousand. */
const RECEIVE_BUFFER_BYTES = 1_048_576;

export async function openUdp({ bind, port, admit, received }: UdpOptions): Promise<UdpSocket> {
  const isIpv6 = isIP(bind) === 6;
  const socket = createSocket({ type: isIpv6 ? "udp6" : "udp4" });
  await new Promise<void>((resolve, reject) => {
    socket.once("error", reject);
    // Of this process alone, also where it is one of several workers.
    socket.bind({ address: bind, port, exclusive: true }, () => {
      socket.off("error", reject);
      resolve();
    });
  });
  try {
    socket.setRecvBufferSize(RECEIVE_BUFFER_BYTES);
  } catch {
    // The machine's own size is used.
  }
  // Errors of one datagram come by the callback of `send`; others concern no call.
  socket.on("error", () => undefined);
  let isClosed = false;
  socket.on("message", (bytes, { address, port: from }) => {
    if (isClosed || bytes.length < MIN_MESSAGE_BYTES || from === 0) return;
    const source = plainAddress(address);
    if (!admit(source)) return;
    received(bytes, { transport: "udp", address: source, port: from, connection: null, serverName: null });
  });
  const { address, port: boundPort } = socket.address();
  return {
    bound: { transport: "udp", address, port: boundPort },
    send: (bytes, hop, failed) => {
      const target = isIpv6 && isIP(hop.address) === 4 ? `::ffff:${hop.address}` : hop.address;
      if (isClosed) queueMicrotask(failed);
      else
        socket.send(bytes, hop.port, target, (error) => {
          if (error !== null) failed(error);
        });
    },
    close: () =>
      new Promise((resolve) => {
        if (isClosed) {
          resolve();
          return;
        }
        isClosed = true;
        socket.close(resolve);
      }),
  };
}

/** A peer over SIP on the loopback address that redirects every call (302) to the address that a test names. */

import { createSocket } from "node:dgram";
import { once } from "node:events";

export interface SipRedirector {
  readonly port: number;
  close(): void;
}

export async function openSipRedirector(target: () => string): Promise<SipRedirector> {
  const socket = createSocket("udp4");
  socket.on("message", (datagram, from) => {
    const text = datagram.toString("latin1");
    if (!text.startsWith("INVITE ")) return;
    const copied = text.split("\r\n").filter((line) => /^(?:Via|From|To|Call-ID|CSeq):/i.test(line));
    const lines = copied.map((line) => (/^To:/i.test(line) ? `${line};tag=moved` : line));
    const answer = [
      "SIP/2.0 302 Moved Temporarily",
      ...lines,
      `Contact: <${target()}>`,
      "Content-Length: 0",
      "",
      "",
    ];
    socket.send(answer.join("\r\n"), from.port, from.address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return { port: socket.address().port, close: () => void socket.close() };
}

/** INVITEs of a source that may not call, at a rate that no caller has. */

import { createSocket, type Socket } from "node:dgram";
import { onPace } from "../lines/pacer.ts";
import type { SipBenchService } from "./service-with-sip.ts";
import { CALLER_ADDRESS } from "./service-with-sip.ts";

/** Not in the ranges of any account. */
const STRANGER = "127.0.0.66";
const NUMBER_DIGITS = 12;
const SDP = `v=0\r\no=- 1 1 IN IP4 ${STRANGER}\r\ns=-\r\nc=IN IP4 ${STRANGER}\r\nt=0 0\r\nm=audio 4000 RTP/AVP 0\r\n`;

export interface Flood {
  /** How many were sent, and how many answers came. */
  stop(): Promise<{ readonly sent: number; readonly answers: number }>;
}

export async function startFlood(service: SipBenchService, perSecond: number): Promise<Flood> {
  const socket = createSocket("udp4");
  await new Promise<void>((resolve, reject) => {
    socket.once("error", reject);
    socket.bind(0, STRANGER, resolve);
  });
  const startedMs = performance.now();
  let [sent, answers] = [0, 0];
  socket.on("message", () => (answers += 1));
  // What cannot be sent is lost; the count says what was.
  socket.on("error", () => (sent -= 1));
  const stopPacing = onPace((nowMs) => {
    const due = ((nowMs - startedMs) / 1_000) * perSecond;
    for (; sent < due; sent += 1) sendInvite(socket, service, sent);
  });
  return {
    stop: async () => {
      stopPacing();
      await new Promise<void>((resolve) => socket.close(() => resolve()));
      return { sent, answers };
    },
  };
}

function sendInvite(socket: Socket, { sipPort, callee }: SipBenchService, count: number): void {
  const number = String(count).padStart(NUMBER_DIGITS, "0");
  const own = `${STRANGER}:${String(socket.address().port)}`;
  const message = [
    `INVITE sip:${callee} SIP/2.0`,
    `Via: SIP/2.0/UDP ${own};branch=z9hG4bK${number}`,
    `From: <sip:stranger@${own}>;tag=${number}`,
    `To: <sip:${callee}>`,
    `Call-ID: ${number}@${STRANGER}`,
    "CSeq: 1 INVITE",
    `Contact: <sip:stranger@${own}>`,
    "Max-Forwards: 70",
    "Content-Type: application/sdp",
    `Content-Length: ${String(SDP.length)}`,
    "",
    SDP,
  ].join("\r\n");
  socket.send(message, sipPort, CALLER_ADDRESS);
}

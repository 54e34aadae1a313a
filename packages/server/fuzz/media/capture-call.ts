/** A call of a werift client from its offer to its end, whose packets are captured. */

import { type Caller, joinedCaller } from "./caller.ts";
import { type Captures, captureFrom, noCaptures } from "./captures.ts";
import { dtlsOf } from "./client-inside.ts";
import type { ServiceRequests } from "./service-requests.ts";

/** Long enough for a second of sound and the reports of the library. */
const CALL_MS = 1_500;
/** Reached only when something is wrong. */
const CHANNEL_LIMIT_MS = 20_000;
const POLL_MS = 10;
/** Some in one packet, some in many. */
const MESSAGE_BYTES = [1, 200, 3_000, 40_000];

export async function captureCall(requests: ServiceRequests): Promise<Captures> {
  const captures = noCaptures();
  const caller = await joinedCaller(requests, "caller-captured", {
    purpose: "caller",
    prepare: ({ client }) => captureFrom(client, captures),
  });
  captures.offers.push(caller.client.localDescription?.sdp ?? "");
  const endMs = performance.now() + CHANNEL_LIMIT_MS;
  while (caller.channel.readyState !== "open") {
    if (performance.now() > endMs) throw new Error("the data channel was not opened");
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  for (const length of MESSAGE_BYTES) caller.channel.send("x".repeat(length));
  await sendReports(caller);
  await new Promise((resolve) => setTimeout(resolve, CALL_MS));
  caller.channel.close();
  await caller.settled();
  await caller.close();
  return captures;
}

/** What browsers send beside the reports of the library (RFC 3550, RFC 4585, RFC 3611). */
async function sendReports({ client, rtpSender: { ssrc } }: Caller): Promise<void> {
  const report = [ssrc, 0x0100_0002, 3, 4, 5, 6];
  const senderReport = rtcp(200, 1, [ssrc, 1, 2, 3, 4, 5, ...report]);
  const name = Buffer.concat([
    numbers([ssrc]),
    Buffer.from([1, 10]),
    Buffer.from("a name 012"),
    Buffer.alloc(4),
  ]);
  const description = packet(202, 1, name);
  const congestion = Buffer.concat([
    numbers([ssrc, ssrc]),
    Buffer.from("0001000200000100200200000400", "hex"),
  ]);
  const bitrate = Buffer.concat([numbers([ssrc, 0]), Buffer.from("REMB"), numbers([0x0112_3456, ssrc])]);
  const compounds = [
    [senderReport, description],
    [rtcp(201, 1, [ssrc, ...report])],
    [rtcp(201, 0, [ssrc]), rtcp(205, 1, [ssrc, ssrc, 0x0001_0003])],
    [rtcp(201, 0, [ssrc]), packet(205, 15, Buffer.concat([congestion, Buffer.alloc(2)]))],
    [rtcp(206, 1, [ssrc, ssrc])],
    [rtcp(206, 4, [ssrc, ssrc, ssrc, 0x0100_0000])],
    [packet(206, 15, bitrate)],
    [rtcp(203, 1, [ssrc])],
    [rtcp(204, 0, [ssrc, 0x4e41_4d45, 1])],
    [rtcp(207, 0, [ssrc, 0x0400_0002, 1, 2])],
  ];
  const transport = dtlsOf(client);
  for (const packets of compounds) {
    await transport.sendRtcp(packets.map((bytes) => ({ serialize: () => bytes })));
  }
}

function rtcp(type: number, count: number, words: readonly number[]): Buffer {
  return packet(type, count, numbers(words));
}

function packet(type: number, count: number, body: Buffer): Buffer {
  const header = Buffer.from([0x80 | count, type, 0, 0]);
  header.writeUInt16BE(body.length / 4, 2);
  return Buffer.concat([header, body]);
}

function numbers(words: readonly number[]): Buffer {
  const buffer = Buffer.alloc(4 * words.length);
  for (const [index, word] of words.entries()) buffer.writeUInt32BE(word >>> 0, 4 * index);
  return buffer;
}

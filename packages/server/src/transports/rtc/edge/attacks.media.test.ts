/** What strangers and hostile clients send to a connection: it goes on, or ends alone. */

import { createSocket } from "node:dgram";
import { afterEach, describe, expect, test, vi } from "vitest";
import { crc32c, type RTCPeerConnection } from "werift";
import { onAssignment } from "./on-assignment.ts";
import { openPair, openStranger, type Pair } from "./testing/pair.ts";
import { dtlsRecord, numbers, sctpChunk, sctpPacket, stunRequest } from "./testing/packets.ts";

/** Long enough that a packet over the loopback has been processed. */
const SETTLE_MS = 300;

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function connected(): Promise<Pair> {
  const pair = await openPair();
  closing.push(() => pair.close());
  expect(await pair.peer.connected).toBe(true);
  await talks(pair);
  return pair;
}

async function talks({ heard, say }: Pair): Promise<void> {
  const text = `still here ${String(heard.texts.length)}`;
  await vi.waitFor(() => say(text), { timeout: 10_000 });
  await vi.waitFor(() => expect(heard.texts).toContain(text), { timeout: 10_000 });
  expect(heard.hangUps).toBe(0);
}

const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, SETTLE_MS));

const FORGED = {
  "an alert that closes": dtlsRecord({ type: 21, fragment: Buffer.from([1, 0]) }),
  "an unknown content type of 13 bytes": dtlsRecord({ type: 24, fragment: Buffer.alloc(0) }),
  "an alert of the encrypted epoch": dtlsRecord({
    type: 21,
    epoch: 1,
    number: 99,
    fragment: Buffer.from([1, 0]),
  }),
  "a ClientHello": dtlsRecord({}),
  "RTP that nobody signed": Buffer.concat([Buffer.from([0x80, 111]), Buffer.alloc(60)]),
};

describe("a connection goes on after", () => {
  test.each(Object.entries(FORGED))(
    "%s of a stranger, and of somebody at the client's address",
    async (_what, data) => {
      const pair = await connected();
      const stranger = await openStranger();
      closing.push(() => stranger.close());
      await stranger.send(data, pair.port);
      await pair.sendAsClient(data);
      await settle();
      expect(stranger.answers).toEqual([]);
      await talks(pair);
    },
  );

  test("STUN requests that are not signed, which get no answer and are no sign of life", async () => {
    const pair = await connected();
    const stranger = await openStranger();
    closing.push(() => stranger.close());
    const { signs } = pair.heard;
    for (let i = 0; i < 50; i += 1) await stranger.send(stunRequest(), pair.port);
    expect(pair.heard.signs - signs).toBeLessThan(50);
    await settle();
    expect(stranger.answers).toEqual([]);
    await talks(pair);
  });
});

interface ClientSctp {
  readonly localPort: number;
  readonly remotePort: number;
  readonly remoteVerificationTag: number;
  readonly localTsn: number;
  readonly lastReceivedTsn: number;
}

/** Sends chunks through the encryption, as the client's own library would. */
async function sendChunks({ client }: Pair, ...chunks: readonly Buffer[]): Promise<void> {
  const sctp: unknown = client.sctpTransport?.sctp;
  const { localPort, remotePort, remoteVerificationTag } = sctp as ClientSctp;
  const packet = sctpPacket(remoteVerificationTag, ...chunks);
  packet.writeUInt16BE(localPort, 0);
  packet.writeUInt16BE(remotePort, 2);
  packet.writeUInt32LE(crc32c(packet), 8);
  await client.dtlsTransports[0]?.sendData(packet);
}

const sctpOf = ({ client }: Pair): ClientSctp => {
  const sctp: unknown = client.sctpTransport?.sctp;
  return sctp as ClientSctp;
};

describe("a client that breaks SCTP", () => {
  test.each<[string, (pair: Pair) => Buffer]>([
    ["a chunk of length 0", () => sctpChunk(0, Buffer.alloc(0), 0)],
    ["an unknown chunk", () => sctpChunk(77, Buffer.alloc(4))],
    ["an ABORT whose reason has no length", () => sctpChunk(6, numbers([2, 12], [2, 0], [4, 0]))],
    [
      "a SACK with 250 gaps",
      (pair) => {
        const gaps = Array.from({ length: 250 }, () => [[2, 1] as const, [2, 65_535] as const]).flat();
        return sctpChunk(
          3,
          numbers([4, sctpOf(pair).lastReceivedTsn], [4, 99_999], [2, 250], [2, 0], ...gaps),
        );
      },
    ],
  ])("by %s is hung up at the fifth, and nobody else notices", async (_what, chunkOf) => {
    const [hostile, other] = [await connected(), await connected()];
    for (let sent = 1; sent < 5; sent += 1) await sendChunks(hostile, chunkOf(hostile));
    await settle();
    expect(hostile.heard.hangUps).toBe(0);
    await sendChunks(hostile, chunkOf(hostile));
    await vi.waitFor(() => expect(hostile.heard.hangUps).toBe(1), { timeout: 10_000 });
    expect(await hostile.peer.faulty).toEqual({ count: 5, detail: expect.stringMatching(/^SCTP: [a-z]/) });
    await talks(other);
  });

  test("by a message without an end is hung up when 640 KiB have come", async () => {
    const [hostile, other] = [await connected(), await connected()];
    let tsn = sctpOf(hostile).localTsn;
    const part = Buffer.alloc(1_000);
    for (let sent = 0; sent < 3_000 && hostile.heard.hangUps === 0; sent += 1) {
      const header = numbers([4, tsn], [2, 0], [2, 1], [4, 51]);
      const chunk = sctpChunk(0, Buffer.concat([header, part]));
      if (sent === 0) chunk.writeUInt8(2, 1);
      await sendChunks(hostile, chunk);
      tsn = (tsn + 1) >>> 0;
      // Faster, and the system would drop some.
      if (sent % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await vi.waitFor(() => expect(hostile.heard.hangUps).toBe(1), { timeout: 10_000 });
    await talks(other);
  });
});

interface ClientDtls {
  readonly cipher: {
    signatureData(data: Buffer, hash: string): Buffer;
    verifyData(transcript: Buffer): Buffer;
  };
}

describe("a client that proves nothing", () => {
  test.each<[string, (dtls: ClientDtls) => void]>([
    [
      "that signs with another key",
      ({ cipher }) => {
        cipher.signatureData = () => Buffer.from("3006020101020101", "hex");
      },
    ],
    [
      "whose Finished message is of zeros",
      ({ cipher }) => {
        cipher.verifyData = () => Buffer.alloc(12);
      },
    ],
  ])("%s is not connected", async (_what, change) => {
    const pair = await openPair((client: RTCPeerConnection) => {
      const [transport] = client.dtlsTransports;
      if (transport === undefined) throw new Error("The client has no encryption.");
      onAssignment(transport, "dtls", (dtls) => {
        const inside: unknown = dtls;
        change(inside as ClientDtls);
      });
    });
    closing.push(() => pair.close());
    const outcome = await Promise.race([
      pair.peer.connected,
      new Promise((resolve) => setTimeout(() => resolve("still waiting"), 3_000)),
    ]);
    expect([false, "still waiting"]).toContain(outcome);
    expect(pair.heard.texts).toEqual([]);
  });
});

interface ClientLine {
  readonly transport: { readonly socket: { onData: (data: Buffer) => void } };
}

test("a client that has not got our last DTLS messages, and sends its own again, is connected", async () => {
  let lost = 0;
  const pair = await openPair((client) => {
    const [transport] = client.dtlsTransports;
    if (transport === undefined) throw new Error("The client has no encryption.");
    onAssignment(transport, "dtls", (dtls) => {
      const inside: unknown = dtls;
      const { socket } = (inside as ClientLine).transport;
      const receive = socket.onData;
      socket.onData = (data) => {
        const isFinished = data[0] === 22 && data.readUInt16BE(3) === 1;
        // The client sends again after 0.5 s, and once more after another second.
        if (isFinished && lost < 2) lost += 1;
        else receive(data);
      };
    });
  });
  closing.push(() => pair.close());
  expect(await pair.peer.connected).toBe(true);
  await talks(pair);
  expect(lost).toBe(2);
});

describe("the credentials of a connection", () => {
  test("have the randomness that ICE demands, and are new after a restart", async () => {
    const pair = await connected();
    const credentialsIn = (sdp: string): string[] =>
      ["ufrag", "pwd"].map((name) => new RegExp(`^a=ice-${name}:(\\S+)`, "m").exec(sdp)?.[1] ?? "");
    const first = credentialsIn(pair.peer.answer);
    // 6 and 18 random bytes in base64: RFC 8445, section 5.3, demands 3 and 16.
    expect(first.map((text) => Buffer.from(text, "base64").length)).toEqual([6, 18]);
    expect(
      new Set(
        [...(await connected()).peer.answer.matchAll(/^a=ice-ufrag:(\S+)/gm)].map(([, name]) => name),
      ).has(first[0]),
    ).toBe(false);
  });
});

test("an offer in which the client is the DTLS server is refused", async () => {
  const pair = await openPair();
  closing.push(() => pair.close());
  const offer = (pair.client.localDescription?.sdp ?? "").replaceAll("a=setup:actpass", "a=setup:passive");
  await expect(pair.peer.restart(offer)).rejects.toThrow("the offer must not be a=setup:passive");
});

test("a restart that puts the media on another connection ends this one, with its socket", async () => {
  const pair = await connected();
  expect(await isFree(pair.port)).toBe(false);
  const offer = pair.client.localDescription?.sdp ?? "";
  const [group = ""] = /^a=group:BUNDLE .*\r\n/m.exec(offer) ?? [];
  expect(group).not.toBe("");
  await expect(pair.peer.restart(offer.replace(group, group + group))).rejects.toThrow(
    "must keep the connection",
  );
  expect(pair.heard.hangUps).toBe(1);
  await pair.close();
  expect(await isFree(pair.port)).toBe(true);
});

/** Whether a UDP port of the loopback address can be bound. */
async function isFree(port: number): Promise<boolean> {
  const socket = createSocket("udp4");
  const bound = new Promise<boolean>((resolve) => {
    socket.once("error", () => resolve(false));
    socket.bind(port, "127.0.0.1", () => resolve(true));
  });
  const isBound = await bound;
  socket.close();
  return isBound;
}

/** Pairs of RTP ports in a thread, as the main thread has them. */

import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { TransportRecord } from "../../ports/testing/transport-conformance.ts";
import { NoPortError } from "./peer.ts";
import { type MediaFigures, RTP_AHEAD_MS, type RtpMedia } from "./rtp-media.ts";
import { failure, LIMIT, OWNER, threads } from "./testing/scripted-threads.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setImmediate", "clearImmediate"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const SOCKETS = { bindAddress: "127.0.0.1", portRange: [40_000, 40_009] } as const;
const TRANSPORT = { silenceLimitMs: 30_000, sampleRateHz: 8_000, outputEncoding: "mulaw" } as const;
const MEDIA: RtpMedia = {
  remote: { address: "192.0.2.1", port: 4_000, rtcpPort: 4_001 },
  isConfirmed: true,
  isMuxed: false,
  sources: ["192.0.2.1"],
  send: { payloadType: 0, codec: "PCMU" },
  receive: [{ payloadType: 0, codec: "PCMU" }],
  sendDigits: null,
  receiveDigits: [],
  isSending: true,
  isReceiving: true,
  srtp: null,
};

async function opened() {
  const { pool, started } = threads();
  const opening = pool.openRtp(SOCKETS, OWNER);
  await vi.waitFor(() => expect(started[0]?.typesTold()).toEqual(["open"]), LIMIT);
  started[0]?.say({ type: "opened", legId: 1, opening: { kind: "rtp", port: 40_002, rtcpPort: 40_003 } });
  const leg = await opening;
  return { pool, thread: started[0]!, leg, record: new TransportRecord() };
}

it("have their ports, and become a medium with the rate that is asked for", async () => {
  const { thread, leg, record } = await opened();
  expect([leg.port, leg.rtcpPort, leg.figures]).toEqual([40_002, 40_003, null]);
  leg.agree(MEDIA);
  const transport = leg.attach(TRANSPORT, record);
  expect(thread.sent.slice(1)).toEqual([
    { type: "agree", legId: 1, media: MEDIA },
    { type: "attach", legId: 1, options: { kind: "rtp", ...TRANSPORT } },
  ]);
  expect(transport).toMatchObject({
    inputSampleRateHz: 8_000,
    outputSampleRateHz: 8_000,
    outputEncoding: "mulaw",
    aheadMs: RTP_AHEAD_MS,
    signalsDigits: true,
    graceMs: 0,
  });
});

it("report keys, marks and figures", async () => {
  const { thread, leg, record } = await opened();
  leg.attach(TRANSPORT, record);
  const figures: MediaFigures = {
    packetsSent: 1,
    packetsReceived: 2,
    packetsLost: 3,
    jitterMs: 4,
    roundTripMs: null,
    remote: null,
  };
  thread.say({ type: "digit", legId: 1, key: "5" });
  thread.say({ type: "played", legId: 1, position: 160 });
  thread.say({ type: "figures", legId: 1, figures });
  expect([record.digits, record.positions, leg.figures]).toEqual([["5"], [160], figures]);
});

it("take back and mark what was sent before, and not what is sent after", async () => {
  const { thread, leg, record } = await opened();
  const transport = leg.attach(TRANSPORT, record);
  transport.sendAudio(new Int16Array(160).fill(1));
  transport.mark?.(160);
  transport.sendAudio(new Int16Array(160).fill(2));
  transport.clearAudio?.(new Int16Array(160).fill(4));
  transport.sendAudio(new Int16Array(160).fill(3));
  transport.sendDigits?.("1");
  await Promise.resolve();
  const sent = thread.sent
    .slice(2)
    .map((message) =>
      message.type === "audio" ? `audio ${String(message.batch.samples[0])}` : message.type,
    );
  expect(sent).toEqual(["audio 1", "mark", "audio 2", "clearAudio", "audio 3", "digits"]);
});

it("are refused where no port is free, and a loss of the thread ends their calls at once", async () => {
  const { pool, started } = threads();
  const refused = failure(pool.openRtp(SOCKETS, OWNER));
  await vi.waitFor(() => expect(started[0]?.typesTold()).toEqual(["open"]), LIMIT);
  started[0]?.say({ type: "notOpened", legId: 1, noPort: true, detail: "none" });
  expect(await refused).toBeInstanceOf(NoPortError);
  const { thread, leg, record } = await opened();
  const transport = leg.attach(TRANSPORT, record);
  thread.listener.ended("it broke");
  expect([record.closings, transport.graceMs]).toEqual([[{ regular: false, code: 1006 }], 0]);
  transport.mark?.(1);
  transport.sendDigits?.("1");
  expect(thread.typesTold()).toEqual(["open", "attach"]);
});

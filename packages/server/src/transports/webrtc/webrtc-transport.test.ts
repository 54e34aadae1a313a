import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { TransportRecord } from "../../ports/testing/transport-conformance.ts";
import type { OpusCodec } from "../rtc/opus.ts";
import type { Peer, PeerListener } from "../rtc/peer.ts";
import { openWebRtcTransport } from "./webrtc-transport.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const codec: OpusCodec = {
  encode: () => new Uint8Array(1),
  decode: () => new Int16Array(960),
  conceal: () => [],
  close: () => {},
};

test("a flood of data messages is cut, and results of tools pass beside it", async () => {
  let listener: PeerListener | null = null;
  const peer: Peer = {
    answer: "",
    connected: Promise.resolve(true),
    faulty: new Promise(() => {}),
    fault: () => false,
    listen: (given) => (listener = given),
    sendAudio: () => {},
    sendText: () => true,
    unsentBytes: 0,
    restart: () => Promise.resolve(""),
    close: () => Promise.resolve(),
  };
  const record = new TransportRecord();
  const transport = openWebRtcTransport(peer, codec, { silenceLimitMs: 60_000 }, record);
  await vi.advanceTimersByTimeAsync(1);
  const say = (text: string) => listener?.text(Buffer.from(text));
  for (let i = 0; i < 1_000; i += 1) say(`{"type":"ping","timestamp":${String(i)}}`);
  say('{"type":"client_tool_result","invocationId":"call_1"}');
  const texts = record.texts.map(({ text }) => text);
  expect(texts).toHaveLength(251);
  expect(texts.at(-1)).toContain("client_tool_result");
  await vi.advanceTimersByTimeAsync(250);
  say('{"type":"ping","timestamp":1}');
  expect(record.texts).toHaveLength(252);
  transport.close(1000, "over");
  await vi.advanceTimersByTimeAsync(5_000);
});

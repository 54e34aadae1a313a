import { availableParallelism } from "node:os";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { sine, tonePower } from "../../media/testing/signals.ts";
import {
  describeTransportConformance,
  eventually,
  TransportRecord,
} from "../../ports/testing/transport-conformance.ts";
import { startMediaThread } from "../../app/media-threads/start-media-thread.ts";
import { openLegThreads } from "../rtc/leg-threads.ts";
import type { OpenLeg } from "../rtc/leg.ts";
import { openLocalLeg } from "../rtc/local-leg.ts";
import { faultyPeer } from "./testing/faulty-peer.ts";
import { connectCaller, SILENCE_LIMIT_MS } from "./testing/webrtc-caller.ts";
import { openWebRtcTransport } from "./webrtc-transport.ts";
import { openWeriftPeer } from "../rtc/werift-peer.ts";

const local: OpenLeg = (offer, options) =>
  openLocalLeg({ openPeer: openWeriftPeer, openTransport: openWebRtcTransport }, offer, options);
const threads = openLegThreads({
  start: startMediaThread,
  maxThreads: availableParallelism(),
  listener: {
    log: (message) => process.stderr.write(`${message}\n`),
    threadLost: () => undefined,
    legFaulty: () => undefined,
  },
});

afterAll(() => threads.close());

describeTransportConformance("WebRTC in its own thread", {
  open: (listener) => connectCaller(threads.open, listener),
  coded: true,
});
describeTransportConformance("WebRTC in the thread that asks", {
  open: (listener) => connectCaller(local, listener),
  coded: true,
});

it("a WebRTC connection hears what a bad network leaves of a tone", async () => {
  const record = new TransportRecord();
  const faults = { seed: 5, lossShare: 0.1, jitterMs: 50 };
  const overBadNetwork: OpenLeg = (offer, options) =>
    openLocalLeg(
      {
        openPeer: async (sdp, of) => faultyPeer(await openWeriftPeer(sdp, of), faults),
        openTransport: openWebRtcTransport,
      },
      offer,
      options,
    );
  const { peer, dispose } = await connectCaller(overBadNetwork, record);
  onTestFinished(dispose);
  const tone = sine(500, 16_000, 100 * 320);
  for (let i = 0; i < 100; i += 1) {
    peer.sendAudio(tone.subarray(i * 320, (i + 1) * 320));
    await new Promise((resolve) => {
      setTimeout(resolve, 20);
    });
  }
  await eventually(() => record.samples().length >= 92 * 320, "all but the end");
  expect(record.samples().length).toBeLessThanOrEqual(100 * 320);
  const { tone: heard, all } = tonePower(record.samples().subarray(8_000, 28_000), 500, 16_000);
  expect(heard / all).toBeGreaterThan(0.8);
});

describe.each([
  ["in its own thread", threads.open],
  ["in the thread that asks", local],
])("a WebRTC connection %s", (_where, openLeg) => {
  async function connected() {
    const record = new TransportRecord();
    const opened = await connectCaller(openLeg, record);
    onTestFinished(opened.dispose);
    /** A tone of so many frames, at twice its pace. */
    const sing = async (hz: number, frames: number): Promise<void> => {
      const tone = sine(hz, 16_000, frames * 320);
      for (let i = 0; i < frames; i += 1) {
        opened.peer.sendAudio(tone.subarray(i * 320, (i + 1) * 320));
        await new Promise((resolve) => {
          setTimeout(resolve, 10);
        });
      }
    };
    return { record, sing, ...opened };
  }

  const purity = (samples: Int16Array, hz: number): number => {
    const { tone, all } = tonePower(samples, hz, 16_000);
    return tone / all;
  };

  it("makes up for what the network loses", async () => {
    const { record, relay, sing } = await connected();
    relay.losesEvery = 7;
    await sing(500, 100);
    await eventually(() => record.samples().length >= 95 * 320, "all but the end");
    expect(purity(record.samples().subarray(8_000, 24_000), 500)).toBeGreaterThan(0.8);
  });

  it("is lost after the silence limit and not before, and a restart gives it another one", async () => {
    const { record, leg, peer, client } = await connected();
    const cutMs = performance.now();
    peer.vanish();
    await new Promise((resolve) => {
      setTimeout(resolve, SILENCE_LIMIT_MS * 0.6);
    });
    await leg.restart(client.localDescription?.sdp ?? "");
    await eventually(() => record.closings.length > 0, "the loss");
    const tookMs = performance.now() - cutMs;
    expect(tookMs).toBeGreaterThan(SILENCE_LIMIT_MS * 1.6 - 50);
    expect(record.closings).toEqual([{ regular: false, code: 1006 }]);
  });

  it("continues after a restart of the network, and hears everything once", async () => {
    const { record, restart, sing } = await connected();
    await sing(500, 25);
    await restart();
    await restart();
    const before = record.samples().length;
    const isHeard = () => record.samples().length >= before + 20 * 320;
    let sung = 25;
    // Frames that a busy machine sends too late are not heard.
    for (let tries = 0; tries < 6 && !isHeard(); tries += 1) {
      await sing(500, 25);
      sung += 25;
      await eventually(isHeard, "the sound afterwards", 5_000).catch(() => undefined);
    }
    expect(isHeard()).toBe(true);
    expect(record.samples().length).toBeLessThanOrEqual(sung * 320);
  });

  it("survives a change of the client's network by a restart: both sides are heard again", async () => {
    const { record, transport, peer, relay, restart, sing } = await connected();
    await sing(500, 10);
    await eventually(() => record.samples().length >= 8 * 320, "the sound before");
    await relay.move("127.0.0.2");
    await restart();
    const [said, heard] = [record.samples().length, peer.audio().length];
    await sing(500, 25);
    await eventually(() => record.samples().length >= said + 20 * 320, "the client after the change");
    for (let i = 0; i < 10; i += 1) transport.sendAudio(sine(500, 16_000, 320));
    await eventually(() => peer.audio().length >= heard + 15 * 320, "the agent after the change");
    expect(record.closings).toEqual([]);
  });

  it("follows a source that changes, and lets pass nothing that was not agreed on", async () => {
    const { record, changeSource, sendForeign, sing } = await connected();
    await sing(500, 25);
    await eventually(() => record.samples().length >= 20 * 320, "the first source");
    const before = record.samples().length;
    changeSource(77);
    for (let payloadType = 0; payloadType < 20; payloadType += 1) sendForeign(payloadType);
    await sing(800, 40);
    await eventually(() => record.samples().length >= before + 35 * 320, "the second source");
    expect(purity(record.samples().subarray(before + 3_200), 800)).toBeGreaterThan(0.8);
    expect(record.samples().length).toBeLessThanOrEqual(65 * 320);
  });

  it("holds nothing back that an interruption would have to take away, and ends softly", async () => {
    const { transport, peer } = await connected();
    const tone = sine(500, 16_000, 320);
    for (let i = 0; i < 10; i += 1) transport.sendAudio(tone);
    await eventually(() => peer.audio().length >= 20 * 320, "the sound and the silence after it");
    await new Promise((resolve) => {
      setTimeout(resolve, 200);
    });
    const heard = peer.audio();
    // Ten frames of sound and ten of silence; not one more.
    expect(heard.length).toBe(20 * 320);
    const loudest = (samples: Int16Array) =>
      samples.reduce((max, sample) => Math.max(max, Math.abs(sample)), 0);
    expect(loudest(heard.subarray(5 * 320, 9 * 320))).toBeGreaterThan(8_000);
    expect(loudest(heard.subarray(14 * 320))).toBeLessThan(500);
  });

  it("cuts off a message that is too long, and says so", async () => {
    const { record, peer } = await connected();
    peer.sendText("x".repeat(256 * 1024 + 1));
    await eventually(() => record.texts.length === 1, "the message");
    expect(record.texts).toEqual([{ text: "x".repeat(1_024), tooLong: true }]);
  });
});

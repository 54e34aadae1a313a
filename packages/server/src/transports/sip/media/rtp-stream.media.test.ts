/** Whole RTP streams on a virtual clock: what a side hears of the other through good and bad networks. */

import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { initResampler } from "../../../media/resample.ts";
import { likeness } from "../../../media/testing/likeness.ts";
import { seeded } from "../../../media/testing/seeded.ts";
import { sine, tonePower } from "../../../media/testing/signals.ts";
import { readSpeechFixture } from "../../../ports/testing/speech-fixtures.ts";
import { CODEC_RATE_HZ, type RtpCodecName } from "../../rtc/rtp-media.ts";
import { MAX_DATAGRAMS, MAX_STRANGE_DATAGRAMS } from "./rtp-receiver.ts";
import { rtpPacketOf } from "./rtp-packet.ts";
import { MAX_UNCONFIRMED_PACKETS } from "./rtp-stream.ts";
import { KEPT_MS } from "./source-latch.ts";
import { keyOf, mediaTowards, NO_FAULTS, RtpPair } from "./testing/rtp-pair.ts";

beforeAll(() => initResampler(process));

const CODECS: readonly RtpCodecName[] = ["PCMU", "PCMA", "G722", "opus"];
const BAD = { seed: 3, lossShare: 0.1, jitterMs: 50 };
const BAD_SHARE = 0.4;

function opened(rateHz: number, faults = NO_FAULTS): RtpPair {
  const pair = new RtpPair(rateHz, faults);
  onTestFinished(() => pair.close());
  return pair;
}

/** Recorded speech at the rate of the codec: every second sample is enough for 8 kHz here. */
function speechAt(rateHz: number, frames: number): Int16Array {
  const speech = readSpeechFixture("jfk.wav").subarray(8_000);
  const own = rateHz === 16_000 ? speech : speech.filter((_, index) => index % 2 === 0);
  return own.slice(0, (frames * rateHz) / 50);
}

function frameAt(samples: Int16Array, frame: number, rateHz: number): Int16Array {
  return samples.subarray((frame * rateHz) / 50, ((frame + 1) * rateHz) / 50);
}

describe.each(CODECS)("%s", (codec) => {
  const rateHz = CODEC_RATE_HZ[codec];
  const frames = 150;

  it.each([
    ["plain", false],
    ["encrypted", true],
  ])("carries speech both ways, %s", async (_name, isSecure) => {
    const pair = opened(rateHz);
    await pair.agree(codec, { isSecure });
    const speech = speechAt(rateHz, frames);
    pair.run(frames, (frame) => {
      pair.a.stream.push(frameAt(speech, frame, rateHz));
      pair.b.stream.push(frameAt(speech, frames - 1 - frame, rateHz));
    });
    expect(likeness({ samples: speech, rateHz }, { samples: pair.b.samples(), rateHz })).toBeGreaterThan(
      0.95,
    );
    expect(pair.b.samples().length).toBe((frames * rateHz) / 50);
    const backwards = new Int16Array(speech.length);
    for (let n = 0; n < frames; n += 1) {
      backwards.set(frameAt(speech, frames - 1 - n, rateHz), (n * rateHz) / 50);
    }
    expect(likeness({ samples: backwards, rateHz }, { samples: pair.a.samples(), rateHz })).toBeGreaterThan(
      0.95,
    );
  });

  it("makes up for a tenth of the packets, with jitter and in another order", async () => {
    const pair = opened(rateHz, BAD);
    await pair.agree(codec, { isSecure: true });
    const speech = speechAt(rateHz, frames);
    pair.run(frames, (frame) => pair.a.stream.push(frameAt(speech, frame, rateHz)));
    expect(likeness({ samples: speech, rateHz }, { samples: pair.b.samples(), rateHz })).toBeGreaterThan(
      0.85,
    );
    expect(pair.b.samples().length).toBeGreaterThan((0.93 * frames * rateHz) / 50);
    expect(pair.b.samples().length).toBeLessThanOrEqual((frames * rateHz) / 50);
  });
});

describe("an address that was only named", () => {
  const named = (to: number, isConfirmed: boolean) =>
    mediaTowards(2, "PCMU", {
      isConfirmed,
      remote: { address: `192.0.2.${String(to)}`, port: 4_000, rtcpPort: 4_001 },
      sources: [`192.0.2.${String(to)}`],
    });
  const packetsTo = (pair: RtpPair): number => pair.a.sent.filter((datagram) => datagram[1] === 0).length;

  it("gets few packets of a call until media come from it, also when it changes", async () => {
    const pair = opened(8_000);
    await pair.a.stream.agree(named(9, false));
    pair.run(MAX_UNCONFIRMED_PACKETS + 100);
    expect(packetsTo(pair)).toBe(MAX_UNCONFIRMED_PACKETS - 1);
    const sent = pair.a.sent.length;
    for (const to of [10, 11, 12]) {
      await pair.a.stream.agree(named(to, false));
      pair.run(300);
    }
    // Neither packets nor reports.
    expect(pair.a.sent).toHaveLength(sent);
    await pair.a.stream.agree(named(2, false));
    await pair.b.stream.agree(mediaTowards(1, "PCMU"));
    pair.run(100);
    expect(pair.a.sent.length).toBeGreaterThan(sent + 95);
  });

  it("is sent to at once and all the time where the signalling comes from it", async () => {
    const pair = opened(8_000);
    await pair.a.stream.agree(named(9, true));
    pair.run(MAX_UNCONFIRMED_PACKETS + 100);
    expect(packetsTo(pair)).toBeGreaterThan(MAX_UNCONFIRMED_PACKETS + 90);
  });
});

describe("keys", () => {
  it.each([
    ["a good network", NO_FAULTS],
    ["a network that loses two of five packets", { seed: 9, lossShare: BAD_SHARE, jitterMs: 50 }],
  ])("come once each over %s, both ways", async (_name, faults) => {
    const pair = opened(8_000, faults);
    await pair.agree("PCMU");
    pair.a.stream.digits("0123456789*#abcdxyz");
    pair.b.stream.digits("1100");
    pair.run(250);
    expect(pair.b.keys.join("")).toBe("0123456789*#ABCD");
    expect(pair.a.keys.join("")).toBe("1100");
  });

  it("are tones in the audio where the other side knows no telephone events", async () => {
    const pair = opened(8_000);
    await pair.a.stream.agree(mediaTowards(2, "PCMU", { sendDigits: null }));
    await pair.b.stream.agree(mediaTowards(1, "PCMU"));
    pair.a.stream.digits("5");
    pair.run(5);
    const { tone, all } = tonePower(pair.b.samples(), 770, 8_000);
    expect(tone / all).toBeGreaterThan(0.25);
    expect(pair.b.keys).toEqual([]);
  });

  it("beyond twenty a second are reported and left out", async () => {
    const pair = opened(8_000);
    await pair.agree("PCMU");
    for (let n = 0; n < 30; n += 1) {
      const payload = Uint8Array.of(n % 10, 0x8a, 0, 160);
      const datagram = rtpPacketOf({
        payload,
        payloadType: 101,
        marker: true,
        sequence: n,
        timestamp: n * 800,
        ssrc: 5,
      });
      pair.b.stream.rtp(datagram, pair.a.place, 10);
    }
    expect([pair.b.keys.length, pair.b.problems]).toEqual([20, 10]);
  });
});

describe("a hold and a new codec", () => {
  it("sends nothing while the other side holds the call, and goes on afterwards", async () => {
    const pair = opened(8_000);
    await pair.agree("PCMU");
    pair.run(10);
    const before = pair.a.sent.length;
    await pair.a.stream.agree(mediaTowards(2, "PCMU", { isSending: false, isReceiving: false }));
    pair.a.stream.push(new Int16Array(160));
    pair.a.stream.mark(3);
    const heard = pair.a.samples().length;
    pair.run(10);
    expect([pair.a.sent.length, pair.a.samples().length, pair.a.played]).toEqual([before, heard, [3]]);
    await pair.agree("PCMU");
    pair.run(10);
    expect(pair.a.sent.length).toBe(before + 10);
    const [first, next] = [pair.a.sent[before - 1]!, pair.a.sent[before]!];
    // The clock went on, the numbers did not, and the first packet is marked.
    expect((next.readUInt32BE(4) - first.readUInt32BE(4)) >>> 0).toBe(11 * 160);
    expect(next.readUInt16BE(2)).toBe((first.readUInt16BE(2) + 1) & 0xffff);
    expect(next.readUInt8(1) & 0x80).toBe(0x80);
  });

  it("sends neither audio nor reports to a side that names no address", async () => {
    const pair = opened(8_000);
    await pair.agree("PCMU");
    pair.run(10);
    const before = pair.a.sent.length;
    const remote = { address: "0.0.0.0", port: 4_000, rtcpPort: 4_001 };
    await pair.a.stream.agree(
      mediaTowards(2, "PCMU", { remote, isSending: false, isReceiving: false, sources: [] }),
    );
    for (let n = 0; n < 1_000; n += 1) pair.a.stream.next({ nowMs: n * 20, wallMs: n * 20 });
    expect(pair.a.sent.length).toBe(before);
  });

  it.each([
    ["PCMU", "G722", 8_000],
    ["G722", "PCMA", 16_000],
    ["opus", "PCMU", 16_000],
    ["PCMA", "opus", 8_000],
  ] as const)("changes from %s to %s in the call, at the same rate of samples", async (one, two, rateHz) => {
    const pair = opened(rateHz);
    const tone = sine(500, rateHz, rateHz * 2);
    await pair.agree(one, { isSecure: true });
    pair.run(40, (frame) => pair.a.stream.push(frameAt(tone, frame, rateHz)));
    const before = pair.b.samples().length;
    await pair.agree(two, { isSecure: true });
    pair.run(50, (frame) => pair.a.stream.push(frameAt(tone, frame, rateHz)));
    const after = pair.b.samples().subarray(before + rateHz / 5);
    const { tone: power, all } = tonePower(after, 500, rateHz);
    expect(after.length).toBeGreaterThan((35 * rateHz) / 50);
    expect(power / all).toBeGreaterThan(0.95);
  });
});

describe("strangers", () => {
  const flood = (pair: RtpPair, address: string, count: number, payloadType = 0): void => {
    const random = seeded(4);
    for (let n = 0; n < count; n += 1) {
      const payload = Uint8Array.from({ length: 160 }, () => Math.floor(random() * 256));
      const packet = { payload, payloadType, marker: false, sequence: n, timestamp: n * 160, ssrc: 666 };
      pair.b.stream.rtp(rtpPacketOf(packet), { address, port: 9_999 }, pair.nowMs);
    }
  };

  it.each([
    ["another address", "198.51.100.9", false],
    ["the address of the other side, and another port", "192.0.2.1", false],
    ["another address, with encryption", "198.51.100.9", true],
    ["the address of the other side, with encryption", "192.0.2.1", true],
  ])("are not heard and turn nothing to them: %s", async (_name, address, isSecure) => {
    const pair = opened(8_000);
    await pair.agree("PCMU", { isSecure });
    const tone = sine(500, 8_000, 16_000);
    pair.run(50, (frame) => {
      pair.a.stream.push(frameAt(tone, frame, 8_000));
      if (frame > 2) flood(pair, address, 20);
    });
    const heard = pair.b.samples();
    const { tone: power, all } = tonePower(heard.subarray(800), 500, 8_000);
    expect(heard.length).toBe(50 * 160);
    expect(power / all).toBeGreaterThan(0.99);
    // What b sends still goes to a: with all of it heard there.
    expect(pair.a.samples().length).toBe(50 * 160);
  });

  it("cannot end a stream by a goodbye, nor take the place of a side that is silent for a while", async () => {
    const pair = opened(8_000);
    await pair.agree("PCMU");
    pair.run(5);
    const bye = Buffer.from("80c900010000000181cb000100000001", "hex");
    pair.b.stream.rtcp(bye, { address: "192.0.2.1", port: 4_001 }, pair.clocks());
    pair.nowMs += 2 * KEPT_MS;
    flood(pair, "198.51.100.9", 10);
    pair.run(5);
    expect(pair.b.samples().length).toBe(10 * 160);
    expect(pair.a.samples().length).toBe(10 * 160);
  });

  it("cannot use up what is read of the other side", async () => {
    const pair = opened(8_000);
    await pair.agree("PCMU");
    pair.run(2);
    flood(pair, "198.51.100.9", 10 * (MAX_DATAGRAMS + MAX_STRANGE_DATAGRAMS));
    pair.run(10);
    expect(pair.b.samples().length).toBe(12 * 160);
  });
});

it("comfort noise is accepted and not heard, and no gap is made up in its place", async () => {
  const pair = opened(8_000);
  await pair.agree("PCMU");
  const packet = { marker: false, ssrc: 7 };
  for (let n = 0; n < 10; n += 1) {
    const isNoise = n >= 3 && n < 7;
    const datagram = rtpPacketOf({
      ...packet,
      payload: isNoise ? Uint8Array.of(30) : new Uint8Array(160),
      payloadType: isNoise ? 13 : 0,
      sequence: n,
      timestamp: n * 160,
    });
    pair.b.stream.rtp(datagram, pair.a.place, n * 20);
  }
  expect(pair.b.samples().length).toBe(6 * 160);
});

describe("symmetric RTP", () => {
  it("answers to the port from which media come, and to the next one when that has been silent", async () => {
    const pair = opened(8_000);
    await pair.agree("PCMU");
    const places: number[] = [];
    const { RtpStream } = await import("./rtp-stream.ts");
    const stream = new RtpStream(8_000, {
      audio: () => undefined,
      digit: () => undefined,
      tooManyDigits: () => undefined,
      sign: () => undefined,
      played: () => undefined,
      figures: () => undefined,
      sendRtp: (_datagram, { port }) => places.push(port),
      sendRtcp: () => undefined,
    });
    onTestFinished(() => stream.close({ nowMs: 0, wallMs: 0 }));
    await stream.agree(mediaTowards(1, "PCMU"));
    const come = (port: number, nowMs: number, sequence: number): void => {
      const packet = { payload: new Uint8Array(160), payloadType: 0, marker: false, ssrc: 7 };
      stream.rtp(
        rtpPacketOf({ ...packet, sequence, timestamp: sequence * 160 }),
        { address: "192.0.2.1", port },
        nowMs,
      );
      stream.next({ nowMs, wallMs: nowMs });
    };
    stream.next({ nowMs: 0, wallMs: 0 });
    come(6_000, 20, 1);
    come(7_000, 40, 2);
    come(7_000, 40 + KEPT_MS, 3);
    come(6_000, 60 + KEPT_MS, 4);
    expect(places).toEqual([4_000, 6_000, 6_000, 7_000, 7_000]);
  });
});

describe("reports", () => {
  it("count loss, jitter and the round trip as the network is", async () => {
    const pair = opened(8_000, { seed: 2, lossShare: 0.1, jitterMs: 40 });
    await pair.agree("PCMU", { isSecure: true });
    pair.run(1_500);
    const { a, b } = pair;
    const figures = b.figures;
    expect(figures?.packetsSent).toBeGreaterThan(1_000);
    const share = (figures?.packetsLost ?? 0) / (figures?.packetsReceived ?? 1);
    expect(share).toBeGreaterThan(0.07);
    expect(share).toBeLessThan(0.16);
    // Delays are even between 0 and 40 ms, so two of them differ by a third of it.
    expect(figures?.jitterMs).toBeGreaterThan(6);
    expect(figures?.jitterMs).toBeLessThan(20);
    expect(a.figures?.remote?.packetsLost).toBeGreaterThan(50);
    expect(a.figures?.roundTripMs).toBeGreaterThanOrEqual(0);
    expect(a.figures?.roundTripMs).toBeLessThan(120);
  });
});

describe("hostile datagrams", () => {
  it.each([false, true])("of all kinds are dropped, with encryption: %s", async (isSecure) => {
    const pair = opened(8_000);
    await pair.agree("PCMU", { isSecure });
    const random = seeded(11);
    const tone = sine(500, 8_000, 16_000);
    pair.run(100, (frame) => {
      pair.a.stream.push(frameAt(tone, frame, 8_000));
      for (let n = 0; n < 10; n += 1) {
        const base = pair.a.sent.at(-1) ?? Buffer.alloc(12);
        const changed = Buffer.from(base.subarray(0, Math.floor(random() * (base.length + 1))));
        for (let k = 0; k < 3 && changed.length > 0; k += 1) {
          changed[Math.floor(random() * changed.length)] = Math.floor(random() * 256);
        }
        const from = { address: "192.0.2.1", port: 4_000 + Math.floor(random() * 3) };
        pair.b.stream.rtcp(changed, from, pair.clocks());
        if (isSecure) pair.b.stream.rtp(changed, from, pair.nowMs);
      }
    });
    expect(pair.b.samples().length).toBe(100 * 160);
    const { tone: power, all } = tonePower(pair.b.samples().subarray(800), 500, 8_000);
    expect(power / all).toBeGreaterThan(0.99);
  });

  it("of a source of another key are not taken", async () => {
    const pair = opened(8_000);
    await pair.agree("PCMU", { isSecure: true });
    await pair.a.stream.agree(mediaTowards(2, "PCMU", { srtp: { local: keyOf(99), remote: keyOf(50) } }));
    pair.run(10);
    expect(pair.b.samples().length).toBe(0);
    expect(pair.a.samples().length).toBe(10 * 160);
  });
});

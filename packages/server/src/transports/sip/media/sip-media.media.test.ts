import { createSocket } from "node:dgram";
import { availableParallelism } from "node:os";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { startMediaThread } from "../../../app/media-threads/start-media-thread.ts";
import { initResampler } from "../../../media/resample.ts";
import { sine, tonePower } from "../../../media/testing/signals.ts";
import {
  describeTransportConformance,
  eventually,
  TransportRecord,
} from "../../../ports/testing/transport-conformance.ts";
import { openLegThreads } from "../../rtc/leg-threads.ts";
import { NoPortError } from "../../rtc/peer.ts";
import { CODEC_RATE_HZ, type RtpCodecName } from "../../rtc/rtp-media.ts";
import { SdpError } from "../sdp/description.ts";
import { openRtpSockets, portsOf } from "./rtp-sockets.ts";
import { openAnsweringSipMedia, openSipMedia } from "./sip-media.ts";
import { connectPhone, mediaOptions, openLocalRtp, type SipPhoneOptions } from "./testing/sip-phone.ts";

const SILENCE_LIMIT_MS = 1_500;

beforeAll(() => initResampler(process));

const threads = openLegThreads({
  start: startMediaThread,
  maxThreads: Math.max(1, availableParallelism() - 1),
  listener: {
    log: (message) => process.stderr.write(`${message}\n`),
    threadLost: () => undefined,
    legFaulty: () => undefined,
  },
});

afterAll(() => threads.close());

const SUBJECTS: readonly [string, Omit<SipPhoneOptions, "silenceLimitMs">][] = [
  ["SIP with PCMU in its own thread", { openRtp: threads.openRtp, codec: "PCMU" }],
  ["SIP with G.722 and SRTP in its own thread", { openRtp: threads.openRtp, codec: "G722", isSecure: true }],
  ["SIP with Opus in the thread that asks", { openRtp: openLocalRtp, codec: "opus", isCalling: true }],
];

describe.each(SUBJECTS)("%s", (name, options) => {
  describeTransportConformance(name, {
    hasNoMessages: true,
    open: async (listener) => {
      const connected = await connectPhone({ ...options, silenceLimitMs: SILENCE_LIMIT_MS }, listener);
      const { phone, transport, dispose } = connected;
      const part = (samples: Int16Array): Int16Array => {
        const frame = new Int16Array(transport.inputSampleRateHz / 50);
        frame.set(samples.subarray(0, frame.length));
        return frame;
      };
      let isFrozen = false;
      const freeze = (): void => {
        if (!isFrozen) void phone.media.close();
        isFrozen = true;
      };
      let isOver = false;
      return {
        transport,
        dispose,
        peer: {
          audio: () => phone.record.samples(),
          messages: () => [],
          // RTP has no code of its own: the call's end is that of the signalling, and ours sends nothing more.
          closeCode: () => (isOver || !transport.sendAudio(part(new Int16Array(0))) ? 1000 : null),
          sendAudio: (samples) => void phone.transport.sendAudio(part(samples)),
          sendText: () => undefined,
          // A BYE, of which the signalling tells the transport.
          hangUp: () => {
            isOver = true;
            transport.hangUp();
          },
          vanish: freeze,
          freeze,
        },
      };
    },
  });
});

async function connected(options: Partial<SipPhoneOptions> = {}) {
  const record = new TransportRecord();
  const opened = await connectPhone({ openRtp: threads.openRtp, codec: "PCMU", ...options }, record);
  onTestFinished(opened.dispose);
  return { record, ...opened };
}

/** Whether a tone is heard: sent again until it is, because a busy machine damages some of it. */
async function hears(
  send: (frame: Int16Array) => unknown,
  heard: () => Int16Array,
  rateHz: number,
): Promise<void> {
  const tone = sine(500, rateHz, rateHz / 2);
  for (let attempt = 0; attempt < 20; attempt += 1) {
    const before = heard().length;
    for (let at = 0; at < tone.length; at += rateHz / 50) {
      send(tone.subarray(at, at + rateHz / 50));
      await new Promise((resolve) => {
        setTimeout(resolve, 15);
      });
    }
    const { tone: power, all } = tonePower(heard().subarray(before), 500, rateHz);
    if (all > 0.01 && power / all > 0.5) return;
  }
  throw new Error("the tone was not heard");
}

describe("a call over SIP", () => {
  it.each<RtpCodecName>(["PCMU", "PCMA", "G722", "opus"])("with %s is heard both ways", async (codec) => {
    const { record, transport, phone, media } = await connected({ codec });
    const rateHz = CODEC_RATE_HZ[codec];
    expect([transport.inputSampleRateHz, transport.outputSampleRateHz]).toEqual([rateHz, rateHz]);
    expect(transport.outputEncoding).toBe(codec === "PCMU" ? "mulaw" : "pcm");
    expect(media.codec).toBe(codec);
    await hears(
      (frame) => phone.transport.sendAudio(frame),
      () => record.samples(),
      rateHz,
    );
    await hears(
      (frame) => transport.sendAudio(frame),
      () => phone.record.samples(),
      rateHz,
    );
  });

  it("has keys both ways, marks, and takes back what was not sent", async () => {
    const { record, transport, phone } = await connected({ isSecure: true });
    expect(transport.signalsDigits).toBe(true);
    transport.sendDigits?.("12#");
    phone.transport.sendDigits?.("98*");
    await eventually(() => phone.record.digits.length === 3 && record.digits.length === 3, "the keys");
    expect([phone.record.digits, record.digits]).toEqual([
      ["1", "2", "#"],
      ["9", "8", "*"],
    ]);
    for (let n = 0; n < 3; n += 1) transport.sendAudio(new Int16Array(160));
    transport.mark?.(7);
    await eventually(() => record.positions.length === 1, "the mark");
    for (let n = 0; n < 3; n += 1) transport.sendAudio(new Int16Array(160).fill(8_000));
    transport.mark?.(8);
    transport.clearAudio?.(new Int16Array(160));
    transport.mark?.(9);
    await eventually(() => record.positions.includes(9), "the mark after what was taken back");
    expect(record.positions).toEqual([7, 9]);
  });

  it("is held and goes on, with another codec, at the rate that it began with", async () => {
    const { record, transport, phone, media, renegotiate } = await connected();
    await hears(
      (frame) => phone.transport.sendAudio(frame),
      () => record.samples(),
      8_000,
    );
    renegotiate(phone.media.offer({ isHolding: true }));
    expect([media.isHeld, phone.media.isHolding]).toEqual([true, true]);
    renegotiate(phone.media.offer({ isHolding: false }));
    expect(media.isHeld).toBe(false);
    const wideband = phone.media.offer().replace(" 0 101", " 9 101").replace("0 PCMU/8000", "9 G722/8000");
    expect(media.answer(wideband)).toContain("m=audio");
    expect(media.codec).toBe("G722");
    phone.media.dropOffer();
    renegotiate(phone.media.offer());
    expect([media.codec, transport.inputSampleRateHz]).toEqual(["PCMU", 8_000]);
    await hears(
      (frame) => transport.sendAudio(frame),
      () => phone.record.samples(),
      8_000,
    );
  });

  it("keeps its media when an offer or an answer cannot be used", async () => {
    const { record, phone, media } = await connected();
    expect(() => media.answer("v=0\r\n")).toThrow(SdpError);
    media.offer({ isHolding: true });
    expect(() => media.accept("nonsense")).toThrow(SdpError);
    expect([media.isHolding, media.codec]).toEqual([false, "PCMU"]);
    await hears(
      (frame) => phone.transport.sendAudio(frame),
      () => record.samples(),
      8_000,
    );
  });

  it("that is silent is lost after its limit, and not while it is held", async () => {
    const { record, phone, renegotiate } = await connected({ silenceLimitMs: SILENCE_LIMIT_MS });
    const startMs = performance.now();
    renegotiate(phone.media.offer({ isHolding: true }));
    await phone.media.close();
    await new Promise((resolve) => {
      setTimeout(resolve, 2 * SILENCE_LIMIT_MS);
    });
    expect(record.closings).toEqual([]);
    expect(performance.now() - startMs).toBeGreaterThan(SILENCE_LIMIT_MS);
    const lost = await connected({ silenceLimitMs: SILENCE_LIMIT_MS });
    await lost.phone.media.close();
    await eventually(() => lost.record.closings.length > 0, "the loss");
    expect(lost.record.closings).toEqual([{ regular: false, code: 1006 }]);
    expect(lost.transport.graceMs).toBe(0);
  });

  it("has figures when it is over", async () => {
    const { record, transport, phone, media } = await connected({ isSecure: true });
    await hears(
      (frame) => phone.transport.sendAudio(frame),
      () => record.samples(),
      8_000,
    );
    transport.close(1000, "over");
    await eventually(() => record.closings.length > 0 && media.figures !== null, "the figures");
    expect(media.figures?.packetsReceived).toBeGreaterThan(5);
    expect(media.figures?.packetsSent).toBeGreaterThan(5);
  });
});

describe("hostile datagrams to one call", () => {
  it("cost the other calls of the thread nothing", async () => {
    const [victim, other] = [await connected(), await connected({ codec: "G722", isSecure: true })];
    const stranger = createSocket("udp4");
    const neighbour = createSocket("udp4");
    await new Promise<void>((resolve) => {
      stranger.bind(0, "127.0.0.2", resolve);
    });
    const port = Number(/m=audio (\d+)/.exec(victim.media.offer())?.[1]);
    victim.media.dropOffer();
    const rtp = Buffer.concat([Buffer.from("80000001000000a000000005", "hex"), Buffer.alloc(160)]);
    const rtcp = Buffer.from("80c9000100000001", "hex");
    const flood = { isOver: false };
    onTestFinished(() => {
      flood.isOver = true;
    });
    const attack = async (): Promise<void> => {
      for (let n = 0; !flood.isOver; n += 1) {
        rtp.writeUInt16BE(n & 0xffff, 2);
        const attacker = n % 2 === 0 ? stranger : neighbour;
        attacker.send(rtp, port, "127.0.0.1", () => undefined);
        attacker.send(rtcp, port + (n % 3 === 0 ? 1 : 0), "127.0.0.1", () => undefined);
        if (n % 20 !== 0) continue;
        await new Promise((resolve) => {
          setTimeout(resolve, 5);
        });
      }
      stranger.close();
      neighbour.close();
    };
    const flooding = attack();
    for (const { record, phone, transport } of [other, victim]) {
      const rateHz = transport.inputSampleRateHz;
      await hears(
        (frame) => phone.transport.sendAudio(frame),
        () => record.samples(),
        rateHz,
      );
      await hears(
        (frame) => transport.sendAudio(frame),
        () => phone.record.samples(),
        rateHz,
      );
    }
    flood.isOver = true;
    await flooding;
    expect([victim.record.closings, other.record.closings]).toEqual([[], []]);
  });
});

describe("RTP ports", () => {
  it("are even, in the range, and are not given twice", async () => {
    expect(new Set(portsOf([40_001, 40_006]))).toEqual(new Set([40_002, 40_004]));
    expect([...portsOf([40_001, 40_002])]).toEqual([]);
    const base = await openRtpSockets({ bindAddress: "127.0.0.1", portRange: null });
    const range = [base.port, base.port + 1] as const;
    await expect(openRtpSockets({ bindAddress: "127.0.0.1", portRange: range })).rejects.toThrow(NoPortError);
    await new Promise<void>((resolve) => {
      base.rtp.close(resolve);
    });
    await expect(openRtpSockets({ bindAddress: "127.0.0.1", portRange: range })).rejects.toThrow(NoPortError);
    await new Promise<void>((resolve) => {
      base.rtcp.close(resolve);
    });
    const again = await openRtpSockets({ bindAddress: "127.0.0.1", portRange: range });
    expect([again.port, again.rtcpPort]).toEqual(range);
    again.rtp.close();
    again.rtcp.close();
  });

  it("are released when an offer cannot be answered, and refused by the thread where none is free", async () => {
    const options = mediaOptions(threads.openRtp);
    await expect(openAnsweringSipMedia("v=0\r\n", options)).rejects.toThrow(SdpError);
    const held = await openSipMedia(options);
    onTestFinished(() => held.close());
    const port = Number(/m=audio (\d+)/.exec(held.offer())?.[1]);
    await expect(openSipMedia({ ...options, portRange: [port, port + 1] })).rejects.toThrow(NoPortError);
    const elsewhere = { bind: "192.0.2.1", announced: "192.0.2.1" };
    await expect(openSipMedia({ ...options, ipv4: elsewhere })).rejects.toThrow(NoPortError);
    const ipv6Offer = "v=0\r\nc=IN IP6 ::1\r\nm=audio 4000 RTP/AVP 0\r\n";
    await expect(openAnsweringSipMedia(ipv6Offer, options)).rejects.toThrow(
      "has an IPv6 address, which this service does not have",
    );
  });
});

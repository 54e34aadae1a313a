import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { RtpCodecName } from "../../rtc/rtp-media.ts";
import { SdpError } from "./description.ts";
import { type LocalMedia, OfferAnswer } from "./offer-answer.ts";
import { MAX_SDP_CHARS } from "./parse.ts";

const ALL: readonly RtpCodecName[] = ["G722", "opus", "PCMU", "PCMA"];
const INLINE = "d0RmdmcmVCspeEc3QGZiNWpVLFJhQX1cfHAwJSoj";

function exchange(changes: Partial<LocalMedia> = {}): OfferAnswer {
  return new OfferAnswer({
    address: "203.0.113.7",
    port: 40_000,
    rtcpPort: 40_001,
    originId: "77",
    key: { key: new Uint8Array(16).fill(7), salt: new Uint8Array(14).fill(8) },
    encryption: "off",
    codecs: ALL,
    signallingAddress: null,
    mayUse: () => true,
    ...changes,
  });
}

function offerOf(...lines: readonly string[]): string {
  const head = ["v=0", "o=phone 1 1 IN IP4 192.0.2.5", "s=call", "c=IN IP4 192.0.2.5", "t=0 0"];
  return [...head, ...lines].map((line) => `${line}\r\n`).join("");
}

const linesOf = (sdp: string): string[] => sdp.trimEnd().split("\r\n");
const answered = (offer: string, changes: Partial<LocalMedia> = {}) => exchange(changes).answer(offer, false);

/** The message of the SdpError that `read` throws; null: it throws none. */
function problemOf(read: () => unknown): string | null {
  try {
    read();
    return null;
  } catch (error) {
    if (error instanceof SdpError) return error.message;
    throw error;
  }
}

describe("the answer to an offer", () => {
  it("has the first codec of the offer that we have, its keys, and our place", () => {
    const offer = offerOf(
      "m=audio 49170 RTP/AVP 18 8 0 101 13",
      "a=rtpmap:18 G729/8000",
      "a=rtpmap:101 telephone-event/8000",
      "a=fmtp:101 0-16",
      "a=ptime:30",
    );
    const { sdp, media, isHeld } = answered(offer, { signallingAddress: "198.51.100.3" });
    expect(linesOf(sdp)).toEqual([
      "v=0",
      "o=- 77 1 IN IP4 203.0.113.7",
      "s=-",
      "c=IN IP4 203.0.113.7",
      "t=0 0",
      "m=audio 40000 RTP/AVP 8 101",
      "a=rtpmap:8 PCMA/8000",
      "a=rtpmap:101 telephone-event/8000",
      "a=fmtp:101 0-15",
      "a=ptime:20",
      "a=sendrecv",
    ]);
    expect(media).toEqual({
      remote: { address: "192.0.2.5", port: 49_170, rtcpPort: 49_171 },
      isConfirmed: false,
      isMuxed: false,
      sources: ["192.0.2.5", "198.51.100.3"],
      send: { payloadType: 8, codec: "PCMA" },
      receive: [{ payloadType: 8, codec: "PCMA" }],
      sendDigits: { payloadType: 101, clockHz: 8_000 },
      receiveDigits: [{ payloadType: 101, clockHz: 8_000 }],
      isSending: true,
      isReceiving: true,
      srtp: null,
    });
    expect(isHeld).toBe(false);
  });

  it.each([
    ["m=audio 4 RTP/AVP 0", "PCMU", 0],
    ["m=audio 4 RTP/AVP 9 0", "G722", 9],
    ["m=audio 4 RTP/AVP 107 0\r\na=rtpmap:107 OPUS/48000/2", "opus", 107],
    ["m=audio 4 RTP/AVP 99\r\na=rtpmap:99 pcma/8000/1", "PCMA", 99],
    ["m=audio 4 RTP/AVPF 0", "PCMU", 0],
  ])("knows codecs by their maps and by their numbers: %s", (line, codec, payloadType) => {
    expect(answered(offerOf(line)).media.send).toEqual({ codec, payloadType });
  });

  it("refuses media other than the first audio, in the order of the offer", () => {
    const offer = offerOf(
      "m=video 5000 RTP/AVP 96",
      "m=audio 0 RTP/AVP 0",
      "m=audio 5002 RTP/AVP 0",
      "m=audio 5004 RTP/AVP 8",
      "m=image 5006 udptl t38",
    );
    const media = linesOf(answered(offer).sdp).filter((line) => line.startsWith("m="));
    expect(media).toEqual([
      "m=video 0 RTP/AVP 96",
      "m=audio 0 RTP/AVP 0",
      "m=audio 40000 RTP/AVP 0",
      "m=audio 0 RTP/AVP 8",
      "m=image 0 udptl t38",
    ]);
  });

  it("takes the address of the audio, its RTCP port and its mux, in both families", () => {
    const offer = offerOf("m=audio 4000 RTP/AVP 0", "c=IN IP6 2001:db8::5", "a=rtcp:4009 IN IP6 2001:db8::6");
    const { media, sdp } = answered(offer, { address: "2001:db8::7" });
    expect(media.remote).toEqual({ address: "2001:db8::5", port: 4_000, rtcpPort: 4_009 });
    expect(sdp).toContain("c=IN IP6 2001:db8::7\r\n");
    const muxed = answered(offerOf("m=audio 4000 RTP/AVP 0", "a=rtcp-mux"));
    expect([muxed.media.isMuxed, muxed.sdp.includes("a=rtcp-mux")]).toEqual([true, true]);
  });

  it("sends to the address of the signalling where the named one is of another network", () => {
    const options = {
      mayUse: (address: string) => !address.startsWith("192.168."),
      signallingAddress: "198.51.100.3",
    };
    const { media } = answered(offerOf("m=audio 4000 RTP/AVP 0", "c=IN IP4 192.168.1.5"), options);
    expect([media.remote.address, media.remote.port, media.sources]).toEqual([
      "198.51.100.3",
      4_000,
      ["198.51.100.3"],
    ]);
  });

  it("writes IPv6 addresses as sockets do", () => {
    const offer = offerOf("m=audio 4000 RTP/AVP 0", "c=IN IP6 2001:0DB8:0:0::0005");
    expect(answered(offer).media.sources).toEqual(["2001:db8::5"]);
  });

  it("names the RTCP port where it is not the next one", () => {
    expect(answered(offerOf("m=audio 4000 RTP/AVP 0"), { rtcpPort: 50_000 }).sdp).toContain(
      "a=rtcp:50000\r\n",
    );
  });

  it.each([
    ["a=sendrecv", "a=sendrecv", true, true, false],
    ["a=sendonly", "a=recvonly", false, false, true],
    ["a=recvonly", "a=sendonly", true, false, false],
    ["a=inactive", "a=inactive", false, false, true],
    ["c=IN IP4 0.0.0.0", "a=sendrecv", false, false, true],
  ])("follows a hold: %s", (line, answer, isSending, isReceiving, isHeld) => {
    const { sdp, ...agreed } = answered(offerOf("m=audio 4000 RTP/AVP 0", line));
    expect(linesOf(sdp).at(-1)).toBe(answer);
    expect([agreed.media.isSending, agreed.media.isReceiving, agreed.isHeld]).toEqual([
      isSending,
      isReceiving,
      isHeld,
    ]);
  });

  it("keeps a hold of ours", () => {
    const { sdp, media } = exchange().answer(offerOf("m=audio 4000 RTP/AVP 0"), true);
    expect([linesOf(sdp).at(-1), media.isReceiving]).toEqual(["a=sendonly", false]);
  });

  it("takes keys of SRTP with TLS only, and the first line that it knows", () => {
    const offer = offerOf(
      "m=audio 4000 RTP/SAVP 0",
      `a=crypto:1 AES_256_CM_HMAC_SHA1_80 inline:${INLINE}`,
      `a=crypto:2 AES_CM_128_HMAC_SHA1_80 inline:${INLINE}|2^20|1:4`,
      `a=crypto:3 AES_CM_128_HMAC_SHA1_80 inline:${INLINE}|2^31`,
    );
    const { sdp, media } = answered(offer, { encryption: "allowed" });
    const own = Buffer.concat([Buffer.alloc(16, 7), Buffer.alloc(14, 8)]).toString("base64");
    expect(sdp).toContain(`m=audio 40000 RTP/SAVP 0\r\n`);
    expect(sdp).toContain(`a=crypto:3 AES_CM_128_HMAC_SHA1_80 inline:${own}\r\n`);
    const bytes = Buffer.from(INLINE, "base64");
    expect(Buffer.from(media.srtp?.remote.key ?? [])).toEqual(bytes.subarray(0, 16));
    expect(Buffer.from(media.srtp?.remote.salt ?? [])).toEqual(bytes.subarray(16));
    expect(problemOf(() => answered(offer))).toBe("requires encrypted media, which need TLS for SIP");
  });
});

describe("an offer that cannot be answered", () => {
  const good = "m=audio 4000 RTP/AVP 0";
  it.each([
    ["", "is not SDP: it must begin with v=0"],
    ["x".repeat(MAX_SDP_CHARS + 1), "is longer than 16384 characters"],
    ["v=0\r\n" + "a=x\r\n".repeat(600), "has more than 512 lines"],
    [offerOf(good, "what is this"), "has a line that is not SDP"],
    [offerOf(), "has no audio (m=audio)"],
    [offerOf("m=audio 0 RTP/AVP 0"), "has no audio (m=audio)"],
    [offerOf("m=audio 70000 RTP/AVP 0"), "has a media line (m=) that cannot be read"],
    [offerOf("m=audio x RTP/AVP 0"), "has a media line (m=) that cannot be read"],
    [offerOf("m=audio 4000 RTP/AVP"), "must have 1 to 64 formats on each media line (m=)"],
    [
      offerOf(`m=audio 4000 RTP/AVP ${Array.from({ length: 65 }, () => "0").join(" ")}`),
      "must have 1 to 64 formats on each media line (m=)",
    ],
    [offerOf("m=audio 4000 RTP/AVP 0 :-)"), "has a format on a media line (m=) that cannot be read"],
    [offerOf(...Array.from({ length: 17 }, () => good)), "has more than 16 media"],
    [offerOf("m=audio 4000 RTP/AVP 18"), "has no codec that calls can have"],
    [offerOf("m=audio 4000 RTP/AVP 0", "a=maxptime:10"), "must allow packets of 20 ms (a=maxptime)"],
    [offerOf("m=audio 4000 UDP/TLS/RTP/SAVPF 0"), "has audio of a profile other than RTP/AVP and RTP/SAVP"],
    [offerOf(good, "c=IN IP4 example.com"), "must have an IP address on its connection line (c=)"],
    [offerOf(good, "c=IN IP6 192.0.2.5"), "must have an IP address on its connection line (c=)"],
    [offerOf(good, "c=ATM x"), "has a connection line (c=) that cannot be read"],
    [offerOf(good, "a=rtpmap:zero PCMU"), "has a map of a format (a=rtpmap) that cannot be read"],
    ["v=0\r\nm=audio 4000 RTP/AVP 0\r\n", "must have an IP address for audio (c=)"],
  ])("is refused with its fault: %#", (offer, problem) => {
    expect(problemOf(() => answered(offer))).toBe(problem);
  });

  it("is refused where media may not be sent to its address, or are to be encrypted", () => {
    const problem = "has an address that media may not be sent to";
    const mayUse = (address: string): boolean => address !== "192.0.2.5";
    expect(problemOf(() => answered(offerOf(good), { mayUse }))).toBe(problem);
    expect(problemOf(() => answered(offerOf(good), { mayUse, signallingAddress: "2001:db8::1" }))).toBe(
      problem,
    );
    for (const address of ["224.2.1.1/127", "239.1.2.3", "255.255.255.255"]) {
      expect(problemOf(() => answered(offerOf(good, `c=IN IP4 ${address}`)))).toBe(problem);
    }
    expect(problemOf(() => answered(offerOf(good, "c=IN IP6 FF02::1")))).toBe(problem);
    expect(problemOf(() => answered(offerOf(good), { encryption: "required" }))).toBe(
      "has audio without encryption, which this service requires (RTP/SAVP)",
    );
    expect(problemOf(() => answered(offerOf("m=audio 4 RTP/SAVP 0"), { encryption: "required" }))).toBe(
      "must have a key of AES_CM_128_HMAC_SHA1_80 without MKI (a=crypto)",
    );
  });
});

describe("our offers", () => {
  it("have our codecs and keys of both clocks, and each one a version of its own", () => {
    const ours = exchange();
    expect(linesOf(ours.offer(false)).slice(5)).toEqual([
      "m=audio 40000 RTP/AVP 9 96 0 8 101 102",
      "a=rtpmap:9 G722/8000",
      "a=rtpmap:96 opus/48000/2",
      "a=fmtp:96 useinbandfec=1; stereo=0; sprop-stereo=0; maxplaybackrate=16000",
      "a=rtpmap:0 PCMU/8000",
      "a=rtpmap:8 PCMA/8000",
      "a=rtpmap:101 telephone-event/8000",
      "a=fmtp:101 0-15",
      "a=rtpmap:102 telephone-event/48000",
      "a=fmtp:102 0-15",
      "a=rtcp-mux",
      "a=ptime:20",
      "a=sendrecv",
    ]);
    expect(ours.offer(true)).toContain("o=- 77 2 IN IP4 203.0.113.7\r\n");
  });

  it.each(ALL)("agree with our own answers on %s, encrypted or not", (codec) => {
    for (const encryption of ["off", "required"] as const) {
      const [one, two] = [exchange({ encryption }), exchange({ encryption, codecs: [codec], port: 50_000 })];
      const { sdp, media: theirs } = two.answer(one.offer(false), false);
      const { media } = one.accept(sdp);
      expect([media.send.codec, theirs.send.codec, media.remote.port]).toEqual([codec, codec, 50_000]);
      expect(media.receive).toEqual([theirs.send]);
      expect(theirs.sendDigits?.clockHz).toBe(codec === "opus" ? 48_000 : 8_000);
      expect(media.sendDigits).toEqual(theirs.sendDigits);
      expect([media.isMuxed, theirs.isMuxed]).toEqual([true, true]);
      expect(media.srtp?.remote).toEqual(theirs.srtp?.local);
      expect(media.srtp === null).toBe(encryption === "off");
    }
  });

  it("in a call keep the media lines and the numbers of the other side", () => {
    const ours = exchange();
    ours.answer(
      offerOf("m=video 9 RTP/AVP 97", "m=audio 9 RTP/AVP 111 0", "a=rtpmap:111 opus/48000/2"),
      false,
    );
    const media = linesOf(ours.offer(true)).filter((line) => line.startsWith("m="));
    expect(media).toEqual(["m=video 0 RTP/AVP 97", "m=audio 40000 RTP/AVP 9 111 0 8 101 102"]);
    const held = offerOf("m=video 0 RTP/AVP 97", "m=audio 9 RTP/AVP 111", "a=rtpmap:111 opus/48000/2");
    const { media: agreed } = ours.accept(`${held}a=recvonly\r\n`);
    expect([agreed.isSending, agreed.isReceiving]).toEqual([true, false]);
  });

  it.each([
    ["m=audio 0 RTP/AVP 0", "refuses audio"],
    ["m=video 9 RTP/AVP 0", "refuses audio"],
    ["m=audio 9 RTP/AVP 18", "has no codec of the offer"],
    ["m=audio 9 RTP/SAVP 0", "must have the profile of the offer (RTP/AVP or RTP/SAVP)"],
  ])("are dropped at an answer that is none: %s", (line, problem) => {
    const ours = exchange();
    ours.offer(false);
    expect(problemOf(() => ours.accept(offerOf(line)))).toBe(problem);
    expect(ours.hasOpenOffer).toBe(false);
    expect(() => ours.accept(offerOf("m=audio 9 RTP/AVP 0"))).toThrow("there is no offer");
  });

  it("need the key of their own line", () => {
    const ours = exchange({ encryption: "required" });
    ours.offer(false);
    const answer = offerOf("m=audio 9 RTP/SAVP 0", `a=crypto:2 AES_CM_128_HMAC_SHA1_80 inline:${INLINE}`);
    expect(problemOf(() => ours.accept(answer))).toBe("must have a key for the offered a=crypto line");
  });
});

describe("any text", () => {
  const words = ["v=0", "m=audio 9 RTP/AVP 0 8", "m=video 9 RTP/AVP 96", "c=IN IP4 192.0.2.1", "a=sendonly"];
  const more = [
    "a=rtpmap:0 PCMU/8000",
    "a=rtcp:9",
    "a=crypto:1 x",
    "a=maxptime:x",
    "\u0000",
    "m=",
    "c=",
    "a=:",
  ];
  const text = fc
    .array(fc.oneof(fc.constantFrom(...words, ...more), fc.string({ maxLength: 40 })), { maxLength: 30 })
    .map((lines) => ["v=0", ...lines].join("\n"));

  /** What `read` makes of it; null: an SdpError. Other errors are thrown. */
  const madeBy = <Made>(read: () => Made): Made | null => {
    try {
      return read();
    } catch (error) {
      if (error instanceof SdpError) return null;
      throw error;
    }
  };
  const mediaIn = (sdp: string): number =>
    sdp.split(/\r\n|\n|\r/).filter((line) => line.startsWith("m=")).length;

  it("gets an answer of a fitting shape, or an SdpError", () => {
    fc.assert(
      fc.property(text, (offer) => {
        const made = madeBy(() => exchange({ encryption: "allowed" }).answer(offer, false));
        expect(made === null || mediaIn(made.sdp) === mediaIn(offer)).toBe(true);
        expect(made === null || /^(?:[a-z]=[^\r\n]*\r\n)+$/.test(made.sdp)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it("as an answer closes the offer, with media or an SdpError", () => {
    fc.assert(
      fc.property(text, (answer) => {
        const ours = exchange();
        ours.offer(false);
        const made = madeBy(() => ours.accept(answer));
        expect([made === null || made.media.receive.length > 0, ours.hasOpenOffer]).toEqual([true, false]);
      }),
      { numRuns: 500 },
    );
  });
});

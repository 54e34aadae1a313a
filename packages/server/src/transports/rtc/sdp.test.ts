import { describe, expect, test } from "vitest";
import {
  announcedAnswer,
  BadSdpError,
  checkedFragment,
  checkedOffer,
  credentialsOf,
  fragmentOf,
  restartedOffer,
} from "./sdp.ts";

const CANDIDATE = "a=candidate:1 1 udp 2130706431 10.0.0.7 5000 typ host";
const OFFER = [
  "v=0",
  "o=- 1 2 IN IP4 127.0.0.1",
  "s=-",
  "t=0 0",
  "m=audio 9 UDP/TLS/RTP/SAVPF 111",
  "a=mid:0",
  "a=ice-ufrag:abcd",
  "a=ice-pwd:0123456789012345678901",
  "a=fingerprint:sha-256 AA:BB",
  "a=rtpmap:111 opus/48000/2",
  CANDIDATE,
  "a=candidate:2 1 udp 2130706430 0a1b.local 5001 typ host",
  "a=end-of-candidates",
  "m=application 9 UDP/DTLS/SCTP webrtc-datachannel",
  "a=mid:1",
].join("\r\n");

const without = (pattern: RegExp) =>
  OFFER.split("\r\n")
    .filter((line) => !pattern.test(line))
    .join("\r\n");

describe("an offer", () => {
  test("loses its candidates and nothing else", () => {
    expect(checkedOffer(OFFER)).toBe(`${without(/candidate/)}\r\n`);
    expect(checkedOffer(OFFER.replaceAll("\r\n", "\n"))).toBe(checkedOffer(OFFER));
  });

  test.each([
    ["", "begin with v=0"],
    ["hello", "begin with v=0"],
    [`${OFFER}\r\nrubbish`, "not SDP"],
    [without(/^m=audio/), "exactly one audio"],
    [`${OFFER}\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111`, "exactly one audio"],
    [`${OFFER}\r\nm=video 9 UDP/TLS/RTP/SAVPF 96`, "no media but audio"],
    [`${OFFER}\r\nm=application 9 UDP/DTLS/SCTP webrtc-datachannel`, "at most one line for data"],
    [OFFER.replace("t=0 0", "t=0 0\r\na=group:BUNDLE 0 1\r\na=group:BUNDLE 1"), "at most one group"],
    [without(/opus/), "Opus"],
    [without(/ufrag/), "a=ice-ufrag"],
    [without(/pwd/), "a=ice-pwd"],
    [without(/fingerprint/), "a=fingerprint"],
    [`${OFFER}${"\r\na=x".repeat(1_000)}`, "more than 1000 lines"],
  ])("is refused when it cannot be answered: %#", (offer, reason) => {
    expect(() => checkedOffer(offer)).toThrow(BadSdpError);
    expect(() => checkedOffer(offer)).toThrow(reason);
  });
});

test("an announced address takes the place of the others, each port once in each medium", () => {
  const answer = [CANDIDATE, CANDIDATE.replace("10.0.0.7", "10.0.0.8"), CANDIDATE.replace("5000", "5001")];
  const lines = ["v=0", "m=audio", ...answer, "m=application", CANDIDATE].join("\r\n");
  expect(announcedAnswer(lines, null)).toBe(`${lines}\r\n`);
  expect(announcedAnswer(`${lines} generation 0 ufrag ab12`, null)).toBe(`${lines}\r\n`);
  const lite = ["v=0", "m=audio", "a=ice-lite", "m=application", "a=ice-lite"].join("\r\n");
  expect(announcedAnswer(lite, null)).toBe("v=0\r\na=ice-lite\r\nm=audio\r\nm=application\r\n");
  const place = (port: number) => `a=candidate:1 1 udp 2130706431 192.0.2.1 ${String(port)} typ host`;
  expect(announcedAnswer(lines, "192.0.2.1").split("\r\n")).toEqual([
    "v=0",
    "m=audio",
    place(5000),
    place(5001),
    "m=application",
    place(5000),
    "",
  ]);
});

describe("a fragment", () => {
  test("holds candidates or credentials, and nothing else", () => {
    const fragment = `a=ice-ufrag:wxyz\r\na=ice-pwd:9876543210987654321098\r\nm=audio 9 RTP/AVP 0\r\n${CANDIDATE}\r\n`;
    expect(checkedFragment(fragment)).toBe(fragment);
    expect(credentialsOf(fragment)).toEqual({ ufrag: "wxyz", pwd: "9876543210987654321098" });
    expect(credentialsOf(CANDIDATE)).toBeNull();
    for (const bad of ["", "v=0", `${CANDIDATE}\nfoo`])
      expect(() => checkedFragment(bad)).toThrow(BadSdpError);
  });

  test("restarts an offer, and an answer is told by one", () => {
    const again = restartedOffer(OFFER, { ufrag: "wxyz", pwd: "9876543210987654321098" });
    expect(credentialsOf(again)?.ufrag).toBe("wxyz");
    expect(again).not.toContain("0123456789012345678901");
    expect(fragmentOf(again.replace("s=-", "s=-\r\na=ice-lite")).split("\r\n")).toEqual([
      "a=ice-lite",
      "m=audio 9 UDP/TLS/RTP/SAVPF 0",
      "a=mid:0",
      "a=ice-ufrag:wxyz",
      "a=ice-pwd:9876543210987654321098",
      CANDIDATE,
      "a=candidate:2 1 udp 2130706430 0a1b.local 5001 typ host",
      "a=end-of-candidates",
      "",
    ]);
  });
});

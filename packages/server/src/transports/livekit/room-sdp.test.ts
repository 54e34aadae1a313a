import { describe, expect, test } from "vitest";
import { BadSdpError } from "../rtc/sdp.ts";
import { checkedRoomOffer, keepsLines, roomAnswer, speakingLine } from "./room-sdp.ts";

const CREDENTIALS = "a=ice-ufrag:abcd\r\na=ice-pwd:0123456789012345678901\r\na=fingerprint:sha-256 AA:BB\r\n";
const audio = (mid: number, direction: string): string =>
  `m=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=mid:${String(mid)}\r\n${CREDENTIALS}a=${direction}\r\na=rtpmap:111 opus/48000/2\r\n`;
const video = (mid: number): string =>
  `m=video 9 UDP/TLS/RTP/SAVPF 96\r\na=mid:${String(mid)}\r\n${CREDENTIALS}a=recvonly\r\n`;
const DATA = `m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\na=mid:0\r\n${CREDENTIALS}`;
const HEAD = "v=0\r\no=- 1 2 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\n";

describe("an offer of a room", () => {
  test("may have several lines of audio and video, and loses its candidates", () => {
    const offer = `${HEAD}${DATA}${audio(1, "recvonly")}${audio(2, "recvonly")}${video(3)}`;
    const candidate = "a=candidate:1 1 udp 1 192.0.2.1 9 typ host\r\na=end-of-candidates\r\n";
    expect(checkedRoomOffer(offer + candidate)).toBe(offer);
    expect(speakingLine(offer)).toBe("1");
    expect(speakingLine(`${HEAD}${audio(4, "sendonly")}${audio(5, "sendrecv")}`)).toBe("5");
  });

  test.each([
    ["hello", "begin with v=0"],
    [`${HEAD}${audio(1, "recvonly")}`, "exactly one line for data"],
    [`${HEAD}${DATA}${DATA}${audio(1, "recvonly")}`, "exactly one line for data"],
    [`${HEAD}${DATA}${audio(1, "sendonly")}`, "an audio line that receives"],
    [`${HEAD}${DATA}${audio(1, "recvonly")}m=text 9 RTP/AVP 98\r\n`, "no media but"],
    [`${HEAD}${DATA}${audio(1, "recvonly").repeat(32)}`, "more than 32 media"],
    [`${HEAD}${DATA}${audio(1, "recvonly")}${"a=x\r\n".repeat(3_000)}`, "more than 3000 lines"],
    [`${HEAD}${DATA}${audio(1, "recvonly")}a=${"x".repeat(64 * 1_024)}\r\n`, "more than 64 KB"],
    [`${HEAD}${DATA}${audio(1, "recvonly")}`.replaceAll("opus", "speex"), "Opus"],
  ])("is refused when it cannot be answered: %#", (offer, reason) => {
    expect(() => checkedRoomOffer(offer)).toThrow(BadSdpError);
    expect(() => checkedRoomOffer(offer)).toThrow(reason);
  });
});

test("an offer of a room loses the sources and layers of video, and keeps those of audio", () => {
  const sources = "a=ssrc:5 cname:c\r\na=ssrc-group:FID 5 6\r\na=rid:h send\r\na=simulcast:send h\r\n";
  const plain = `${HEAD}${DATA}${audio(1, "sendrecv")}a=ssrc:7 cname:c\r\n`;
  expect(checkedRoomOffer(`${plain}${video(2)}${sources}`)).toBe(`${plain}${video(2)}`);
});

test("a further offer keeps the lines of the one before it, and may add some", () => {
  const before = `${HEAD}${DATA}${audio(1, "recvonly")}${video(2)}`;
  expect(keepsLines(before, before)).toBe(true);
  expect(keepsLines(before, `${before}${audio(3, "sendonly")}`)).toBe(true);
  expect(keepsLines(before, `${HEAD}${DATA}${audio(1, "recvonly")}`)).toBe(false);
  expect(keepsLines(before, `${HEAD}${DATA}${audio(1, "recvonly")}${video(3)}`)).toBe(false);
  expect(keepsLines(before, `${HEAD}${DATA}${audio(1, "recvonly")}${audio(2, "recvonly")}`)).toBe(false);
  expect(keepsLines(before, `${HEAD}${audio(1, "recvonly")}${DATA}${video(2)}`)).toBe(false);
});

test("an answer names the agent's track on the line on which the service speaks, and nowhere else", () => {
  const named = (section: string): string =>
    `${section}a=msid:a b\r\na=ssrc:5 msid:a b\r\na=ssrc:5 cname:c\r\n`;
  const answer = `${HEAD}${DATA}${named(audio(1, "sendonly"))}${named(audio(2, "inactive"))}`;
  const msid = "a=msid:PA_agent|TR_agent_audio TR_agent_audio\r\n";
  const cname = "a=ssrc:5 cname:c\r\n";
  expect(roomAnswer(answer, "1")).toBe(
    `${HEAD}${DATA}${audio(1, "sendonly")}${cname}${msid}${audio(2, "inactive")}${cname}`,
  );
});

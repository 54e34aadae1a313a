/** Changes offers and fragments, line by line. */

import type { Draw } from "../../sim/draw.ts";

const MAX_CHANGES = 5;
/** The HTTP API takes 64 KiB. */
const MAX_SDP_CHARACTERS = 65_536;
const MAX_REPETITIONS = 200;
/** In place of numbers and words. */
const VALUES: readonly [string, ...string[]] = [
  "",
  "0",
  "1",
  "-1",
  "9",
  "65535",
  "65536",
  "4294967295",
  "4294967296",
  "99999999999999999999",
  "1e999",
  "NaN",
  "audio",
  "application",
  "active",
  "passive",
  "actpass",
  "sha-1",
  "sha-256",
  "sha-999",
  "opus/48000/2",
  "webrtc-datachannel",
  "*",
  "%00",
  "\u0000",
  "\u00e9",
  "\ud83d\ude00",
  "__proto__",
  "constructor",
  "x".repeat(300),
];
const LINES: readonly [string, ...string[]] = [
  "m=audio 9 UDP/TLS/RTP/SAVPF 111",
  "m=audio 0 UDP/TLS/RTP/SAVPF",
  "m=application 9 UDP/DTLS/SCTP webrtc-datachannel",
  "m=video 9 UDP/TLS/RTP/SAVPF 96",
  "a=setup:passive",
  "a=setup:active",
  "a=setup:holdconn",
  "a=ice-lite",
  "a=bundle-only",
  "a=rtcp-rsize",
  "a=inactive",
  "a=mid:",
  "a=mid:0",
  "a=group:BUNDLE",
  "a=group:BUNDLE 0 1 2 3",
  "a=fingerprint:sha-256 00",
  "a=fingerprint:md5 AA:BB",
  "a=sctp-port:0",
  "a=sctp-port:70000",
  "a=max-message-size:0",
  "a=max-message-size:-1",
  "a=rtpmap:111 opus/48000/2",
  "a=rtpmap:111 opus/0/0",
  "a=fmtp:111 maxaveragebitrate=1;;=;",
  "a=fmtp:",
  "a=extmap:0 urn:ietf:params:rtp-hdrext:sdes:mid",
  "a=extmap:999 x",
  "a=ssrc:4294967296 cname:x",
  "a=ssrc-group:FID 1 2",
  "a=rid:0 send",
  "a=simulcast:send 0;1 recv 2",
  "a=candidate:1 1 udp 1 127.0.0.1 9 typ host",
  "a=rtcp-fb:* nack",
  "a=msid:- -",
  "c=IN IP6 ::1",
  "b=AS:-1",
  "o=- 0 0 IN IP4 0",
  "v=1",
  "=",
  "",
];

type Change = (draw: Draw, lines: string[], others: readonly string[]) => void;

/** @param others further offers, of which lines are put in */
export function mutatedSdp(draw: Draw, sdp: string, others: readonly string[]): string {
  const lines = sdp.split(/\r?\n/).filter((line) => line !== "");
  for (let left = draw.whole(1, MAX_CHANGES); left > 0; left -= 1) draw.one(CHANGES)(draw, lines, others);
  const end = draw.chance(0.95) ? "\r\n" : draw.one(["\n", "\r", "\r\n\r\n", ""]);
  return lines
    .map((line) => line + end)
    .join("")
    .slice(0, MAX_SDP_CHARACTERS);
}

function place(draw: Draw, lines: readonly string[]): number {
  return draw.whole(0, Math.max(0, lines.length - 1));
}

function replaceIn(draw: Draw, lines: string[], pattern: RegExp): void {
  const at = place(draw, lines);
  const words = [...(lines[at] ?? "").matchAll(pattern)];
  const word = words[draw.whole(0, Math.max(0, words.length - 1))];
  if (word === undefined) return;
  const line = lines[at] ?? "";
  lines[at] = line.slice(0, word.index) + draw.one(VALUES) + line.slice(word.index + word[0].length);
}

const CHANGES: readonly [Change, ...Change[]] = [
  (draw, lines) => replaceIn(draw, lines, /\d+/g),
  (draw, lines) => replaceIn(draw, lines, /[^\s:;=/]+/g),
  (draw, lines) => void lines.splice(place(draw, lines), draw.whole(1, 3)),
  (draw, lines) => void lines.splice(place(draw, lines), 0, draw.one(LINES)),
  (draw, lines) => void lines.splice(place(draw, lines), 0, lines[place(draw, lines)] ?? ""),
  (draw, lines) => {
    const [from, to] = [place(draw, lines), place(draw, lines)];
    lines.splice(to, 0, ...lines.splice(from, draw.whole(1, 8)));
  },
  (draw, lines, others) => {
    const other = (others[draw.whole(0, others.length - 1)] ?? "").split(/\r?\n/);
    const from = place(draw, other);
    lines.splice(place(draw, lines), 0, ...other.slice(from, from + draw.whole(1, 10)));
  },
  (draw, lines) => {
    const at = place(draw, lines);
    const line = lines[at] ?? "";
    lines[at] = line.slice(0, draw.whole(0, line.length)) + draw.one(VALUES);
  },
  // Many of the same.
  (draw, lines) => {
    if (!draw.chance(0.1)) return;
    const at = place(draw, lines);
    lines.splice(at, 0, ...Array.from({ length: draw.whole(2, MAX_REPETITIONS) }, () => lines[at] ?? ""));
  },
];

/** Hostile session descriptions: good ones with wrong, missing, doubled and foreign lines. */

import type { Draw } from "../../sim/draw.ts";

const INLINE = "d0RmdmcmVCspeEc3QGZiNWpVLFJhQX1cfHAwJSoj";
const GOOD: readonly [string, ...string[]] = [
  "v=0|o=- 1 1 IN IP4 192.0.2.1|s=-|c=IN IP4 192.0.2.1|t=0 0|m=audio 4000 RTP/AVP 8 0 101|a=rtpmap:101 telephone-event/8000|a=fmtp:101 0-16|a=sendrecv",
  "v=0|o=- 1 1 IN IP6 2001:db8::1|s=-|t=0 0|m=video 5000 RTP/AVP 96|m=audio 4000 RTP/AVPF 111 9|c=IN IP6 2001:db8::1|a=rtpmap:111 opus/48000/2|a=rtcp-mux|a=sendonly",
  `v=0|o=- 1 1 IN IP4 192.0.2.1|s=-|c=IN IP4 192.0.2.1|t=0 0|m=audio 4000 RTP/SAVP 0|a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${INLINE}|a=rtcp:4010`,
];
const LINES: readonly [string, ...string[]] = [
  "m=audio 4000 RTP/AVP 0",
  "m=audio 0 RTP/AVP 0",
  "m=audio 99999 RTP/AVP 0",
  "m=audio 4000/2 RTP/AVP 0",
  "m=audio -1 RTP/AVP 0",
  "m=audio 4000 UDP/TLS/RTP/SAVPF 111",
  "m=image 5 udptl t38",
  "m=",
  "c=IN IP4 0.0.0.0",
  "c=IN IP4 224.2.1.1/127/3",
  "c=IN IP4 host.example",
  "c=IN IP6 ::",
  "c=",
  "a=rtpmap:0 PCMU/8000",
  "a=rtpmap:999 opus/48000/2",
  "a=rtpmap:0 opus/48000/2",
  "a=rtpmap:",
  "a=fmtp:101",
  "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:",
  `a=crypto:2 AES_CM_128_HMAC_SHA1_80 inline:${INLINE}|2^20|1:4`,
  `a=crypto:4294967296 AES_CM_128_HMAC_SHA1_80 inline:${INLINE}`,
  "a=rtcp:0",
  "a=rtcp:70000 IN IP4 192.0.2.9",
  "a=maxptime:NaN",
  "a=maxptime:10",
  "a=ptime:0",
  "a=inactive",
  "a=recvonly",
  "a=",
  "a=:",
  "\u0000",
  "=",
  "v=1",
  "a=x".repeat(200),
];
const ENDS: readonly [string, ...string[]] = ["\r\n", "\n", "\r", "\r\n\r\n"];
const MOST_CHANGES = 4;

export function drawSdp(draw: Draw): string {
  const lines = draw.one(GOOD).split("|");
  for (let n = draw.whole(0, MOST_CHANGES); n > 0; n -= 1) {
    const at = draw.whole(0, lines.length);
    const kind = draw.whole(0, 4);
    if (kind === 0) lines.splice(at, 0, draw.one(LINES));
    else if (kind === 1) lines.splice(at, 1);
    else if (kind === 2) lines.splice(at, 0, lines[draw.whole(0, lines.length - 1)] ?? "");
    else lines[at] = changed(draw, lines[at] ?? "");
  }
  const text = lines.join(draw.one(ENDS));
  if (draw.chance(0.02)) return text.repeat(draw.whole(2, 200));
  return draw.chance(0.05) ? text.slice(0, draw.whole(0, text.length)) : text;
}

/** A few characters of a line are other ones. */
function changed(draw: Draw, line: string): string {
  const characters = line.split("");
  for (let n = draw.whole(1, 3); n > 0 && characters.length > 0; n -= 1) {
    characters[draw.whole(0, characters.length - 1)] = String.fromCharCode(draw.whole(0, 300));
  }
  return characters.join("");
}

/** Changed messages of SIP: those of a peer that knows our calls, with wrong values, cut, doubled, or no messages. */

import type { Draw } from "../../sim/draw.ts";

/** Changes of one message. */
const MOST_CHANGES = 4;

/** What the peer knows of a call, from the messages that it got. */
export interface KnownCall {
  readonly callId: string;
  /** Values of our From and To as we write them. */
  readonly ours: string;
  readonly theirs: string;
  /** The Via of our last request, for answers. */
  readonly via: string;
  readonly method: string;
  readonly cseq: number;
}

const METHODS: readonly [string, ...string[]] = [
  "INVITE",
  "ACK",
  "BYE",
  "CANCEL",
  "OPTIONS",
  "PRACK",
  "UPDATE",
  "INFO",
  "REFER",
  "NOTIFY",
  "REGISTER",
  "MESSAGE",
  "dance",
];
const STATUSES: readonly [number, ...number[]] = [
  100, 180, 183, 199, 200, 202, 299, 300, 302, 400, 401, 407, 408, 422, 423, 481, 487, 491, 500, 503, 600,
  699,
];
const FIELDS: readonly [string, ...string[]] = [
  "Via: SIP/2.0/UDP 127.0.0.9;branch=z9hG4bKx;rport",
  "Contact: *",
  "Contact: <sip:127.0.0.9>, <sip:127.0.0.8>",
  "Record-Route: <sip:127.0.0.9;lr>",
  "Record-Route: <sip:127.0.0.9>",
  "Require: 100rel",
  "Require: timer, replaces",
  "RSeq: 1",
  "RAck: 1 1 INVITE",
  "Session-Expires: 90;refresher=uas",
  "Session-Expires: 1",
  "Min-SE: 4294967295",
  "Supported: timer, 100rel",
  "Refer-To: <sip:x@127.0.0.7?Replaces=a>",
  "Refer-To: <sip:x",
  "Event: refer;id=2",
  "Subscription-State: terminated",
  "Content-Type: application/dtmf-relay",
  "Content-Type: multipart/mixed;boundary=x",
  "Content-Encoding: gzip",
  "Content-Length: 99999999999999999999",
  "Content-Length: 5",
  'WWW-Authenticate: Digest realm="r", nonce="n", qop="auth,auth-int", algorithm=SHA-256',
  'Proxy-Authenticate: Digest realm="\\"", nonce=""',
  'WWW-Authenticate: Digest realm="r", nonce="n", stale=true, algorithm=MD5-sess',
  "Max-Forwards: 0",
  "Expires: 0",
  "Replaces: a;to-tag=b;from-tag=c",
  "Retry-After: 99999999999999999999",
  "Allow: UPDATE",
  " folded",
  ":",
  "X-Long: " + "x".repeat(9_000),
  "v: " + "SIP/2.0/UDP a;branch=b,".repeat(90),
];
const PIECES: readonly [string, ...string[]] = [
  "",
  " ",
  ";",
  ",",
  "<",
  ">",
  '"',
  "\\",
  "\u0000",
  "\r\n",
  "\r\n\r\n",
  "\n",
  "%",
  "%00",
  "@",
  ":",
  "?",
  "=",
  "🙂",
  "-1",
  "4294967296",
  "99999999999999999999",
  "[::1]",
  "[",
  ";".repeat(300),
  "<".repeat(300),
  "a=b;".repeat(200),
  "%41".repeat(500),
];

/** One message. `n` counts them. */
export function drawSip(draw: Draw, known: readonly KnownCall[], n: number): Buffer {
  if (draw.chance(0.05)) return noise(draw);
  const call = draw.chance(0.6) ? known[draw.whole(0, known.length - 1)] : undefined;
  let text = call !== undefined && draw.chance(0.5) ? answer(draw, call) : request(draw, call, n);
  for (let left = draw.chance(0.5) ? 0 : draw.whole(1, MOST_CHANGES); left > 0; left -= 1)
    text = change(draw, text);
  const bytes = Buffer.from(text, "utf8");
  for (let left = draw.chance(0.1) ? draw.whole(1, 5) : 0; left > 0 && bytes.length > 0; left -= 1) {
    bytes[draw.whole(0, bytes.length - 1)] = draw.whole(0, 255);
  }
  return draw.chance(0.05) ? bytes.subarray(0, draw.whole(0, bytes.length)) : bytes;
}

function request(draw: Draw, call: KnownCall | undefined, n: number): string {
  const method = draw.chance(0.4) ? "INVITE" : draw.one(METHODS);
  const branch = draw.chance(0.2) ? draw.whole(Math.max(0, n - 20), n) : n;
  const number = draw.chance(0.9) ? draw.whole(1, 50) : draw.whole(0, 2 ** 32);
  return message(draw, `${method} sip:agent@127.0.0.2 SIP/2.0`, [
    `Via: SIP/2.0/UDP 127.0.0.1:5060;branch=z9hG4bK${String(branch)};rport`,
    `From: ${call?.theirs ?? `<sip:fuzz@127.0.0.1>;tag=${String(branch)}`}`,
    `To: ${call?.ours ?? "<sip:agent@127.0.0.2>"}`,
    `Call-ID: ${call?.callId ?? `call-${String(branch)}`}`,
    `CSeq: ${String(number)} ${method}`,
  ]);
}

function answer(draw: Draw, call: KnownCall): string {
  const status = draw.one(STATUSES);
  return message(draw, `SIP/2.0 ${String(status)} Reason`, [
    `Via: ${call.via}`,
    `From: ${call.ours}`,
    `To: ${call.theirs}${call.theirs.includes("tag=") || draw.chance(0.2) ? "" : `;tag=${String(draw.whole(1, 3))}`}`,
    `Call-ID: ${call.callId}`,
    `CSeq: ${String(call.cseq)} ${call.method}`,
  ]);
}

function message(draw: Draw, line: string, headers: readonly string[]): string {
  const body = draw.chance(0.6)
    ? "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\n"
    : draw.one(["", "SIP/2.0 200 OK", "Signal=5"]);
  const type = body.startsWith("v=") ? ["Content-Type: application/sdp"] : [];
  const more = Array.from({ length: draw.whole(0, 2) }, () => draw.one(FIELDS));
  const contact = draw.chance(0.9) ? ["Contact: <sip:fuzz@127.0.0.1>"] : [];
  const length = draw.chance(0.9) ? [`Content-Length: ${String(body.length)}`] : [];
  return [line, ...headers, "Max-Forwards: 70", ...contact, ...more, ...type, ...length, "", body].join(
    "\r\n",
  );
}

function change(draw: Draw, text: string): string {
  const at = draw.whole(0, text.length);
  const end = Math.min(text.length, at + draw.whole(0, draw.chance(0.8) ? 5 : 200));
  if (draw.chance(0.2)) {
    const lines = text.split("\r\n");
    const one = draw.whole(0, lines.length - 1);
    if (draw.chance(0.5)) lines.splice(one, 1);
    else lines.splice(one, 0, lines[draw.whole(0, lines.length - 1)] ?? "");
    return lines.join("\r\n");
  }
  return text.slice(0, at) + draw.one(PIECES) + text.slice(draw.chance(0.5) ? at : end);
}

function noise(draw: Draw): Buffer {
  return Buffer.from(
    Array.from({ length: draw.whole(0, 400) }, () => draw.whole(0, draw.chance(0.5) ? 127 : 255)),
  );
}

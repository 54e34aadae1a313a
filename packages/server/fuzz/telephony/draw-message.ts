/** Hostile text frames of a carrier: its own messages with wrong values, cut, doubled, or no messages at all. */

import type { CarrierRules } from "../../src/transports/telephony/testing/carrier-rules.ts";
import type { FakeStream } from "../../src/transports/telephony/testing/rule-checks.ts";
import type { Draw } from "../../sim/draw.ts";

type Json = Record<string, unknown>;

/** Fields that are changed in one message. */
const MOST_CHANGES = 3;
/** Bytes of one payload; a second of audio has at most 48,000. */
const MOST_PAYLOAD_BYTES = 60_000;
const MOST_NUMBER = 2 ** 40;

const VALUES: readonly [unknown, ...unknown[]] = [
  null,
  true,
  "",
  "0",
  " 7 ",
  "-1",
  "NaN",
  "1e400",
  "\u0000",
  "🙂",
  "#",
  "55",
  0,
  -1,
  0.5,
  65_535,
  65_536,
  Number.MAX_SAFE_INTEGER,
  1e308,
  [],
  [[]],
  {},
  { name: "g1:1" },
  { payload: "AAAA" },
  { digit: "5" },
  "x".repeat(1_000),
  "inbound",
  "outbound",
  "g1:1",
  "audio/x-l16",
];
const EVENTS: readonly [string, ...string[]] = [
  "connected",
  "start",
  "media",
  "mark",
  "playedStream",
  "clearedAudio",
  "dtmf",
  "error",
  "playFailed",
  "of a later version",
];

/** One frame. `sequence` counts them. */
export function drawMessage(draw: Draw, rules: CarrierRules, stream: FakeStream, sequence: number): string {
  if (draw.chance(0.1)) return noise(draw);
  const message = structuredClone(genuine(draw, rules, stream, sequence)) as Json;
  for (let left = draw.whole(0, MOST_CHANGES); left > 0; left -= 1) change(draw, message);
  const text = JSON.stringify(message);
  if (draw.chance(0.05)) return text.slice(0, draw.whole(0, text.length));
  return draw.chance(0.02) ? text + text : text;
}

function genuine(draw: Draw, rules: CarrierRules, stream: FakeStream, sequence: number): object {
  const of = draw.chance(0.1) ? { ...stream, streamId: "another" } : stream;
  const chunk = draw.chance(0.5) ? sequence : draw.whole(0, draw.chance(0.5) ? 100 : MOST_NUMBER);
  switch (draw.whole(0, 4)) {
    case 0:
      return rules.begin(of).at(-1) ?? {};
    case 1:
      return rules.mark(of, sequence, draw.chance(0.5) ? `g1:${String(draw.whole(1, 20))}` : "?");
    case 2:
      return rules.digit(of, sequence, draw.one(["0", "#", "A", "d", "55", ""]));
    default:
      return rules.media(of, sequence, chunk, payload(draw));
  }
}

function payload(draw: Draw): string {
  const length = draw.chance(0.9) ? draw.whole(0, 400) : draw.whole(0, MOST_PAYLOAD_BYTES);
  const text = Buffer.alloc(length, draw.whole(0, 255)).toString("base64");
  return draw.chance(0.1) ? `${text.slice(0, 3)}!\n-_${text.slice(3)}` : text;
}

/** Another value, one field less or more, at any depth. */
function change(draw: Draw, message: Json): void {
  let place = message;
  for (;;) {
    const keys = Object.keys(place);
    const key = keys[draw.whole(0, keys.length - 1)];
    if (key === undefined) return;
    const inner = place[key];
    if (typeof inner === "object" && inner !== null && !Array.isArray(inner) && draw.chance(0.6)) {
      place = inner as Json;
      continue;
    }
    const how = draw.whole(1, 10);
    // A copy, because the next change may be inside of it.
    const value: unknown = structuredClone(draw.one(VALUES));
    if (key === "event") place[key] = draw.chance(0.5) ? draw.one(EVENTS) : value;
    else if (how <= 2) delete place[key];
    else place[how <= 4 ? `${key}2` : key] = value;
    return;
  }
}

function noise(draw: Draw): string {
  const length = draw.whole(0, 200);
  if (draw.chance(0.5)) return `${"[".repeat(length)}${"{".repeat(draw.whole(0, 3))}`;
  return Array.from({ length }, () =>
    String.fromCharCode(draw.whole(0, draw.chance(0.9) ? 127 : 65_535)),
  ).join("");
}

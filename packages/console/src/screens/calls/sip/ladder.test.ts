import type { SipMessage } from "@parley/schema";
import { expect, test } from "vitest";
import { logText, offsetText, peersOf, rungsOf } from "./ladder.ts";

function message(changes: Partial<SipMessage> = {}): SipMessage {
  return {
    timestamp: "2026-11-23T10:00:00.000Z",
    direction: "received",
    transport: "udp",
    source: "203.0.113.5:5060",
    destination: "198.51.100.1:5060",
    firstLine: "INVITE sip:a@b.example SIP/2.0",
    text: "INVITE sip:a@b.example SIP/2.0\r\nCSeq: 1 INVITE\r\n\r\n",
    ...changes,
  };
}

test("a rung has the method or the status, the other side and the time since the first message", () => {
  const answer = message({
    timestamp: "2026-11-23T10:00:01.250Z",
    direction: "sent",
    source: "198.51.100.1:5060",
    destination: "203.0.113.5:5060",
    firstLine: "SIP/2.0 200 OK",
    text: "SIP/2.0 200 OK\r\nCSeq: 1 INVITE\r\n\r\n",
  });
  const rungs = rungsOf([message(), answer]);
  expect(rungs.map(({ label, isSent, peer, offsetMs }) => [label, isSent, peer, offsetMs])).toEqual([
    ["INVITE", false, "203.0.113.5:5060", 0],
    ["200 OK (INVITE)", true, "203.0.113.5:5060", 1_250],
  ]);
  expect(peersOf(rungs)).toEqual(["203.0.113.5:5060 (UDP)"]);
  expect(offsetText(1_250)).toBe("+1.250 s");
  expect(logText([message(), answer])).toBe(
    [
      "--- 2026-11-23T10:00:00.000Z received udp 203.0.113.5:5060 -> 198.51.100.1:5060",
      "INVITE sip:a@b.example SIP/2.0",
      "CSeq: 1 INVITE",
      "",
      "--- 2026-11-23T10:00:01.250Z sent udp 198.51.100.1:5060 -> 203.0.113.5:5060",
      "SIP/2.0 200 OK",
      "CSeq: 1 INVITE",
      "",
    ].join("\n"),
  );
});

test("answers have the colour of their class", () => {
  const tones = ["100 Trying", "200 OK", "302 Moved", "401 Unauthorized", "407 Proxy", "486 Busy", "603"].map(
    (said) => rungsOf([message({ firstLine: `SIP/2.0 ${said}`, text: "" })])[0]?.tone,
  );
  expect(tones).toEqual(["plain", "good", "warn", "warn", "warn", "bad", "bad"]);
  expect(rungsOf([])).toEqual([]);
});

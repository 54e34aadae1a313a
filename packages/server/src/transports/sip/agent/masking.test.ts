import { expect, it } from "vitest";
import { parseMessage } from "../message/parse.ts";
import { serialize } from "../message/serialize.ts";
import { masked } from "./masking.ts";

function shown(headers: readonly string[], body = "", type = "application/sdp"): string {
  const text = [
    "INVITE sip:a:secret@b.example SIP/2.0",
    "Via: SIP/2.0/UDP b.example;branch=z9hG4bK1",
    "From: <sip:x:secret@b.example>;tag=1",
    "To: <sip:a@b.example>",
    "Call-ID: c",
    "CSeq: 1 INVITE",
    ...headers,
    `Content-Type: ${type}`,
    "",
    body,
  ].join("\r\n");
  const parsed = parseMessage(Buffer.from(text));
  if (parsed.kind !== "request") throw new Error(JSON.stringify(parsed));
  return serialize(masked(parsed.request)).toString("utf8");
}

it.each([
  [
    "a digest",
    [
      'Authorization: Digest username="u", realm="r", nonce="secret", uri="sip:b", response="secret", cnonce=secret',
    ],
  ],
  ["a token", ["Authorization: Bearer secret"]],
  ["a challenge", ['Proxy-Authenticate: Digest realm="r", nonce="secret", opaque="secret"']],
])("masks %s", (_what, headers) => {
  const text = shown(headers);
  expect(text).not.toContain("secret");
  expect(text).toContain("***");
});

it("keeps what explains a refusal", () => {
  const text = shown([
    'Authorization: Digest username="u", realm="r", nonce="n", uri="sip:b", response="x", algorithm=MD5',
  ]);
  expect(text).toContain('username="u", realm="r"');
  expect(text).toContain("algorithm=MD5");
});

it("masks keys of media, and keys that were pressed", () => {
  const sdp =
    "v=0\r\na=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:secretsecret|2^20\r\na=ice-pwd:secret\r\nk=clear:secret\r\n";
  const text = shown([], sdp);
  expect(text).not.toContain("secret");
  expect(text).toContain("AES_CM_128_HMAC_SHA1_80 inline:***|2^20");
  expect(shown([], "Signal=5\r\n", "application/dtmf-relay")).toContain("(10 bytes)");
  expect(shown([], "Signal=5\r\n", "application/dtmf-relay")).not.toContain("Signal");
});

it("masks each password of a header field, and nothing else of it", () => {
  const lines = [
    "Contact: <sip:ann:secret@b.example>, <SIPS:bob:sec:ret@b.example>;q=0.5, sip:carl@b.example",
    "Subject: 10:30 me@example.com sip:note: no password",
  ];
  const text = shown(lines);
  expect(text).toContain("<sip:ann:***@b.example>, <SIPS:bob:***@b.example>;q=0.5, sip:carl@b.example");
  expect(text).toContain(lines[1]);
});

it("masks the part of a registration's Contact that lets everybody call who knows it", () => {
  const text = shown(["Route: <sip:4930777-0123456789abcdef01234567@b.example:5060>"]);
  expect(text).toContain("<sip:4930777-***@b.example:5060>");
});

// With time in the square of the length this would take a minute.
it("masks header fields that look like many addresses in time that grows with their length", () => {
  const lines = Array.from({ length: 7 }, () => `Subject: @ ${"sip:".repeat(2_000)}`);
  for (let message = 0; message < 60; message += 1) expect(shown(lines)).toContain("sip:sip:");
});

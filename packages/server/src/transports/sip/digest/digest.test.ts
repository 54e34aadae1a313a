import { describe, expect, it } from "vitest";
import { answerChallenge, challengesOf, type Challenge } from "./digest.ts";
import { Authorizer } from "./authorizer.ts";
import { parseMessage } from "../message/parse.ts";
import type { SipResponse } from "../message/message.ts";

/** The example of RFC 7616, 3.9.1. */
const MUFASA: Challenge = {
  isProxy: false,
  realm: "http-auth@example.org",
  nonce: "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v",
  opaque: "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS",
  algorithm: "MD5",
  isBound: false,
  hasQop: true,
  isStale: false,
};
const USE = {
  credentials: { username: "Mufasa", password: "Circle of Life" },
  method: "GET",
  uri: "/dir/index.html",
  cnonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ",
  count: 1,
};

function response(...challenges: string[]): SipResponse {
  const text = [
    "SIP/2.0 401 Unauthorized",
    "Via: SIP/2.0/UDP 127.0.0.1;branch=z9hG4bK1",
    "From: <sip:a@b>;tag=1",
    "To: <sip:a@b>;tag=2",
    "Call-ID: c",
    "CSeq: 1 REGISTER",
    ...challenges.map((challenge) => `WWW-Authenticate: ${challenge}`),
    "",
    "",
  ].join("\r\n");
  const parsed = parseMessage(Buffer.from(text));
  if (parsed.kind !== "response") throw new Error(JSON.stringify(parsed));
  return parsed.response;
}

describe("answerChallenge", () => {
  it.each([
    ["MD5", "8ca523f5e9506fed4657c9700eebdbec"],
    ["SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"],
  ] as const)("answers the example of RFC 7616 with %s", (algorithm, expected) => {
    const text = answerChallenge({ ...MUFASA, algorithm }, USE);
    expect(text).toContain(`response="${expected}"`);
    expect(text).toContain('username="Mufasa", realm="http-auth@example.org"');
    expect(text).toContain("qop=auth, nc=00000001");
  });

  it("answers the old form without qop (RFC 2617)", () => {
    const challenge = {
      ...MUFASA,
      realm: "testrealm@host.com",
      nonce: "dcd98b7102dd2f0e8b11d0f600bfb0c093",
      hasQop: false,
    };
    const text = answerChallenge(challenge, {
      ...USE,
      credentials: { username: "Mufasa", password: "Circle Of Life" },
    });
    expect(text).toContain('response="670fd8c2df070c60b045671b8b24ff02"');
    expect(text).not.toContain("cnonce");
  });

  it("escapes what would end a quoted string", () => {
    const text = answerChallenge({ ...MUFASA, realm: 'a"b\\' }, USE);
    expect(text).toContain(String.raw`realm="a\"b\\"`);
  });
});

describe("challengesOf", () => {
  it("prefers SHA-256, and leaves out what cannot be answered", () => {
    const found = challengesOf(
      response(
        'Digest realm="r", nonce="1", algorithm=MD5, qop="auth"',
        'Digest realm="r", nonce="2", algorithm=SHA-256, qop="auth-int, auth"',
        'Digest realm="r", nonce="3", algorithm=SHA-512-256, qop="auth"',
        'Digest realm="r", nonce="4", qop="auth-int"',
        'Basic realm="r"',
        'Digest realm="open',
        "Digest",
      ),
    );
    expect(found.map(({ nonce, algorithm }) => [nonce, algorithm])).toEqual([
      ["2", "SHA-256"],
      ["1", "MD5"],
    ]);
  });
});

describe("Authorizer", () => {
  const open = () => new Authorizer({ username: "u", password: "p" }, () => "cnonce");
  const challenge = (nonce: string, more = "") =>
    response(`Digest realm="r", nonce="${nonce}", qop="auth"${more}`);

  it("counts the uses of a nonce", () => {
    const authorizer = open();
    expect(authorizer.headersFor("INVITE", "sip:x")).toEqual([]);
    expect(authorizer.challenged(challenge("1"), new Map())).toBe(true);
    expect(authorizer.headersFor("INVITE", "sip:x")[0]?.value).toContain("nc=00000001");
    expect(authorizer.headersFor("BYE", "sip:x")[0]?.value).toContain("nc=00000002");
    expect(authorizer.challenged(challenge("2"), new Map())).toBe(true);
    expect(authorizer.headersFor("BYE", "sip:x")[0]?.value).toContain("nc=00000001");
  });

  it.each([
    ["a wrong password", ["1", "2"], [true, false]],
    ["the same nonce", ["1", "1"], [true, false]],
    ["a nonce that was too old", ["1", "2s"], [true, true]],
    ["nonces that are always too old", ["1", "2s", "3s"], [true, true, false]],
  ])("gives up with %s", (_what, nonces, expected) => {
    const authorizer = open();
    const tried = new Map<string, string[]>();
    const results = nonces.map((nonce) =>
      authorizer.challenged(
        challenge(nonce.replace("s", ""), nonce.endsWith("s") ? ", stale=TRUE" : ""),
        tried,
      ),
    );
    expect(results).toEqual(expected);
  });

  it("does nothing without a password", () => {
    expect(new Authorizer(null, () => "x").challenged(challenge("1"), new Map())).toBe(false);
  });
});

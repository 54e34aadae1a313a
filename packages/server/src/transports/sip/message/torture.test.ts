/**
 * Messages with what the descriptions of RFC 4475 say, written for these tests, and the answers that the RFC names. A
 * user agent without a proxy is asked, so that a request for somebody else is answered like one for us.
 */

import { describe, expect, it } from "vitest";
import { SipWorld } from "../testing/sip-world.ts";
import { parseMessage } from "./parse.ts";
import { headerOf, listOf } from "./headers.ts";

const VIA = "Via: SIP/2.0/UDP 127.0.0.1:5060;branch=z9hG4bKtorture";

interface Parts {
  readonly method?: string;
  readonly line?: string;
  readonly headers?: readonly string[];
  /** Names whose usual line is left out. */
  readonly without?: readonly string[];
  readonly body?: string;
}

function text({ method = "OPTIONS", line, headers = [], without = [], body = "" }: Parts): string {
  const usual = [
    VIA,
    "Max-Forwards: 70",
    "From: <sip:caller@127.0.0.1>;tag=from",
    "To: <sip:user@127.0.0.2>",
    "Call-ID: torture@127.0.0.1",
    `CSeq: 1 ${method}`,
    "Contact: <sip:caller@127.0.0.1>",
    `Content-Length: ${String(Buffer.byteLength(body))}`,
  ].filter((header) => !without.includes(header.split(":")[0] ?? ""));
  return [line ?? `${method} sip:user@127.0.0.2 SIP/2.0`, ...usual, ...headers, "", body].join("\r\n");
}

/** Status of the first final answer; null: none. */
async function answerTo(message: string): Promise<number | null> {
  const world = new SipWorld();
  const us = await world.agent("127.0.0.2", (invite) => {
    invite.reject(486);
  });
  world.network.inject("127.0.0.1:5060", "127.0.0.2:5060", message);
  await world.clock.advance(1_000);
  expect(us.faults).toEqual([]);
  const statuses = world.network.carried
    .filter(({ from }) => from === "127.0.0.2:5060")
    .map(({ text: answer }) => Number(/^SIP\/2\.0 (\d{3})/.exec(answer)?.[1]));
  return statuses.find((status) => status >= 200) ?? null;
}

describe("valid messages", () => {
  it("reads a short tortuous INVITE", () => {
    const message = [
      "INVITE sip:vivekg@chair-dnrc.example.com;unknownparam SIP/2.0",
      "TO :",
      " sip:vivekg@chair-dnrc.example.com ;   tag    = 1918181833n",
      'from   : "J Rosenberg \\\\\\""       <sip:jdrosen@example.com>',
      "  ;",
      "  tag = 98asjd8",
      "MaX-fOrWaRdS: 0068",
      "Call-ID: wsinv.ndaksdj@192.0.2.1",
      "Content-Length   : 150",
      "cseq: 0009",
      "  INVITE",
      "Via  : SIP  /   2.0",
      " /UDP",
      "    192.0.2.2;branch=390skdjuw",
      "s :",
      "NewFangledHeader:   newfangled value",
      " continued newfangled value",
      "UnknownHeaderWithUnusualValue: ;;,,;;,;",
      "Content-Type: application/sdp",
      "Route:",
      " <sip:services.example.com;lr;unknownwith=value;unknown-no-value>",
      "v:  SIP  / 2.0  / TCP     spindle.example.com   ;",
      "  branch  =   z9hG4bK9ikj8  ,",
      " SIP  /    2.0   / UDP  192.168.255.111   ; branch=",
      " z9hG4bK30239",
      'm:"Quoted string \\"\\"" <sip:jdrosen@example.com> ; newparam =',
      "      newvalue ;",
      "  secondparam ; q = 0.33",
      "",
      "x".repeat(150),
    ].join("\r\n");
    const parsed = parseMessage(Buffer.from(message));
    if (parsed.kind !== "request") throw new Error(JSON.stringify(parsed));
    expect(parsed.request).toMatchObject({
      method: "INVITE",
      callId: "wsinv.ndaksdj@192.0.2.1",
      cseq: { number: 9, method: "INVITE" },
      from: { displayName: 'J Rosenberg \\"' },
      via: { transport: "UDP", host: "192.0.2.2" },
    });
    expect(listOf(parsed.request, "via")).toHaveLength(3);
    expect(headerOf(parsed.request, "newfangledheader")).toBe("newfangled value continued newfangled value");
  });

  it.each([
    [
      "a wide range of characters in the method",
      { method: "!interesting-Method0123456789_*+`.%indeed'~" },
      501,
    ],
    ["escapes in the method, which mean nothing there", { method: "RE%47IST%45R" }, 501],
    ["an escaped NUL in a user part", { line: "OPTIONS sip:null-%00-null@127.0.0.2 SIP/2.0" }, 200],
    ["escapes in the user part", { line: "OPTIONS sip:sips%3Auser%40example.com@127.0.0.2 SIP/2.0" }, 200],
    ["a semicolon in the user part", { line: "OPTIONS sip:user;par=u%40example.net@127.0.0.2 SIP/2.0" }, 200],
    [
      "no space between the display name and <",
      { without: ["From"], headers: ["From: caller<sip:c@127.0.0.1>;tag=1"] },
      200,
    ],
    ["unusual transports in Via", { headers: ["v: SIP/2.0/UNKNOWN t2.example.org;branch=z9hG4bK2"] }, 200],
    ["long values", { headers: [`Unknown-${"Long".repeat(20)}: ${"unknown-value ".repeat(400)}`] }, 200],
    [
      "percent signs that are no escapes in a display name",
      { without: ["From"], headers: ['From: "%Z%45" <sip:r@127.0.0.1>;tag=1'] },
      200,
    ],
    [
      "Max-Forwards of zero, for the one that it is meant for",
      { without: ["Max-Forwards"], headers: ["Max-Forwards: 0"] },
      200,
    ],
    [
      "an unknown scheme in From and To",
      { without: ["From"], headers: ["From: <isbn:2983792873>;tag=1"] },
      200,
    ],
    ["a Date that is not in GMT", { headers: ["Date: Fri, 01 Jan 2010 16:00:00 EST"] }, 200],
    [
      "an unknown scheme of authorization",
      { headers: ["Authorization: NoOneKnowsThisScheme opaque-data=here"] },
      200,
    ],
  ])("answers %s", async (_what, parts, status) => {
    expect(await answerTo(text(parts))).toBe(status);
  });

  it("reads the first of two requests in one datagram", async () => {
    expect(await answerTo(text({}) + text({ method: "DANCE" }))).toBe(200);
  });

  it("answers a request without a branch that has the cookie (RFC 2543)", async () => {
    expect(await answerTo(text({ without: ["Via"], headers: ["Via: SIP/2.0/UDP 127.0.0.1:5060"] }))).toBe(
      200,
    );
  });

  it("answers an INVITE as RFC 2543 has it: no branch, no tag, no Max-Forwards, no Content-Length", async () => {
    const message = text({
      method: "INVITE",
      without: ["Via", "From", "Max-Forwards", "Content-Length"],
      headers: [
        "Via: SIP/2.0/UDP 127.0.0.1",
        "From: <sip:+13035551111@127.0.0.1;user=phone>",
        "Content-Type: application/sdp",
      ],
      body: "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 4000 RTP/AVP 0\r\n",
    });
    expect(await answerTo(message)).toBe(486);
  });

  it("tells requests apart whose branch is the cookie alone", async () => {
    const world = new SipWorld();
    await world.agent("127.0.0.2");
    const bare = text({ without: ["Via"], headers: ["Via: SIP/2.0/UDP 127.0.0.1:5060;branch=z9hG4bK"] });
    world.network.inject("127.0.0.1:5060", "127.0.0.2:5060", bare);
    const other = bare.replace("Call-ID: torture", "Call-ID: another");
    world.network.inject("127.0.0.1:5060", "127.0.0.2:5060", other);
    await world.clock.advance(500);
    const answers = world.network.carried
      .filter(({ from }) => from === "127.0.0.2:5060")
      .map(({ text: answer }) => /Call-ID: (\w+)/.exec(answer)?.[1]);
    expect(answers).toEqual(["torture", "another"]);
  });

  it.each([
    ["a parameter of the Contact", "Contact: <sip:+19725552222@gw1.example.net>;unknownparam"],
    ["a parameter of the URI in the Contact", "Contact: <sip:+19725552222@gw1.example.net;unknownparam>"],
    [
      "header fields in the URI of the Contact",
      "Contact: <sip:user@example.com?Route=%3Csip:sip.example.com%3E>",
    ],
    ["an escaped NUL in the Contact", "Contact: <sip:%00@host5.example.com>, <sip:%00%00@host5.example.com>"],
  ])("reads a registration with %s, and answers that nobody registers here", async (_what, contact) => {
    const parts = { method: "REGISTER", without: ["Contact"], headers: [contact] };
    expect(await answerTo(text(parts))).toBe(405);
  });

  it("reads a body of several parts with bytes of any value", () => {
    const body = Buffer.concat([
      Buffer.from("--b\r\n\r\n"),
      Buffer.from([0, 255, 13, 10, 128]),
      Buffer.from("--b--"),
    ]);
    const head = text({
      method: "MESSAGE",
      without: ["Content-Length"],
      headers: [`l: ${String(body.length)}`],
    });
    const parsed = parseMessage(Buffer.concat([Buffer.from(head), body]));
    expect(parsed.kind === "request" && parsed.request.body.equals(body)).toBe(true);
  });

  it.each([
    ["a reason phrase in another language", "SIP/2.0 200 = 2**3 * 5**2 но сто девяносто девять - простое"],
    ["no reason phrase", "SIP/2.0 100 "],
  ])("reads a response with %s", (_what, line) => {
    expect(parseMessage(Buffer.from(text({ line }))).kind).toBe("response");
  });
});

describe("messages that are not valid", () => {
  it.each([
    [
      "separators without parameters",
      { method: "INVITE", without: ["Contact"], headers: ['Contact: "Joe" <sip:joe@127.0.0.1>;;;;'] },
      400,
    ],
    [
      "a Content-Length beyond the datagram",
      { without: ["Content-Length"], headers: ["Content-Length: 9999"] },
      400,
    ],
    ["a negative Content-Length", { without: ["Content-Length"], headers: ["Content-Length: -999"] }, 400],
    [
      "a number of CSeq beyond 32 bits",
      { without: ["CSeq"], headers: ["CSeq: 36893488147419103232 OPTIONS"] },
      400,
    ],
    ["Max-Forwards beyond 255", { without: ["Max-Forwards"], headers: ["Max-Forwards: 300"] }, 400],
    ["an Expires that is too large", { headers: ["Expires: 10000000000000000000000"] }, 400],
    [
      "a quoted string without its end",
      { without: ["To"], headers: ['To: "Mr. J. User <sip:j.user@127.0.0.2>'] },
      400,
    ],
    ["a Request-URI in brackets", { line: "OPTIONS <sip:user@127.0.0.2> SIP/2.0" }, 400],
    ["a space in the Request-URI", { line: "OPTIONS sip:user@127.0.0.2; lr SIP/2.0" }, 400],
    ["two spaces in the request line", { line: "OPTIONS  sip:user@127.0.0.2  SIP/2.0" }, 400],
    ["a space at the end of the request line", { line: "OPTIONS sip:user@127.0.0.2 SIP/2.0  " }, 400],
    [
      "header fields in the Request-URI",
      { line: "OPTIONS sip:user@127.0.0.2?Route=%3Csip:127.0.0.9%3E SIP/2.0" },
      400,
    ],
    [
      "a Contact that needs brackets",
      { without: ["Contact"], headers: ["Contact: sip:user@127.0.0.1?Route=%3Csip:sip.example.com%3E"] },
      400,
    ],
    ["spaces in an address", { without: ["To"], headers: ["To: < sip:user@127.0.0.2 >"] }, 400],
    [
      "a display name that needs quotes",
      { without: ["From"], headers: ["From: Bell, Alexander <sip:a.g.bell@127.0.0.1>;tag=4"] },
      400,
    ],
    ["an unknown version", { line: "OPTIONS sip:user@127.0.0.2 SIP/7.0" }, 505],
    ["methods of CSeq and request line that differ", { without: ["CSeq"], headers: ["CSeq: 8 INVITE"] }, 400],
    [
      "an unknown method that is not the one of CSeq",
      { line: "NEWMETHOD sip:user@127.0.0.2 SIP/2.0", without: ["CSeq"], headers: ["CSeq: 8 INVITE"] },
      400,
    ],
    ["no From", { without: ["From"] }, 400],
    ["no To", { without: ["To"] }, 400],
    ["no Call-ID", { without: ["Call-ID"] }, 400],
    ["an unknown scheme", { line: "OPTIONS nobodyKnowsThisScheme:totallyopaquecontent SIP/2.0" }, 416],
    ["a scheme that is known and not SIP's", { line: "OPTIONS soap.beep://192.0.2.103:3002 SIP/2.0" }, 416],
    [
      "an extension that is required",
      {
        headers: [
          "Require: nothingSupportsThis, nothingSupportsThisEither",
          "Proxy-Require: noProxiesSupportThis",
        ],
      },
      420,
    ],
    [
      "a type of content that is not known",
      { method: "INVITE", headers: ["Content-Type: application/unknownformat"], body: "<audio/>" },
      415,
    ],
    [
      "a wish for answers of another type than descriptions",
      { method: "INVITE", headers: ["Accept: text/nobodyKnowsThis"] },
      406,
    ],
    [
      "fields that may come once, and come twice",
      { headers: ["CSeq: 59 OPTIONS", "Max-Forwards: 5", "From: <sip:x@127.0.0.1>"] },
      400,
    ],
    ["two Content-Lengths", { headers: ["Content-Length: 5"] }, 400],
  ])("answers %s", async (_what, parts, status) => {
    expect(await answerTo(text(parts))).toBe(status);
  });

  it.each([
    ["a status beyond 699", "SIP/2.0 4294967301 better not break the receiver"],
    ["a number of CSeq beyond 32 bits", "SIP/2.0 503 Service Unavailable"],
  ])("drops a response with %s", (what, line) => {
    const parts = what.includes("CSeq")
      ? { without: ["CSeq"], headers: ["CSeq: 9292394834772304023312 OPTIONS"] }
      : {};
    expect(parseMessage(Buffer.from(text({ line, ...parts }))).kind).toBe("dropped");
  });

  it("drops a response for another address in Via", async () => {
    const parts = {
      line: "SIP/2.0 200 OK",
      without: ["Via"],
      headers: ["Via: SIP/2.0/UDP 255.255.255.255;branch=z9hG4bK1"],
    };
    expect(await answerTo(text(parts))).toBeNull();
  });

  it("does not answer an ACK that is not well-formed", async () => {
    expect(await answerTo(text({ method: "ACK", without: ["To"] }))).toBeNull();
  });
});

describe("what belongs to no transaction", () => {
  it("answers a merged request with 482", async () => {
    const world = new SipWorld();
    await world.agent("127.0.0.2");
    const one = text({ method: "INVITE" });
    world.network.inject("127.0.0.1:5060", "127.0.0.2:5060", one);
    world.network.inject("127.0.0.1:5060", "127.0.0.2:5060", one.replace("z9hG4bKtorture", "z9hG4bKother"));
    await world.clock.advance(500);
    expect(world.network.carried.map(({ text: answer }) => answer.slice(0, 11))).toContain("SIP/2.0 482");
  });
});

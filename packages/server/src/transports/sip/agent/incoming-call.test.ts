import { describe, expect, it } from "vitest";
import {
  CallRecord,
  inviteOptions,
  InviteRecord,
  SDP_ANSWER,
  SDP_OFFER,
  SipWorld,
} from "../testing/sip-world.ts";
import type { IncomingInvite } from "../user-agent.ts";

interface Wanted {
  readonly method?: string;
  readonly headers?: readonly string[];
  readonly body?: string;
  readonly to?: string;
  readonly cseq?: number;
  readonly branch?: string;
}

/** A peer that is nothing but its messages. */
async function open(invited: (invite: IncomingInvite) => void = () => undefined) {
  const world = new SipWorld({ mostDelayMs: 1 });
  const us = await world.agent("127.0.0.2", invited);
  let count = 0;
  const send = async ({
    method = "INVITE",
    headers = [],
    body = SDP_OFFER,
    to = "",
    cseq = 1,
    branch,
  }: Wanted) => {
    count += 1;
    const text = [
      `${method} sip:agent_1@127.0.0.2 SIP/2.0`,
      `Via: SIP/2.0/UDP 10.9.9.9:6666;rport;branch=z9hG4bK${branch ?? String(count)}`,
      "Record-Route: <sip:127.0.0.1;lr>",
      'From: "A \\"B\\"" <sip:%2B49%2030@127.0.0.1>;tag=a',
      `To: <sip:agent_1@127.0.0.2>${to}`,
      "Call-ID: call",
      `CSeq: ${String(cseq)} ${method}`,
      "Contact: <sip:a@127.0.0.1>",
      ...(body === "" ? [] : ["Content-Type: application/sdp"]),
      ...headers,
      `Content-Length: ${String(body.length)}`,
      "",
      body,
    ].join("\r\n");
    world.network.inject("127.0.0.1:5060", "127.0.0.2:5060", text);
    await world.clock.advance(10);
  };
  const answers = () =>
    world.network.carried.filter(({ from }) => from === "127.0.0.2:5060").map(({ text }) => text);
  const statuses = () => answers().map((text) => Number(/^SIP\/2\.0 (\d{3})/.exec(text)?.[1] ?? 0));
  const tag = () => `;tag=${/To: [^\r]*;tag=([^\r;]+)/.exec(answers().at(-1) ?? "")?.[1] ?? ""}`;
  return { world, us, send, answers, statuses, tag };
}

describe("an incoming call", () => {
  it("is read with its escapes, and answered where it came from", async () => {
    const { us, send, answers } = await open();
    await send({ headers: ["X-Thing: value"] });
    expect(us.invites[0]).toMatchObject({ callerId: "+49 30", fromDisplayName: 'A "B"', user: "agent_1" });
    expect(us.invites[0]?.headers).toContainEqual({ name: "x-thing", value: "value" });
    expect(answers()[0]).toContain(
      "Via: SIP/2.0/UDP 10.9.9.9:6666;rport=5060;branch=z9hG4bK1;received=127.0.0.1",
    );
  });

  it("ends with 480 when the application does not answer", async () => {
    const { world, us, send, statuses } = await open();
    await send({});
    let canceled = 0;
    us.invites[0]?.onCanceled(() => (canceled += 1));
    await world.clock.advance(181_000);
    expect([canceled, statuses().find((status) => status >= 200)]).toEqual([1, 480]);
  });

  it("rings reliably where the caller requires it, until PRACK", async () => {
    const { world, send, statuses, tag, answers } = await open((invite) => {
      invite.progress(180);
    });
    await send({ headers: ["Require: 100rel"] });
    await world.clock.advance(1_600);
    expect(statuses()).toEqual([100, 180, 180, 180]);
    const rseq = /RSeq: (\d+)/.exec(answers().at(-1) ?? "")?.[1] ?? "";
    const to = tag();
    await send({ method: "PRACK", headers: [`RAck: ${rseq} 2 INVITE`], to, cseq: 2, body: "" });
    expect(statuses().at(-1)).toBe(481);
    await send({ method: "PRACK", headers: [`RAck: ${rseq} 1 INVITE`], to, cseq: 3, body: "" });
    expect(statuses().at(-1)).toBe(200);
    await world.clock.advance(10_000);
    expect(statuses()).toHaveLength(6);
  });

  it("gives up with 504 when no PRACK comes", async () => {
    const { world, send, statuses } = await open((invite) => {
      invite.progress(183, SDP_ANSWER);
    });
    await send({ headers: ["Require: 100rel"] });
    await world.clock.advance(33_000);
    expect(statuses()).toContain(504);
  });

  it("without an offer gets ours, and the answer comes with the ACK", async () => {
    const record = new CallRecord();
    const { send, tag, statuses } = await open((invite) => {
      record.call = invite.accept(SDP_OFFER, record);
    });
    await send({ body: "" });
    expect(statuses()).toEqual([100, 200]);
    await send({ method: "ACK", to: tag(), body: SDP_ANSWER });
    expect(record.events).toEqual(["answered"]);
  });

  it.each([
    ["that is to replace another call", { headers: ["Replaces: x;to-tag=1;from-tag=2"] }, 481],
    ["that requires Replaces", { headers: ["Require: replaces"] }, 420],
    ["with a body that is no description", { headers: ["Content-Encoding: gzip"] }, 415],
    ["whose refreshes are too frequent", { headers: ["Session-Expires: 30"] }, 422],
    ["without a Contact that can be used", { headers: ["Contact: <sip:other@127.0.0.1>"] }, 400],
    ["in a call that is not known", { to: ";tag=unknown" }, 481],
  ])("%s is refused", async (_what, wanted, status) => {
    const { us, send, statuses } = await open();
    await send(wanted);
    expect(statuses().at(-1)).toBe(status);
    expect(us.invites).toEqual([]);
  });

  it("goes back by Record-Route, and not to the caller itself", async () => {
    const record = new CallRecord();
    const { world, send, tag, answers } = await open((invite) => {
      record.call = invite.accept(SDP_ANSWER, record);
    });
    await send({});
    await send({ method: "ACK", to: tag(), body: "" });
    record.call?.hangUp();
    await world.clock.advance(10);
    expect(answers().at(-1)).toMatch(/^BYE sip:a@127\.0\.0\.1 [^]*Route: <sip:127\.0\.0\.1;lr>/);
  });

  it("refuses a request whose number is too low", async () => {
    const record = new CallRecord();
    const { send, tag, statuses } = await open((invite) => {
      record.call = invite.accept(SDP_ANSWER, record);
    });
    await send({ cseq: 10 });
    const to = tag();
    await send({ method: "ACK", to, cseq: 10, body: "" });
    await send({ method: "INFO", to, cseq: 9, body: "" });
    expect(statuses().at(-1)).toBe(500);
    await send({ method: "BYE", to, cseq: 11, body: "", headers: ["Reason: Q.850;cause=16"] });
    expect([statuses().at(-1), record.end]).toEqual([200, { cause: "remote", reason: "Q.850;cause=16" }]);
  });

  it("may be ended by BYE before its answer", async () => {
    const { us, send, tag, statuses } = await open((invite) => {
      invite.progress(180);
    });
    await send({});
    let canceled = 0;
    us.invites[0]?.onCanceled(() => (canceled += 1));
    await send({ method: "BYE", to: tag(), cseq: 2, body: "" });
    expect([canceled, statuses()]).toEqual([1, [100, 180, 200, 487]]);
  });
});

describe("a caller that is not known", () => {
  it("gets its refusal once for each INVITE, since it may be somebody else's address", async () => {
    const world = new SipWorld({ mostDelayMs: 1 });
    const us = await world.agent(
      "127.0.0.2",
      (invite) => {
        invite.reject(403);
      },
      { isKnown: () => false },
    );
    const lines = [
      "INVITE sip:agent_1@127.0.0.2 SIP/2.0",
      "Via: SIP/2.0/UDP 127.0.0.1:5060;branch=z9hG4bKforged",
      "From: <sip:a@127.0.0.1>;tag=a",
      "To: <sip:agent_1@127.0.0.2>",
      "Call-ID: forged",
      "CSeq: 1 INVITE",
      "Contact: <sip:a@127.0.0.1>",
      "",
      "",
    ];
    for (let copy = 0; copy < 2; copy += 1) {
      world.network.inject("127.0.0.1:5060", "127.0.0.2:5060", lines.join("\r\n"));
      await world.clock.advance(16_000);
    }
    const answers = world.network.carried.filter(({ from }) => from === "127.0.0.2:5060");
    expect(answers.map(({ text }) => text.slice(8, 11))).toEqual(["403", "403"]);
    expect(us.invites).toHaveLength(1);
  });

  it("gets 100 when the answer takes a while", async () => {
    const world = new SipWorld({ mostDelayMs: 1 });
    await world.agent("127.0.0.2", undefined, { isKnown: () => false });
    const us = await world.agent("127.0.0.1");
    const caller = new InviteRecord();
    us.agent.invite(inviteOptions(), caller);
    await world.clock.advance(600);
    const texts = world.network.carried.map(({ text }) => text.slice(0, 11));
    expect(texts).toEqual(["INVITE sip:", "SIP/2.0 100"]);
  });
});

describe("a second INVITE of a call that goes on", () => {
  it("is refused with 482 until the call is over, and leaves the call as it is", async () => {
    const record = new CallRecord();
    const { us, send, statuses, tag } = await open((invite) => {
      if (us.invites.length === 1) invite.progress(180);
    });
    await send({});
    // Of another transaction: a proxy has sent it by another way, or its caller has counted on.
    await send({ cseq: 1 });
    await send({ cseq: 2 });
    expect([us.invites.length, statuses()]).toEqual([1, [100, 180, 482, 482]]);
    us.invites[0]?.accept(SDP_ANSWER, record);
    const to = tag();
    await send({ method: "ACK", to, body: "" });
    await send({ cseq: 3 });
    expect([us.invites.length, statuses().at(-1), record.end]).toEqual([1, 482, null]);
    await send({ method: "BYE", to, cseq: 4, body: "" });
    await send({ cseq: 5 });
    expect([us.invites.length, record.end?.cause]).toEqual([2, "remote"]);
  });

  it("may come again after a refusal, as one with a password or another interval does", async () => {
    const { us, send } = await open((invite) => invite.reject(486));
    await send({});
    await send({ method: "ACK", body: "" });
    await send({ cseq: 2 });
    expect(us.invites).toHaveLength(2);
  });
});

describe("too many requests", () => {
  it("of one source that is not known get 503", async () => {
    const world = new SipWorld({ mostDelayMs: 1 });
    const limits = { transactionLimits: { serverOfSource: 3 }, isKnown: () => false };
    await world.agent("127.0.0.2", undefined, limits);
    for (let n = 0; n < 5; n += 1) {
      const lines = [
        "OPTIONS sip:127.0.0.2 SIP/2.0",
        `Via: SIP/2.0/UDP 127.0.0.1:5060;branch=z9hG4bK${String(n)}`,
        "From: <sip:a@127.0.0.1>;tag=a",
        "To: <sip:127.0.0.2>",
        `Call-ID: ${String(n)}`,
        "CSeq: 1 OPTIONS",
        "",
        "",
      ];
      world.network.inject("127.0.0.1:5060", "127.0.0.2:5060", lines.join("\r\n"));
    }
    await world.clock.advance(100);
    const statuses = world.network.carried.slice(5).map(({ text }) => text.slice(8, 11));
    expect(statuses.toSorted()).toEqual(["200", "200", "200", "503", "503"]);
  });
});

describe("an UPDATE while it rings", () => {
  it("is answered where it changes no media, and is to come again where it does", async () => {
    const { world, us, send, tag, answers } = await open((invite) => invite.progress(180));
    await send({});
    await send({ method: "UPDATE", to: tag(), cseq: 2, body: "" });
    expect(answers().at(-1)).toMatch(/^SIP\/2\.0 200[^]*^Contact: </m);
    await send({ method: "UPDATE", to: tag(), cseq: 3 });
    expect(answers().at(-1)).toMatch(/^SIP\/2\.0 500[^]*^Retry-After: (?:\d|10)\r$/m);
    expect(us.faults).toEqual([]);
    await world.clock.advance(1);
  });

  it("gets 504 with an offer where the INVITE had none", async () => {
    const { send, tag, statuses } = await open((invite) => invite.progress(180));
    await send({ body: "" });
    await send({ method: "UPDATE", to: tag(), cseq: 2 });
    expect(statuses().at(-1)).toBe(504);
  });
});

describe("close", () => {
  it("ends calls, INVITEs and everything else", async () => {
    const record = new CallRecord();
    let canceled = 0;
    const { world, us, send, tag, answers } = await open((invite) => {
      if (us.invites.length === 1) record.call = invite.accept(SDP_ANSWER, record);
      else invite.onCanceled(() => (canceled += 1));
    });
    await send({});
    await send({ method: "ACK", to: tag(), body: "" });
    const closing = us.agent.close();
    await world.clock.advance(10_000);
    await closing;
    expect(record.end?.cause).toBe("local");
    expect(answers().some((text) => text.startsWith("BYE"))).toBe(true);
    expect(canceled).toBe(0);
    expect(world.clock.pending()).toBe(0);
    expect(() => us.agent.ping({ id: "x", to: "sip:127.0.0.1" })).toThrow("closed");
  });
});

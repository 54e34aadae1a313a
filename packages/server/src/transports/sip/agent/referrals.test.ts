import { describe, expect, it } from "vitest";
import { CallRecord, inviteOptions, InviteRecord, SDP_ANSWER, SipWorld } from "../testing/sip-world.ts";
import type { ReferListener } from "../user-agent.ts";
import { MAX_REFERS, REFER_ANSWER_LIMIT_MS, REFER_WINDOW_MS } from "./referrals.ts";

/** A call between two user agents; `call` is that of the caller. */
async function open() {
  const world = new SipWorld({ mostDelayMs: 1 });
  const callee = new CallRecord();
  await world.agent("127.0.0.2", (invite) => {
    callee.call = invite.accept(SDP_ANSWER, callee);
  });
  const us = await world.agent("127.0.0.1");
  const caller = new InviteRecord();
  us.agent.invite(inviteOptions(), caller);
  await world.clock.advance(1_000);
  const { call } = caller;
  if (call === null || callee.call === null) throw new Error(`no call: ${caller.events.join()}`);
  return { world, call, callee };
}

function listener(): ReferListener & { readonly events: string[] } {
  const events: string[] = [];
  return {
    events,
    responded: (status) => void events.push(`responded ${String(status)}`),
    progressed: (status, _reason, isFinal) => void events.push(`${String(status)} ${String(isFinal)}`),
  };
}

const TO = "sip:human@example.com";

describe("a REFER of ours", () => {
  it("may have header fields and name a call that is to be replaced", async () => {
    const { world, call, callee } = await open();
    const sent = world.network.carried.length;
    const to = `${TO}?Replaces=id%40host%3Bto-tag%3Da%3Bfrom-tag%3Db`;
    call.refer(to, listener(), { headers: [{ name: "X-Order", value: "17" }] });
    await world.clock.advance(500);
    const [refer] = world.network.carried.slice(sent).map(({ text }) => text);
    expect(refer).toMatch(/^X-Order: 17\r$/im);
    expect(refer).toContain(`Refer-To: <${to}>`);
    expect(callee.refers[0]).toMatchObject({ to: TO, hasReplaces: true });
  });

  it.each([
    ["http://example.com", [], "SIP or tel URI"],
    [TO, [{ name: "Via", value: "x" }], "cannot be added"],
    [TO, [{ name: "X-A", value: "1\r\nVia: x" }], "control characters"],
  ])("to %s with %j is refused here", async (to, headers, reason) => {
    const { call } = await open();
    expect(() => call.refer(to, listener(), { headers })).toThrow(reason);
  });

  it("without a final status fails after its limit", async () => {
    const { world, call, callee } = await open();
    const heard = listener();
    call.refer(TO, heard, { limitMs: 10_000 });
    await world.clock.advance(500);
    callee.refers[0]?.accept();
    await world.clock.advance(9_000);
    expect(heard.events).toEqual(["responded 202", "100 false"]);
    await world.clock.advance(1_000);
    expect(heard.events.at(-1)).toBe("408 true");
  });

  it("ends with its call, after the end of it", async () => {
    const { world, call, callee } = await open();
    const heard = listener();
    call.refer(TO, heard);
    await world.clock.advance(500);
    callee.refers[0]?.accept();
    await world.clock.advance(500);
    callee.call?.hangUp();
    await world.clock.advance(500);
    expect(heard.events.at(-1)).toBe("408 true");
  });
});

describe("a REFER of the peer", () => {
  it("that nobody answers gets 480 before the transaction of the peer is over, and the next one is taken", async () => {
    const { world, call, callee } = await open();
    const heard = listener();
    call.refer(TO, heard);
    await world.clock.advance(REFER_ANSWER_LIMIT_MS - 1_000);
    expect(heard.events).toEqual([]);
    await world.clock.advance(2_000);
    expect(heard.events).toEqual(["responded 480"]);
    expect(callee.refers[0]?.isOpen).toBe(false);
    expect(() => callee.refers[0]?.accept()).toThrow("answered before");
    call.refer(TO, listener());
    await world.clock.advance(500);
    expect(callee.refers).toHaveLength(2);
  });

  it("waits for the one before: 491 until that has its outcome", async () => {
    const { world, call, callee } = await open();
    const [first, second, third] = [listener(), listener(), listener()];
    call.refer(TO, first);
    await world.clock.advance(500);
    callee.refers[0]?.accept();
    call.refer(TO, second);
    await world.clock.advance(500);
    expect(second.events).toEqual(["responded 491"]);
    callee.refers[0]?.notify(486, "Busy Here");
    await world.clock.advance(500);
    call.refer(TO, third);
    await world.clock.advance(500);
    expect(callee.refers).toHaveLength(2);
  });

  it("comes too often: 503, until some time has passed", async () => {
    const { world, call, callee } = await open();
    for (let count = 0; count < MAX_REFERS; count += 1) {
      call.refer(TO, listener());
      await world.clock.advance(500);
      callee.refers[count]?.reject(603);
      await world.clock.advance(500);
    }
    const heard = listener();
    call.refer(TO, heard);
    await world.clock.advance(500);
    expect(heard.events).toEqual(["responded 503"]);
    await world.clock.advance(REFER_WINDOW_MS);
    call.refer(TO, listener());
    await world.clock.advance(500);
    expect(callee.refers).toHaveLength(MAX_REFERS + 1);
  });

  it("leaves no timer behind when its call ends", async () => {
    const { world, call } = await open();
    call.refer(TO, listener());
    await world.clock.advance(500);
    call.hangUp();
    await world.clock.advance(120_000);
    expect(world.clock.pending()).toBe(0);
  });

  it("without a subscription gets no NOTIFY, and the next one is taken after its outcome", async () => {
    const { world, call, callee } = await open();
    const heard = listener();
    const sent = world.network.carried.length;
    call.refer(TO, heard, { headers: [{ name: "Refer-Sub", value: "False" }] });
    await world.clock.advance(500);
    callee.refers[0]?.accept();
    await world.clock.advance(500);
    callee.refers[0]?.notify(180, "Ringing");
    callee.refers[0]?.notify(200, "OK");
    await world.clock.advance(500);
    const texts = world.network.carried.slice(sent).map(({ text }) => text);
    expect(texts.find((text) => text.startsWith("SIP/2.0 202"))).toMatch(/^Refer-Sub: false\r$/m);
    expect(texts.filter((text) => text.startsWith("NOTIFY"))).toEqual([]);
    expect(heard.events).toEqual(["responded 202"]);
    call.refer(TO, listener());
    await world.clock.advance(500);
    expect(callee.refers).toHaveLength(2);
  });

  it("says that it takes them without a subscription, and answers with NOTIFY unless that was asked for", async () => {
    const { world, call, callee } = await open();
    const sent = world.network.carried.length;
    expect(world.network.carried.map(({ text }) => text).join("")).toMatch(/^Supported: .*\bnorefersub\b/m);
    const heard = listener();
    call.refer(TO, heard, { headers: [{ name: "Refer-Sub", value: "true" }] });
    await world.clock.advance(500);
    callee.refers[0]?.accept();
    await world.clock.advance(500);
    expect(heard.events).toEqual(["responded 202", "100 false"]);
    const texts = world.network.carried.slice(sent).map(({ text }) => text);
    expect(texts.find((text) => text.startsWith("SIP/2.0 202"))).not.toMatch(/^Refer-Sub/im);
  });

  it.each([
    ["sip:a@b?Replaces=x", true],
    ["sip:a@b?Subject=x&REPLACES=y", true],
    ["sip:a@b?Repl%61ces=y", true],
    ["sip:a?replaces=x@b", false],
    ["sip:a@b;replaces=x", false],
    ["sip:a@b?Subject=replaces", false],
    ["tel:+4930", false],
  ])("to %s replaces a call: %s", async (to, hasReplaces) => {
    const { world, call, callee } = await open();
    call.refer(to, listener());
    await world.clock.advance(500);
    expect(callee.refers[0]?.hasReplaces).toBe(hasReplaces);
  });

  it("for another request than INVITE is refused, and words of the application are in a refusal", async () => {
    const { world, call, callee } = await open();
    const sent = world.network.carried.length;
    call.refer(`${TO};method=BYE`, listener());
    call.refer(`${TO};method=invite`, listener());
    await world.clock.advance(500);
    expect(callee.refers).toHaveLength(1);
    callee.refers[0]?.reject(603, "Not here");
    await world.clock.advance(500);
    const statuses = world.network.carried
      .slice(sent)
      .flatMap(({ text }) => /^SIP\/2\.0 (?!2).*(?=\r)/.exec(text)?.[0] ?? []);
    // A REFER may be repeated before its answer comes, which is then repeated too.
    expect([...new Set(statuses)]).toEqual([
      "SIP/2.0 400 Refer-To asks for a request that is not sent",
      "SIP/2.0 603 Not here",
    ]);
  });
});

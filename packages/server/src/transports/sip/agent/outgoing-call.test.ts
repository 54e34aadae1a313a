import { describe, expect, it } from "vitest";
import { TargetRefused } from "../../../net/target-url.ts";
import { CallRecord, inviteOptions, InviteRecord, SDP_ANSWER, SipWorld } from "../testing/sip-world.ts";
import type { IncomingInvite, OutgoingInviteOptions } from "../user-agent.ts";
import { ScriptedPeer } from "../testing/scripted-peer.ts";

async function open(
  options: Partial<OutgoingInviteOptions> = {},
  invited?: (invite: IncomingInvite) => void,
) {
  const world = new SipWorld();
  const us = await world.agent("127.0.0.1");
  const peer = invited === undefined ? null : await world.agent("127.0.0.2", invited);
  const caller = new InviteRecord();
  const invite = us.agent.invite(inviteOptions(options), caller);
  return { world, us, peer, caller, invite };
}

describe("an outgoing call", () => {
  it.each([403, 404, 480, 486, 500, 600, 603])("fails with the peer's %i", async (status) => {
    const { world, caller } = await open({}, (invite) => {
      invite.reject(status, "Because");
    });
    await world.clock.advance(1_000);
    expect(caller.failure).toEqual({ cause: "response", status, reason: "Because", retryAfterMs: null });
    await world.clock.advance(60_000);
    expect(world.clock.pending()).toBe(0);
  });

  it("fails with 408 without any response, after repeats at T1, 2 T1 and so on", async () => {
    const { world, caller } = await open();
    await world.clock.advance(33_000);
    expect(caller.failure).toMatchObject({ cause: "timeout", status: 408 });
    expect(world.network.carried).toHaveLength(7);
  });

  it("fails with 408 when nobody answers for the ringing time, and cancels", async () => {
    const { world, caller, peer } = await open({ ringLimitMs: 20_000 }, (invite) => {
      invite.progress(180);
    });
    let canceled = 0;
    await world.clock.advance(10_000);
    peer?.invites[0]?.onCanceled(() => (canceled += 1));
    await world.clock.advance(11_000);
    expect(caller.events).toEqual(["180", "failed timeout 408"]);
    expect(canceled).toBe(1);
  });

  it("fails with 403 for an address that requests may not go to", async () => {
    const world = new SipWorld();
    const us = await world.agent("127.0.0.1", undefined, { allowed: [] });
    const caller = new InviteRecord();
    us.agent.invite(inviteOptions({ to: "sip:1@10.0.0.1" }), caller);
    await world.clock.advance(100);
    expect(caller.failure).toMatchObject({ cause: "refused_target", status: 403 });
    expect(new TargetRefused("x").message).toBe("x");
    expect(world.network.carried).toEqual([]);
  });

  it.each([
    ["a header field of the protocol", { headers: [{ name: "Via", value: "x" }] }],
    ["a value with a line break", { headers: [{ name: "X-A", value: "a\r\nVia: b" }] }],
    ["no URI", { to: "example.com" }],
    ["a URI with a line break", { to: "sip:a@b.example\r\nX: y" }],
    ["no sender", { from: "nobody" }],
  ])("is refused with %s", async (_what, options) => {
    await expect(open(options)).rejects.toThrow(/cannot be added|control characters|is not a SIP/);
  });
});

describe("CANCEL", () => {
  it("ends a call that rings", async () => {
    const { world, caller, invite, peer } = await open({}, (incoming) => {
      incoming.progress(180);
    });
    await world.clock.advance(1_000);
    let canceled = 0;
    peer?.invites[0]?.onCanceled(() => (canceled += 1));
    invite.cancel();
    await world.clock.advance(1_000);
    expect(caller.events).toEqual(["180", "failed canceled 487"]);
    expect(canceled).toBe(1);
    expect(() => peer?.invites[0]?.accept(SDP_ANSWER, new CallRecord())).toThrow("over");
    expect(world.network.carried.some(({ text }) => text.startsWith("SIP/2.0 487"))).toBe(true);
  });

  it("waits for a first response", async () => {
    const { world, invite, caller } = await open({}, () => undefined);
    invite.cancel();
    expect(world.network.carried).toEqual([]);
    await world.clock.advance(1_000);
    expect(caller.events).toEqual(["failed canceled 487"]);
  });

  it("is over after 32 s where the peer does not refuse the INVITE", async () => {
    const world = new SipWorld();
    const us = await world.agent("127.0.0.1");
    const peer = new ScriptedPeer(world, "127.0.0.2");
    const caller = new InviteRecord();
    const invite = us.agent.invite(inviteOptions(), caller);
    await world.clock.advance(100);
    peer.answer("INVITE", 180, "Ringing", []);
    await world.clock.advance(100);
    invite.cancel();
    await world.clock.advance(100);
    peer.answer("CANCEL", 200, "OK", []);
    await world.clock.advance(70_000);
    expect(caller.events).toEqual(["180", "failed canceled 487"]);
    expect(world.clock.pending()).toBe(0);
  });

  it("that crosses the answer ends the call with BYE", async () => {
    const callee = new CallRecord();
    const { world, invite, caller } = await open({}, (incoming) => {
      callee.call = incoming.accept(SDP_ANSWER, callee);
      invite.cancel();
    });
    await world.clock.advance(2_000);
    expect(caller.events).toEqual(["failed canceled 487"]);
    expect(callee.end?.cause).toBe("remote");
  });
});

describe("the answer", () => {
  it("of a second phone is acknowledged and ended", async () => {
    const world = new SipWorld();
    const us = await world.agent("127.0.0.1");
    const peer = new ScriptedPeer(world, "127.0.0.2");
    const caller = new InviteRecord();
    us.agent.invite(inviteOptions(), caller);
    await world.clock.advance(100);
    for (const tag of ["one", "two"]) {
      peer.answer(
        "INVITE",
        200,
        "OK",
        ["Contact: <sip:127.0.0.2>", "Content-Type: application/sdp"],
        tag,
        SDP_ANSWER,
      );
      await world.clock.advance(100);
    }
    const later = peer.requests
      .slice(1)
      .map((text) => `${text.split(" ")[0] ?? ""} ${/tag=(one|two)/.exec(text)?.[1] ?? ""}`);
    expect(later).toEqual(["ACK one", "ACK two", "BYE two"]);
    expect(caller.events).toEqual(["answered"]);
  });

  it("may be in a reliable 183, which is acknowledged by PRACK", async () => {
    const world = new SipWorld();
    const us = await world.agent("127.0.0.1");
    const peer = new ScriptedPeer(world, "127.0.0.2");
    const caller = new InviteRecord();
    us.agent.invite(inviteOptions(), caller);
    await world.clock.advance(100);
    const reliable = [
      "Require: 100rel",
      "RSeq: 7",
      "Contact: <sip:127.0.0.2>",
      "Content-Type: application/sdp",
    ];
    peer.answer("INVITE", 183, "Session Progress", reliable, "one", SDP_ANSWER);
    peer.answer("INVITE", 183, "Session Progress", reliable, "one", SDP_ANSWER);
    await world.clock.advance(100);
    expect(peer.requests[1]).toMatch(/^PRACK [^]*RAck: 7 1 INVITE/);
    expect(peer.requests).toHaveLength(2);
    peer.answer("PRACK", 200, "OK", [], "one");
    peer.answer("INVITE", 200, "OK", ["Contact: <sip:127.0.0.2>"], "one");
    await world.clock.advance(100);
    expect([caller.events, caller.answer]).toEqual([["183", "answered"], SDP_ANSWER]);
    expect(peer.requests[2]).toMatch(/^ACK [^]*CSeq: 1 ACK/);
  });

  it("without a description ends the call", async () => {
    const world = new SipWorld();
    const us = await world.agent("127.0.0.1");
    const peer = new ScriptedPeer(world, "127.0.0.2");
    const caller = new InviteRecord();
    us.agent.invite(inviteOptions(), caller);
    await world.clock.advance(100);
    peer.answer("INVITE", 200, "OK", ["Contact: <sip:127.0.0.2>"], "one");
    await world.clock.advance(100);
    expect(caller.failure).toMatchObject({ cause: "protocol", status: 488 });
    expect(peer.requests.slice(1).map((text) => text.split(" ")[0])).toEqual(["ACK", "BYE"]);
  });

  it("goes the way of its Record-Route", async () => {
    const world = new SipWorld();
    const us = await world.agent("127.0.0.1");
    const proxy = new ScriptedPeer(world, "127.0.0.2");
    const caller = new InviteRecord();
    us.agent.invite(inviteOptions(), caller);
    await world.clock.advance(100);
    const routes = ["Record-Route: <sip:127.0.0.9;lr>, <sip:127.0.0.2;lr>", "Contact: <sip:phone@127.0.0.8>"];
    proxy.answer("INVITE", 200, "OK", [...routes, "Content-Type: application/sdp"], "one", SDP_ANSWER);
    await world.clock.advance(100);
    expect(proxy.requests[1]).toMatch(
      /^ACK sip:phone@127\.0\.0\.8 [^]*Route: <sip:127\.0\.0\.2;lr>\r\nRoute: <sip:127\.0\.0\.9;lr>/,
    );
  });

  it("with 422 leads to a longer interval", async () => {
    const world = new SipWorld();
    const us = await world.agent("127.0.0.1");
    const peer = new ScriptedPeer(world, "127.0.0.2");
    const caller = new InviteRecord();
    us.agent.invite(inviteOptions(), caller);
    await world.clock.advance(100);
    peer.answer("INVITE", 422, "Session Interval Too Small", ["Min-SE: 3600"]);
    await world.clock.advance(100);
    expect(peer.requests.at(-1)).toMatch(/^INVITE [^]*Session-Expires: 3600\r\nMin-SE: 3600/);
  });
});

describe("a password", () => {
  it("is used when it is asked for, and asked for once", async () => {
    const world = new SipWorld();
    const us = await world.agent("127.0.0.1");
    const peer = new ScriptedPeer(world, "127.0.0.2");
    const caller = new InviteRecord();
    us.agent.invite(inviteOptions({ credentials: { username: "u", password: "secret" } }), caller);
    await world.clock.advance(100);
    const challenge = (nonce: string, more = "") => [
      `Proxy-Authenticate: Digest realm="r", nonce="${nonce}", algorithm=MD5, qop="auth"${more}`,
      `Proxy-Authenticate: Digest realm="r", nonce="${nonce}", algorithm=SHA-256, qop="auth"${more}`,
    ];
    peer.answer("INVITE", 407, "Proxy Authentication Required", challenge("one"));
    await world.clock.advance(100);
    const second = peer.requests.at(-1) ?? "";
    expect(second).toMatch(
      /^INVITE [^]*CSeq: 2 INVITE[^]*Proxy-Authorization: Digest username="u", realm="r", nonce="one"/,
    );
    expect(second).toContain("algorithm=SHA-256");
    peer.answer("INVITE", 407, "Proxy Authentication Required", challenge("two", ", stale=true"));
    await world.clock.advance(100);
    expect(peer.requests.at(-1)).toContain('nonce="two"');
    peer.answer("INVITE", 407, "Proxy Authentication Required", challenge("three"));
    await world.clock.advance(100);
    expect(caller.failure).toMatchObject({ cause: "response", status: 407 });
    const texts = us.logs.map(({ text }) => text).join("\n");
    expect(texts).toContain('nonce="***"');
    expect(texts).not.toMatch(/response="[0-9a-f]/);
  });
});

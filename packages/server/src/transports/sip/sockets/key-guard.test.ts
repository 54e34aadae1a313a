import { describe, expect, it } from "vitest";
import {
  CallRecord,
  inviteOptions,
  InviteRecord,
  SDP_ANSWER,
  SDP_OFFER,
  SipWorld,
} from "../testing/sip-world.ts";
import { KEYS_WITHOUT_TLS } from "./key-guard.ts";

const KEY = `a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${"A".repeat(40)}\r\n`;

async function openPair() {
  const world = new SipWorld();
  const callee = new CallRecord();
  const peer = await world.agent("127.0.0.2", (invite) => {
    callee.call = invite.accept(SDP_ANSWER, callee);
  });
  const us = await world.agent("127.0.0.1");
  const caller = new InviteRecord();
  return { world, peer, us, caller, callee };
}

describe("keys of SRTP over UDP", () => {
  it("are not sent in an INVITE, which fails with the reason", async () => {
    const { world, us, caller } = await openPair();
    us.agent.invite(inviteOptions({ offer: SDP_OFFER + KEY }), caller);
    await world.clock.advance(40_000);
    expect(caller.failure).toMatchObject({ cause: "unreachable", status: 503, reason: KEYS_WITHOUT_TLS });
    expect(world.network.carried).toEqual([]);
    expect(us.logs).toEqual([]);
  });

  it("are not sent in an answer", async () => {
    const world = new SipWorld();
    const callee = new CallRecord();
    await world.agent("127.0.0.2", (invite) => {
      callee.call = invite.accept(SDP_ANSWER + KEY, callee);
    });
    const us = await world.agent("127.0.0.1");
    us.agent.invite(inviteOptions(), new InviteRecord());
    await world.clock.advance(40_000);
    expect(world.network.carried.filter(({ text }) => text.includes("a=crypto"))).toEqual([]);
    expect(callee.end?.cause).toBe("unanswered");
  });

  it("are refused in an offer within a call, and not answered by ours", async () => {
    const { world, us, caller, callee } = await openPair();
    us.agent.invite(inviteOptions(), caller);
    await world.clock.advance(1_000);
    const [invite] = world.network.carried.filter(({ text }) => text.startsWith("INVITE"));
    const fromTag = /From: [^\r]*;tag=([^\r;]+)/.exec(invite?.text ?? "")?.[1] ?? "";
    const toTag = caller.call?.remoteTag ?? "";
    const again = (invite?.text ?? "")
      .replace(/branch=[^;\r]+/, "branch=z9hG4bKkeys")
      .replace(/^To: ([^\r]*)/m, `To: $1;tag=${toTag}`)
      .replace(/CSeq: \d+/, "CSeq: 99")
      .replace(
        /Content-Length: \d+[^]*/,
        `Content-Length: ${String((SDP_OFFER + KEY).length)}\r\n\r\n${SDP_OFFER}${KEY}`,
      );
    expect(fromTag).not.toBe("");
    world.network.inject("127.0.0.1:5060", "127.0.0.2:5060", again);
    await world.clock.advance(1_000);
    const answers = world.network.carried.filter(({ text }) => text.includes("CSeq: 99"));
    expect(answers.map(({ text }) => text.slice(0, 11))).toContain("SIP/2.0 488");
    expect(callee.events.filter((event) => event.startsWith("offered"))).toEqual([]);
  });
});

/** What peers do while they ring, and what they can make us send. */

import { describe, expect, it } from "vitest";
import { ScriptedPeer } from "../testing/scripted-peer.ts";
import { inviteOptions, InviteRecord, SDP_ANSWER, SipWorld } from "../testing/sip-world.ts";
import { MAX_PRACKS } from "./early-dialogs.ts";
import { MAX_RAISES } from "./outgoing-call.ts";

describe("a long INVITE that went over UDP after TCP", () => {
  /** Nothing comes over TCP within the limit; `late` is the first INVITE. */
  async function overUdp() {
    const world = new SipWorld({ mostDelayMs: 1 });
    const openNetwork = world.network.at("127.0.0.1", 5060, ["udp", "tcp"]);
    const us = await world.agent("127.0.0.1", undefined, { openNetwork });
    const peer = new ScriptedPeer(world, "127.0.0.2");
    const caller = new InviteRecord();
    us.agent.invite(inviteOptions({ headers: [{ name: "X-Long", value: "x".repeat(1_500) }] }), caller);
    await world.clock.advance(3_200);
    const ways = peer.requests.map((text) => /^(\w+) [^]*SIP\/2\.0\/(\w+)/.exec(text)?.slice(1).join(" "));
    expect(ways).toEqual(["INVITE TCP", "INVITE UDP"]);
    const answerLate = async (status: number, body = "") => {
      const headers = ["Contact: <sip:127.0.0.2>", ...(body === "" ? [] : ["Content-Type: application/sdp"])];
      peer.answerTo(peer.requests[0] ?? "", status, headers, "late", body);
      await world.clock.advance(100);
    };
    return { world, peer, caller, answerLate };
  }

  it("is canceled where it came by TCP as soon as the peer rings", async () => {
    const { world, peer, caller, answerLate } = await overUdp();
    await answerLate(180);
    await answerLate(180);
    const cancels = peer.requests.filter((text) => text.startsWith("CANCEL "));
    expect(cancels).toHaveLength(1);
    expect(cancels[0]).toContain("SIP/2.0/TCP");
    peer.answer("CANCEL", 200, "OK", []);
    await answerLate(487);
    expect(caller.events).toEqual([]);
    peer.answer(
      "INVITE",
      200,
      "OK",
      ["Contact: <sip:127.0.0.2>", "Content-Type: application/sdp"],
      "udp",
      SDP_ANSWER,
    );
    await world.clock.advance(100);
    expect(caller.events).toEqual(["answered"]);
  });

  it("is ended where it was answered by TCP, and the call goes on by UDP", async () => {
    const { peer, caller, answerLate, world } = await overUdp();
    await answerLate(200, SDP_ANSWER);
    await answerLate(200, SDP_ANSWER);
    const after = peer.requests
      .slice(2)
      .map((text) => /^(\w+) [^]*tag=(late)/.exec(text)?.slice(1).join(" "));
    expect(after).toEqual(["ACK late", "BYE late", "ACK late"]);
    expect(caller.events).toEqual([]);
    await world.clock.advance(200_000);
    expect([caller.failure?.status, world.clock.pending()]).toEqual([408, 0]);
  });
});

describe("an UPDATE of a peer that rings", () => {
  const update = (invite: string, cseq: number, body: string): string => {
    const part = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(invite)?.[1]?.trim() ?? "";
    return [
      "UPDATE sip:127.0.0.1 SIP/2.0",
      `Via: SIP/2.0/UDP 127.0.0.2:5060;branch=z9hG4bKupdate${String(cseq)}`,
      `From: ${part("To")};tag=one`,
      `To: ${part("From")}`,
      `Call-ID: ${part("Call-ID")}`,
      `CSeq: ${String(cseq)} UPDATE`,
      "Contact: <sip:127.0.0.2>",
      "Max-Forwards: 70",
      ...(body === "" ? [] : ["Content-Type: application/sdp"]),
      `Content-Length: ${String(body.length)}`,
      "",
      body,
    ].join("\r\n");
  };
  const early = ["Require: 100rel", "RSeq: 7", "Contact: <sip:127.0.0.2>", "Content-Type: application/sdp"];

  it("gets 491 while our offer has no answer, then 504, and 200 without an offer", async () => {
    const world = new SipWorld();
    const us = await world.agent("127.0.0.1");
    const peer = new ScriptedPeer(world, "127.0.0.2");
    us.agent.invite(inviteOptions(), new InviteRecord());
    await world.clock.advance(100);
    const [invite = ""] = peer.requests;
    peer.answer("INVITE", 180, "Ringing", ["Contact: <sip:127.0.0.2>"], "one");
    const statusOf = async (cseq: number, body: string) => {
      peer.send("127.0.0.1:5060", update(invite, cseq, body));
      await world.clock.advance(100);
      return world.network.carried.findLast(({ text }) => text.includes(`CSeq: ${String(cseq)} UPDATE`))
        ?.text;
    };
    expect(await statusOf(1, SDP_ANSWER)).toMatch(/^SIP\/2\.0 491 /);
    peer.answer("INVITE", 183, "Session Progress", early, "one", SDP_ANSWER);
    await world.clock.advance(100);
    expect(await statusOf(2, SDP_ANSWER)).toMatch(/^SIP\/2\.0 504 /);
    expect(await statusOf(3, "")).toMatch(/^SIP\/2\.0 200 /);
  });
});

describe("a peer that never stops", () => {
  it("asking for longer intervals is asked three times", async () => {
    const world = new SipWorld();
    const us = await world.agent("127.0.0.1");
    const peer = new ScriptedPeer(world, "127.0.0.2");
    const caller = new InviteRecord();
    us.agent.invite(inviteOptions(), caller);
    for (let minS = 100; minS < 110; minS += 1) {
      await world.clock.advance(100);
      if (caller.failure === null)
        peer.answer("INVITE", 422, "Session Interval Too Small", [`Min-SE: ${String(minS)}`]);
    }
    expect(peer.requests.filter((text) => text.startsWith("INVITE "))).toHaveLength(1 + MAX_RAISES);
    expect(caller.failure).toMatchObject({ cause: "response", status: 422 });
  });

  it("ringing reliably gets a limited number of PRACKs", async () => {
    const world = new SipWorld();
    const us = await world.agent("127.0.0.1");
    const peer = new ScriptedPeer(world, "127.0.0.2");
    us.agent.invite(inviteOptions(), new InviteRecord());
    await world.clock.advance(100);
    for (let rseq = 1; rseq <= 2 * MAX_PRACKS; rseq += 1) {
      const headers = ["Require: 100rel", `RSeq: ${String(rseq)}`, "Contact: <sip:127.0.0.2>"];
      peer.answer("INVITE", 183, "Session Progress", headers, "one");
      await world.clock.advance(30);
      if (rseq <= MAX_PRACKS) peer.answer("PRACK", 200, "OK", [], "one");
    }
    const numbers = peer.requests.flatMap((text) => /^RAck: (\d+) /m.exec(text)?.[1] ?? []);
    expect(new Set(numbers).size).toBe(MAX_PRACKS);
  });
});

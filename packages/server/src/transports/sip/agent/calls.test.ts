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

async function openCall(world = new SipWorld(), reliable = false) {
  const callee = new CallRecord();
  const accept = (invite: IncomingInvite) => {
    if (reliable) invite.progress(180);
    callee.call = invite.accept(SDP_ANSWER, callee);
  };
  const peer = await world.agent("127.0.0.2", accept);
  const us = await world.agent("127.0.0.1");
  const caller = new InviteRecord();
  us.agent.invite(inviteOptions(), caller);
  await world.clock.advance(1_000);
  const { call } = caller;
  if (call === null || callee.call === null) throw new Error(`no call: ${caller.events.join()}`);
  return { world, peer, us, caller, callee, call, calleeCall: callee.call };
}

describe("a call", () => {
  it("is offered, answered, acknowledged and ended", async () => {
    const { world, peer, us, caller, callee, call, calleeCall } = await openCall();
    expect(caller.answer).toBe(SDP_ANSWER);
    const [invite] = peer.invites;
    expect(invite).toMatchObject({
      user: "agent_1",
      host: "127.0.0.2",
      callerId: "+4930123",
      fromDisplayName: "Caller",
      offer: SDP_OFFER,
      registrationId: null,
      source: { transport: "udp", address: "127.0.0.1", port: 5060 },
    });
    expect([calleeCall.localTag, calleeCall.remoteTag]).toEqual([call.remoteTag, call.localTag]);
    call.hangUp();
    await world.clock.advance(1_000);
    expect(caller.record.end).toEqual({ cause: "local", reason: null });
    expect(callee.end).toEqual({ cause: "remote", reason: null });
    // Nothing is left when the last timers have fired.
    await world.clock.advance(120_000);
    expect([us.faults, peer.faults]).toEqual([[], []]);
    expect(world.clock.pending()).toBe(0);
  });

  it("is written down for its log, in order, by both sides", async () => {
    const { peer, us, call } = await openCall();
    const starts = us.logs.map(({ direction, text }) => `${direction} ${text.split("\r\n")[0] ?? ""}`);
    expect(starts).toEqual([
      "sent INVITE sip:agent_1@127.0.0.2 SIP/2.0",
      "received SIP/2.0 100 Trying",
      "received SIP/2.0 200 OK",
      "sent ACK sip:agent_1@127.0.0.2:5060 SIP/2.0",
    ]);
    expect(new Set(us.logs.map(({ id }) => id))).toEqual(new Set([call.id]));
    expect(peer.logs.map(({ direction }) => direction)).toEqual(["received", "sent", "sent", "received"]);
  });

  it("can be ended by the callee", async () => {
    const { world, caller, callee, calleeCall } = await openCall();
    calleeCall.hangUp();
    await world.clock.advance(1_000);
    expect([callee.end?.cause, caller.record.end?.cause]).toEqual(["local", "remote"]);
  });

  it("is put on hold and resumed, by both sides", async () => {
    const { world, callee, caller, call, calleeCall } = await openCall();
    const held = call.offer(`${SDP_OFFER}a=sendonly\r\n`);
    await world.clock.advance(1_000);
    expect(await held).toEqual({ kind: "answered", sdp: SDP_ANSWER });
    const resumed = calleeCall.offer(`${SDP_ANSWER}a=sendrecv\r\n`);
    await world.clock.advance(1_000);
    expect(await resumed).toMatchObject({ kind: "answered" });
    expect(callee.events).toEqual(["offered sendonly"]);
    expect(caller.record.events).toEqual(["offered sendrecv"]);
  });

  it("stays as it is when an offer is refused", async () => {
    const { world, callee, call } = await openCall();
    callee.answer = null;
    const outcome = call.offer(SDP_OFFER);
    await world.clock.advance(1_000);
    expect(await outcome).toEqual({ kind: "refused", status: 488, reason: "Not Acceptable Here" });
    expect(callee.end).toBeNull();
  });

  it("settles offers of both sides that cross, with 491", async () => {
    const { world, callee, caller, call, calleeCall } = await openCall();
    const outcomes = Promise.all([call.offer(SDP_OFFER), calleeCall.offer(SDP_ANSWER)]);
    await world.clock.advance(30_000);
    expect((await outcomes).map(({ kind }) => kind)).toEqual(["answered", "answered"]);
    expect(world.network.carried.some(({ text }) => text.startsWith("SIP/2.0 491"))).toBe(true);
    expect([callee.events, caller.record.events]).toEqual([["offered sendrecv"], ["offered sendrecv"]]);
  });

  it("ends when the application does not answer an offer", async () => {
    const { world, peer, callee, call } = await openCall();
    callee.offered = () => new Promise(() => undefined);
    const outcome = call.offer(SDP_OFFER);
    await world.clock.advance(9_000);
    // 100 has stopped the repeats.
    expect(world.network.carried.filter(({ text }) => /^INVITE [^]*CSeq: 2 /.test(text))).toHaveLength(1);
    await world.clock.advance(2_000);
    expect(await outcome).toMatchObject({ kind: "refused", status: 500 });
    expect(callee.end?.cause).toBe("failed");
    expect(peer.faults.map(({ message }) => message)).toEqual([
      "the application has not answered an offer in time",
    ]);
  });

  it("takes keys by INFO and refuses other content", async () => {
    const { world, callee, call } = await openCall();
    const digit = call.info("application/dtmf-relay", "Signal=5\r\nDuration=200\r\n");
    const hash = call.info("application/dtmf", "11");
    const other = call.info("text/plain", "hello");
    await world.clock.advance(1_000);
    expect(
      (await Promise.all([digit, hash, other])).map((outcome) => "status" in outcome && outcome.status),
    ).toEqual([200, 200, 415]);
    expect(callee.events.toSorted()).toEqual(["digit # 160", "digit 5 200"]);
    // One overtook the other on the way, was refused with 500, and was sent again.
    expect(world.network.carried.some(({ text }) => text.startsWith("SIP/2.0 500"))).toBe(true);
  });

  it("ends when the ACK does not come", async () => {
    const world = new SipWorld();
    world.network.drop = ({ text }) => text.startsWith("ACK");
    const { callee, caller } = await openCall(world);
    expect(callee.end).toBeNull();
    await world.clock.advance(33_000);
    expect(callee.end?.cause).toBe("unanswered");
    expect(caller.record.end?.cause).toBe("remote");
    const answers = world.network.carried.filter(({ text }) => /^SIP\/2\.0 200[^]*CSeq: 1 INVITE/.test(text));
    // T1 doubles up to T2: at 0, 0.5, 1.5, 3.5, 7.5, 11.5 ... 31.5 s.
    expect(answers).toHaveLength(11);
  });

  it("gives the BYE of the callee after the ACK only", async () => {
    const world = new SipWorld();
    world.network.drop = ({ text }) => text.startsWith("ACK");
    const { callee, calleeCall, caller } = await openCall(world);
    calleeCall.hangUp();
    await world.clock.advance(3_000);
    expect(callee.end?.cause).toBe("local");
    expect(caller.record.end).toBeNull();
    world.network.drop = () => false;
    await world.clock.advance(5_000);
    expect(caller.record.end?.cause).toBe("remote");
  });

  it("ends when the peer does not know it any more", async () => {
    const { world, peer, caller, call } = await openCall();
    world.network.drop = () => true;
    const closing = peer.agent.close();
    await world.clock.advance(4_000);
    await closing;
    world.network.drop = () => false;
    await world.agent("127.0.0.2");
    void call.offer(SDP_OFFER);
    await world.clock.advance(1_000);
    expect(caller.record.end).toEqual({ cause: "failed", reason: "481 Call/Transaction Does Not Exist" });
  });
});

describe("refreshes", () => {
  it("keep a call and end one whose peer is gone", async () => {
    const { world, callee, caller, peer, us } = await openCall();
    const before = world.network.carried.length;
    await world.clock.advance(7_200_000);
    const refreshes = world.network.carried.slice(before).filter(({ text }) => text.startsWith("UPDATE"));
    expect(refreshes).toHaveLength(8);
    expect([callee.end, caller.record.end]).toEqual([null, null]);
    world.network.drop = () => true;
    await world.clock.advance(1_800_000);
    expect([callee.end?.cause, caller.record.end?.cause]).toEqual(["expired", "failed"]);
    expect([us.faults, peer.faults]).toEqual([[], []]);
  });
});

describe("a transfer", () => {
  it("is asked for with REFER, and its outcome comes by NOTIFY", async () => {
    const { world, callee, call } = await openCall();
    const events: string[] = [];
    call.refer("sip:human@example.com", {
      responded: (status) => void events.push(`responded ${String(status)}`),
      progressed: (status, reason, isFinal) =>
        void events.push(`${String(status)} ${reason} ${String(isFinal)}`),
    });
    await world.clock.advance(500);
    const [refer] = callee.refers;
    expect(refer).toMatchObject({
      to: "sip:human@example.com",
      referredBy: "sip:+4930123@127.0.0.1",
      hasReplaces: false,
    });
    refer?.accept();
    await world.clock.advance(500);
    refer?.notify(180, "Ringing");
    await world.clock.advance(500);
    refer?.notify(200, "OK");
    await world.clock.advance(500);
    expect(events).toEqual(["responded 202", "100 Trying false", "180 Ringing false", "200 OK true"]);
  });

  it("can be refused", async () => {
    const { world, callee, call } = await openCall();
    const events: string[] = [];
    call.refer("sip:human@example.com", {
      responded: (status) => void events.push(`responded ${String(status)}`),
      progressed: () => void events.push("progressed"),
    });
    await world.clock.advance(500);
    callee.refers[0]?.reject(603);
    await world.clock.advance(500);
    expect(events).toEqual(["responded 603"]);
  });
});

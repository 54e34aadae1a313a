import { describe, expect, it } from "vitest";
import {
  CallRecord,
  inviteOptions,
  InviteRecord,
  SDP_ANSWER,
  SDP_OFFER,
  SipWorld,
} from "../testing/sip-world.ts";

const CALLS = 40;
/** Longer than the longest transaction, with its 32 s. */
const PATIENCE_MS = 40_000;

/** Calls one after the other over a network that loses and doubles messages. */
async function call(
  seed: number,
  lost: number,
): Promise<{ readonly caller: InviteRecord; readonly callee: CallRecord }> {
  const world = new SipWorld({ seed, lost, doubled: 0.05, mostDelayMs: 200 });
  const callee = new CallRecord();
  const peer = await world.agent("127.0.0.2", (invite) => {
    invite.progress(180);
    world.clock.after(2_000, () => {
      callee.call = invite.accept(SDP_ANSWER, callee);
    });
  });
  const us = await world.agent("127.0.0.1");
  const caller = new InviteRecord();
  us.agent.invite(inviteOptions(), caller);
  await world.clock.advance(PATIENCE_MS);
  const hold = caller.call?.offer(SDP_OFFER);
  await world.clock.advance(PATIENCE_MS);
  expect(await hold).toMatchObject({ kind: "answered" });
  (seed % 2 === 0 ? caller.call : callee.call)?.hangUp();
  await world.clock.advance(PATIENCE_MS * 4);
  expect([us.faults, peer.faults]).toEqual([[], []]);
  expect(world.clock.pending()).toBe(0);
  return { caller, callee };
}

describe("with 10 % of the messages lost, and others doubled and out of order", () => {
  it.each(Array.from({ length: CALLS }, (_, seed) => seed))(
    "call %i is set up, held and ended",
    async (seed) => {
      const { caller, callee } = await call(seed, 0.1);
      expect(caller.answer).toBe(SDP_ANSWER);
      expect(callee.events.filter((event) => event.startsWith("offered"))).toHaveLength(1);
      expect([caller.record.end?.cause, callee.end?.cause]).toEqual(
        seed % 2 === 0 ? ["local", "remote"] : ["remote", "local"],
      );
    },
  );
});

/** sipp as caller and as callee. */

import { afterEach, describe, expect, test, vi } from "vitest";
import { openLoopbackAgent } from "./testing/loopback-agent.ts";
import { CallRecord, inviteOptions, InviteRecord, SDP_ANSWER, SDP_OFFER } from "./testing/sip-world.ts";
import { HAS_SIPP, startSipp } from "./testing/sipp.ts";
import * as scenarios from "./testing/sipp-scenarios.ts";
import type { IncomingInvite, SipUserAgent } from "./user-agent.ts";

if (!HAS_SIPP)
  process.stderr.write("skipped: SIP calls with sipp, which is not installed (Debian: sip-tester)\n");

const ACCEPT = (invite: IncomingInvite, records: CallRecord[]): void => {
  const record = new CallRecord();
  records.push(record);
  record.call = invite.accept(SDP_ANSWER, record);
};

describe.skipIf(!HAS_SIPP)("sipp", () => {
  const opened: SipUserAgent[] = [];
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((agent) => agent.close()));
  });

  async function open(invited: (invite: IncomingInvite, records: CallRecord[]) => void = ACCEPT) {
    const records: CallRecord[] = [];
    const faults: Error[] = [];
    const agent = await openLoopbackAgent({
      invited: (invite) => {
        invited(invite, records);
      },
      logged: () => undefined,
      faulted: (error) => void faults.push(error),
    });
    opened.push(agent);
    const port = agent.bound.find(({ transport }) => transport === "udp")?.port ?? 0;
    return { agent, records, faults, port };
  }

  describe("calls us", () => {
    test.each([
      ["over UDP", "u1" as const],
      ["over TCP", "t1" as const],
    ])("a hundred times %s", async (_how, transport) => {
      const { records, faults, port } = await open();
      const sipp = await startSipp({ scenario: "uac", calls: 100, transport, target: port });
      await sipp.done;
      expect(records).toHaveLength(100);
      expect(records.map(({ end }) => end?.cause)).toEqual(Array.from({ length: 100 }, () => "remote"));
      expect(faults).toEqual([]);
    });

    test.each([
      ["without an ACK for the first 200s", scenarios.LOST_ACK, ["-nr"]],
      ["with an INVITE that comes twice", scenarios.REPEATED_INVITE, ["-nr"]],
      ["with hold and resume", scenarios.HOLD, []],
      ["with an interval of refreshes", scenarios.REFRESHED, []],
    ])("%s", async (_how, scenario, extra) => {
      const { records, faults, port } = await open();
      const sipp = await startSipp({ scenario, calls: 3, target: port, extra });
      await sipp.done;
      expect(records.map(({ end }) => end?.cause)).toEqual(["remote", "remote", "remote"]);
      expect(faults).toEqual([]);
    });

    test("and cancels", async () => {
      let canceled = 0;
      const { faults, port } = await open((invite) => {
        invite.progress(180);
        invite.onCanceled(() => (canceled += 1));
      });
      const sipp = await startSipp({ scenario: scenarios.CANCELED, calls: 3, target: port });
      await sipp.done;
      expect(canceled).toBe(3);
      expect(faults).toEqual([]);
    });

    test("with requests that have no place", async () => {
      const { port } = await open();
      const sipp = await startSipp({ scenario: scenarios.REFUSED_REQUESTS, target: port });
      await expect(sipp.done).resolves.toBeUndefined();
    });
  });

  describe("is called by us", () => {
    async function dial(
      scenario: string,
      options: { transport?: "u1" | "t1"; extra?: readonly string[] } = {},
    ) {
      const { agent } = await open();
      const sipp = await startSipp({ scenario, ...options });
      const caller = new InviteRecord();
      const parameter = options.transport === "t1" ? ";transport=tcp" : "";
      // sipp needs a moment to open its port: over UDP a repeat finds it, over TCP another try.
      const to = `sip:agent@127.0.0.1:${String(sipp.port)}${parameter}`;
      const invite = agent.invite(inviteOptions({ to }), caller);
      return { agent, sipp, caller, invite, to };
    }

    test("over UDP", async () => {
      const { sipp, caller } = await dial("uas");
      await vi.waitFor(() => {
        expect(caller.isOver).toBe(true);
      }, WAIT);
      caller.call?.hangUp();
      await sipp.done;
      expect(caller.events.at(-1)).toBe("answered");
    });

    test("over TCP", async () => {
      const { agent } = await open();
      const sipp = await startSipp({ scenario: "uas", transport: "t1" });
      let caller = new InviteRecord();
      const to = `sip:agent@127.0.0.1:${String(sipp.port)};transport=tcp`;
      await vi.waitFor(async () => {
        const one = new InviteRecord();
        caller = one;
        agent.invite(inviteOptions({ to }), one);
        await vi.waitFor(() => {
          expect(one.isOver).toBe(true);
        }, WAIT);
        expect(one.failure).toBeNull();
      }, WAIT);
      caller.call?.hangUp();
      await sipp.done;
      expect(caller.record.end?.cause).toBe("local");
    });

    test.each([
      ["with INVITEs that are lost", scenarios.LOST_INVITES, ["-nr"]],
      ["with answers that are lost", scenarios.LOST_ANSWER, []],
    ])("%s", async (_how, scenario, extra) => {
      const { sipp, caller } = await dial(scenario, { extra });
      await vi.waitFor(() => {
        expect(caller.events.at(-1)).toBe("answered");
      }, WAIT);
      caller.call?.hangUp();
      await sipp.done;
    });

    test.each([
      [302, "Moved Temporarily"],
      [404, "Not Found"],
      [486, "Busy Here"],
      [503, "Service Unavailable"],
      [603, "Decline"],
    ])("and refuses with %i", async (status, reason) => {
      const { sipp, caller } = await dial(scenarios.refusing(status, reason));
      await vi.waitFor(() => {
        expect(caller.failure).toMatchObject({ cause: "response", status, reason });
      }, WAIT);
      await sipp.done;
    });

    test("and rings until we cancel", async () => {
      const { sipp, caller, invite } = await dial(scenarios.RINGING_UNTIL_CANCEL);
      await vi.waitFor(() => {
        expect(caller.events).toEqual(["180"]);
      }, WAIT);
      invite.cancel();
      await sipp.done;
      expect(caller.failure?.cause).toBe("canceled");
    });

    test("and is put on hold", async () => {
      const { sipp, caller } = await dial(scenarios.HELD_BY_US);
      await vi.waitFor(() => {
        expect(caller.events.at(-1)).toBe("answered");
      }, WAIT);
      const outcome = await caller.call?.offer(`${SDP_OFFER}a=sendonly\r\n`);
      expect(outcome).toMatchObject({ kind: "answered" });
      caller.call?.hangUp();
      await sipp.done;
    });
  });
});

/** Reached only when something is wrong. */
const WAIT = { timeout: 90_000, interval: 50 };

/** Which REFERs of far sides are followed, on the database, with a far side that does what a test says. */

import { sql } from "kysely";
import { expect, it, test, vi } from "vitest";
import type { SipDestination } from "../../../ports/sip-calls.ts";
import type { ReferralListener, SipReferral, TransferableCall } from "../../../ports/sip/sip-transfers.ts";
import { listCallEvents } from "../../../store/calls/call-events.ts";
import { insertCall } from "../../../store/calls/calls.ts";
import type { Db } from "../../../store/database/db.ts";
import { changeDiallingRules } from "../../../store/telephony/dialling-rules.ts";
import { setSipEnabled } from "../../../store/telephony/sip-accounts.ts";
import { changeSipRules } from "../../../store/telephony/sip-rules.ts";
import { newCall } from "../../../store/testing/calls.ts";
import { describeOnBothDatabases, newAccount } from "../../../store/testing/databases.ts";
import { createIncomingRefers, MAX_FOLLOWED, numberOf } from "./incoming-refers.ts";

const TARGET = "sip:+4930999999@somebody.example;transport=tcp?X-Evil=1";
const PATIENT = { timeout: 30_000, interval: 10 };

test.each([
  ["sip:+4930999999@host", "+4930999999"],
  ["sips:%2B4930999999@host:5061;transport=tcp", "+4930999999"],
  ["tel:+49-30-(99)99.99", "+4930999999"],
  ["sip:+4930999999", null],
  ["sip:102@pbx", null],
  ["sip:0900123456@pbx", null],
  ["sip:ann@+4930999999", null],
  ["tel:102;phone-context=+49", null],
  ["sip:+49300000000000000@host", null],
])("the number of %s is %s", (uri, number) => {
  expect(numberOf(uri)).toBe(number);
});

describeOnBothDatabases("a REFER of the far side", (current) => {
  interface Wanted {
    readonly incomingRefer?: "follow" | "refuse";
    readonly prefixes?: readonly string[];
    /** The database of the part that decides. */
    readonly breaks?: (db: Db) => Db;
  }

  async function open({ incomingRefer = "follow", prefixes = ["+49"], breaks }: Wanted = {}) {
    const { db } = current();
    const accountId = await newAccount(db);
    await setSipEnabled(db, accountId, true);
    await changeSipRules(db, accountId, { incomingRefer });
    await changeDiallingRules(db, accountId, { allowedPrefixes: prefixes });
    const outgoing = { to: "sip:+49301@trunk.example", from: "+49302", username: "u", password: "p" };
    const record = newCall({ mediumKind: "sip", settings: { medium: { sip: { outgoing } } } });
    await insertCall(db, accountId, record);
    const { callId } = record;
    const call: TransferableCall = {
      owner: { accountId, callId },
      peerUri: outgoing.to,
      isOver: false,
      over: new Promise(() => undefined),
      hold: () => undefined,
      resume: () => undefined,
      refer: () => Promise.reject(new Error("nobody asks")),
      referTo: () => Promise.reject(new Error("nobody asks")),
      bridge: () => false,
      keep: () => Promise.resolve(),
      onKey: () => () => undefined,
      hangUp: () => undefined,
    };
    const counted: string[] = [];
    const replaced: string[] = [];
    const warned: string[] = [];
    const referred = createIncomingRefers({
      db: breaks === undefined ? db : breaks(db),
      sipHost: "sip.example",
      nowMs: Date.now,
      counted: (outcome) => counted.push(outcome),
      replaced: (id) => replaced.push(id),
      logger: {
        warn: (...given: unknown[]) => {
          if (breaks === undefined) throw new Error(JSON.stringify(given));
          warned.push(String(given.at(-1)));
        },
      },
    });
    const reasons: (string | undefined)[] = [];
    const refer = async (to: string, hasReplaces = false) => {
      const decided = Promise.withResolvers<
        number | { readonly destination: SipDestination; readonly listener: ReferralListener }
      >();
      const referral: SipReferral = {
        to,
        hasReplaces,
        refuse(status, reason) {
          reasons.push(reason);
          decided.resolve(status);
        },
        follow: (destination, listener) => decided.resolve({ destination, listener }),
      };
      referred(referral, call);
      return decided.promise;
    };
    const dials = async () =>
      (
        await sql<{ number: string; result: string | null; talked_ms: number | null }>`
          select number, result, talked_ms from carrier_dials where account_id = ${accountId}
          order by dialled_at`.execute(db.query)
      ).rows;
    const events = async (): Promise<string[]> => {
      const page = { limit: 100, after: null, direction: "forward" } as const;
      const every = { minimumSeverity: "debug", type: null } as const;
      const { rows } = await listCallEvents(db, accountId, callId, every, page);
      return rows.map(({ type, text }) => `${type}: ${text}`);
    };
    return { db, accountId, callId, refer, reasons, dials, events, counted, replaced, warned };
  }

  it("is refused unless the account follows them, and leaves no trace then", async () => {
    const { db, accountId, refer, dials, events } = await open({ incomingRefer: "refuse" });
    expect(await refer(TARGET)).toBe(603);
    await changeSipRules(db, accountId, { incomingRefer: "follow" });
    await setSipEnabled(db, accountId, false);
    expect(await refer(TARGET)).toBe(603);
    expect([await dials(), await events()]).toEqual([[], []]);
  });

  it("leads to the number at the trunk of the call, with its password, and is a dial of the account", async () => {
    const { callId, refer, dials, events, counted, replaced } = await open();
    const followed = await refer(TARGET);
    if (typeof followed === "number") throw new Error(String(followed));
    const { destination, listener } = followed;
    expect(destination).toMatchObject({
      to: "sip:+4930999999@trunk.example",
      credentials: { username: "u", password: "p" },
      srtp: "required",
    });
    expect(destination.from).toMatch(/^sip:\+49302@/);
    expect(await destination.mayRedirectTo?.("sip:+4411111@trunk.example")).toBe(false);
    expect(await destination.mayRedirectTo?.("sip:+4911111@trunk.example")).toBe(true);
    expect(replaced).toEqual([]);
    listener.answered();
    listener.ended("NORMAL", 61_000);
    expect(replaced).toEqual([callId]);
    await vi.waitFor(async () => {
      expect(await dials()).toMatchObject([
        { number: "+4930999999", result: "completed", talked_ms: 61_000 },
      ]);
      expect((await events()).map((event) => event.split(":")[0])).toEqual([
        "sip.transferring",
        "sip.transferred",
      ]);
    }, PATIENT);
    expect(counted).toEqual(["connected"]);
  });

  it("that fails is noted", async () => {
    const { refer, dials, events } = await open();
    const followed = await refer(TARGET);
    if (typeof followed !== "number") followed.listener.failed("BUSY", "486 Busy");
    await vi.waitFor(async () => {
      expect(await dials()).toMatchObject([{ result: "busy" }]);
      expect((await events()).at(-1)).toMatch(/^sip\.transfer_failed: /);
    }, PATIENT);
  });

  it.each([
    ["without a list of prefixes", TARGET, [], false, "may be chosen by the other side"],
    ["to a number with another prefix", "sip:+44900@trunk.example", ["+49"], false, "none of the prefixes"],
    ["to what is no number", "sip:102@trunk.example", ["+49"], false, "must be a number"],
    ["that would replace a call", TARGET, ["+49"], true, "to be replaced"],
  ])("%s is refused, dials nobody, and is an event", async (_what, to, prefixes, hasReplaces, reason) => {
    const { refer, dials, events, counted } = await open({ prefixes });
    expect(await refer(to, hasReplaces)).toBe(603);
    await vi.waitFor(async () => expect((await events()).join()).toContain(reason), PATIENT);
    expect([await dials(), counted]).toEqual([[], ["refused"]]);
  });

  it.each(["follow", "refuse"] as const)(
    "to a call that is to be replaced says why in the response, where the account says %s",
    async (incomingRefer) => {
      const { refer, reasons } = await open({ incomingRefer });
      expect(await refer(TARGET, true)).toBe(603);
      expect(await refer("sip:102@trunk.example")).toBe(603);
      expect(reasons).toEqual(["Replaces Is Not Supported", undefined]);
    },
  );

  it("that cannot be stored is refused, and leaves no dial behind", async () => {
    const seal = (): string => {
      throw new Error("the disk is full");
    };
    const { refer, dials, events, warned } = await open({
      breaks: (db) => ({ ...db, sealer: { ...db.sealer, seal } }),
    });
    expect(await refer(TARGET)).toBe(500);
    expect([await dials(), await events(), warned]).toEqual([[], [], ["a REFER could not be decided about"]]);
  });

  it("counts for the limits of the day, and for a limit of the call", async () => {
    const { db, accountId, refer, dials, events } = await open();
    await changeDiallingRules(db, accountId, { maxCallsPerDay: 1 });
    expect(await refer(TARGET)).toMatchObject({ destination: {} });
    expect(await refer(TARGET)).toBe(603);
    await vi.waitFor(
      async () => expect((await events()).join()).toContain("limit of dialled calls"),
      PATIENT,
    );
    await changeDiallingRules(db, accountId, { maxCallsPerDay: null });
    for (let nth = 1; nth < MAX_FOLLOWED; nth += 1)
      expect(await refer(TARGET)).toMatchObject({ destination: {} });
    expect(await refer(TARGET)).toBe(603);
    await vi.waitFor(async () => expect((await events()).join()).toContain("transferred 5 times"), PATIENT);
    expect(await dials()).toHaveLength(MAX_FOLLOWED);
  });
});

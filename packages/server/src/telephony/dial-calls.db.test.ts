import { randomUUID } from "node:crypto";
import { CONFIGURED_CARRIERS } from "@parley/schema";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Dial } from "../lifecycle/create/dialling.ts";
import type { Db } from "../store/database/db.ts";
import { markEnded } from "../store/testing/calls.ts";
import { NOW_MS } from "../ports/testing/carriers-conformance.ts";
import { describeOnBothDatabases, newAccount } from "../store/testing/databases.ts";
import { getDial, noteProgress, sweepDials } from "../store/telephony/carrier-dials.ts";
import { changeDiallingRules } from "../store/telephony/dialling-rules.ts";
import { createDialling } from "./dial-calls.ts";
import {
  carriersOf,
  configureCarriers,
  NUMBERS,
  openFakes,
  PUBLIC_URL,
  storeDialledCall,
  type Fakes,
} from "./testing/telephony-account.ts";

const LIMITS = { joinTimeoutMs: 30_000, maxDurationMs: 3_600_000 };

describeOnBothDatabases("dialling", (current) => {
  let fakes: Fakes;
  const hungUp: string[] = [];
  const warnings: string[] = [];

  beforeAll(async () => {
    fakes = await openFakes();
  });
  afterAll(async () => {
    await Promise.all(CONFIGURED_CARRIERS.map((carrier) => fakes[carrier].stop()));
  });

  const prepareDial = (db: Db) =>
    createDialling({
      db,
      carriers: carriersOf(fakes),
      publicUrl: () => PUBLIC_URL,
      nowMs: () => NOW_MS,
      hangUp: async (_account, callId) => void hungUp.push(callId),
      warnCall: async (_account, callId) => void warnings.push(callId),
      closing: new AbortController().signal,
      logger: { warn: () => undefined, error: () => undefined },
    });
  const prepared = async (accountId: string, medium: object): Promise<Dial> => {
    const dial = await prepareDial(current().db)(accountId, medium, "medium");
    if (dial === null || "kind" in dial) throw new Error(`not prepared: ${JSON.stringify(dial)}`);
    return dial;
  };
  const twilio = { telephony1: { outgoing: NUMBERS } };

  it("does nothing for calls that somebody else connects", async () => {
    const { db } = current();
    for (const medium of [{}, { webRtc: {} }, { telephony1: {} }, { telephony4: {} }]) {
      expect(await prepareDial(db)("11111111-1111-4111-8111-111111111111", medium, "medium")).toBeNull();
    }
  });

  it.each(CONFIGURED_CARRIERS)("stores the intent, asks %s once and stores its id", async (carrier) => {
    const { db } = current();
    const { accountId } = await configureCarriers(db, fakes);
    const call = await storeDialledCall(db, accountId, carrier);
    const before = fakes[carrier].placed().length;
    const dial = await prepared(accountId, { [carrier]: { outgoing: NUMBERS } });
    expect(await dial.admit(call.callId)).toBeNull();
    expect(await getDial(db, call.callId)).toMatchObject({ accountId, carrier, carrierCallId: null });
    expect(fakes[carrier].placed()).toHaveLength(before);
    expect(await dial.place({ ...call, ...LIMITS })).toBeNull();
    const [placed] = fakes[carrier].placed().slice(before);
    expect(await getDial(db, call.callId)).toMatchObject({ carrierCallId: placed?.id, result: null });
    expect(placed).toMatchObject({
      ...NUMBERS,
      statusUrl: `${PUBLIC_URL}/calls/${call.callId}/carrier_status`,
    });
    const streamUrl = `wss://voice.example/calls/${call.callId}/${carrier}/${call.joinToken}`;
    expect(placed?.streamUrl ?? streamUrl).toBe(streamUrl);
    expect(fakes[carrier].placed()).toHaveLength(before + 1);
  });

  it("names what is missing where the carrier is not configured", async () => {
    const outcome = await prepareDial(current().db)(
      await newAccount(current().db),
      twilio,
      "callTemplate.medium",
    );
    expect(outcome).toMatchObject({
      kind: "not_configured",
      errors: [
        {
          field: "callTemplate.medium.telephony1",
          message: expect.stringContaining("telephony_configs") as string,
        },
      ],
    });
  });

  it("repeats the words of a refusal, and says when nobody was dialled for now", async () => {
    const { db } = current();
    const { accountId } = await configureCarriers(db, fakes);
    const { failWith, refusal } = fakes.telephony1;
    const place = async () => {
      const call = await storeDialledCall(db, accountId);
      const dial = await prepared(accountId, twilio);
      await dial.admit(call.callId);
      return { call, outcome: await dial.place({ ...call, ...LIMITS }) };
    };
    failWith({ kind: "answers", status: 400, body: refusal("not verified") });
    const refused = await place();
    expect(refused.outcome).toMatchObject({
      kind: "refused",
      errors: [
        { field: "medium.telephony1.outgoing", message: expect.stringContaining("not verified") as string },
      ],
    });
    expect(await getDial(db, refused.call.callId)).toMatchObject({ result: "refused" });
    failWith({ kind: "answers", status: 503, body: "<html></html>" });
    expect((await place()).outcome).toMatchObject({
      kind: "carrier_failed",
      waitMs: 5_000,
      isRateLimit: false,
    });
    failWith({ kind: "answers", status: 429, body: "{}", retryAfter: "9" });
    expect((await place()).outcome).toMatchObject({
      kind: "carrier_failed",
      waitMs: 9_000,
      isRateLimit: true,
    });
    failWith({ kind: "closes" });
    const unknown = await place();
    expect(unknown.outcome).toBeNull();
    expect(warnings).toContain(unknown.call.callId);
    expect(await getDial(db, unknown.call.callId)).toMatchObject({ carrierCallId: null, result: null });
    failWith(null);
  });

  it("keeps to the allowed prefixes", async () => {
    const { db } = current();
    const { accountId } = await configureCarriers(db, fakes);
    await changeDiallingRules(db, accountId, { allowedPrefixes: ["+41"] });
    expect(await prepareDial(db)(accountId, twilio, "medium")).toMatchObject({
      kind: "refused",
      errors: [{ field: "medium.telephony1.outgoing.to", message: expect.stringContaining("+41") as string }],
    });
    await changeDiallingRules(db, accountId, { allowedPrefixes: ["+41", "+49"] });
    await prepared(accountId, twilio);
  });

  it("lets no more calls pass than the day allows, also of many at once", async () => {
    const { db } = current();
    const { accountId } = await configureCarriers(db, fakes);
    await changeDiallingRules(db, accountId, { maxCallsPerDay: 3 });
    const dial = await prepared(accountId, twilio);
    const ids = Array.from({ length: 8 }, () => randomUUID());
    const outcomes = await Promise.all(ids.map((callId) => dial.admit(callId)));
    expect(outcomes.filter((outcome) => outcome === null)).toHaveLength(3);
    const [refused] = outcomes.filter((outcome) => outcome !== null);
    expect(refused).toMatchObject({ kind: "later", limit: "dialled calls" });
    const waitMs = refused?.kind === "later" ? refused.waitMs : 0;
    expect(waitMs).toBeGreaterThan(23 * 3_600_000);
    expect(waitMs).toBeLessThanOrEqual(24 * 3_600_000);
    // What the carrier has refused does not count.
    const admitted = ids.filter((_, index) => outcomes[index] === null);
    await dial.abandon(admitted[0] ?? "");
    expect(await dial.admit(randomUUID())).toBeNull();
    expect(await dial.admit(randomUUID())).toMatchObject({ kind: "later" });
    await changeDiallingRules(db, accountId, { maxCallsPerDay: 0 });
    expect(await (await prepared(accountId, twilio)).admit(randomUUID())).toMatchObject({ kind: "later" });
  });

  it("lets no call pass after the minutes of the day", async () => {
    const { db } = current();
    const { accountId } = await configureCarriers(db, fakes);
    await changeDiallingRules(db, accountId, { maxMinutesPerDay: 2 });
    const dial = await prepared(accountId, twilio);
    const call = await storeDialledCall(db, accountId);
    expect(await dial.admit(call.callId)).toBeNull();
    const over = { carrierCallId: "x", isAnswered: true, result: "completed", detail: null } as const;
    await noteProgress(db, accountId, call.callId, { ...over, talkedMs: 119_000 });
    const second = randomUUID();
    expect(await dial.admit(second)).toBeNull();
    await noteProgress(db, accountId, second, { ...over, carrierCallId: "y", talkedMs: 1_000 });
    expect(await dial.admit(randomUUID())).toMatchObject({ kind: "later", limit: "dialled minutes" });
  });

  it("counts a running call with the time until now, and a deleted one", async () => {
    const { db } = current();
    const { accountId } = await configureCarriers(db, fakes);
    await changeDiallingRules(db, accountId, { maxMinutesPerDay: 1 });
    const dial = await prepared(accountId, twilio);
    const call = await storeDialledCall(db, accountId);
    await dial.admit(call.callId);
    await sql`update calls set joined_at = statement_timestamp() - interval '61 seconds' where id = ${call.callId}`.execute(
      db.query,
    );
    expect(await dial.admit(randomUUID())).toMatchObject({ kind: "later", limit: "dialled minutes" });
  });

  it("ends a call at the carrier that has ended while the carrier was asked", async () => {
    const { db } = current();
    const { accountId } = await configureCarriers(db, fakes);
    const call = await storeDialledCall(db, accountId);
    const dial = await prepared(accountId, twilio);
    await dial.admit(call.callId);
    await markEnded(db, accountId, call.callId, { endReason: "unjoined", endedAtMs: Date.now() });
    expect(await dial.place({ ...call, ...LIMITS })).toBeNull();
    expect(hungUp).toContain(call.callId);
  });

  it("forgets dials that are older than two days", async () => {
    const { db } = current();
    const { accountId } = await configureCarriers(db, fakes);
    const dial = await prepared(accountId, twilio);
    const [old, recent] = [randomUUID(), randomUUID()];
    await dial.admit(old);
    await dial.admit(recent);
    await sql`update carrier_dials set dialled_at = dialled_at - interval '51 hours' where call_id = ${old}`.execute(
      db.query,
    );
    expect(await sweepDials(db)).toBe(false);
    expect(await getDial(db, old)).toBeNull();
    expect(await getDial(db, recent)).not.toBeNull();
  });
});

import { randomUUID } from "node:crypto";
import { CONFIGURED_CARRIERS } from "@parley/schema";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { insertCall } from "../../store/calls/calls.ts";
import { eraseTransfersOf, sweepTransfers } from "../../store/telephony/call-transfers.ts";
import { changeDiallingRules } from "../../store/telephony/dialling-rules.ts";
import { newCall } from "../../store/testing/calls.ts";
import { describeOnBothDatabases } from "../../store/testing/databases.ts";
import { PUBLIC_URL, configureCarriers, openFakes, type Fakes } from "../testing/telephony-account.ts";
import {
  intentOf,
  invocation,
  LIMITS,
  signal,
  SPOKEN_BRIEF,
  TARGET,
  textOf,
  xmlOf,
  TransferWorld,
} from "../testing/transfer-world.ts";

describeOnBothDatabases("transfers that are refused or fail", (current) => {
  let fakes: Fakes;
  let world: TransferWorld;

  beforeAll(async () => {
    fakes = await openFakes();
  });
  beforeEach(() => {
    world = new TransferWorld(current().db, fakes);
  });
  afterAll(async () => {
    await Promise.all(CONFIGURED_CARRIERS.map((carrier) => fakes[carrier].stop()));
  });

  it.each(CONFIGURED_CARRIERS)("stays with the agent when %s refuses the transfer", async (carrier) => {
    const fake = fakes[carrier];
    for (const fault of [
      { kind: "answers", status: 400, body: fake.refusal("not possible") },
      { kind: "answers", status: 503, body: "<html></html>" },
    ] as const) {
      const call = await world.answeredCall(carrier);
      fake.failWith(fault);
      const outcome = await world.opened().transfer(invocation(call, "coldTransfer"), signal);
      fake.failWith(null);
      expect(textOf(outcome)).toMatch(/^The tool failed: \w+ answered HTTP (?:400: not possible|503)/);
      expect((await world.eventsOf(call)).at(-1)).toMatch(/^telephony\.failed: the transfer has failed/);
    }
  });

  it("fails when the answer was lost and the carrier begins nothing, and then dials nobody", async () => {
    const call = await world.answeredCall("telephony1");
    const deployed = world.opened({ ...LIMITS, startMs: 1 });
    fakes.telephony1.failWith({ kind: "answers", status: 502, body: "<html></html>" });
    const outcome = await deployed.transfer(invocation(call, "coldTransfer"), signal);
    fakes.telephony1.failWith(null);
    expect(textOf(outcome)).toBe("The tool failed: the carrier has not begun the transfer");
  });

  it("gives up a called person who does not take the call, and not a blind transfer", async () => {
    for (const [tool, words] of [
      ["warmTransfer", "The tool failed: nobody has taken the call in time"],
      ["coldTransfer", "hang-up "],
    ] as const) {
      const call = await world.answeredCall("telephony1");
      const deployed = world.opened({ ...LIMITS, pollMs: 5, endMs: 1 });
      const spoken = invocation(call, tool, { target: TARGET }, SPOKEN_BRIEF);
      expect(textOf(await deployed.transfer(spoken, signal))).toBe(words);
      // What the carrier fetches after that brings the caller back.
      const { asks } = world.carrierOf(call, deployed);
      expect(xmlOf(await asks("instructions", "instructions"))).toContain(call.joinToken);
    }
  });

  it("refuses numbers that the model may not choose, and says so in an event", async () => {
    const call = await world.answeredCall("telephony1");
    const { db } = current();
    const { transfer } = world.opened();
    const other = await transfer(invocation(call, "coldTransfer", { target: "+19005550100" }), signal);
    expect(textOf(other)).toMatch(/^The tool failed: target has none of the prefixes/);
    await changeDiallingRules(db, call.accountId, { allowedPrefixes: [] });
    const unlisted = await transfer(invocation(call, "coldTransfer"), signal);
    expect(textOf(unlisted)).toMatch(
      /may be chosen by the model only where the account allows some prefixes/,
    );
    expect(await world.eventsOf(call)).toHaveLength(2);
    expect((await world.eventsOf(call))[0]).toMatch(
      /^telephony\.failed: the transfer was refused: target has none/,
    );
    expect(fakes.telephony1.redirected().filter(({ id }) => id === call.carrierCallId)).toEqual([]);
    expect(world.counted.filter((outcome) => outcome === "refused").length).toBeGreaterThanOrEqual(2);
  });

  it("asks the carrier for nothing when the call has ended meanwhile, and counts nothing", async () => {
    const call = await world.answeredCall("telephony1");
    const aborted = AbortSignal.abort(new Error("the call has ended"));
    const done = world.opened().transfer(invocation(call, "coldTransfer"), aborted);
    await expect(done).rejects.toThrow("the call has ended");
    expect(fakes.telephony1.redirected().filter(({ id }) => id === call.carrierCallId)).toEqual([]);
    const dials = await sql<{ result: string }>`
      select result from carrier_dials where account_id = ${call.accountId} and number = ${TARGET}`.execute(
      current().db.query,
    );
    expect(dials.rows).toEqual([{ result: "refused" }]);
  });

  it("counts transfers among the dialled calls of the day", async () => {
    const call = await world.answeredCall("telephony1");
    await changeDiallingRules(current().db, call.accountId, { maxCallsPerDay: 2 });
    const deployed = world.opened();
    const done = deployed.transfer(invocation(call, "coldTransfer"), signal);
    const { asks } = world.carrierOf(call, deployed);
    await asks("instructions", "instructions");
    await asks("end", "busy");
    await done;
    expect(textOf(await deployed.transfer(invocation(call, "coldTransfer"), signal))).toBe(
      "The tool failed: the account's limit of dialled calls within 24 hours is reached",
    );
  });

  it("runs one transfer of a call at a time", async () => {
    const call = await world.answeredCall("telephony1");
    const deployed = world.opened();
    const first = deployed.transfer(invocation(call, "coldTransfer"), signal);
    const second = await deployed.transfer(invocation(call, "warmTransfer"), signal);
    expect(textOf(second)).toBe("The tool failed: another transfer of this call is under way");
    const { asks } = world.carrierOf(call, deployed);
    await asks("instructions", "instructions");
    await asks("end", "busy");
    await first;
  });

  it("transfers incoming calls by the carrier's id in the webhook, and no others", async () => {
    const { db } = current();
    const { accountId } = await configureCarriers(db, fakes);
    await changeDiallingRules(db, accountId, { allowedPrefixes: ["+49"] });
    const outcome = await fakes.telephony1.carrier.dial(fakes.telephony1.account, intentOf("c"), signal);
    const CallSid = outcome.kind === "placed" ? outcome.carrierCallId : "";
    fakes.telephony1.answer(CallSid);
    const stored = async (mediumKind: string, requestContext: object | null) => {
      const call = newCall({ mediumKind, requestContext });
      await insertCall(db, accountId, call);
      return { accountId, callId: call.callId, joinToken: call.joinToken ?? "", carrierCallId: CallSid };
    };
    const call = await stored("telephony1", { telephony1: { CallSid, To: "+4930111111" } });
    const deployed = world.opened();
    const done = deployed.transfer(invocation(call, "coldTransfer"), signal);
    const { asks } = world.carrierOf({ ...call, carrier: "telephony1" }, deployed);
    expect(xmlOf(await asks("instructions", "instructions"))).toContain("+4930111111");
    await asks("progress", "answered");
    expect(textOf(await done)).toBe("hang-up ");
    for (const [other, words] of [
      [await stored("webRtc", null), "calls over webRtc cannot be transferred"],
      [await stored("telephony4", null), "calls over telephony4 cannot be transferred"],
      [
        await stored("telephony1", null),
        "the carrier's id of the call is not known, so the call cannot be transferred",
      ],
    ] as const) {
      expect(textOf(await deployed.transfer(invocation(other, "coldTransfer"), signal))).toBe(
        `The tool failed: ${words}`,
      );
    }
  });

  it("answers nobody but the account's carrier, about the call that is transferred", async () => {
    const call = await world.answeredCall("telephony1");
    const deployed = world.opened();
    const done = deployed.transfer(invocation(call, "coldTransfer"), signal);
    const { asks, idIn } = world.carrierOf(call, deployed);
    const transferId = await idIn();
    const fake = fakes.telephony1;
    const url = `${PUBLIC_URL}/transfers/${transferId}/instructions`;
    const fields = fake.transferFields("instructions", call.carrierCallId);
    const unsigned = { ...fake.sign(fields, url), headers: {} };
    const { request } = deployed;
    for (const reply of [
      await request(transferId, "instructions", unsigned),
      await request(randomUUID(), "instructions", fake.sign(fields, url)),
      await request(transferId, "other", fake.sign(fields, url)),
      await asks("instructions", "instructions", "another-call"),
      await asks("end", "busy", "another-call"),
    ]) {
      expect(reply).toMatchObject({ kind: "forbidden" });
    }
    // A question or an answer that nobody has asked for connects nobody.
    expect(xmlOf(await asks("question", "question"))).toContain("Hangup");
    expect(xmlOf(await asks("answer", "key_1"))).toContain("Hangup");
    await asks("instructions", "instructions");
    await asks("end", "busy");
    expect(textOf(await done)).toBe("The tool failed: the line was busy");
  });

  it("erases the words and numbers of a transfer with its call", async () => {
    const { db } = current();
    const call = await world.answeredCall("telephony1");
    const deployed = world.opened();
    const done = deployed.transfer(invocation(call, "coldTransfer"), signal);
    const { asks } = world.carrierOf(call, deployed);
    await asks("instructions", "instructions");
    const stored = await sql`select * from call_transfers where call_id = ${call.callId}`.execute(db.query);
    expect(stored.rows).toHaveLength(1);
    expect(JSON.stringify(stored.rows)).not.toContain(TARGET);
    await eraseTransfersOf(db, call.accountId, call.callId);
    expect(textOf(await done)).toBe("The tool failed: the call was deleted");
    const left =
      await sql`select number from carrier_dials where account_id = ${call.accountId} and number = ${TARGET}`.execute(
        db.query,
      );
    expect(left.rows).toEqual([]);
    expect(await sweepTransfers(db)).toBe(false);
  });
});

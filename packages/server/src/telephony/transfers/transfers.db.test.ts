import { CONFIGURED_CARRIERS } from "@parley/schema";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { markEnded } from "../../store/testing/calls.ts";
import { describeOnBothDatabases } from "../../store/testing/databases.ts";
import { NUMBERS, openFakes, type Fakes } from "../testing/telephony-account.ts";
import {
  invocation,
  LIMITS,
  signal,
  SPOKEN_BRIEF,
  TARGET,
  textOf,
  xmlOf,
  TransferWorld,
} from "../testing/transfer-world.ts";

describeOnBothDatabases("transfers", (current) => {
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

  it.each(CONFIGURED_CARRIERS)("%s connects a blind transfer, which ends the call", async (carrier) => {
    const call = await world.answeredCall(carrier);
    const deployed = world.opened();
    const done = deployed.transfer(invocation(call, "coldTransfer"), signal);
    const { asks } = world.carrierOf(call, deployed);
    const dial = xmlOf(await asks("instructions", "instructions"));
    expect(dial).toContain(TARGET);
    expect(dial).toContain(NUMBERS.from);
    // The carrier has lost the answer, and asks again.
    expect(xmlOf(await asks("instructions", "instructions"))).toBe(dial);
    expect(await asks("progress", "answered")).toEqual({ kind: "done" });
    expect(textOf(await done)).toBe("hang-up ");
    expect(xmlOf(await asks("end", "completed"))).toContain("Hangup");
    expect(await world.eventsOf(call)).toEqual([
      "telephony.transferring: the caller is being transferred",
      "telephony.transferred: the caller was transferred",
    ]);
    const { db } = current();
    const times = await sql<{ atMs: number }>`
      select wall_clock_timestamp_ms as "atMs" from call_events where call_id = ${call.callId}`.execute(
      db.query,
    );
    expect(times.rows).toEqual([{ atMs: 5_000 }, { atMs: 5_000 }]);
    const dials = await sql<{ number: string; talkedMs: number }>`
      select number, talked_ms as "talkedMs" from carrier_dials where account_id = ${call.accountId}
      and call_id <> ${call.callId}`.execute(db.query);
    expect(dials.rows).toEqual([{ number: TARGET, talkedMs: 42_000 }]);
  });

  it.each(CONFIGURED_CARRIERS)("%s brings the caller back when nobody can be reached", async (carrier) => {
    for (const [news, words] of [
      ["busy", "the line was busy"],
      ["no_answer", "nobody answered"],
      ["failed", "the carrier could not connect the call"],
    ] as const) {
      const call = await world.answeredCall(carrier);
      const deployed = world.opened();
      const done = deployed.transfer(invocation(call, "coldTransfer"), signal);
      const { asks } = world.carrierOf(call, deployed);
      await asks("instructions", "instructions");
      const back = xmlOf(await asks("end", news));
      expect(back).toContain(`/calls/${call.callId}/${carrier}/${call.joinToken}`);
      expect(textOf(await done)).toBe(`The tool failed: ${words}`);
      // Twice, and a late answer: the caller is with the agent.
      expect(xmlOf(await asks("end", news))).toBe(back);
      await asks("progress", "answered");
      expect((await world.eventsOf(call)).at(-1)).toBe(`telephony.failed: the transfer has failed: ${words}`);
    }
  });

  it.each(CONFIGURED_CARRIERS)(
    "%s asks before a warm transfer, which is taken or declined",
    async (carrier) => {
      for (const [key, words] of [
        ["key_1", "hang-up "],
        ["key_2", "The tool failed: the called person did not take the call"],
      ] as const) {
        const call = await world.answeredCall(carrier);
        const deployed = world.opened();
        const values = { target: TARGET, context: "Jane wants a refund." };
        const done = deployed.transfer(invocation(call, "warmTransfer", values, SPOKEN_BRIEF), signal);
        const { asks } = world.carrierOf(call, deployed);
        await asks("instructions", "instructions");
        await asks("progress", "answered");
        expect(xmlOf(await asks("question", "question"))).toContain("Jane wants a refund. Press 1");
        await (carrier === "telephony3" ? asks("progress", key) : asks("answer", key));
        const end = xmlOf(await asks("end", "completed"));
        expect(end.includes(call.joinToken)).toBe(key === "key_2");
        expect(textOf(await done)).toBe(words);
      }
    },
  );

  it("takes a blind transfer as connected when only its end was reported", async () => {
    const call = await world.answeredCall("telephony1");
    const deployed = world.opened();
    const done = deployed.transfer(invocation(call, "coldTransfer"), signal);
    const { asks } = world.carrierOf(call, deployed);
    await asks("instructions", "instructions");
    expect(xmlOf(await asks("end", "completed"))).toContain("Hangup");
    expect(textOf(await done)).toBe("hang-up ");
  });

  it("ends the call when the caller hangs up meanwhile", async () => {
    const call = await world.answeredCall("telephony2");
    const deployed = world.opened();
    const done = deployed.transfer(invocation(call, "coldTransfer"), signal);
    const { asks } = world.carrierOf(call, deployed);
    await asks("instructions", "instructions");
    expect(xmlOf(await asks("end", "caller_gone"))).toContain("Hangup");
    expect(world.ended).toContain(call.callId);
    expect(textOf(await done)).toBe("The tool failed: the caller has hung up");
  });

  it("learns of callbacks that came to another process", async () => {
    const call = await world.answeredCall("telephony1");
    const deployed = world.opened(LIMITS, false);
    const done = deployed.transfer(invocation(call, "coldTransfer"), signal);
    const { asks } = world.carrierOf(call, deployed);
    await asks("instructions", "instructions");
    await asks("end", "busy");
    expect(textOf(await done)).toBe("The tool failed: the line was busy");
  });

  it("ends the attempt at the carrier when the call ends, but not a connected one", async () => {
    for (const isConnected of [false, true]) {
      const call = await world.answeredCall("telephony1");
      const aborting = new AbortController();
      const deployed = world.opened({ ...LIMITS, pollMs: 600_000 }, false);
      const done = deployed.transfer(invocation(call, "coldTransfer"), aborting.signal);
      const { asks } = world.carrierOf(call, deployed);
      await asks("instructions", "instructions");
      if (isConnected) await asks("progress", "answered");
      aborting.abort(new Error("the call has ended"));
      const result = await done.then(textOf, String);
      expect(result).toBe(isConnected ? "hang-up " : "Error: the call has ended");
      expect(fakes.telephony1.ended().includes(call.carrierCallId)).toBe(!isConnected);
    }
  });

  it("says goodbye where the call has ended while somebody was dialled", async () => {
    const call = await world.answeredCall("telephony3");
    const deployed = world.opened();
    const done = deployed.transfer(invocation(call, "coldTransfer"), signal);
    const { asks } = world.carrierOf(call, deployed);
    await asks("instructions", "instructions");
    const end = { endReason: "hangup", endedAtMs: Date.now() } as const;
    await markEnded(current().db, call.accountId, call.callId, end);
    expect(xmlOf(await asks("end", "busy"))).toContain("this call is over");
    await done;
  });

  it("plays hold music where the carrier can", async () => {
    const call = await world.answeredCall("telephony3");
    const deployed = world.opened();
    const music = { holdMusicUrl: "https://example.com/music.mp3" };
    const done = deployed.transfer(invocation(call, "coldTransfer", { target: TARGET }, music), signal);
    const { asks } = world.carrierOf(call, deployed);
    expect(xmlOf(await asks("instructions", "instructions"))).toContain("/music");
    const played = xmlOf(await asks("music", "instructions"));
    expect(fakes.telephony3.problemsIn(played, "music")).toEqual([]);
    expect(played).toContain(music.holdMusicUrl);
    await asks("end", "busy");
    await done;
  });
});

import { CONFIGURED_CARRIERS } from "@parley/schema";
import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import type { TransferNews } from "../../ports/testing/transfer-news.ts";
import { markJoined } from "../../store/calls/calls.ts";
import { eraseTransfersOf } from "../../store/telephony/call-transfers.ts";
import { changeDiallingRules } from "../../store/telephony/dialling-rules.ts";
import { markEnded } from "../../store/testing/calls.ts";
import { describeOnBothDatabases } from "../../store/testing/databases.ts";
import { NUMBERS, PUBLIC_URL, openFakes, type Fakes } from "../testing/telephony-account.ts";
import {
  invocation,
  LIMITS,
  PATIENT,
  signal,
  TARGET,
  textOf,
  xmlOf,
  TransferWorld,
  type AnsweredCall,
} from "../testing/transfer-world.ts";
import type { TransferLimits } from "./attempts.ts";
import { endLeftTransfers } from "./left-transfers.ts";
import { carriersOf } from "../testing/telephony-account.ts";

const VALUES = { target: TARGET, context: "Jane wants a refund." };

describeOnBothDatabases("transfers in which the agent talks with the called person", (current) => {
  let fakes: Fakes;
  let world: TransferWorld;

  beforeAll(async () => {
    fakes = await openFakes();
  });
  beforeEach(() => {
    world = new TransferWorld(current().db, fakes);
  });
  /** What is still under way at the end of a test. */
  let running: { readonly aborting: AbortController; readonly done: Promise<string> }[] = [];
  afterEach(async () => {
    for (const { aborting } of running) aborting.abort(new Error("the test is over"));
    await Promise.all(running.map(({ done }) => done));
    running = [];
  });
  afterAll(async () => {
    await Promise.all(CONFIGURED_CARRIERS.map((carrier) => fakes[carrier].stop()));
  });

  /** A transfer whose called person is dialled; `hold`: the caller waits as well. */
  async function begun(
    carrier: (typeof CONFIGURED_CARRIERS)[number],
    {
      hold = true,
      limits = LIMITS,
      fixed = {},
    }: { hold?: boolean; limits?: TransferLimits; fixed?: object } = {},
  ) {
    const call = await world.answeredCall(carrier);
    const deployed = world.opened(limits);
    const aborting = new AbortController();
    const warm = invocation(call, "warmTransfer", VALUES, { ...fixed });
    const done = deployed.transfer(warm, aborting.signal).then(textOf, String);
    running.push({ aborting, done });
    const { asks, idIn } = world.carrierOf(call, deployed);
    const held = hold ? xmlOf(await asks("instructions", "instructions")) : "";
    const consultation = await vi.waitFor(() => {
      const last = world.consultations.at(-1);
      if (last === undefined) throw new Error("nobody was dialled");
      return last;
    }, PATIENT);
    const fake = fakes[carrier];
    const leg = fake.placed().at(-1)?.id ?? "";
    const person = { ...call, callId: consultation.callId, carrierCallId: leg };
    const reports = async (state: "ringing" | "answered" | "busy" | "no_answer" | "completed", more = {}) => {
      const url = `${PUBLIC_URL}/calls/${person.callId}/carrier_status`;
      const fields = { ...fake.callback(state, leg), ...more };
      expect(await deployed.noteStatus(person.callId, fake.sign(fields, url))).toEqual({ kind: "done" });
    };
    const picksUp = async () => {
      fake.answer(leg);
      await reports("answered");
      await markJoined(current().db, call.accountId, person.callId, { joinedAtMs: 1, clientVersion: null });
    };
    const uses = (tool: "acceptTransfer" | "refuseTransfer", values = {}) =>
      deployed.answer(invocation(person, tool, values), signal).then(textOf);
    const enters = async (step: "bridge" | "left", news: TransferNews) => xmlOf(await asks(step, news, leg));
    const redirects = (id: string) => fake.redirected().filter((each) => each.id === id).length;
    const shared = { call, person, consultation, deployed, aborting, done, asks, idIn, held };
    return { ...shared, fake, reports, picksUp, uses, enters, redirects };
  }

  /** The carrier does as it was asked, once the called person's leg was redirected. */
  const redirectedTo = async (redirects: (id: string) => number, { carrierCallId }: AnsweredCall) =>
    vi.waitFor(() => expect(redirects(carrierCallId)).toBeGreaterThan(0), PATIENT);

  it.each(CONFIGURED_CARRIERS)(
    "%s connects the two when the called person takes the call",
    async (carrier) => {
      const music = { holdMusicUrl: "https://example.com/music.mp3" };
      const { call, person, consultation, done, asks, held, fake, picksUp, uses, enters, redirects } =
        await begun(carrier, { fixed: music });
      expect(fake.placed().at(-1)).toMatchObject({ to: TARGET, from: NUMBERS.from });
      const { consultation: about, request } = consultation.input;
      expect(about?.callId).toBe(call.callId);
      expect(request).toMatchObject({
        systemPrompt: expect.stringContaining("Jane wants a refund.") as string,
        maxDuration: "240s",
        metadata: { transferOfCallId: call.callId },
      });
      expect(held).toMatch(/startConferenceOnEnter="false"/);
      const musical = carrier === "telephony3" ? xmlOf(await asks("music", "instructions")) : held;
      expect(musical).toContain(music.holdMusicUrl);
      await picksUp();
      const accepted = uses("acceptTransfer");
      await redirectedTo(redirects, person);
      const entering = await enters("bridge", "instructions");
      expect(entering).toMatch(/startConferenceOnEnter="true"/);
      expect([await accepted, await done]).toEqual(["hang-up ", "hang-up "]);
      // The carrier has lost the answer, and asks again.
      expect(await enters("bridge", "instructions")).toBe(entering);
      expect([redirects(call.carrierCallId), world.parted]).toEqual([1, []]);
      expect(await world.eventsOf(call)).toEqual([
        "telephony.transferring: the called person is dialled, and the caller is put on hold",
        "telephony.transferred: the caller was transferred",
      ]);
      // Either of them ends the conversation for the other one.
      expect(await enters("left", "hung_up_in_conference")).toContain("Hangup");
      expect(world.hungUp).toEqual([expect.objectContaining({ carrierCallId: call.carrierCallId })]);
      expect(xmlOf(await asks("held", "left_conference"))).toContain("Hangup");
      expect(world.hungUp.at(-1)).toMatchObject({ carrierCallId: person.carrierCallId });
    },
  );

  it.each(CONFIGURED_CARRIERS)(
    "%s brings the caller back when the called person declines",
    async (carrier) => {
      const { call, done, asks, picksUp, uses, redirects, enters } = await begun(carrier);
      await picksUp();
      expect(await uses("refuseTransfer", { reason: "I am in a meeting." })).toBe("hang-up ");
      const words = "the called person did not take the call: I am in a meeting.";
      expect(await done).toBe(`The tool failed: ${words}`);
      expect(redirects(call.carrierCallId)).toBe(2);
      expect(xmlOf(await asks("instructions", "instructions"))).toContain(call.joinToken);
      // The agent has said goodbye there by itself.
      expect(world.parted).toEqual([]);
      expect(await uses("acceptTransfer")).toBe("The tool failed: there is no caller who waits any more");
      expect(await enters("bridge", "instructions")).toContain("cannot be connected");
    },
  );

  it.each([
    ["busy", {}, "the line was busy"],
    ["no_answer", {}, "nobody answered"],
    ["completed", {}, "the called person has hung up"],
  ] as const)("brings the caller back after %s", async (state, more, words) => {
    for (const carrier of CONFIGURED_CARRIERS) {
      const { call, done, reports, redirects } = await begun(carrier);
      await reports(state, more);
      expect(await done).toBe(`The tool failed: ${words}`);
      expect(redirects(call.carrierCallId)).toBe(2);
    }
  });

  it("hangs up a caller on hold whom the carrier does not bring back", async () => {
    const { call, done, fake, reports } = await begun("telephony1");
    fake.failWith({ kind: "answers", status: 503, body: "" });
    await reports("busy");
    expect(await done).toBe("The tool failed: the line was busy");
    fake.failWith(null);
    expect(world.hungUp).toMatchObject([{ carrierCallId: call.carrierCallId }]);
  });

  it("brings the caller back when a machine has answered, without a word to it", async () => {
    const { done, picksUp, reports } = await begun("telephony1");
    await picksUp();
    await reports("answered", { AnsweredBy: "machine_start" });
    expect(await done).toBe("The tool failed: a machine has answered");
    expect([world.parted, world.ended]).toEqual([[], [world.consultations.at(-1)?.callId]]);
  });

  it("ends the conversation when the caller hangs up on hold", async () => {
    for (const carrier of CONFIGURED_CARRIERS) {
      const { call, done, asks, picksUp, uses, redirects } = await begun(carrier);
      await picksUp();
      expect(xmlOf(await asks("held", "hung_up_in_conference"))).toContain("Hangup");
      expect(world.ended).toContain(call.callId);
      expect(await done).toBe("The tool failed: the caller has hung up");
      expect(world.parted.at(-1)).toBe("Sorry, the caller has hung up. Goodbye.");
      expect(redirects(call.carrierCallId)).toBe(1);
      expect(await uses("acceptTransfer")).toBe("The tool failed: there is no caller who waits any more");
    }
  });

  it("brings the caller back when the carrier ends the hold, and asks it for nothing", async () => {
    const { call, done, asks, redirects } = await begun("telephony2");
    expect(xmlOf(await asks("held", "left_conference"))).toContain(call.joinToken);
    expect(await done).toBe("The tool failed: the carrier has ended the hold");
    expect(redirects(call.carrierCallId)).toBe(1);
  });

  it("ends both legs when the call is ended during the conversation", async () => {
    const { call, done, aborting, fake, picksUp } = await begun("telephony1");
    await picksUp();
    aborting.abort(new Error("the call has ended"));
    expect(await done).toBe("Error: the call has ended");
    expect(fake.ended()).toContain(call.carrierCallId);
    expect(world.parted).toEqual(["Sorry, the caller has hung up. Goodbye."]);
  });

  it("fails when the carrier does not put the caller on hold, or nobody decides", async () => {
    for (const [hold, limits, words] of [
      [false, { ...LIMITS, startMs: 1 }, "the carrier has not put the caller on hold"],
      [true, { ...LIMITS, consultationEndMs: 2_000 }, "nobody has taken the call in time"],
    ] as const) {
      const { call, done, redirects } = await begun("telephony1", { hold, limits });
      expect(await done).toBe(`The tool failed: ${words}`);
      expect(redirects(call.carrierCallId)).toBe(hold ? 2 : 1);
      expect(world.parted.at(-1)).toBe("Sorry, the caller cannot be connected. Goodbye.");
    }
  });

  it("leaves the caller with the agent when the carrier refuses the hold, and hangs up the called person", async () => {
    const call = await world.answeredCall("telephony1");
    // The agent's call is over at the carrier, whatever it has reported.
    await fakes.telephony1.carrier.hangUp(fakes.telephony1.account, call.carrierCallId, signal);
    const done = await world.opened().transfer(invocation(call, "warmTransfer", VALUES), signal);
    expect(textOf(done)).toMatch(/^The tool failed: Twilio answered HTTP 404/);
    expect(world.parted).toEqual(["Sorry, the caller cannot be connected. Goodbye."]);
    expect(world.counted).toEqual(["failed"]);
  });

  it("acts on the account's rules before anybody is dialled", async () => {
    const call = await world.answeredCall("telephony1");
    const { db } = current();
    const { transfer } = world.opened();
    const run = async (target = TARGET) =>
      textOf(await transfer(invocation(call, "warmTransfer", { ...VALUES, target }), signal));
    expect(await run("+19005550100")).toMatch(/^The tool failed: target has none of the prefixes/);
    await changeDiallingRules(db, call.accountId, { maxCallsPerDay: 1 });
    expect(await run()).toBe(
      "The tool failed: the account's limit of dialled calls within 24 hours is reached",
    );
    await changeDiallingRules(db, call.accountId, { maxCallsPerDay: null });
    fakes.telephony1.failWith({
      kind: "answers",
      status: 400,
      body: fakes.telephony1.refusal("no such number"),
    });
    expect(await run()).toMatch(/no such number/);
    fakes.telephony1.failWith(null);
    expect(world.consultations).toEqual([]);
    expect(fakes.telephony1.redirected().filter(({ id }) => id === call.carrierCallId)).toEqual([]);
    expect(world.counted).toEqual(["refused", "refused", "refused"]);
    const kept = await sql`select id from call_transfers where call_id = ${call.callId}`.execute(db.query);
    expect(kept.rows).toEqual([]);
  });

  it("hangs up a caller on hold whose call was deleted", async () => {
    const { call, done } = await begun("telephony3");
    await eraseTransfersOf(current().db, call.accountId, call.callId);
    expect(await done).toBe("The tool failed: the call was deleted");
    expect(world.hungUp).toMatchObject([{ carrierCallId: call.carrierCallId }]);
  });

  it("says goodbye to a caller on hold whose process has stopped, once, and hangs up the called person", async () => {
    // A process that goes on would bring the caller back by itself, once it has seen the end of the call.
    const stopped = { ...LIMITS, pollMs: 3_600_000 };
    for (const isReachable of [true, false]) {
      const { call, person, asks, fake, redirects } = await begun("telephony1", { limits: stopped });
      const { db } = current();
      const deps = {
        db,
        carriers: carriersOf(fakes),
        publicUrl: () => PUBLIC_URL,
        hangUpLeg: (leg: (typeof world.hungUp)[number]) => void world.hungUp.push(leg),
        closing: signal,
        logger: { warn: () => undefined },
      };
      await endLeftTransfers(deps);
      expect(redirects(call.carrierCallId)).toBe(1);
      const end = { endReason: "system_error", endedAtMs: Date.now() } as const;
      await markEnded(db, call.accountId, call.callId, end);
      if (!isReachable) fake.failWith({ kind: "answers", status: 503, body: "" });
      await Promise.all([endLeftTransfers(deps), endLeftTransfers(deps)]);
      fake.failWith(null);
      const legs = world.hungUp.map(({ carrierCallId }) => carrierCallId);
      expect(legs).toEqual(isReachable ? [person.carrierCallId] : [person.carrierCallId, call.carrierCallId]);
      expect(redirects(call.carrierCallId)).toBe(isReachable ? 2 : 1);
      expect(xmlOf(await asks("instructions", "instructions"))).toContain("this call is over");
      world.hungUp.length = 0;
    }
  });

  it("takes no steps of other transfers, and none of other calls", async () => {
    const { call, person, deployed, idIn, asks, fake } = await begun("telephony2");
    const transferId = await idIn();
    // One carrier signs no URL, so its requests can be sent to other addresses.
    const replayed = (step: string, news: TransferNews, id: string) =>
      deployed.request(transferId, step, fake.sign(fake.transferFields(news, id), `${PUBLIC_URL}/x`));
    for (const reply of [
      await replayed("progress", "answered", call.carrierCallId),
      await replayed("end", "completed", call.carrierCallId),
      await replayed("answer", "key_1", person.carrierCallId),
      await replayed("question", "question", person.carrierCallId),
      await replayed("bridge", "instructions", call.carrierCallId),
      await replayed("left", "left_conference", call.carrierCallId),
      await replayed("held", "left_conference", person.carrierCallId),
    ])
      expect(reply).toMatchObject({ kind: "forbidden" });
    // A person who has not taken the call is hung up, and the caller waits on.
    expect(xmlOf(await asks("left", "left_conference", person.carrierCallId))).toContain("Hangup");
    const { db } = current();
    const states = await sql<{
      state: string;
    }>`select state from call_transfers where id = ${transferId}`.execute(db.query);
    expect(states.rows).toEqual([{ state: "dialling" }]);
    expect(world.hungUp).toEqual([]);
  });
});

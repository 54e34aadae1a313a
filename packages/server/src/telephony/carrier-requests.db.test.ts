import { randomUUID } from "node:crypto";
import { CONFIGURED_CARRIERS, type ConfiguredCarrier } from "@parley/schema";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { storeCall } from "../http/testing/http-fixture.ts";
import type { CreateCallInput } from "../lifecycle/api.ts";
import { NOW_MS } from "../ports/testing/carriers-conformance.ts";
import type { CarrierRequest } from "../ports/carriers.ts";
import { deleteAgent, updateAgent } from "../store/agents/agents.ts";
import { listCallEvents } from "../store/calls/call-events.ts";
import { getCall } from "../store/calls/calls.ts";
import type { Db } from "../store/database/db.ts";
import { getDial, intendDial, noteDialled, readDialledCalls } from "../store/telephony/carrier-dials.ts";
import { readDialState } from "../store/telephony/dial-progress.ts";
import { agentOfNumber, assignNumber } from "../store/telephony/phone-numbers.ts";
import { changeTelephonyConfigs } from "../store/telephony/telephony-configs.ts";
import { markEnded } from "../store/testing/calls.ts";
import { describeOnBothDatabases, newAccount } from "../store/testing/databases.ts";
import type { CarrierRequests, CarrierReply } from "./api.ts";
import { openTransferWaits } from "./transfers/transfer-waits.ts";
import { createCarrierRequests } from "./carrier-requests.ts";
import { APOLOGY, UNASSIGNED } from "./incoming-calls.ts";
import {
  carriersOf,
  configureCarriers,
  NUMBERS,
  openFakes,
  PUBLIC_URL,
  storeDialledCall,
  type Fakes,
} from "./testing/telephony-account.ts";

const EVERY_EVENT = { minimumSeverity: "debug", type: null } as const;
const FIRST_PAGE = { limit: 100, after: null, direction: "forward" } as const;

describeOnBothDatabases("requests of carriers", (current) => {
  let fakes: Fakes;
  let requests: CarrierRequests;
  let ended: string[] = [];
  let detected: string[] = [];
  let machines: string[] = [];
  let hungUp: string[] = [];
  let created: CreateCallInput[] = [];
  let creation: "stores" | "refuses" | "throws" = "stores";
  /** Calls that somebody has joined. */
  const joined = new Set<string>();

  beforeAll(async () => {
    fakes = await openFakes();
  });
  afterAll(async () => {
    await Promise.all(CONFIGURED_CARRIERS.map((carrier) => fakes[carrier].stop()));
  });
  beforeEach(() => {
    const { db } = current();
    ended = [];
    detected = [];
    machines = [];
    hungUp = [];
    created = [];
    creation = "stores";
    requests = createCarrierRequests({
      db,
      carriers: carriersOf(fakes),
      publicUrl: () => PUBLIC_URL,
      createCall: async (input) => {
        created.push(input);
        if (creation === "throws") throw new Error("the database is gone");
        if (creation === "refuses") return { kind: "full", reason: "full", waitMs: 1 };
        return storeCall(db)(input);
      },
      hangUp: async (_account, callId) => void hungUp.push(callId),
      liveCalls: {
        endUnjoined: (callId) => !joined.has(callId) && ended.push(`unjoined ${callId}`) > 0,
        endCall: (callId) => ended.push(`hangup ${callId}`) > 0,
        noteAnswerer: (callId, answerer) => detected.push(`${callId} ${JSON.stringify(answerer)}`) > 0,
      },
      waits: openTransferWaits(),
      hangUpLeg: () => undefined,
      machineDetected: (carrier) => machines.push(carrier),
      closing: new AbortController().signal,
      nowMs: () => NOW_MS,
      logger: { warn: () => undefined, error: () => undefined, info: () => undefined },
    });
  });

  const xmlOf = (reply: CarrierReply): string => {
    if (reply.kind !== "xml") throw new Error(`not XML: ${reply.kind}`);
    return reply.xml;
  };
  const eventsOf = async (db: Db, accountId: string, callId: string) =>
    (await listCallEvents(db, accountId, callId, EVERY_EVENT, FIRST_PAGE)).rows;

  async function dialledCall(carrier: ConfiguredCarrier, carrierCallId: string | null) {
    const { db } = current();
    const { accountId } = await configureCarriers(db, fakes);
    const call = await storeDialledCall(db, accountId, carrier);
    await intendDial(db, accountId, { callId: call.callId, carrier, number: NUMBERS.to });
    if (carrierCallId !== null) await noteDialled(db, accountId, call.callId, carrierCallId);
    const url = `${PUBLIC_URL}/calls/${call.callId}/carrier_status`;
    const { sign, callback } = fakes[carrier];
    const send = (state: Parameters<typeof callback>[0], id = "CA1", more: object = {}) =>
      requests.noteStatus(call.callId, sign({ ...callback(state, id), ...more }, url));
    return { ...call, accountId, send, url };
  }

  it.each(CONFIGURED_CARRIERS)(
    "notes the progress of a call of %s, and ends it when it fails",
    async (carrier) => {
      const { db } = current();
      for (const [state, result, sentence] of [
        ["busy", "busy", "the line was busy"],
        ["no_answer", "no_answer", "nobody answered"],
        ["failed", "failed", "could not connect"],
      ] as const) {
        const { callId, accountId, send } = await dialledCall(carrier, "CA1");
        expect(await send("ringing")).toEqual({ kind: "done" });
        expect(await readDialState(db, accountId, callId)).toMatchObject({
          ringingAt: expect.any(String) as string,
        });
        expect(ended).toEqual([]);
        expect(await send(state)).toEqual({ kind: "done" });
        expect(ended).toEqual([`unjoined ${callId}`]);
        expect(await getDial(db, callId)).toMatchObject({ result });
        const [event, ...others] = await eventsOf(db, accountId, callId);
        expect(event).toMatchObject({ type: "telephony.failed", severity: "warning", extras: { result } });
        expect(event?.text).toContain(sentence);
        expect(others).toEqual([]);
        ended = [];
      }
    },
  );

  it("takes callbacks twice, late and in any order", async () => {
    const { callId, accountId, send } = await dialledCall("telephony1", "CA1");
    await send("busy");
    await send("busy");
    await send("ringing");
    await send("completed");
    expect(ended).toEqual([`unjoined ${callId}`]);
    expect(await getDial(current().db, callId)).toMatchObject({ result: "busy", carrierCallId: "CA1" });
    expect(await eventsOf(current().db, accountId, callId)).toHaveLength(1);
  });

  it("learns the carrier's id from a callback that comes before the answer, or after a crash", async () => {
    const { callId, accountId, send } = await dialledCall("telephony1", null);
    await send("ringing", "CA7");
    expect(await getDial(current().db, callId)).toMatchObject({ carrierCallId: "CA7" });
    expect(await noteDialled(current().db, accountId, callId, "CA7")).toBe(false);
    await send("busy", "CA8");
    expect(await getDial(current().db, callId)).toMatchObject({ carrierCallId: "CA7", result: null });
    expect(ended).toEqual([]);
  });

  it("stops the ringing for a call that has ended meanwhile", async () => {
    const { callId, accountId, send } = await dialledCall("telephony1", null);
    await markEnded(current().db, accountId, callId, { endReason: "unjoined", endedAtMs: Date.now() });
    await send("ringing", "CA7");
    expect(hungUp).toEqual([callId]);
  });

  it("hangs up a joined call whose carrier says that it is over", async () => {
    const { callId, send } = await dialledCall("telephony1", "CA1");
    joined.add(callId);
    await send("answered");
    expect(ended).toEqual([]);
    await send("completed", "CA1", { CallDuration: "61" });
    expect(ended).toEqual([`hangup ${callId}`]);
  });

  it("notes once that a machine has answered, which ends nothing", async () => {
    const { callId, accountId, send } = await dialledCall("telephony1", "CA1");
    await send("answered", "CA1", { AnsweredBy: "machine_start" });
    await send("answered", "CA1", { AnsweredBy: "machine_start" });
    const events = await eventsOf(current().db, accountId, callId);
    expect(events).toMatchObject([
      { type: "telephony.machine_detected", severity: "info", extras: { answeredBy: "machine_start" } },
    ]);
    expect(ended).toEqual([]);
    expect([machines, detected.length]).toEqual([["telephony1"], 2]);
    const found = { answeredBy: "machine_start", isMachine: true, greetingEnded: false };
    expect(detected[0]).toBe(`${callId} ${JSON.stringify(found)}`);
    await send("answered", "CA1", { AnsweredBy: "machine_end_beep" });
    expect(detected[2]).toContain('"greetingEnded":true');
    await send("answered", "CA1", { AnsweredBy: "human" });
    expect(detected[3]).toContain('"isMachine":false');
    expect(await eventsOf(current().db, accountId, callId)).toHaveLength(2);
  });

  it("changes nothing when old callbacks are sent again after the end of the call", async () => {
    const { db } = current();
    const { callId, accountId, send } = await dialledCall("telephony1", "CA1");
    joined.add(callId);
    const old = [
      ["ringing", {}],
      ["answered", {}],
      ["answered", { AnsweredBy: "machine_start" }],
      ["answered", { AnsweredBy: "machine_end_beep" }],
      ["completed", { CallDuration: "61" }],
    ] as const;
    for (const [state, more] of old) await send(state, "CA1", more);
    const before = [
      await readDialState(db, accountId, callId),
      await readDialledCalls(db, [callId]),
      await eventsOf(db, accountId, callId),
      [...ended, ...machines],
    ];
    for (const [state, more] of [...old, ...old.toReversed()]) await send(state, "CA1", more);
    expect([
      await readDialState(db, accountId, callId),
      await readDialledCalls(db, [callId]),
      await eventsOf(db, accountId, callId),
      [...ended, ...machines],
    ]).toEqual(before);
    expect(await readDialledCalls(db, [callId])).toMatchObject([{ answeredBy: "machine_end_beep" }]);
  });

  it("refuses forged callbacks alike for known and unknown calls", async () => {
    const { callId, url } = await dialledCall("telephony1", "CA1");
    const { sign, callback } = fakes.telephony1;
    const request = sign(callback("busy", "CA1"), url);
    const forged: CarrierRequest[] = [
      { ...request, headers: { ...request.headers, "x-twilio-signature": "AAAA" } },
      { ...request, headers: {} },
      { ...request, url: `${url}?x=1` },
      { ...request, body: Buffer.from("CallStatus=busy") },
      fakes.telephony3.sign(callback("busy", "CA1"), url),
    ];
    for (const each of forged) {
      expect(await requests.noteStatus(callId, each)).toMatchObject({ kind: "forbidden" });
      expect(await requests.instruct(callId, each)).toMatchObject({ kind: "forbidden" });
    }
    const unknown = `${PUBLIC_URL}/calls/${randomUUID()}/carrier_status`;
    expect(await requests.noteStatus(randomUUID(), sign(callback("busy", "CA1"), unknown))).toMatchObject({
      kind: "forbidden",
    });
    expect(ended).toEqual([]);
    expect(await getDial(current().db, callId)).toMatchObject({ result: null });
  });

  it("takes no callback of an account for the call of another", async () => {
    const { db } = current();
    const { callId, accountId, url } = await dialledCall("telephony1", "CA1");
    const { sign, callback } = fakes.telephony1;
    await changeTelephonyConfigs(db, accountId, (present) => ({
      telephony1: { ...present.telephony1!, secrets: { authToken: "another-token" } },
    }));
    expect(await requests.noteStatus(callId, sign(callback("busy", "CA1"), url))).toMatchObject({
      kind: "forbidden",
    });
    await changeTelephonyConfigs(db, accountId, () => ({ telephony1: null }));
    expect(await requests.noteStatus(callId, sign(callback("busy", "CA1"), url))).toMatchObject({
      kind: "forbidden",
    });
  });

  it("connects an answered call to its stream, and no call that is over", async () => {
    const { callId, accountId, joinToken } = await dialledCall("telephony3", "CA1");
    const url = `${PUBLIC_URL}/calls/${callId}/carrier_instructions`;
    const { sign, callback } = fakes.telephony3;
    const request = sign(callback("answered", "CA1"), url);
    const xml = xmlOf(await requests.instruct(callId, request));
    expect(xml).toContain(`>wss://voice.example/calls/${callId}/telephony3/${joinToken}</Stream>`);
    await markEnded(current().db, accountId, callId, { endReason: "unjoined", endedAtMs: Date.now() });
    expect(xmlOf(await requests.instruct(callId, request))).toContain("<Hangup/>");
  });

  it.each(CONFIGURED_CARRIERS)("answers a call that comes in through %s", async (carrier) => {
    const { db } = current();
    const requestContextMapping = { From: "user.phone", Missing: "user.name" };
    const { accountId, agentId } = await configureCarriers(db, fakes, { requestContextMapping });
    const url = `${PUBLIC_URL}/api/agents/${agentId}/telephony_xml`;
    const fields = { CallSid: "CA1", From: "+4930111", To: "+4930222", CallToken: "a credential" };
    const xml = xmlOf(await requests.answerCall({ agentId }, fakes[carrier].sign(fields, url)));
    const callId = /\/calls\/([0-9a-f-]{36})\//.exec(xml)?.[1] ?? "";
    const call = await getCall(db, accountId, callId);
    expect(xml).toContain(`wss://voice.example/calls/${callId}/${carrier}/${call?.joinToken ?? "?"}`);
    expect(call).toMatchObject({ mediumKind: carrier, agent: { agentId } });
    expect(call?.requestContext).toEqual({
      [carrier]: { CallSid: "CA1", From: "+4930111", To: "+4930222" },
    });
    expect(created).toMatchObject([{ request: { templateContext: { user: { phone: "+4930111" } } } }]);
  });

  it("keeps the handling of keys that the agent has", async () => {
    const { db } = current();
    const { accountId, agentId } = await configureCarriers(db, fakes);
    const dtmfHandling = { ignore: true };
    await updateAgent(db, accountId, agentId, { callTemplate: { medium: { telephony1: { dtmfHandling } } } });
    const url = `${PUBLIC_URL}/api/agents/${agentId}/telephony_xml`;
    await requests.answerCall({ agentId }, fakes.telephony1.sign({ CallSid: "CA1" }, url));
    await requests.answerCall({ agentId }, fakes.telephony2.sign({ CallSid: "v3:1" }, url));
    expect(created.map(({ request }) => request.medium)).toEqual([
      { telephony1: { dtmfHandling } },
      { telephony2: {} },
    ]);
  });

  it("calls only agents that the account allows", async () => {
    const { db } = current();
    const { accountId, agentId } = await configureCarriers(db, fakes);
    const { agentId: other } = await configureCarriers(db, fakes, {}, accountId);
    const allow = { allowAllAgents: false, allowedAgentIds: [other] };
    await changeTelephonyConfigs(db, accountId, (present) => ({
      telephony1: { ...present.telephony1!, ...allow },
    }));
    const answer = (id: string) => {
      const url = `${PUBLIC_URL}/api/agents/${id}/telephony_xml`;
      return requests.answerCall({ agentId: id }, fakes.telephony1.sign({ CallSid: "CA1" }, url));
    };
    expect(await answer(agentId)).toEqual({ kind: "agent_not_allowed" });
    expect(created).toEqual([]);
    expect((await answer(other)).kind).toBe("xml");
  });

  it("refuses wrong signatures alike for known, unknown and deleted agents", async () => {
    const { db } = current();
    const { accountId, agentId } = await configureCarriers(db, fakes);
    const { agentId: deleted } = await configureCarriers(db, fakes, {}, accountId);
    await deleteAgent(db, accountId, deleted);
    const unconfigured = await newAccount(db);
    const signed = (url: string) => fakes.telephony1.sign({ CallSid: "CA1" }, url);
    for (const id of [agentId, randomUUID(), deleted]) {
      const url = `${PUBLIC_URL}/api/agents/${id}/telephony_xml`;
      const wrong = { ...signed(url), headers: { "x-twilio-signature": "AAAA" } };
      expect(await requests.answerCall({ agentId: id }, wrong)).toMatchObject({ kind: "forbidden" });
      expect(await requests.answerCall({ agentId: id }, { ...signed(url), headers: {} })).toMatchObject({
        kind: "forbidden",
      });
    }
    for (const id of [randomUUID(), deleted]) {
      const url = `${PUBLIC_URL}/api/agents/${id}/telephony_xml`;
      expect(await requests.answerCall({ agentId: id }, signed(url))).toMatchObject({ kind: "forbidden" });
    }
    const url = `${PUBLIC_URL}/api/accounts/${unconfigured}/telephony_xml`;
    expect(await requests.answerCall({ accountId: unconfigured }, signed(url))).toMatchObject({
      kind: "forbidden",
    });
    expect(created).toEqual([]);
  });

  it("apologises where no call can be created", async () => {
    const { agentId } = await configureCarriers(current().db, fakes);
    const url = `${PUBLIC_URL}/api/agents/${agentId}/telephony_xml`;
    const request = fakes.telephony3.sign({ CallUUID: "1" }, url);
    for (const how of ["refuses", "throws"] as const) {
      creation = how;
      expect(xmlOf(await requests.answerCall({ agentId }, request))).toContain(
        `<Speak>${APOLOGY}</Speak><Hangup/>`,
      );
    }
  });

  it("finds the agent of the called number", async () => {
    const { db } = current();
    const { accountId, agentId } = await configureCarriers(db, fakes);
    await assignNumber(db, accountId, { number: "+4930222", agentId });
    const url = `${PUBLIC_URL}/api/accounts/${accountId}/telephony_xml`;
    const answer = async (To: string) =>
      xmlOf(await requests.answerCall({ accountId }, fakes.telephony1.sign({ CallSid: "CA1", To }, url)));
    expect(await answer("+4930222")).toContain("<Stream");
    expect(await answer("+4930333")).toContain(UNASSIGNED);
    await deleteAgent(db, accountId, agentId);
    expect(await agentOfNumber(db, accountId, "+4930222")).toBeNull();
    expect(await answer("+4930222")).toContain(UNASSIGNED);
    expect(created.map((input) => input.agentId)).toEqual([agentId]);
  });

  it("checks a configuration", async () => {
    const { db } = current();
    const { accountId } = await configureCarriers(db, fakes);
    expect(await requests.check(accountId, "telephony1")).toEqual([]);
    await changeTelephonyConfigs(db, accountId, (present) => ({
      telephony1: { ...present.telephony1!, allowAllAgents: false, secrets: { authToken: "wrong" } },
    }));
    expect(await requests.check(accountId, "telephony1")).toMatchObject([
      { severity: "warning", field: "callCreationAllowedAgentIds" },
      { severity: "error", field: "authToken" },
    ]);
    expect(await requests.check(await newAccount(db), "telephony1")).toBeNull();
  });
});

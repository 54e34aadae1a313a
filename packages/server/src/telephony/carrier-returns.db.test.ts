/** Requests of carriers that come again: after a stream, and about a call that was announced before. */

import { CONFIGURED_CARRIERS, type ConfiguredCarrier } from "@parley/schema";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { storeCall } from "../http/testing/http-fixture.ts";
import type { CreateCall } from "../lifecycle/api.ts";
import { NOW_MS } from "../ports/testing/carriers-conformance.ts";
import { getCall } from "../store/calls/calls.ts";
import { repeatsKey } from "../store/database/repeated-key.ts";
import { deleteCall } from "../store/calls/deleted-calls.ts";
import { markEnded } from "../store/testing/calls.ts";
import { describeOnBothDatabases } from "../store/testing/databases.ts";
import type { CarrierReply, CarrierRequests } from "./api.ts";
import { createCarrierRequests } from "./carrier-requests.ts";
import { LONGEST_CARRIER_CALL_MS } from "./incoming-ids.ts";
import { MAX_BROKEN_STREAMS, STEADY_STREAM_MS } from "./stream-returns.ts";
import {
  carriersOf,
  configureCarriers,
  openFakes,
  PUBLIC_URL,
  storeDialledCall,
  type Fakes,
} from "./testing/telephony-account.ts";
import { openTransferWaits } from "./transfers/transfer-waits.ts";

describeOnBothDatabases("a carrier that asks again", (current) => {
  let fakes: Fakes;
  let nowMs = NOW_MS;
  let created: string[] = [];
  let ended: string[] = [];
  const warnings: string[] = [];

  beforeAll(async () => {
    fakes = await openFakes();
  });
  afterAll(async () => {
    await Promise.all(CONFIGURED_CARRIERS.map((carrier) => fakes[carrier].stop()));
  });
  beforeEach(() => {
    nowMs = NOW_MS;
    created = [];
    ended = [];
  });

  /** Each is one process. */
  function openProcess(): CarrierRequests {
    const { db } = current();
    const createCall: CreateCall = async (input) => {
      try {
        const outcome = await storeCall(db)(input);
        if (outcome.kind === "created") created.push(outcome.callId);
        return outcome;
      } catch (error) {
        if (repeatsKey(error, "calls_pkey")) return { kind: "exists", reason: "The call exists already." };
        throw error;
      }
    };
    return createCarrierRequests({
      db,
      carriers: carriersOf(fakes),
      publicUrl: () => PUBLIC_URL,
      createCall,
      hangUp: async () => undefined,
      liveCalls: {
        endUnjoined: () => false,
        endCall: (callId) => ended.push(callId) > 0,
        noteAnswerer: () => false,
      },
      waits: openTransferWaits(),
      hangUpLeg: () => undefined,
      machineDetected: () => undefined,
      closing: new AbortController().signal,
      nowMs: () => nowMs,
      logger: {
        warn: (_fields: object, message?: string) => void warnings.push(message ?? ""),
        error: () => undefined,
        info: () => undefined,
      },
    });
  }

  const xmlOf = (reply: CarrierReply): string => {
    if (reply.kind !== "xml") throw new Error(`not XML: ${reply.kind}`);
    return reply.xml;
  };
  const returnUrlIn = (xml: string): string =>
    (/<Redirect method="POST">([^<]+)</.exec(xml)?.[1] ?? "").replaceAll("&amp;", "&");
  const callIdIn = (xml: string): string => /\/calls\/([0-9a-f-]{36})\//.exec(xml)?.[1] ?? "";

  async function answered(carrier: ConfiguredCarrier, id = "CA1") {
    const { accountId, agentId } = await configureCarriers(current().db, fakes);
    const requests = openProcess();
    const url = `${PUBLIC_URL}/api/agents/${agentId}/telephony_xml`;
    const announce = async (more: Readonly<Record<string, string>> = {}, by = requests) => {
      const fields = { ...fakes[carrier].callback("ringing", id), ...more };
      return by.answerCall({ agentId }, fakes[carrier].sign(fields, url, nowMs));
    };
    const xml = xmlOf(await announce());
    const goBack = (to: string, by = requests) =>
      by.instruct(callIdIn(xml), fakes[carrier].sign(fakes[carrier].callback("answered", id), to, nowMs));
    return { accountId, agentId, announce, xml, callId: callIdIn(xml), goBack };
  }

  it.each(CONFIGURED_CARRIERS)("%s gets the same stream again after one that broke", async (carrier) => {
    const { callId, xml, goBack } = await answered(carrier);
    const streamIn = (text: string) => /wss:[^"<]+/.exec(text)?.[0];
    nowMs += STEADY_STREAM_MS;
    // Any process can answer.
    const again = xmlOf(await goBack(returnUrlIn(xml), openProcess()));
    expect(streamIn(again)).toBe(streamIn(xml));
    expect(callIdIn(again)).toBe(callId);
    expect(again).not.toMatch(/<(?:Pause|Wait)/);
    expect(created).toEqual([callId]);
  });

  it.each(CONFIGURED_CARRIERS)("%s ends a call that is over here", async (carrier) => {
    const { accountId, callId, xml, goBack } = await answered(carrier);
    await markEnded(current().db, accountId, callId, { endReason: "agent_hangup", endedAtMs: Date.now() });
    const reply = xmlOf(await goBack(returnUrlIn(xml)));
    expect(reply).toContain("<Response><Hangup/></Response>");
    const unknown = returnUrlIn(xml).replace(callId, "11111111-1111-4111-8111-111111111111");
    const { sign, callback } = fakes[carrier];
    const deleted = "11111111-1111-4111-8111-111111111111";
    const request = sign(callback("answered", "CA1"), unknown, nowMs);
    expect(xmlOf(await openProcess().instruct(deleted, request))).toBe(reply);
  });

  it("waits between streams that break at once, and then gives up", async () => {
    const { xml, goBack } = await answered("telephony1");
    let last = xml;
    for (let tries = 0; tries < MAX_BROKEN_STREAMS; tries += 1) {
      nowMs += 1_000;
      last = xmlOf(await goBack(returnUrlIn(last)));
      expect(last).toContain('<Response><Pause length="1"/><Connect><Stream');
    }
    nowMs += 1_000;
    expect(xmlOf(await goBack(returnUrlIn(last)))).toContain("<Response><Hangup/></Response>");
    expect(warnings).toContain("a call is ended at its carrier, because its streams break at once");
  });

  it("is refused with a forged URL, a forged signature, and at another account", async () => {
    const { db } = current();
    const { callId, xml, goBack } = await answered("telephony2");
    const url = returnUrlIn(xml);
    expect(await goBack(url.replace("after=0", "after=1"))).toMatchObject({ kind: "forbidden" });
    const { sign, callback } = fakes.telephony2;
    const signed = sign(callback("answered", "CA1"), url, nowMs);
    const headers = { ...signed.headers, "telnyx-signature-ed25519": "AAAA" };
    const requests = openProcess();
    expect(await requests.instruct(callId, { ...signed, headers })).toMatchObject({ kind: "forbidden" });
    expect(await requests.instruct(callId, { ...signed, headers: {} })).toMatchObject({ kind: "forbidden" });
    // The carrier does not sign the URL, so a captured request could be sent to the URL of another call.
    const { accountId } = await configureCarriers(db, fakes);
    const other = await storeDialledCall(db, accountId, "telephony2");
    expect(await requests.instruct(other.callId, signed)).toMatchObject({ kind: "forbidden" });
    expect(await requests.instruct(callId, fakes.telephony1.sign({}, url))).toMatchObject({
      kind: "forbidden",
    });
  });

  it.each(CONFIGURED_CARRIERS)("%s gets one call, however often it announces it", async (carrier) => {
    const { announce, xml, callId } = await answered(carrier);
    expect(callIdIn(xmlOf(await announce()))).toBe(callId);
    expect(xmlOf(await announce())).toBe(xml);
    expect(created).toEqual([callId]);
  });

  it("gets one call though it announces it at several processes at once", async () => {
    const { announce, accountId } = await answered("telephony1", "CA-first");
    for (let round = 0; round < 5; round += 1) {
      created = [];
      const more = { CallSid: `CA-${String(round)}` };
      const replies = await Promise.all(Array.from({ length: 4 }, () => announce(more, openProcess())));
      const ids = new Set(replies.map((reply) => callIdIn(xmlOf(reply))));
      expect(created).toHaveLength(1);
      expect([...ids]).toEqual(created);
      expect(await getCall(current().db, accountId, created[0] ?? "")).not.toBeNull();
    }
  });

  it("gets another call after the end of one, and for another agent", async () => {
    const { db } = current();
    const { accountId, announce, callId } = await answered("telephony1");
    await markEnded(db, accountId, callId, { endReason: "hangup", endedAtMs: Date.now() });
    const next = callIdIn(xmlOf(await announce()));
    expect(next).not.toBe(callId);
    expect(callIdIn(xmlOf(await announce()))).toBe(next);
    const { agentId } = await configureCarriers(db, fakes, {}, accountId);
    const url = `${PUBLIC_URL}/api/agents/${agentId}/telephony_xml`;
    const fields = fakes.telephony1.callback("ringing", "CA1");
    const other = await openProcess().answerCall({ agentId }, fakes.telephony1.sign(fields, url));
    expect([callId, next]).not.toContain(callIdIn(xmlOf(other)));
  });

  it.each(CONFIGURED_CARRIERS)("%s that reports the end of a call there creates none", async (carrier) => {
    const { announce, callId } = await answered(carrier);
    const over = fakes[carrier].callback("completed", "CA1");
    expect(xmlOf(await announce(over))).toContain("<Hangup/>");
    expect(ended).toEqual([callId]);
    expect(xmlOf(await announce({ ...fakes[carrier].callback("completed", "CA2") }))).toContain("<Hangup/>");
    expect(created).toEqual([callId]);
    expect(ended).toEqual([callId]);
  });

  it("gets no call when an old webhook is sent again, and deletion does not make it new", async () => {
    const { db } = current();
    for (const isDeleted of [false, true]) {
      created.length = 0;
      const { accountId, callId, announce } = await answered("telephony1", `CA-${String(isDeleted)}`);
      await markEnded(db, accountId, callId, { endReason: "hangup", endedAtMs: Date.now() });
      const deletion = isDeleted ? await deleteCall(db, accountId, callId) : "kept";
      expect(deletion).toBe(isDeleted ? "deleted" : "kept");
      // The carrier's call goes on, and its instructions bring the caller back.
      nowMs = Date.now();
      expect(callIdIn(xmlOf(await announce()))).not.toBe(callId);
      expect(created).toHaveLength(2);
      await markEnded(db, accountId, created[1] ?? "", { endReason: "hangup", endedAtMs: Date.now() });
      nowMs = Date.now() + LONGEST_CARRIER_CALL_MS + 60_000;
      expect(xmlOf(await announce())).toContain("cannot be answered");
      expect(created).toHaveLength(2);
    }
  });
});

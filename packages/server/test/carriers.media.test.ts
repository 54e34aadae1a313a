/** The assembled service with fakes of the carriers' REST interfaces: calls that it dials, and calls that come in. */

import { CONFIGURED_CARRIERS, type ConfiguredCarrier } from "@parley/schema";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { CarrierSubject, PlacedCall } from "../src/ports/testing/carriers-conformance.ts";
import { openFakePlivo } from "../src/providers/carriers/testing/fake-plivo.ts";
import { openFakeTelnyx } from "../src/providers/carriers/testing/fake-telnyx.ts";
import { openFakeTwilio } from "../src/providers/carriers/testing/fake-twilio.ts";
import { FakeCarrier } from "../src/transports/telephony/testing/fake-carrier.ts";
import { openRunningService, type CallRecord, type RunningService } from "./running-service.ts";

const PATIENT = { timeout: 60_000, interval: 50 };
const NUMBERS = { to: "+4930123456", from: "+4930654321" };

interface Page {
  readonly results: readonly Readonly<Record<string, unknown>>[];
}

let fakes: Readonly<Record<ConfiguredCarrier, CarrierSubject & { readonly baseUrl: string }>>;
let service: RunningService;
const streams: FakeCarrier[] = [];

beforeAll(async () => {
  fakes = {
    telephony1: await openFakeTwilio(),
    telephony2: await openFakeTelnyx(),
    telephony3: await openFakePlivo(),
  };
  const carrierAddresses = {
    telephony1: fakes.telephony1.baseUrl,
    telephony2: fakes.telephony2.baseUrl,
    telephony3: fakes.telephony3.baseUrl,
  };
  const accounts = ["rules", "unconfigured"];
  service = await openRunningService({ carrierAddresses }, undefined, accounts);
  for (const key of [service.key, service.keys.get("rules")]) {
    for (const carrier of CONFIGURED_CARRIERS) {
      const { settings, secrets } = fakes[carrier].account;
      const body = { ...settings, ...secrets, callCreationAllowAllAgents: true };
      const made = await service.ask("POST", `/api/telephony_configs/${carrier}`, body, key);
      if (made.status !== 201) throw new Error(JSON.stringify(made.body));
    }
  }
});

afterAll(async () => {
  for (const stream of streams) stream.socket.terminate();
  await service.close();
  await Promise.all(CONFIGURED_CARRIERS.map((carrier) => fakes[carrier].stop()));
});

async function dial(carrier: ConfiguredCarrier, settings: object = {}) {
  const before = fakes[carrier].placed().length;
  const medium = { [carrier]: { outgoing: NUMBERS } };
  const call = await service.makeCall({ medium, ...settings });
  const [placed] = fakes[carrier].placed().slice(before);
  if (placed === undefined) throw new Error("the carrier was not asked");
  return { ...call, placed };
}

/** Posts to the service as the carrier does. */
async function post(carrier: ConfiguredCarrier, url: string, fields: Readonly<Record<string, string>>) {
  const { headers, body } = fakes[carrier].sign(fields, url, Date.now());
  const texts = Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : [])),
  );
  const response = await fetch(url, { method: "POST", headers: texts, body: Buffer.from(body) });
  return { status: response.status, text: await response.text() };
}

const report = (carrier: ConfiguredCarrier, { id, statusUrl }: PlacedCall, state: "busy" | "completed") =>
  post(carrier, statusUrl, fakes[carrier].callback(state, id));

/** Where the carrier sends the audio of an answered call. */
async function streamUrlOf(carrier: ConfiguredCarrier, placed: PlacedCall): Promise<string> {
  if (placed.streamUrl !== null) return placed.streamUrl;
  const fields = fakes[carrier].callback("answered", placed.id);
  return streamIn((await post(carrier, placed.instructionsUrl ?? "", fields)).text);
}

function streamIn(xml: string): string {
  return /wss?:\/\/[^"<]+/.exec(xml)?.[0] ?? "";
}

async function connect(
  carrier: ConfiguredCarrier,
  callId: string,
  url: string,
  carrierCallId: string,
): Promise<FakeCarrier> {
  const stream = new FakeCarrier({ kind: carrier, url, callId: carrierCallId });
  streams.push(stream);
  await stream.begin();
  await vi.waitFor(async () => expect((await service.record(callId)).joined).not.toBeNull(), PATIENT);
  return stream;
}

test.each(CONFIGURED_CARRIERS)(
  "a call is dialled through %s, answered, and ended by the other side",
  async (carrier) => {
    const { callId, joinUrl, placed } = await dial(carrier);
    expect(joinUrl).toBeNull();
    expect(placed).toMatchObject(NUMBERS);
    expect((await service.record(callId)).joinUrl).toBeNull();
    await connect(carrier, callId, await streamUrlOf(carrier, placed), placed.id);
    expect((await report(carrier, placed, "completed")).status).toBe(204);
    expect((await service.ended(callId)).endReason).toBe("hangup");
    expect(fakes[carrier].ended()).not.toContain(placed.id);
  },
);

test.each(CONFIGURED_CARRIERS)("a busy line ends the call of %s at once", async (carrier) => {
  const { callId, placed } = await dial(carrier, { joinTimeout: "3600s" });
  await report(carrier, placed, "busy");
  expect((await service.ended(callId)).endReason).toBe("unjoined");
  const failed = (await service.events(callId)).find(({ type }) => type === "telephony.failed");
  expect(failed).toMatchObject({ severity: "warning" });
  expect(failed?.text).toContain("the line was busy");
});

test.each(CONFIGURED_CARRIERS)("an unanswered call stops ringing at %s", async (carrier) => {
  const { callId, placed } = await dial(carrier, { joinTimeout: "1s" });
  expect((await service.ended(callId)).endReason).toBe("unjoined");
  await vi.waitFor(() => expect(fakes[carrier].ended()).toContain(placed.id), PATIENT);
});

test("a refused call leaves nothing behind, and a failing carrier says when to try again", async () => {
  const { failWith, refusal } = fakes.telephony1;
  const metadata = { mark: "refused" };
  const body = { medium: { telephony1: { outgoing: NUMBERS } }, metadata };
  failWith({ kind: "answers", status: 400, body: refusal("The number is not verified") });
  const refused = await service.ask("POST", "/api/calls", body);
  expect(refused.status).toBe(400);
  expect(JSON.stringify(refused.body)).toContain("The number is not verified");
  failWith({ kind: "answers", status: 503, body: "<html></html>" });
  const failing = await service.ask("POST", "/api/calls", body);
  expect([failing.status, failing.headers["retry-after"]]).toEqual([503, "5"]);
  failWith(null);
  expect((await service.get<Page>("/api/calls?metadata.mark=refused")).results).toEqual([]);
});

test("a call whose carrier has lost the answer waits, and is known by its callback", async () => {
  fakes.telephony1.failWith({ kind: "closes" });
  const { callId } = await service.makeCall({
    medium: { telephony1: { outgoing: NUMBERS } },
    joinTimeout: "3600s",
  });
  fakes.telephony1.failWith(null);
  const events = await service.events(callId);
  expect(events.map(({ type }) => type)).toContain("telephony.failed");
  const statusUrl = `${service.url}/calls/${callId}/carrier_status`;
  const late = { id: "call-late", statusUrl } as PlacedCall;
  expect((await report("telephony1", late, "busy")).status).toBe(204);
  expect((await service.ended(callId)).endReason).toBe("unjoined");
});

test("forged requests get 403", async () => {
  const { callId, placed } = await dial("telephony1", { joinTimeout: "3600s" });
  const body = "CallStatus=busy&CallSid=x";
  const headers = { "content-type": "application/x-www-form-urlencoded", "x-twilio-signature": "AAAA" };
  for (const url of [
    placed.statusUrl,
    `${service.url}/calls/${callId}/carrier_instructions`,
    `${service.url}/calls/not-an-id/carrier_status`,
    `${service.url}/api/agents/6f0c2f0e-3f6f-4b2e-9a55-0d9c1f6f6a11/telephony_xml`,
  ]) {
    const { status } = await fetch(url, { method: "POST", headers, body });
    expect(status).toBe(403);
  }
  expect((await service.record(callId)).ended).toBeNull();
  await report("telephony1", placed, "busy");
  await service.ended(callId);
});

test.each(CONFIGURED_CARRIERS)("an agent answers a call that comes in through %s", async (carrier) => {
  const agent = await service.ask<{ agentId: string }>("POST", "/api/agents", {});
  const url = `${service.url}/api/agents/${agent.body.agentId}/telephony_xml`;
  const id = `in-${carrier}`;
  const fields = { ...fakes[carrier].callback("ringing", id), From: "+4930111", To: "+4930222" };
  const { status, text } = await post(carrier, url, fields);
  expect(status).toBe(200);
  service.countCall();
  const streamUrl = streamIn(text);
  const callId = /\/calls\/([0-9a-f-]{36})\//.exec(streamUrl)?.[1] ?? "";
  const stream = await connect(carrier, callId, streamUrl, id);
  const record = await service.get<CallRecord & { readonly requestContext: object }>(`/api/calls/${callId}`);
  expect(record.requestContext).toMatchObject({ [carrier]: { From: "+4930111" } });
  stream.socket.close(1000);
  expect((await service.ended(callId)).endReason).toBe("hangup");
});

test("a stream of Telnyx that names another call of the carrier does not get the call", async () => {
  const { callId, placed } = await dial("telephony2");
  const url = await streamUrlOf("telephony2", placed);
  const other = new FakeCarrier({ kind: "telephony2", url, callId: "v3:of-somebody-else" });
  streams.push(other);
  await other.begin();
  expect(await other.closed).toBe(1003);
  expect((await service.record(callId)).joined).toBeNull();
  const stream = await connect("telephony2", callId, url, placed.id);
  stream.socket.close(1000);
  expect((await service.ended(callId)).endReason).toBe("hangup");
});

test("an account's rules refuse numbers and calls", async () => {
  const key = service.keys.get("rules") ?? "";
  const call = (to: string) =>
    service.ask("POST", "/api/calls", { medium: { telephony1: { outgoing: { ...NUMBERS, to } } } }, key);
  const rules = { allowedPrefixes: ["+49"], maxCallsPerDay: 1 };
  expect((await service.ask("PATCH", "/api/accounts/me/dialling_rules", rules, key)).status).toBe(200);
  const premium = await call("+19005550100");
  expect([premium.status, premium.body.errors?.[0]?.field]).toEqual([400, "medium.telephony1.outgoing.to"]);
  expect((await call("+4930123456")).status).toBe(201);
  service.countCall();
  const second = await call("+4930123456");
  expect(second.status).toBe(429);
  expect(Number(second.headers["retry-after"])).toBeGreaterThan(80_000);
});

test("a batch without a configured carrier is paused, and its calls wait", async () => {
  const key = service.keys.get("unconfigured") ?? "";
  const agent = await service.ask<{ agentId: string }>("POST", "/api/agents", {}, key);
  const path = `/api/agents/${agent.body.agentId}/scheduled_batches`;
  const calls = [1, 2].map(() => ({ medium: { telephony2: { outgoing: NUMBERS } } }));
  const made = await service.ask<{ batchId: string }>("POST", path, { calls }, key);
  expect(made.status).toBe(201);
  const batch = `${path}/${made.body.batchId}`;
  await vi.waitFor(async () => {
    const { body } = await service.ask<Readonly<Record<string, unknown>>>("GET", batch, undefined, key);
    expect(body).toMatchObject({ paused: true, completedCount: 0 });
    expect(body["pauseReason"]).toContain("medium.telephony2");
  }, PATIENT);
  await vi.waitFor(async () => {
    const { body } = await service.ask<Page>("GET", `${batch}/scheduled_calls`, undefined, key);
    expect(body.results.map(({ status }) => status)).toEqual(["FUTURE", "FUTURE"]);
  }, PATIENT);
});

test("a batch dials again who was busy", async () => {
  const agent = await service.ask<{ agentId: string }>("POST", "/api/agents", {});
  const path = `/api/agents/${agent.body.agentId}/scheduled_batches`;
  const before = fakes.telephony3.placed().length;
  const calls = [{ medium: { telephony3: { outgoing: NUMBERS } } }];
  const retryPolicy = { maxAttempts: 2, wait: "0s", on: ["busy"] };
  const made = await service.ask<{ batchId: string }>("POST", path, { calls, retryPolicy });
  expect(made.status).toBe(201);
  const placed = async (count: number): Promise<PlacedCall> => {
    await vi.waitFor(() => expect(fakes.telephony3.placed()).toHaveLength(before + count), PATIENT);
    const call = fakes.telephony3.placed().at(-1);
    if (call === undefined) throw new Error("nothing was placed");
    service.countCall();
    return call;
  };
  await report("telephony3", await placed(1), "busy");
  const second = await placed(2);
  const callId = /\/calls\/([0-9a-f-]{36})\//.exec(second.statusUrl)?.[1] ?? "";
  const stream = await connect("telephony3", callId, await streamUrlOf("telephony3", second), second.id);
  const scheduled = `${path}/${made.body.batchId}/scheduled_calls`;
  await vi.waitFor(async () => {
    const { results } = await service.get<Page>(scheduled);
    expect(results).toMatchObject([{ status: "SUCCESS", callId }]);
  }, PATIENT);
  stream.socket.close(1000);
  await service.ended(callId);
});

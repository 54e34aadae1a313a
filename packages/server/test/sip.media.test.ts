/** The assembled service and phones over SIP on the loopback address: calls in and out, with recorded speech. */

import nodeProcess from "node:process";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { MODEL_PATH } from "../src/app/engines.ts";
import { initResampler } from "../src/media/resample.ts";
import { openFakeStt } from "../src/ports/testing/fake-stt.ts";
import { readSpeechFixture } from "../src/ports/testing/speech-fixtures.ts";
import { openSileroVad } from "../src/providers/vad-silero/vad-silero.ts";
import { openFaultyEngines } from "./faulty-engines.ts";
import { openRunningService, USER_FIRST, type RunningService } from "./running-service.ts";
import { openSipRegistrar } from "./sip-registrar.ts";
import { openToolHost } from "./tool-host.ts";
import { openSipPhone, type PhoneCall, type SipPhone } from "./sip-phone.ts";

const PATIENT = { timeout: 60_000, interval: 50 };
const SAID = "go forward ten meters";
const LOUD = 1_000;
/** Of the recording, in samples at 16 kHz: a third of what is loud in it. */
const LEAST_LOUD = 2_000;
const SAY_AGAIN_MS = 10_000;
/** SIP calls are billed by this. */
const BILLED_UNIT_S = 6;

let service: RunningService;
let phone: SipPhone;
let port = 0;
let domain = "";

const loud = (samples: Int16Array): number =>
  samples.reduce((sum, sample) => sum + (Math.abs(sample) > LOUD ? 1 : 0), 0);

beforeAll(async () => {
  await initResampler(nodeProcess);
  const vad = await openSileroVad({ modelPath: MODEL_PATH, log: () => undefined });
  const says = (_utterance: number, samples: Int16Array): string => (loud(samples) > LEAST_LOUD ? SAID : "");
  const engines = { ...openFaultyEngines(), vad, stt: openFakeStt({ says }) };
  const sip = { bind: "127.0.0.1", port: 0, tlsPort: 0, certificate: null, announcedAddress: null };
  service = await openRunningService({ sip, sipHost: "sip.test", allowPrivateTargets: true }, engines, [
    "without",
  ]);
  const line = service.linesLogged.find((text) => text.includes("sip: udp"));
  port = Number(/udp 127\.0\.0\.1 port (\d+)/.exec(line ?? "")?.[1]);
  ({ domain } = await service.get<{ domain: string }>("/api/sip"));
  await configure({ allowedCidrRanges: ["127.0.0.0/8"], allowAllAgents: true });
  phone = await openSipPhone();
});

afterAll(async () => {
  await phone.close();
  await service.close();
});

async function configure(config: object): Promise<void> {
  const changed = await service.ask("PATCH", "/api/sip", config);
  if (changed.status !== 200) throw new Error(JSON.stringify(changed.body));
}

async function newAgent(template: object = {}): Promise<string> {
  const callTemplate = { systemPrompt: "Answer.", ...template };
  const made = await service.ask<{ agentId: string }>("POST", "/api/agents", { callTemplate });
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  return made.body.agentId;
}

async function callOf(agentId: string): Promise<string> {
  let callId = "";
  await vi.waitFor(async () => {
    const { results } = await service.get<{ results: { callId: string }[] }>(`/api/agents/${agentId}/calls`);
    callId = results[0]?.callId ?? "";
    expect(callId).not.toBe("");
  }, PATIENT);
  service.countCall();
  return callId;
}

const answered = (call: PhoneCall): Promise<void> =>
  vi.waitFor(() => expect([call.failure, call.call !== null]).toEqual([null, true]), PATIENT);

/** Says the recording, and again where a busy machine has torn it apart so that nobody understood it. */
async function talkUntil(call: PhoneCall, isAnswered: () => Promise<boolean>): Promise<void> {
  let saidAtMs = -SAY_AGAIN_MS;
  await vi.waitFor(async () => {
    if (await isAnswered()) return;
    if (performance.now() - saidAtMs >= SAY_AGAIN_MS) {
      saidAtMs = performance.now();
      call.say(readSpeechFixture("goforward.wav"));
    }
    throw new Error("the agent has not answered");
  }, PATIENT);
}

const refused = async (call: PhoneCall): Promise<number | undefined> => {
  await vi.waitFor(() => expect(call.failure).not.toBeNull(), PATIENT);
  return call.failure?.status;
};

test("a call to an agent is answered, hears recorded speech, is heard, and is hung up by the caller", async () => {
  const agentId = await newAgent(USER_FIRST);
  const beganAtMs = performance.now();
  const call = await phone.call(`sip:agent_${agentId}@${domain}`, port);
  await answered(call);
  expect(call.rateHz).toBe(16_000);
  const callId = await callOf(agentId);
  await talkUntil(call, async () => {
    const isUnderstood = (await service.messages(callId)).some(({ text }) => text.includes(SAID));
    return isUnderstood && loud(call.record.samples()) > 16_000 / 2;
  });
  call.call?.hangUp();
  expect((await service.ended(callId)).endReason).toBe("hangup");
  const [first] = (await service.messages(callId)).filter(({ role }) => role === "MESSAGE_ROLE_USER");
  // Said again before the agent has answered, it is part of the same message.
  expect(first?.text).toContain(SAID);
  expect(first?.text.replaceAll(SAID, "").trim()).toBe("");
  const lastedMs = performance.now() - beganAtMs;
  const { sipDetails } = await service.get<{
    sipDetails: { readonly billedDuration: string; readonly terminationReason: string };
  }>(`/api/calls/${callId}`);
  expect(sipDetails.terminationReason).toBe("SIP_TERMINATION_NORMAL");
  const billed = Number(/^(\d+)s$/.exec(sipDetails.billedDuration)?.[1]);
  // Each unit of 6 s that has begun.
  expect(billed % BILLED_UNIT_S).toBe(0);
  expect(billed).toBeGreaterThan(0);
  expect(billed).toBeLessThanOrEqual(Math.ceil(lastedMs / 1_000 / BILLED_UNIT_S) * BILLED_UNIT_S);
  await vi.waitFor(async () => {
    const { totalSipMinutes } = await service.get<{ totalSipMinutes: number }>(
      "/api/accounts/me/billing/usage",
    );
    expect(totalSipMinutes).toBeGreaterThanOrEqual(0.1);
  }, PATIENT);
  await vi.waitFor(async () => {
    const types = (await service.events(callId)).map(({ type }) => type);
    expect(types).toEqual(expect.arrayContaining(["sip.answered", "sip.ended"]));
  }, PATIENT);
});

test("a call is hung up by the service, and the phone gets a BYE", async () => {
  const agentId = await newAgent({ maxDuration: "1s" });
  const call = await phone.call(`sip:agent_${agentId}@${domain}`, port);
  await answered(call);
  await vi.waitFor(() => expect(call.end?.cause).toBe("remote"), PATIENT);
  expect((await service.ended(await callOf(agentId))).endReason).toBe("timeout");
});

test("the headers and the caller fill the template of the agent, where its schema allows them", async () => {
  const template = {
    firstSpeakerSettings: { agent: { text: "Hi." } },
    systemPrompt: "{{order_number}} {{service.sip.caller_id}}",
    contextSchema: {
      type: "object",
      properties: {
        order_number: { type: "number" },
        service: { type: "object" },
      },
      additionalProperties: false,
    },
  };
  const agentId = await newAgent(template);
  const headers = [
    { name: "X-Order-Number", value: "17" },
    { name: "X-Else", value: "no" },
  ];
  const call = await phone.call(`sip:agent_${agentId}@${domain}`, port, headers);
  await answered(call);
  const callId = await callOf(agentId);
  const record = await service.get<Record<string, unknown>>(`/api/calls/${callId}`);
  expect(record["systemPrompt"]).toBe("17 +4930123456");
  expect(record["requestContext"]).toMatchObject({
    sip: { callerId: "+4930123456", fromDisplayName: "Ann", headers: { "x-order-number": "17" } },
  });
  call.call?.hangUp();
  await service.ended(callId);
});

test("a called number that matches a pattern reaches its agent, and another one nobody", async () => {
  const agentId = await newAgent();
  await configure({ allowedAgents: [{ agentId, toUserPattern: "\\+49.*" }] });
  const call = await phone.call(`sip:+4930999@${domain}`, port);
  await answered(call);
  call.call?.hangUp();
  await service.ended(await callOf(agentId));
  expect(await refused(await phone.call(`sip:+4130999@${domain}`, port))).toBe(404);
});

test("a call that waits is joined at its own address, once", async () => {
  const made = await service.makeCall({ medium: { sip: { incoming: {} } } });
  expect(made.joinUrl).toBeNull();
  const call = await phone.call(`sip:call_${made.callId}@${domain}`, port);
  await answered(call);
  expect(await refused(await phone.call(`sip:call_${made.callId}@${domain}`, port))).toBe(404);
  call.call?.hangUp();
  expect((await service.ended(made.callId)).endReason).toBe("hangup");
});

test("who may not call gets 403, and nothing else", async () => {
  const agentId = await newAgent();
  const { domain: other } = await service
    .ask<{ domain: string }>("GET", "/api/sip", undefined, service.keys.get("without"))
    .then(({ body }) => body);
  await service.ask("PATCH", "/api/sip", { allowedCidrRanges: ["127.0.0.0/8"] }, service.keys.get("without"));
  const places = [`agent_${agentId}@${other}`, `agent_${agentId}@elsewhere.test`, `1@sip.test`];
  for (const place of places) {
    expect([place, await refused(await phone.call(`sip:${place}`, port))]).toEqual([place, 403]);
  }
  await configure({ allowedCidrRanges: ["192.0.2.0/24"] });
  expect(await refused(await phone.call(`sip:agent_${agentId}@${domain}`, port))).toBe(403);
  await configure({ allowedCidrRanges: ["127.0.0.0/8"] });
});

test("an account without SIP can create no call over it", async () => {
  const medium = { sip: { outgoing: { to: "sip:ann@127.0.0.1", from: "1" } } };
  const { status, body } = await service.ask("POST", "/api/calls", { medium }, service.keys.get("without"));
  expect([status, body.code]).toEqual([403, "forbidden"]);
});

const dial = (settings: object = {}) =>
  service.makeCall({
    medium: { sip: { outgoing: { to: `sip:ann@127.0.0.1:${String(phone.port)}`, from: "+4930654321" } } },
    ...settings,
  });

test("a call is dialled, answered, heard, and hung up by the phone", async () => {
  const { callId, joinUrl } = await dial({ firstSpeakerSettings: { agent: { text: "Good day to you." } } });
  expect(joinUrl).toBeNull();
  const invite = await phone.invited();
  expect([invite.callerId, invite.user]).toEqual(["+4930654321", "ann"]);
  const call = await phone.answer(invite);
  await vi.waitFor(() => expect(loud(call.record.samples())).toBeGreaterThan(1_000), PATIENT);
  call.call?.hangUp();
  expect((await service.ended(callId)).endReason).toBe("hangup");
});

test.each([
  [486, "BUSY"],
  [480, "TIMEOUT"],
  [404, "INVALID_NUMBER"],
  [603, "REJECTED"],
  [500, "DESTINATION_UNAVAILABLE"],
])("a dialled call that gets %i ends at once: %s", async (status, termination) => {
  const { callId } = await dial({ joinTimeout: "3600s" });
  (await phone.invited()).reject(status);
  expect((await service.ended(callId)).endReason).toBe("unjoined");
  await vi.waitFor(async () => {
    const failed = (await service.events(callId)).find(({ type }) => type === "sip.failed");
    expect(failed).toMatchObject({ severity: "warning", extras: { termination } });
  }, PATIENT);
  const terminationReason = `SIP_TERMINATION_${termination}`;
  expect(await service.record(callId)).toMatchObject({
    sipDetails: { billedDuration: null, terminationReason },
  });
});

test("an unanswered call stops ringing", async () => {
  const { callId } = await dial({ joinTimeout: "1s" });
  const invite = await phone.invited();
  const canceled = new Promise<void>((resolve) => invite.onCanceled(resolve));
  invite.progress(180);
  expect((await service.ended(callId)).endReason).toBe("unjoined");
  await canceled;
});

test("a batch dials again who was busy, and its call is a success once it is answered", async () => {
  const agentId = await newAgent(USER_FIRST);
  const path = `/api/agents/${agentId}/scheduled_batches`;
  const calls = [
    { medium: { sip: { outgoing: { to: `sip:ann@127.0.0.1:${String(phone.port)}`, from: "1" } } } },
  ];
  const retryPolicy = { maxAttempts: 2, wait: "0s", on: ["busy"] };
  const made = await service.ask<{ batchId: string }>("POST", path, { calls, retryPolicy });
  expect(made.status).toBe(201);
  (await phone.invited()).reject(486);
  const call = await phone.answer(await phone.invited());
  service.countCall();
  let callId = "";
  await vi.waitFor(async () => {
    const { results } = await service.get<{ results: { status: string; callId: string }[] }>(
      `${path}/${made.body.batchId}/scheduled_calls`,
    );
    expect(results).toMatchObject([{ status: "SUCCESS" }]);
    callId = results[0]?.callId ?? "";
  }, PATIENT);
  call.call?.hangUp();
  await service.ended(callId);
  service.countCall();
});

test("numbers follow the prefixes of the account, and addresses must be SIP URIs", async () => {
  await service.ask("PATCH", "/api/accounts/me/dialling_rules", { allowedPrefixes: ["+49"] });
  const refusal = (to: string) =>
    service.ask("POST", "/api/calls", { medium: { sip: { outgoing: { to, from: "1" } } } });
  for (const to of ["sip:+4130@127.0.0.1", "+4930123"]) {
    const { status, body } = await refusal(to);
    expect([status, body.errors?.[0]?.field]).toEqual([400, "medium.sip.outgoing.to"]);
  }
  await service.ask("PATCH", "/api/accounts/me/dialling_rules", { allowedPrefixes: [] });
});

test("a call that names no agent goes where the fallback handler says", async () => {
  const agentId = await newAgent();
  const host = await openToolHost(({ body }) => {
    const { toUri } = JSON.parse(body) as { toUri: string };
    if (toUri.includes("good")) return { body: JSON.stringify({ startAgentCall: { agentId } }) };
    if (toUri.includes("busy")) return { body: JSON.stringify({ reject: { sipRejectCode: 486 } }) };
    return { body: "{}" };
  });
  await configure({ fallbackHandler: { url: `${host.httpUrl}/sip`, secrets: ["whole secret"] } });
  const call = await phone.call(`sip:good@${domain}`, port);
  await answered(call);
  call.call?.hangUp();
  await service.ended(await callOf(agentId));
  expect(await refused(await phone.call(`sip:busy@${domain}`, port))).toBe(486);
  expect(await refused(await phone.call(`sip:other@${domain}`, port))).toBe(603);
  expect(host.requests).toHaveLength(3);
  expect(JSON.parse(host.requests[0]?.body ?? "")).toMatchObject({
    callerId: "+4930123456",
    fromDisplayName: "Ann",
  });
  expect(host.requests[0]?.headers).toHaveProperty("x-service-webhook-signature");
  await configure({ fallbackHandler: null });
  await host.close();
});

test("a registration is made, answers calls from any source, and is removed when it is deleted", async () => {
  const account = { username: "4930777", password: "a good password" };
  const registrar = await openSipRegistrar(account);
  const agentId = await newAgent();
  const allowedAgents = [{ agentId, toUserPattern: account.username }];
  await configure({ allowedCidrRanges: ["192.0.2.0/24"], allowedAgents });
  const made = await service.ask<{ registrationId: string }>("POST", "/api/sip/registrations", {
    ...account,
    proxy: `127.0.0.1:${String(registrar.port)}`,
  });
  const path = `/api/sip/registrations/${made.body.registrationId}`;
  await vi.waitFor(async () => {
    expect(await service.get(path)).toMatchObject({ successful: true });
  }, PATIENT);
  const call = await phone.call(registrar.contact() ?? "", port);
  await answered(call);
  call.call?.hangUp();
  await service.ended(await callOf(agentId));
  expect((await service.ask("DELETE", path)).status).toBe(204);
  await vi.waitFor(() => expect(registrar.contact()).toBeNull(), PATIENT);
  await configure({ allowedCidrRanges: ["127.0.0.0/8"], allowedAgents: [] });
  await registrar.close();
});

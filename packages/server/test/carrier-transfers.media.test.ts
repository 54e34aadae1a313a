/** The assembled service: phone calls that are transferred, or answered by a machine, with fakes of the carriers. */

import { CONFIGURED_CARRIERS, type ConfiguredCarrier } from "@parley/schema";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { TransferNews } from "../src/ports/testing/transfer-news.ts";
import type { CarrierSubject } from "../src/ports/testing/carriers-conformance.ts";
import { openFakePlivo } from "../src/providers/carriers/testing/fake-plivo.ts";
import { openFakeTelnyx } from "../src/providers/carriers/testing/fake-telnyx.ts";
import { openFakeTwilio } from "../src/providers/carriers/testing/fake-twilio.ts";
import { FakeCarrier } from "../src/transports/telephony/testing/fake-carrier.ts";
import { openRunningService, type RunningService } from "./running-service.ts";

const PATIENT = { timeout: 60_000, interval: 50 };
const TARGET = "+4930999999";
/** The carrier reads it, in place of a conversation with the agent. */
const BRIEF = "You are called to take over a caller. {context} Press 1 to take the call.";

let fakes: Readonly<Record<ConfiguredCarrier, CarrierSubject & { readonly baseUrl: string }>>;
let service: RunningService;
const streams: FakeCarrier[] = [];

beforeAll(async () => {
  fakes = {
    telephony1: await openFakeTwilio(),
    telephony2: await openFakeTelnyx(),
    telephony3: await openFakePlivo(),
  };
  service = await openRunningService({
    carrierAddresses: {
      telephony1: fakes.telephony1.baseUrl,
      telephony2: fakes.telephony2.baseUrl,
      telephony3: fakes.telephony3.baseUrl,
    },
  });
  for (const carrier of CONFIGURED_CARRIERS) {
    const { settings, secrets } = fakes[carrier].account;
    const body = { ...settings, ...secrets, callCreationAllowAllAgents: true };
    await service.ask("POST", `/api/telephony_configs/${carrier}`, body);
  }
  const rules = await service.ask("PATCH", "/api/accounts/me/dialling_rules", { allowedPrefixes: ["+49"] });
  if (rules.status !== 200) throw new Error(JSON.stringify(rules.body));
});

afterAll(async () => {
  for (const stream of streams) stream.socket.terminate();
  await service.close();
  await Promise.all(CONFIGURED_CARRIERS.map((carrier) => fakes[carrier].stop()));
});

/** Posts to the service as the carrier does, and returns what it answers. */
async function post(carrier: ConfiguredCarrier, url: string, fields: Readonly<Record<string, string>>) {
  const { headers, body } = fakes[carrier].sign(fields, url, Date.now());
  const texts = Object.entries(headers).flatMap(([name, value]) =>
    typeof value === "string" ? [[name, value] as const] : [],
  );
  const sent = { method: "POST", headers: Object.fromEntries(texts), body: Buffer.from(body) };
  const response = await fetch(url, sent);
  expect(response.status).toBeLessThan(300);
  return response.text();
}

const streamUrlIn = (xml: string): string => /wss?:\/\/[^"<]+/.exec(xml)?.[0] ?? "";

/** A call that came in and whose stream has begun. */
async function phone(carrier: ConfiguredCarrier) {
  const callTemplate = {
    firstSpeakerSettings: { agent: { text: "Hello." } },
    selectedTools: [
      { toolName: "coldTransfer" },
      { toolName: "warmTransfer", parameterOverrides: { transferMessageTemplate: BRIEF } },
    ],
  };
  const agent = await service.ask<{ agentId: string }>("POST", "/api/agents", { callTemplate });
  const url = `${service.url}/api/agents/${agent.body.agentId}/telephony_xml`;
  const id = `in-${agent.body.agentId}`;
  const fake = fakes[carrier];
  fake.answer(id);
  const xml = await post(carrier, url, { ...fake.callback("ringing", id), To: "+4930111111" });
  service.countCall();
  const callId = /\/calls\/([0-9a-f-]{36})\//.exec(streamUrlIn(xml))?.[1] ?? "";
  const open = async (at: string): Promise<FakeCarrier> => {
    const stream = new FakeCarrier({ kind: carrier, url: at, callId: id });
    streams.push(stream);
    return stream.begin();
  };
  /** The carrier's requests about the nth transfer. */
  const news = async (nth: number, step: string, what: TransferNews): Promise<string> => {
    const found = await vi.waitFor(() => {
      const redirected = fake.redirected().filter((each) => each.id === id);
      if (redirected.length < nth) throw new Error("not redirected");
      return redirected[nth - 1]?.url ?? "";
    }, PATIENT);
    return post(carrier, found.replace(/instructions$/, step), fake.transferFields(what, id));
  };
  return { callId, open, news, stream: await open(streamUrlIn(xml)) };
}

async function callTool(callId: string, name: string, given: object): Promise<void> {
  const toolCalls = [{ name, arguments: { target: TARGET, ...given } }];
  const message = { type: "forced_agent_message", content: "One moment.", toolCalls };
  const answer = await service.ask("POST", `/api/calls/${callId}/send_data_message`, message);
  expect(answer.status).toBe(204);
}

const resultsOf = async (callId: string): Promise<string[]> =>
  (await service.messages(callId)).flatMap(({ role, text }) =>
    role === "MESSAGE_ROLE_TOOL_RESULT" ? [text] : [],
  );

test.concurrent.each(CONFIGURED_CARRIERS)(
  "a transfer over %s that fails brings the caller back, and the next one ends the call",
  async (carrier) => {
    const { callId, open, news, stream } = await phone(carrier);
    await callTool(callId, "coldTransfer", {});
    const dial = await news(1, "instructions", "instructions");
    stream.stop();
    expect(fakes[carrier].problemsIn(dial, "call")).toEqual([]);
    expect(dial).toContain(TARGET);
    const back = await news(1, "end", "busy");
    expect(fakes[carrier].problemsIn(back, "call")).toEqual([]);
    const next = await open(streamUrlIn(back));
    await vi.waitFor(async () => {
      expect(await resultsOf(callId)).toEqual(["The tool failed: the line was busy"]);
    }, PATIENT);
    // The agent speaks about it to the caller, who is back.
    await vi.waitFor(() => expect(next.received.length).toBeGreaterThan(0), PATIENT);
    await callTool(callId, "warmTransfer", { context: "Jane wants a refund." });
    await news(2, "instructions", "instructions");
    next.stop();
    const asked = await news(2, "question", "question");
    expect(fakes[carrier].problemsIn(asked, "question")).toEqual([]);
    expect(asked).toContain("Jane wants a refund.");
    await news(2, carrier === "telephony3" ? "progress" : "answer", "key_1");
    expect((await service.ended(callId)).endReason).toBe("agent_hangup");
    const types = (await service.events(callId)).map(({ type }) => type);
    for (const type of [
      "telephony.transferring",
      "telephony.failed",
      "media.reconnected",
      "telephony.transferred",
    ])
      expect(types).toContain(type);
    expect(await news(2, "end", "completed")).toContain("<Hangup/>");
    expect(fakes[carrier].ended()).not.toContain(stream.stream.callId);
    expect([stream.broken, next.broken]).toEqual([[], []]);
  },
);

test.concurrent("a caller who hangs up during a transfer ends the call", async () => {
  const { callId, news, stream } = await phone("telephony1");
  await callTool(callId, "coldTransfer", {});
  await news(1, "instructions", "instructions");
  stream.stop();
  expect(await news(1, "end", "caller_gone")).toContain("<Hangup/>");
  expect((await service.ended(callId)).endReason).toBe("hangup");
});

test.concurrent("a call that is ended by a request during a transfer is ended at its carrier", async () => {
  const { callId, news, stream } = await phone("telephony1");
  await callTool(callId, "coldTransfer", {});
  await news(1, "instructions", "instructions");
  stream.stop();
  const answer = await service.ask("POST", `/api/calls/${callId}/send_data_message`, { type: "hang_up" });
  expect(answer.status).toBeLessThan(300);
  await service.ended(callId);
  await vi.waitFor(() => expect(fakes.telephony1.ended()).toContain(stream.stream.callId), PATIENT);
});

test.concurrent("a message for an answering machine waits for the end of its greeting", async () => {
  const to = "+4930555555";
  const outgoing = { to, from: "+4930654321", additionalParams: { MachineDetection: "DetectMessageEnd" } };
  const made = await service.ask<{ callId: string }>("POST", "/api/calls", {
    medium: { telephony1: { outgoing } },
    firstSpeakerSettings: { user: {} },
    selectedTools: [{ toolName: "leaveVoicemail" }],
  });
  expect(made.status).toBe(201);
  service.countCall();
  const { callId } = made.body;
  const fake = fakes.telephony1;
  const placed = fake.placed().find((call) => call.to === to);
  if (placed === undefined) throw new Error("the call was not placed");
  const { id, statusUrl, streamUrl } = placed;
  const stream = new FakeCarrier({ kind: "telephony1", url: streamUrl ?? "", callId: id });
  streams.push(stream);
  await stream.begin();
  await vi.waitFor(async () => expect((await service.record(callId)).joined).not.toBeNull(), PATIENT);
  const report = (AnsweredBy: string) =>
    post("telephony1", statusUrl, { ...fake.callback("answered", id), AnsweredBy });
  await report("machine_start");
  const message = "Please call us back.";
  const toolCalls = [{ name: "leaveVoicemail", arguments: { message } }];
  const forced = { type: "forced_agent_message", toolCalls };
  await service.ask("POST", `/api/calls/${callId}/send_data_message`, forced);
  await vi.waitFor(async () => {
    const roles = (await service.messages(callId)).map(({ role }) => role);
    expect(roles).toContain("MESSAGE_ROLE_TOOL_CALL");
  }, PATIENT);
  expect(await resultsOf(callId)).toEqual([]);
  await report("machine_end_beep");
  expect((await service.ended(callId)).endReason).toBe("agent_hangup");
  expect(await resultsOf(callId)).toEqual(["[Leaving voicemail...]"]);
  expect((await service.messages(callId)).at(-1)?.text).toBe(message);
  const found = (await service.events(callId)).filter(({ type }) => type === "telephony.machine_detected");
  expect(found).toHaveLength(2);
});

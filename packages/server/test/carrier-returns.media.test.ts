/** The assembled service: phone calls whose stream breaks or is closed, with fakes of the carriers. */

import { CONFIGURED_CARRIERS, type ConfiguredCarrier } from "@parley/schema";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { CarrierSubject } from "../src/ports/testing/carriers-conformance.ts";
import { openFakePlivo } from "../src/providers/carriers/testing/fake-plivo.ts";
import { openFakeTelnyx, type FakeTelnyx } from "../src/providers/carriers/testing/fake-telnyx.ts";
import { openFakeTwilio } from "../src/providers/carriers/testing/fake-twilio.ts";
import { loadConfig } from "../src/config/config.ts";
import { until } from "../src/runner/testing/call-client.ts";
import { FakeCarrier } from "../src/transports/telephony/testing/fake-carrier.ts";
import { openRunningService, type RunningService } from "./running-service.ts";

/** A busy machine takes seconds to come back; one test waits for its end. */
const GRACE_MS = 15_000;
const PATIENT = { timeout: 60_000, interval: 50 };
const WORD_MS = 200;
const WORDS = 20;
/** Four seconds in the fake voice. */
const LONG = `${Array.from({ length: WORDS }, (_, i) => `w${String(i)}`).join(" ")}.`;
/** Loud enough to be no noise. */
const LOUD = 1_000;
/** The Redirect of every carrier. */
const RETURN = /<Redirect method="POST">([^<]+)</;

let fakes: Readonly<Record<ConfiguredCarrier, CarrierSubject & { readonly baseUrl: string }>>;
let telnyx: FakeTelnyx;
let service: RunningService;
const streams: FakeCarrier[] = [];

beforeAll(async () => {
  telnyx = await openFakeTelnyx();
  fakes = { telephony1: await openFakeTwilio(), telephony2: telnyx, telephony3: await openFakePlivo() };
  service = await openRunningService({
    turnTaking: { ...loadConfig({}).turnTaking, reconnectGraceMs: GRACE_MS },
    carrierAddresses: {
      telephony1: fakes.telephony1.baseUrl,
      telephony2: fakes.telephony2.baseUrl,
      telephony3: fakes.telephony3.baseUrl,
    },
  });
  for (const carrier of CONFIGURED_CARRIERS) {
    const { settings, secrets } = fakes[carrier].account;
    const body = { ...settings, ...secrets, callCreationAllowAllAgents: true };
    const made = await service.ask("POST", `/api/telephony_configs/${carrier}`, body);
    if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  }
});

afterAll(async () => {
  for (const stream of streams) stream.socket.terminate();
  await service.close();
  await Promise.all(CONFIGURED_CARRIERS.map((carrier) => fakes[carrier].stop()));
});

/** Posts to the service as the carrier does, and returns the XML of the answer. */
async function fetchXml(carrier: ConfiguredCarrier, url: string, fields: Readonly<Record<string, string>>) {
  const { headers, body } = fakes[carrier].sign(fields, url, Date.now());
  const texts = Object.entries(headers).flatMap(([name, value]) =>
    typeof value === "string" ? [[name, value] as const] : [],
  );
  const response = await fetch(url, {
    method: "POST",
    headers: Object.fromEntries(texts),
    body: Buffer.from(body),
  });
  expect(response.status).toBe(200);
  return response.text();
}

const returnUrlIn = (xml: string): string => (RETURN.exec(xml)?.[1] ?? "").replaceAll("&amp;", "&");
const streamUrlIn = (xml: string): string => /wss?:\/\/[^"<]+/.exec(xml)?.[0] ?? "";

/** A call that came in and whose stream has begun. */
async function phone(carrier: ConfiguredCarrier, callTemplate: object) {
  const agent = await service.ask<{ agentId: string }>("POST", "/api/agents", { callTemplate });
  const url = `${service.url}/api/agents/${agent.body.agentId}/telephony_xml`;
  const id = `in-${agent.body.agentId}`;
  const xml = await fetchXml(carrier, url, fakes[carrier].callback("ringing", id));
  service.countCall();
  const streamUrl = streamUrlIn(xml);
  const callId = /\/calls\/([0-9a-f-]{36})\//.exec(streamUrl)?.[1] ?? "";
  const goBack = (after: string) =>
    fetchXml(carrier, returnUrlIn(after), fakes[carrier].callback("answered", id));
  const open = async (at: string): Promise<FakeCarrier> => {
    const stream = new FakeCarrier({ kind: carrier, url: at, callId: id });
    streams.push(stream);
    return stream.begin();
  };
  return { callId, xml, goBack, open, stream: await open(streamUrl) };
}

/** The agent ends the call. */
async function hangUp(callId: string): Promise<void> {
  const answer = await service.ask("POST", `/api/calls/${callId}/send_data_message`, { type: "hang_up" });
  expect(answer.status).toBeLessThan(300);
  expect((await service.ended(callId)).endReason).toBe("agent_hangup");
}

/** How long the caller has heard the agent, from the first to the last sound. */
function spokenMs({ buffer, stream }: FakeCarrier): number {
  const heard = buffer.heard();
  const first = heard.findIndex((sample) => Math.abs(sample) > LOUD);
  if (first === -1) return 0;
  let last = heard.length - 1;
  while (Math.abs(heard[last] ?? 0) <= LOUD) last -= 1;
  return ((last - first) * 1_000) / stream.output.sampleRateHz;
}

const isReconnected = async (callId: string): Promise<boolean> =>
  (await service.events(callId)).some(({ type }) => type === "media.reconnected");

const opening = { firstSpeakerSettings: { agent: { text: LONG } } };

/** The whole text was said once, with at most two words twice or not at all. */
async function expectWhole(callId: string, parts: readonly FakeCarrier[]): Promise<void> {
  await vi.waitFor(async () => {
    const messages = await service.messages(callId);
    expect(messages.filter(({ role }) => role === "MESSAGE_ROLE_AGENT").map(({ text }) => text)).toEqual([
      LONG,
    ]);
  }, PATIENT);
  const wholeMs = parts.reduce((sum, part) => sum + spokenMs(part), 0);
  expect(Math.abs(wholeMs - WORDS * WORD_MS)).toBeLessThanOrEqual(4 * WORD_MS);
}

test.concurrent.each(CONFIGURED_CARRIERS)(
  "a call over %s goes on after its stream broke",
  async (carrier) => {
    const { callId, xml, goBack, open, stream } = await phone(carrier, opening);
    await until(() => spokenMs(stream) > 1_000, "the first words");
    stream.socket.terminate();
    const again = await goBack(xml);
    expect(streamUrlIn(again)).toBe(streamUrlIn(xml));
    const next = await open(streamUrlIn(again));
    await expectWhole(callId, [stream, next]);
    expect(await isReconnected(callId)).toBe(true);
    expect([stream.broken, next.broken]).toEqual([[], []]);
    next.stop();
    expect((await service.ended(callId)).endReason).toBe("hangup");
    expect(await goBack(again)).toContain("<Response><Hangup/></Response>");
  },
);

test.concurrent(
  "the next stream takes the place of one that is silent, and nothing is lost with it",
  async () => {
    const { callId, xml, goBack, open, stream } = await phone("telephony1", opening);
    await until(() => spokenMs(stream) > 1_000, "the first words");
    // The network is gone, and neither side has noticed.
    stream.rest();
    stream.socket.pause();
    await until(() => stream.socket.isPaused, "the silence");
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    const next = await open(streamUrlIn(await goBack(xml)));
    await expectWhole(callId, [stream, next]);
    expect(await isReconnected(callId)).toBe(true);
    next.stop();
    await service.ended(callId);
  },
);

test.concurrent("a stream of another call of the carrier takes no place", async () => {
  const { callId, xml, stream } = await phone("telephony1", opening);
  const other = new FakeCarrier({ kind: "telephony1", url: streamUrlIn(xml), callId: "another" });
  streams.push(other);
  await other.begin();
  expect(await other.closed).toBe(4409);
  expect(stream.closeCode).toBeNull();
  stream.stop();
  await service.ended(callId);
});

test.concurrent("a stream with other rates than before is refused, and the call still waits", async () => {
  const { callId, xml, goBack, open, stream } = await phone("telephony3", opening);
  await until(() => spokenMs(stream) > 200, "the first words");
  stream.socket.terminate();
  const again = await goBack(xml);
  const format = { encoding: "s16le", sampleRateHz: 8_000 } as const;
  const callIdThere = stream.stream.callId;
  const narrow = { kind: "telephony3", url: streamUrlIn(again), callId: callIdThere } as const;
  const wrong = new FakeCarrier({ ...narrow, input: format, output: format });
  streams.push(wrong);
  await wrong.begin();
  expect(await wrong.closed).toBe(1007);
  const next = await open(streamUrlIn(await goBack(again)));
  await until(() => spokenMs(next) > 200, "the next words");
  next.stop();
  await service.ended(callId);
});

test.concurrent("a call that does not come back ends when its time is over", async () => {
  const { callId, stream } = await phone("telephony1", opening);
  stream.socket.terminate();
  expect((await service.ended(callId)).endReason).toBe("connection_error");
});

test.concurrent.each(CONFIGURED_CARRIERS)(
  "%s is sent away from a call that the service has ended",
  async (carrier) => {
    const { callId, xml, goBack, stream } = await phone(carrier, opening);
    await until(() => spokenMs(stream) > 0, "the first word");
    await hangUp(callId);
    expect(await stream.closed).toBe(1000);
    expect(await goBack(xml)).toContain("<Response><Hangup/></Response>");
    // The instructions end the call; the carrier is not asked as well.
    expect(fakes[carrier].ended()).not.toContain(stream.stream.callId);
  },
);

/** A call of Telnyx whose instructions are not those of the service. */
async function foreignCall() {
  const { callId, joinUrl } = await service.makeCall({ medium: { telephony2: {} } });
  const stream = new FakeCarrier({ kind: "telephony2", url: joinUrl });
  streams.push(stream);
  telnyx.carry(stream.stream.callId);
  await stream.begin();
  await vi.waitFor(async () => expect((await service.record(callId)).joined).not.toBeNull(), PATIENT);
  return { callId, stream };
}

test.concurrent("a call that would go on without its stream is ended at its carrier", async () => {
  const { callId, stream } = await foreignCall();
  await hangUp(callId);
  await vi.waitFor(() => expect(telnyx.ended()).toContain(stream.stream.callId), PATIENT);
});

test.concurrent("a call that its carrier has taken elsewhere is left alone", async () => {
  const { callId, stream } = await foreignCall();
  stream.stop();
  expect((await service.ended(callId)).endReason).toBe("hangup");
  expect(telnyx.ended()).not.toContain(stream.stream.callId);
});

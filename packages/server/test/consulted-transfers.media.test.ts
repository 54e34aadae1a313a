/**
 * The assembled service with fakes of the carriers: the caller and the called person of a warm transfer say recorded
 * sentences, the agent talks with both, and the carrier connects them or brings the caller back.
 */

import nodeProcess from "node:process";
import { CONFIGURED_CARRIERS, type ConfiguredCarrier } from "@parley/schema";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { MODEL_PATH } from "../src/app/engines.ts";
import { initResampler } from "../src/media/resample.ts";
import type { LlmEngine, LlmPart, LlmRequest } from "../src/ports/llm.ts";
import type { CarrierSubject } from "../src/ports/testing/carriers-conformance.ts";
import type { TransferNews } from "../src/ports/testing/transfer-news.ts";
import { openFakeLlm } from "../src/ports/testing/fake-llm.ts";
import { openFakeStt } from "../src/ports/testing/fake-stt.ts";
import { readSpeechFixture } from "../src/ports/testing/speech-fixtures.ts";
import { openFakePlivo } from "../src/providers/carriers/testing/fake-plivo.ts";
import { openFakeTelnyx } from "../src/providers/carriers/testing/fake-telnyx.ts";
import { openFakeTwilio } from "../src/providers/carriers/testing/fake-twilio.ts";
import { openSileroVad } from "../src/providers/vad-silero/vad-silero.ts";
import { until } from "../src/runner/testing/call-client.ts";
import { FakeCarrier } from "../src/transports/telephony/testing/fake-carrier.ts";
import { openFaultyEngines } from "./faulty-engines.ts";
import { likenessOf, loudnessOf, speechFor } from "./line-speech.ts";
import { openRunningService, type RunningService } from "./running-service.ts";

const PATIENT = { timeout: 60_000, interval: 50 };
const CALLER = { clip: readSpeechFixture("goforward.wav"), text: "go forward ten meters" };
const COLLEAGUE = {
  clip: readSpeechFixture("austen_0930.wav").subarray(0, 2.8 * 16_000),
  text: "he might even have been made amiable himself",
};
const PITCH = "A caller wants to go forward. Do you take the call?";
const RETURNED = "Nobody can take your call now.";
const PARTING = "One moment, I connect you.";

/** What the agent does once the called person has spoken. */
type Decision = "accept" | "refuse";

let fakes: Readonly<Record<ConfiguredCarrier, CarrierSubject & { readonly baseUrl: string }>>;
let service: RunningService;
const streams: FakeCarrier[] = [];
let count = 0;

/** Plays the agent by the words that it was told: those of the caller, and those of the called person. */
function agentModel(): LlmEngine {
  async function* generate({ systemPrompt, messages }: LlmRequest): AsyncGenerator<LlmPart> {
    await new Promise((resolve) => setImmediate(resolve));
    const heard = messages.flatMap((message) => (message.role === "user" ? [message.text] : []));
    const isTold = messages.some(({ role }) => role === "tool");
    const say = (text: string): LlmPart => ({ type: "text-delta", text });
    const call = (name: string, given: Readonly<Record<string, unknown>>): LlmPart => ({
      type: "tool-call",
      call: { id: "1", name, arguments: given },
    });
    if (systemPrompt.includes("You are on the phone with the called person")) {
      if (!heard.includes(COLLEAGUE.text)) yield say(PITCH);
      else if (systemPrompt.includes("decision: accept")) {
        yield say(PARTING);
        yield call("acceptTransfer", {});
      } else yield call("refuseTransfer", { reason: "I am in a meeting." });
    } else if (isTold) yield say(RETURNED);
    else if (heard.includes(CALLER.text)) {
      yield say("One moment.");
      const [decision = "", target = ""] = systemPrompt.split(" ");
      yield call("warmTransfer", { target, context: `decision: ${decision}` });
    } else yield say("Hello.");
    yield { type: "finish", reason: "stop", inputTokens: null, outputTokens: null };
  }
  return { ...openFakeLlm(), generate };
}

beforeAll(async () => {
  await initResampler(nodeProcess);
  fakes = {
    telephony1: await openFakeTwilio(),
    telephony2: await openFakeTelnyx(),
    telephony3: await openFakePlivo(),
  };
  const vad = await openSileroVad({ modelPath: MODEL_PATH, log: () => undefined });
  const courses = [CALLER, COLLEAGUE].map(({ clip, text }) => ({ course: loudnessOf(clip), text }));
  const says = (_utterance: number, samples: Int16Array): string => {
    const course = loudnessOf(samples);
    const known = courses.find((one) => likenessOf(course, one.course) > 0.9);
    return known?.text ?? "unlike both recordings";
  };
  const engines = { ...openFaultyEngines(), vad, stt: openFakeStt({ says }), llm: agentModel() };
  const carrierAddresses = {
    telephony1: fakes.telephony1.baseUrl,
    telephony2: fakes.telephony2.baseUrl,
    telephony3: fakes.telephony3.baseUrl,
  };
  service = await openRunningService({ carrierAddresses }, engines);
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

const streamUrlIn = (xml: string): string => /wss?:\/\/[^"<]+/.exec(xml)?.[0] ?? "";
const callIdIn = (url: string): string => /\/calls\/([0-9a-f-]{36})\//.exec(url)?.[1] ?? "";

/** Posts to the service as the carrier does, checks the instructions that it answers, and returns them. */
async function post(carrier: ConfiguredCarrier, url: string, fields: Readonly<Record<string, string>>) {
  const { headers, body } = fakes[carrier].sign(fields, url, Date.now());
  const texts = Object.entries(headers).flatMap(([name, value]) =>
    typeof value === "string" ? [[name, value] as const] : [],
  );
  const sent = { method: "POST", headers: Object.fromEntries(texts), body: Buffer.from(body) };
  const response = await fetch(url, sent);
  expect(response.status).toBeLessThan(300);
  const xml = await response.text();
  if (xml !== "") expect([xml, fakes[carrier].problemsIn(xml, "call")]).toEqual([xml, []]);
  return xml;
}

async function open(kind: ConfiguredCarrier, url: string, callId: string): Promise<FakeCarrier> {
  const stream = new FakeCarrier({ kind, url, callId });
  streams.push(stream);
  return stream.begin();
}

const heardMs = ({ buffer, stream }: FakeCarrier): number =>
  (buffer.heard().filter((sample) => sample !== 0).length * 1_000) / stream.output.sampleRateHz;

/** How often a sentence is said: on a machine that is busy, one may reach the recogniser with gaps. */
const SAID_AT_MOST = 5;

/** Says a recorded sentence until the agent has understood it, and waits for what follows. */
async function sayTo(
  stream: FakeCarrier,
  callId: string,
  { clip, text }: typeof CALLER,
  hasFollowed: () => boolean,
): Promise<void> {
  for (let times = 1; times <= SAID_AT_MOST; times += 1) {
    const before = (await saidIn(callId, "USER")).length;
    stream.say(speechFor(stream, clip));
    await vi.waitFor(async () => {
      if ((await saidIn(callId, "USER")).length === before) throw new Error("nothing was heard");
    }, PATIENT);
    if ((await saidIn(callId, "USER")).includes(text)) break;
  }
  await until(hasFollowed, "what follows the sentence");
}

const saidIn = async (callId: string, role: "USER" | "AGENT"): Promise<string[]> =>
  (await service.messages(callId)).flatMap((message) =>
    message.role === `MESSAGE_ROLE_${role}` ? [message.text] : [],
  );

/** The address of the nth request to the carrier to fetch instructions for a call. */
async function redirection(carrier: ConfiguredCarrier, id: string, nth: number): Promise<string> {
  return vi.waitFor(() => {
    const url = fakes[carrier].redirected().filter((each) => each.id === id)[nth - 1]?.url;
    if (url === undefined) throw new Error("not redirected");
    return url;
  }, PATIENT);
}

/** The caller has asked for somebody, waits, and the called person talks with the agent. */
async function consulted(carrier: ConfiguredCarrier, decision: Decision) {
  const fake = fakes[carrier];
  count += 1;
  const target = `+49309999${String(100 + count)}`;
  const callTemplate = {
    systemPrompt: `${decision} ${target}`,
    firstSpeakerSettings: { user: {} },
    selectedTools: [{ toolName: "warmTransfer" }],
  };
  const agent = await service.ask<{ agentId: string }>("POST", "/api/agents", { callTemplate });
  const { agentId } = agent.body;
  const id = `in-${agentId}`;
  fake.answer(id);
  const answerUrl = `${service.url}/api/agents/${agentId}/telephony_xml`;
  const answered = await post(carrier, answerUrl, { ...fake.callback("ringing", id), To: "+4930111111" });
  service.countCall();
  const callId = callIdIn(streamUrlIn(answered));
  const stream = await open(carrier, streamUrlIn(answered), id);
  const redirectedTimes = (of: string) => fake.redirected().filter((each) => each.id === of).length;
  await sayTo(stream, callId, CALLER, () => redirectedTimes(id) > 0);
  const instructionsUrl = await redirection(carrier, id, 1);
  service.countCall();
  const news = (what: TransferNews, step: string, of = id) =>
    post(carrier, instructionsUrl.replace(/instructions$/, step), fake.transferFields(what, of));
  expect(await news("instructions", "instructions")).toContain('startConferenceOnEnter="false"');
  stream.stop();
  const placed = fake.placed().find((one) => one.to === target);
  if (placed === undefined) throw new Error("the called person was not dialled");
  fake.answer(placed.id);
  const status = fake.callback("answered", placed.id);
  const url = placed.streamUrl ?? streamUrlIn(await post(carrier, placed.instructionsUrl ?? "", status));
  const person = await open(carrier, url, placed.id);
  // Nearly all of it: its eleven words sound for 1.8 s.
  await until(() => heardMs(person) > 1_500, "the explanation");
  return { callId, consultId: callIdIn(url), id, placed, stream, person, news, redirectedTimes };
}

async function takenCall(carrier: ConfiguredCarrier): Promise<void> {
  const { callId, consultId, id, placed, stream, person, news, redirectedTimes } = await consulted(
    carrier,
    "accept",
  );
  await sayTo(person, consultId, COLLEAGUE, () => redirectedTimes(placed.id) > 0);
  const entering = await news("instructions", "bridge", placed.id);
  person.stop();
  const transferId = /transfers\/([0-9a-f-]{36})\//.exec(await redirection(carrier, id, 1))?.[1];
  expect(entering).toContain(`>${String(transferId)}<`);
  expect((await service.ended(callId)).endReason).toBe("agent_hangup");
  expect((await service.ended(consultId)).endReason).toBe("agent_hangup");
  expect((await saidIn(callId, "USER")).at(-1)).toBe(CALLER.text);
  expect((await saidIn(consultId, "USER")).at(-1)).toBe(COLLEAGUE.text);
  expect((await saidIn(consultId, "AGENT")).at(-1)).toBe(PARTING);
  const record = await service.get<{ systemPrompt: string; metadata: object }>(`/api/calls/${consultId}`);
  expect(record).toMatchObject({ metadata: { transferOfCallId: callId } });
  expect(record.systemPrompt).toContain(`Caller: ${CALLER.text}`);
  const types = (await service.events(callId)).map(({ type }) => type);
  expect(types).toContain("telephony.transferring");
  expect(types).toContain("telephony.transferred");
  // The carrier has both, and nothing here ends them before one of them hangs up.
  expect(fakes[carrier].ended()).not.toContain(id);
  expect(fakes[carrier].ended()).not.toContain(placed.id);
  expect(await news("hung_up_in_conference", "left", placed.id)).toContain("<Hangup/>");
  await vi.waitFor(() => expect(fakes[carrier].ended()).toContain(id), PATIENT);
  expect([stream.broken, person.broken]).toEqual([[], []]);
}

// Three at a time: the audio of each is in real time.
test("the called person takes a call over each carrier", async () => {
  await Promise.all(CONFIGURED_CARRIERS.map(takenCall));
});

async function declinedCall(carrier: ConfiguredCarrier): Promise<void> {
  const { callId, consultId, id, placed, person, news, redirectedTimes } = await consulted(carrier, "refuse");
  await sayTo(person, consultId, COLLEAGUE, () => redirectedTimes(id) > 1);
  expect((await service.ended(consultId)).endReason).toBe("agent_hangup");
  const back = await open(carrier, streamUrlIn(await news("instructions", "instructions")), id);
  await until(() => heardMs(back) > 300, "the agent's words about it");
  const results = (await service.messages(callId)).filter(({ role }) => role === "MESSAGE_ROLE_TOOL_RESULT");
  expect(results.map(({ text }) => text)).toEqual([
    "The tool failed: the called person did not take the call: I am in a meeting.",
  ]);
  back.stop();
  expect((await service.ended(callId)).endReason).toBe("hangup");
  expect((await saidIn(callId, "AGENT")).at(-1)).toMatch(/^Nobody can/);
  expect(redirectedTimes(placed.id)).toBe(0);
  expect([person.broken, back.broken]).toEqual([[], []]);
}

test("the called person declines a call over each carrier", async () => {
  await Promise.all(CONFIGURED_CARRIERS.map(declinedCall));
});

test("a caller who hangs up on hold ends the conversation with the called person", async () => {
  const { callId, consultId, person, news } = await consulted("telephony1", "accept");
  expect(await news("hung_up_in_conference", "held")).toContain("<Hangup/>");
  expect((await service.ended(callId)).endReason).toBe("hangup");
  expect((await service.ended(consultId)).endReason).toBe("agent_hangup");
  expect((await saidIn(consultId, "AGENT")).at(-1)).toBe("Sorry, the caller has hung up. Goodbye.");
  expect(await person.closed).toBe(1000);
});

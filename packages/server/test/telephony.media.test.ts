/** The assembled service: a conversation over each carrier, with recorded speech, and every rule of the carriers kept. */

import nodeProcess from "node:process";
import { CARRIER_KINDS, type CarrierKind } from "@parley/schema";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { MODEL_PATH } from "../src/app/engines.ts";
import { initResampler } from "../src/media/resample.ts";
import { tonePower } from "../src/media/testing/signals.ts";
import { fakeToneHz } from "../src/ports/testing/fake-tts.ts";
import { readSpeechFixture } from "../src/ports/testing/speech-fixtures.ts";
import { openFakeStt } from "../src/ports/testing/fake-stt.ts";
import { openSileroVad } from "../src/providers/vad-silero/vad-silero.ts";
import { until } from "../src/runner/testing/call-client.ts";
import { FakeCarrier } from "../src/transports/telephony/testing/fake-carrier.ts";
import { openFaultyEngines, REPLY } from "./faulty-engines.ts";
import { likenessOf, loudnessOf, speechFor } from "./line-speech.ts";
import {
  NOTHING,
  openRunningService,
  refusalOf,
  USER_FIRST,
  type RunningService,
} from "./running-service.ts";

/** Eight seconds in the default voice, and within the longest reply of the tests. */
const WORD_MS = 200;
const LONG = `${Array.from({ length: 40 }, (_, i) => `w${String(i)}`).join(" ")}.`;
const PATIENT = { timeout: 60_000, interval: 50 };
const CLIP = readSpeechFixture("goforward.wav");
const SAID = "go forward ten meters";
/** Loud enough to be no noise. */
const LOUD = 1_000;

let service: RunningService;
const carriers: FakeCarrier[] = [];

beforeAll(async () => {
  await initResampler(nodeProcess);
  const vad = await openSileroVad({ modelPath: MODEL_PATH, log: () => undefined });
  const says = (_utterance: number, samples: Int16Array): string => {
    const likeness = likenessOf(loudnessOf(samples), RECORDED);
    // At double speed it is 0.4. A busy machine cuts the recording at its pause, which leaves 0.85.
    return likeness > 0.8 ? SAID : `unlike the recording: ${likeness.toFixed(2)}`;
  };
  const engines = { ...openFaultyEngines(), vad, stt: openFakeStt({ says }) };
  service = await openRunningService({}, engines);
});

afterAll(async () => {
  for (const carrier of carriers) carrier.socket.terminate();
  await service.close();
});

const RECORDED = loudnessOf(CLIP);

async function phone(kind: CarrierKind, settings: object = {}, medium: object = {}) {
  const { callId, joinUrl } = await service.makeCall({ medium: { [kind]: medium }, ...settings });
  expect(new URL(joinUrl).pathname).toContain(`/${kind}/`);
  const carrier = new FakeCarrier({ kind, url: joinUrl });
  carriers.push(carrier);
  await carrier.begin();
  return { callId, joinUrl, carrier };
}

const joined = (callId: string) =>
  vi.waitFor(async () => expect((await service.record(callId)).joined).not.toBeNull(), PATIENT);

const opening = (text: string) => ({ firstSpeakerSettings: { agent: { text } } });

/** Audio that the caller has heard, in ms. */
const heardMs = ({ buffer, stream }: FakeCarrier): number =>
  (buffer.heard().filter((sample) => sample !== 0).length * 1_000) / stream.output.sampleRateHz;

async function said(callId: string, role: "USER" | "AGENT"): Promise<string[]> {
  const messages = await service.messages(callId);
  return messages.filter((message) => message.role === `MESSAGE_ROLE_${role}`).map(({ text }) => text);
}

/** Words of which the caller has heard something: each begins every 200 ms, and four fifths of it sound. */
function wordsHeard({ buffer, stream }: FakeCarrier): number {
  const rate = stream.output.sampleRateHz;
  const heard = buffer.heard();
  const first = heard.findIndex((sample) => Math.abs(sample) > LOUD);
  let last = heard.length - 1;
  while (last > first && Math.abs(heard[last] ?? 0) <= LOUD) last -= 1;
  return Math.ceil(((last - first) * 1_000) / rate / WORD_MS);
}

describe.concurrent.each(CARRIER_KINDS)("a call over %s", (kind) => {
  test("hears recorded speech, and its answer is heard as it sounds", async () => {
    const { callId, carrier } = await phone(kind, { ...USER_FIRST, recordingEnabled: true });
    carrier.say(speechFor(carrier, CLIP));
    await until(() => heardMs(carrier) > 1_000, "the answer");
    const { sampleRateHz } = carrier.stream.output;
    const loud = carrier.buffer.heard();
    const from = loud.findIndex((sample) => Math.abs(sample) > LOUD);
    const word = loud.slice(from + sampleRateHz / 50, from + sampleRateHz / 8);
    const { tone, all } = tonePower(word, fakeToneHz(0), sampleRateHz);
    expect(tone / all).toBeGreaterThan(0.9);
    // The fake voice has a level of 8,000.
    expect(Math.sqrt(all) * 32_768).toBeGreaterThan(4_000);
    carrier.stop();
    expect((await service.endedSoon(callId)).endReason).toBe("hangup");
    expect(await said(callId, "USER")).toEqual([SAID]);
    expect(REPLY.startsWith((await said(callId, "AGENT"))[0] ?? "?")).toBe(true);
    expect(await carrier.closed).toBe(1000);
    expect(carrier.broken).toEqual([]);
    await vi.waitFor(async () => {
      expect((await service.ask("GET", `/api/calls/${callId}/recording`)).status).toBe(200);
    }, PATIENT);
  });

  test("is silent after an interruption, and the record has what was heard, within a word", async () => {
    const { callId, carrier } = await phone(kind, opening(LONG));
    // Until about 1.5 s of the agent's voice has gone out, its echo is not known, and sound alone does not pause it.
    await until(() => heardMs(carrier) > 2_000, "the greeting");
    carrier.say(speechFor(carrier, CLIP));
    const last = { clears: 0, heard: 0, messages: 0 };
    await until(() => {
      if (carrier.clearedAtMs.length > last.clears) {
        last.clears = carrier.clearedAtMs.length;
        last.heard = wordsHeard(carrier);
        last.messages = carrier.received.length;
      }
      return last.clears > 0 && carrier.isQuiet && carrier.received.length > last.messages;
    }, "the answer");
    await until(() => carrier.marks.some((name) => !name.startsWith("g1:")), "a mark of the answer");
    carrier.socket.close(1000);
    expect((await service.endedSoon(callId)).endReason).toBe("hangup");
    const [cut = ""] = await said(callId, "AGENT");
    expect(LONG.startsWith(cut)).toBe(true);
    // The fourth carrier plays what it has begun to its end: up to 200 ms.
    expect(Math.abs(cut.split(" ").length - last.heard)).toBeLessThanOrEqual(kind === "telephony4" ? 2 : 1);
    expect(await said(callId, "USER")).toEqual([SAID]);
    expect(carrier.broken).toEqual([]);
  });

  test("takes keys as words, and is hung up by the service", async () => {
    const { callId, carrier } = await phone(
      kind,
      { ...USER_FIRST, maxDuration: "30s" },
      {
        dtmfHandling: { userTextMessage: { text: "Keys: {digits}", urgency: "URGENCY_SOON" } },
      },
    );
    carrier.press("42#");
    await until(() => heardMs(carrier) > 100, "the answer");
    const hangUp = { type: "hang_up", message: "" };
    expect((await service.ask("POST", `/api/calls/${callId}/send_data_message`, hangUp)).status).toBe(204);
    expect(await carrier.closed).toBe(1000);
    expect((await service.endedSoon(callId)).endReason).toBe("agent_hangup");
    expect(await said(callId, "USER")).toEqual(["Keys: 42#"]);
    const keys = (await service.events(callId)).filter(({ type }) => type === "dtmf.received");
    expect(keys).toHaveLength(3);
    expect(carrier.broken).toEqual([]);
  });

  test("has one stream: a second is refused, and one after the end too", async () => {
    const { callId, joinUrl, carrier } = await phone(kind, USER_FIRST);
    await joined(callId);
    const second = new FakeCarrier({ kind, url: joinUrl });
    carriers.push(second);
    await second.begin();
    expect(await second.closed).toBe(4409);
    expect(carrier.closeCode).toBeNull();
    carrier.stop();
    await service.endedSoon(callId);
    expect(await refusalOf(joinUrl)).toEqual({ status: 410 });
  });
});

test("a stream that cannot be served is closed with 1003, and the call still waits for its carrier", async () => {
  const { callId, joinUrl } = await service.makeCall({ medium: { telephony1: {} }, ...USER_FIRST });
  const wrong = new FakeCarrier({
    kind: "telephony2",
    url: joinUrl,
    input: { encoding: "s16be", sampleRateHz: 16_000 },
  });
  carriers.push(wrong);
  await wrong.begin();
  expect(await wrong.closed).toBe(1003);
  const right = new FakeCarrier({ kind: "telephony1", url: joinUrl });
  carriers.push(right);
  await right.begin();
  await joined(callId);
  right.stop();
  expect((await service.endedSoon(callId)).endReason).toBe("hangup");
});

test("nothing is left", async () => {
  for (const carrier of carriers) carrier.socket.terminate();
  expect(await service.leftovers()).toEqual(NOTHING);
});

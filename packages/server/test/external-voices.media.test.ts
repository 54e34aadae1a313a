/** The assembled service: calls with voices of a vendor, as their callers hear them and the records show them. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EngineFailure } from "../src/ports/engine-failure.ts";
import { openFakeVoiceProvider } from "../src/ports/testing/fake-voice-provider.ts";
import { parseWavHeader } from "../src/media/wav.ts";
import { until, type CallClient } from "../src/runner/testing/call-client.ts";
import { openFaultyEngines } from "./faulty-engines.ts";
import { openRunningService, type RunningService } from "./running-service.ts";

const KEY = "sk-0123456789abcdef";
const WRONG_KEY = "sk-wrong-wrong-wrong";
const HEADER = "Bearer very-secret-token";
/** A word of the vendor's voice takes 1.2 s, one of the deployment's engine 0.2 s. */
const VENDOR_WORD_MS = 1_200;
/** The silent last fifth of a word leaves 0.96 s; half a second is far from 0.2 s. */
const VENDOR_LEAST_MS = 500;

const vendor = openFakeVoiceProvider({ kind: "provider1", key: KEY, tts: { wordMs: VENDOR_WORD_MS } });
const server = openFakeVoiceProvider({
  kind: "generic",
  tts: { wordMs: VENDOR_WORD_MS },
  failure: ({ voice }) =>
    voice.url.includes("refused") ? new EngineFailure(`HTTP 403 for ${HEADER}`, { isPermanent: true }) : null,
});

let service: RunningService;

beforeAll(async () => {
  const engines = { ...openFaultyEngines(), voiceProviders: { provider1: vendor, generic: server } };
  service = await openRunningService({}, engines, ["keyless", "refused"]);
  await setKey(KEY, service.key);
  await setKey(WRONG_KEY, service.keys.get("refused") ?? "");
});

afterAll(async () => {
  await service.close();
});

async function setKey(provider1: string, account: string): Promise<void> {
  const answer = await service.ask("PATCH", "/api/accounts/me/tts_api_keys", { provider1 }, account);
  expect(answer.status).toBe(200);
}

const saying = (text: string) => ({ firstSpeakerSettings: { agent: { text } } });
const finals = (client: CallClient) => client.of("transcript").filter(({ final }) => final);

/** Sound that was heard, in ms. */
function heardMs({ frames }: CallClient): number {
  return frames.filter(({ samples }) => samples.some((sample) => Math.abs(sample) > 500)).length * 20;
}

/** A call that says one text, and hangs up. */
async function heard(settings: object) {
  const { callId, client } = await service.call({ ...saying("Welcome."), ...settings });
  await until(() => finals(client).length === 1, "the greeting");
  client.socket.close(1000);
  await service.ended(callId);
  return { callId, client, said: finals(client).map(({ text }) => text) };
}

async function everythingKept(callId: string): Promise<string> {
  const log = await service.ask("GET", `/api/calls/${callId}/event_log`);
  expect(log.status).toBe(200);
  const texts = [log.bytes.toString("utf8"), ...service.linesLogged];
  for (const path of ["", "/events?pageSize=100", "/stages", "/messages"]) {
    texts.push(JSON.stringify(await service.get(`/api/calls/${callId}${path}`)));
  }
  return texts.join("\n");
}

describe("a voice of a vendor", () => {
  test("of the account is heard, with its overrides", async () => {
    const definition = { provider1: { voiceId: "v-own", speed: 0.9, stability: 0.4 } };
    const { status } = await service.ask("POST", "/api/voices", { name: "Ada", definition });
    expect(status).toBe(201);
    const { callId, client, said } = await heard({
      voice: "Ada",
      voiceOverrides: { provider1: { speed: 1.1 } },
    });
    expect(said).toEqual(["Welcome."]);
    expect(heardMs(client)).toBeGreaterThan(VENDOR_LEAST_MS);
    const speech = vendor.spoken.find(({ voice }) => voice.voiceId === "v-own");
    expect(speech).toMatchObject({
      text: "Welcome.",
      voice: { voiceId: "v-own", speed: 1.1, stability: 0.4 },
      key: KEY,
      output: { sampleRateHz: 16_000, encoding: "pcm" },
    });
    expect(vendor.prepared.some(({ voice }) => voice.voiceId === "v-own")).toBe(true);
    const events = (await service.events(callId)).map(({ type }) => type);
    expect(events).not.toContain("tts.failed");
    expect(await everythingKept(callId)).not.toContain(KEY);
  });

  test("without a record is heard, and its header is in no log and no answer", async () => {
    const generic = { url: "https://tts.example/say", headers: { Authorization: HEADER } };
    const { callId, client } = await heard({ externalVoice: { generic } });
    expect(heardMs(client)).toBeGreaterThan(VENDOR_LEAST_MS);
    expect(server.spoken[0]?.voice.headers).toEqual({ Authorization: HEADER });
    expect(await everythingKept(callId)).not.toContain("very-secret-token");
  });

  test("that refuses gives way to the default voice, which the record says, without the secret", async () => {
    const generic = { url: "https://refused.example/say", headers: { Authorization: HEADER } };
    const { callId, client, said } = await heard({ externalVoice: { generic } });
    expect(said).toEqual(["Welcome."]);
    expect(heardMs(client)).toBeGreaterThan(0);
    expect(heardMs(client)).toBeLessThan(VENDOR_LEAST_MS);
    const events = await service.events(callId);
    expect(events).toContainEqual(
      expect.objectContaining({
        type: "tts.failed",
        severity: "error",
        text: "the voice failed: HTTP 403 for [key]",
      }),
    );
    expect(events).toContainEqual(expect.objectContaining({ type: "voice.replaced", severity: "warning" }));
    expect((await service.record(callId)).endReason).toBe("hangup");
    expect(await everythingKept(callId)).not.toContain("very-secret-token");
  });

  test("needs a key of the account", async () => {
    const settings = {
      medium: { serverWebSocket: { inputSampleRate: 16_000 } },
      externalVoice: { provider1: {} },
    };
    const answer = await service.ask("POST", "/api/calls", settings, service.keys.get("keyless"));
    expect([answer.status, answer.body.errors?.map(({ field }) => field)]).toEqual([
      400,
      ["externalVoice.provider1"],
    ]);
  });

  test("can be previewed, and a refused key is a sentence without the key", async () => {
    const body = { definition: { provider1: { voiceId: "v-preview" } } };
    const sample = await service.ask("POST", "/api/voice_preview", body);
    expect(sample.status).toBe(200);
    expect(parseWavHeader(sample.bytes)).toMatchObject({ sampleRateHz: 24_000, channels: 1 });
    const refused = await service.ask("POST", "/api/voice_preview", body, service.keys.get("refused"));
    expect([refused.status, refused.body.detail]).toEqual([
      400,
      "The voice preview failed: Fake provider1 answered HTTP 401: the key is not valid.",
    ]);
    expect(service.linesLogged.join("\n")).not.toContain(WRONG_KEY);
  });
});

/** What is sent to a speech server, and what the fake answers, against the documented contract. */

import { afterAll, describe, expect, it } from "vitest";
import { collect, neverAborted } from "../../ports/testing/collect.ts";
import { renamedFields } from "../../ports/testing/renamed-fields.ts";
import type { LocalServer } from "../../ports/testing/local-server.ts";
import { describeTtsConformance, durationMsOf, ttsRequest } from "../../ports/testing/tts-conformance.ts";
import type { TtsEngine } from "../../ports/tts.ts";
import { PCM, Refusal } from "./contract.ts";
import {
  openFakeSpeechServer,
  problemOf,
  SPEECH_KEY,
  type SpeechServerFault,
} from "./testing/fake-speech-server.ts";
import { openOpenAiTts } from "./tts-openai.ts";

const NONE = new Set<string>();
const servers: LocalServer[] = [];
const engines: TtsEngine[] = [];
afterAll(async () => {
  await Promise.all(engines.map((engine) => engine.close()));
  await Promise.all(servers.map((server) => server.close()));
});

async function open(fault: SpeechServerFault | null = null, apiKey = SPEECH_KEY) {
  const server = await openFakeSpeechServer({ fault, msPerChar: 50 });
  servers.push(server);
  const engine = await openOpenAiTts({ baseUrl: server.baseUrl, apiKey, model: "m", voice: "anna" });
  engines.push(engine);
  return { server, engine };
}

describeTtsConformance("a strict speech server", {
  open: async () => (await open()).engine,
  language: "en",
  openHanging: async () => {
    const { engine, server } = await open("hang in the middle");
    return { engine, reached: server.requested() };
  },
  openFailing: async () => (await open("drop in the middle")).engine,
});

describe("the contract of a speech server", () => {
  it("has all that is sent, and notices each field that changes", async () => {
    const { engine, server } = await open();
    const { parts, error } = await collect(engine.synthesize(ttsRequest("Good evening."), neverAborted()));
    expect(error).toBeNull();
    expect(durationMsOf(parts)).toBe(13 * 50);
    expect(parts[0]).toMatchObject({ sampleRateHz: PCM.sampleRateHz });
    const [request] = server.requests;
    if (request === undefined) throw new Error("nothing was sent");
    expect(problemOf(request)).toBeNull();
    const renamed = renamedFields(JSON.parse(request.body), NONE);
    expect(renamed.map(({ path }) => path).toSorted()).toEqual([
      "input",
      "model",
      "response_format",
      "voice",
    ]);
    for (const { document } of renamed)
      expect(problemOf({ ...request, body: JSON.stringify(document) })).toMatchObject({ status: 400 });
  });

  it("has the errors, of which each field is noticed", async () => {
    const { engine } = await open(null, "another-key");
    const { error } = await collect(engine.synthesize(ttsRequest("Hi."), neverAborted()));
    expect(error).toMatchObject({ isPermanent: true, type: "401" });
    expect(error?.message).toContain("Incorrect API key provided");
    const refusal = { error: { message: "no", type: "t", param: null, code: null } };
    expect(Refusal.safeParse(refusal).success).toBe(true);
    for (const { document } of renamedFields(refusal, NONE))
      expect(Refusal.safeParse(document).success).toBe(false);
  });
});

/** Every constraint of the interface on requests is answered with 400 and the path of the field. */

import { afterAll, beforeAll, expect, it } from "vitest";
import { describeOnBothDatabases } from "../../store/testing/databases.ts";
import type { HttpServer } from "../deps.ts";
import { type Client, newClient, openTestServer } from "../testing/http-fixture.ts";

const missing = "6f0c2f0e-3f6f-4b2e-9a55-0d9c1f6f6a11";

const socket = (more: object): object => ({
  medium: { serverWebSocket: { inputSampleRate: 16000, ...more } },
});

/** Wrong fields of a template or a call request, with the path that the answer must name. */
const wrongSettings: readonly (readonly [string, object, string])[] = [
  [
    "voice beside externalVoice",
    { voice: "v", externalVoice: { provider1: { voiceId: "x" } } },
    "externalVoice",
  ],
  ["voiceOverrides without voice", { voiceOverrides: { provider1: { speed: 1 } } }, "voiceOverrides"],
  ["two external voices", { externalVoice: { provider1: {}, provider2: {} } }, "externalVoice"],
  ["no external voice", { externalVoice: {} }, "externalVoice"],
  [
    "a voice speed out of range",
    { externalVoice: { provider1: { speed: 2 } } },
    "externalVoice.provider1.speed",
  ],
  ["two first speakers", { firstSpeakerSettings: { user: {}, agent: {} } }, "firstSpeakerSettings"],
  ["no first speaker", { firstSpeakerSettings: {} }, "firstSpeakerSettings"],
  ["two media", { medium: { webRtc: {}, telephony1: {} } }, "medium"],
  [
    "two directions of SIP",
    { medium: { sip: { incoming: {}, outgoing: { to: "a", from: "b" } } } },
    "medium.sip",
  ],
  ["a sample rate too low", socket({ inputSampleRate: 7999 }), "medium.serverWebSocket.inputSampleRate"],
  ["a sample rate too high", socket({ outputSampleRate: 48001 }), "medium.serverWebSocket.outputSampleRate"],
  ["no sample rate", { medium: { serverWebSocket: {} } }, "medium.serverWebSocket.inputSampleRate"],
  [
    "a buffer too large",
    socket({ clientBufferSizeMs: 120_001 }),
    "medium.serverWebSocket.clientBufferSizeMs",
  ],
  ["a duration that is a number", { joinTimeout: 30 }, "joinTimeout"],
  ["a duration without unit", { maxDuration: "30" }, "maxDuration"],
  ["a duration with a leading zero", { maxDuration: "030s" }, "maxDuration"],
  ["a negative duration", { maxDuration: "-5s" }, "maxDuration"],
  ["a join timeout too short", { joinTimeout: "0.5s" }, "joinTimeout"],
  ["a join timeout too long", { joinTimeout: "3601s" }, "joinTimeout"],
  ["a maximum duration too long", { maxDuration: "86401s" }, "maxDuration"],
  ["a temperature too high", { temperature: 1.1 }, "temperature"],
  ["a temperature too low", { temperature: -0.1 }, "temperature"],
  [
    "a threshold too low",
    { vadSettings: { frameActivationThreshold: 0.05 } },
    "vadSettings.frameActivationThreshold",
  ],
  ["a negative delay", { vadSettings: { turnEndpointDelay: "-1s" } }, "vadSettings.turnEndpointDelay"],
  ["an unknown output medium", { initialOutputMedium: "MESSAGE_MEDIUM_SMELL" }, "initialOutputMedium"],
  [
    "an inactivity message without time",
    { inactivityMessages: [{ duration: "0s", message: "?" }] },
    "inactivityMessages.0.duration",
  ],
  ["a tool named twice over", { selectedTools: [{ toolId: missing, toolName: "b" }] }, "selectedTools.0"],
  ["a tool that is none", { selectedTools: [{}] }, "selectedTools.0"],
  [
    "a tool name with spaces",
    { selectedTools: [{ toolName: "b", nameOverride: "a b" }] },
    "selectedTools.0.nameOverride",
  ],
  [
    "a data connection by http",
    { dataConnection: { websocketUrl: "http://x.example" } },
    "dataConnection.websocketUrl",
  ],
  ["a shared secret too short", { sharedSecrets: ["short"] }, "sharedSecrets.0"],
  ["one field in two spellings", { maxDuration: "5s", max_duration: "5s" }, "maxDuration"],
];

const wrongCalls: readonly (readonly [string, object, string])[] = [
  ["a language hint too long", { languageHint: "x".repeat(17) }, "languageHint"],
  ["metadata that is no text", { metadata: { a: 1 } }, "metadata.a"],
  ["reserved metadata", { metadata: { "service.x": "1" } }, "metadata.service.x"],
  [
    "a speaker that contradicts",
    { firstSpeaker: "FIRST_SPEAKER_USER", firstSpeakerSettings: { agent: {} } },
    "firstSpeaker",
  ],
  ["a message of no role", { initialMessages: [{ text: "x" }] }, "initialMessages.0.role"],
  [
    "too many messages",
    { initialMessages: Array.from({ length: 1001 }, () => ({ role: "MESSAGE_ROLE_USER" })) },
    "initialMessages",
  ],
];

const wrongNames: readonly (readonly [string, unknown])[] = [
  ["of 65 characters", "😀".repeat(65)],
  ["that is empty", ""],
  ["that is blank", "  "],
  ["with a control character", "a\nb"],
  ["that is a number", 5],
];

describeOnBothDatabases("constraints", (current) => {
  let server: HttpServer;
  let client: Client;
  let agentId = "";

  beforeAll(async () => {
    server = await openTestServer(current());
    client = await newClient(server, current().db);
    agentId = String((await client.post("/api/agents")).json["agentId"]);
  });
  afterAll(async () => {
    await server.close();
  });

  function fieldsOf(json: Record<string, unknown>): string[] {
    return ((json["errors"] ?? []) as { field: string }[]).map(({ field }) => field);
  }

  it.each(wrongSettings)("refuse %s in a template and in a call", async (_, settings, field) => {
    const inTemplate = { callTemplate: settings };
    for (const { status, json } of [
      await client.post("/api/agents", inTemplate),
      await client.patch(`/api/agents/${agentId}`, inTemplate),
    ]) {
      expect(status).toBe(400);
      expect(json["code"]).toBe("validation_failed");
      expect(fieldsOf(json)).toEqual([`callTemplate.${field}`]);
      expect(json["detail"]).toContain(`callTemplate.${field}`);
    }
    const inCall = await client.post("/api/calls", settings);
    expect([inCall.status, fieldsOf(inCall.json)]).toEqual([400, [field]]);
  });

  it.each(wrongCalls)("refuse %s in a call", async (_, settings, field) => {
    const { status, json } = await client.post("/api/calls", settings);
    expect([status, fieldsOf(json)]).toEqual([400, [field]]);
  });

  it.each(wrongNames)("refuse a name %s", async (_, name) => {
    for (const { status, json } of [
      await client.post("/api/agents", { name }),
      await client.patch(`/api/agents/${agentId}`, { name }),
    ]) {
      expect(status).toBe(400);
      expect(new Set(fieldsOf(json))).toEqual(new Set(["name"]));
    }
  });

  it("take a name of 64 characters, counted as people count them", async () => {
    expect((await client.post("/api/agents", { name: "😀".repeat(64) })).status).toBe(201);
  });

  it("are reported together", async () => {
    const { json } = await client.post("/api/agents", {
      name: "",
      colour: 1,
      callTemplate: { temperature: 2, voice: "v", externalVoice: {} },
    });
    expect(new Set(fieldsOf(json))).toEqual(
      new Set(["name", "colour", "callTemplate.temperature", "callTemplate.externalVoice"]),
    );
  });

  it("leave nothing behind", async () => {
    const agents = await client.get<{ total: number }>("/api/agents");
    const calls = await client.get<{ total: number }>("/api/calls");
    expect([agents.json.total <= 2, calls.json.total]).toEqual([true, 0]);
  });
});

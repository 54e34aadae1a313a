/** Rows about agents and their call templates. */

import assert from "node:assert/strict";
import {
  ask,
  assertHolds,
  assertRefused,
  call,
  made,
  type Rules,
  settingRefuses,
  settingTakes,
  template,
} from "./rules.ts";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const OTHER_ID = "6f0c2f0e-3f6f-4b2e-9a55-0d9c1f6f6a11";

/** A read-only member: always present, and ignored in bodies even when it is malformed. */
function readOnly(name: string, isRight: (value: unknown) => boolean) {
  return async (service: Parameters<typeof ask>[0]): Promise<void> => {
    const agent = await made(service, "/api/agents", { name: "read-only", [name]: { nonsense: true } });
    assert.ok(isRight(agent[name]), `${name}: ${JSON.stringify(agent[name])}`);
    const path = `/api/agents/${String(agent["agentId"])}`;
    const changed = await ask(service, "PATCH", path, { [name]: OTHER_ID });
    assert.equal(changed.status, 200, JSON.stringify(changed.body));
    assert.deepEqual(changed.body[name], agent[name]);
  };
}

const isUuid = (value: unknown): boolean => typeof value === "string" && UUID.test(value);
const isMoment = (value: unknown): boolean => typeof value === "string" && MOMENT.test(value);

export const agentRules: Rules<
  "agentId" | "publishedRevisionId" | "name" | "created" | "callTemplate" | "statistics"
> = {
  agentId: [readOnly("agentId", isUuid)],
  publishedRevisionId: [
    readOnly("publishedRevisionId", isUuid),
    async (service) => {
      const agent = await made(service, "/api/agents", {});
      const path = `/api/agents/${String(agent["agentId"])}`;
      const same = await ask(service, "PATCH", path, { name: agent["name"] });
      assert.equal(same.body["publishedRevisionId"], agent["publishedRevisionId"]);
      const other = await ask(service, "PATCH", path, { name: "another" });
      assert.notEqual(other.body["publishedRevisionId"], agent["publishedRevisionId"]);
    },
  ],
  name: [
    async (service) => {
      for (const name of ["a", "x".repeat(64), "😀".repeat(64)]) {
        assert.equal((await made(service, "/api/agents", { name }))["name"], name);
      }
      const unnamed = await made(service, "/api/agents", {});
      assert.equal(unnamed["name"], `agent-${String(unnamed["agentId"]).slice(0, 8)}`);
      for (const name of ["", " ", "x".repeat(65), "😀".repeat(65), "a\nb", 5]) {
        assertRefused(await ask(service, "POST", "/api/agents", { name }), "name");
      }
    },
  ],
  created: [readOnly("created", isMoment)],
  callTemplate: [
    async (service) => {
      const agent = await made(service, "/api/agents", {
        callTemplate: { temperature: 0.5, recordingEnabled: true },
      });
      const path = `/api/agents/${String(agent["agentId"])}`;
      const replaced = await ask(service, "PATCH", path, { callTemplate: { temperature: 1 } });
      assertHolds(replaced.body, { callTemplate: { temperature: 1, recordingEnabled: undefined } });
      const cleared = await ask(service, "PATCH", path, { callTemplate: null });
      assert.equal(cleared.body["callTemplate"], null);
      assertRefused(await ask(service, "POST", "/api/agents", { callTemplate: "x" }), "callTemplate");
    },
  ],
  statistics: [
    readOnly("statistics", (value) => (value as { calls?: unknown }).calls === 0),
    async (service) => {
      const agent = await made(service, "/api/agents", {
        callTemplate: { medium: { serverWebSocket: { inputSampleRate: 8000 } } },
      });
      const path = `/api/agents/${String(agent["agentId"])}`;
      await made(service, `${path}/calls`, {});
      assertHolds((await ask(service, "GET", path)).body, { statistics: { calls: 1 } });
    },
  ],
};

const voices = { provider1: { voiceId: "v" } };

export const templateRules: Rules<
  | "name"
  | "created"
  | "updated"
  | "medium"
  | "initialOutputMedium"
  | "joinTimeout"
  | "maxDuration"
  | "vadSettings"
  | "recordingEnabled"
  | "firstSpeakerSettings"
  | "systemPrompt"
  | "temperature"
  | "model"
  | "voice"
  | "externalVoice"
  | "voiceOverrides"
  | "languageHint"
  | "timeExceededMessage"
  | "inactivityMessages"
  | "selectedTools"
  | "dataConnection"
  | "contextSchema"
> = {
  name: [template.accepts({ name: "night desk" }), template.refuses({ name: 5 }, "name")],
  created: [
    async (service) => {
      const agent = await made(service, "/api/agents", { callTemplate: { created: "nonsense" } });
      assert.ok(isMoment((agent["callTemplate"] as Record<string, unknown>)["created"]));
    },
  ],
  updated: [
    async (service) => {
      const agent = await made(service, "/api/agents", { callTemplate: { updated: 5 } });
      assert.ok(isMoment((agent["callTemplate"] as Record<string, unknown>)["updated"]));
    },
    async (service) => {
      const agent = await made(service, "/api/agents", { callTemplate: {} });
      const path = `/api/agents/${String(agent["agentId"])}`;
      const before = agent["callTemplate"] as Record<string, unknown>;
      const changed = await ask(service, "PATCH", path, { callTemplate: { temperature: 1 } });
      const after = changed.body["callTemplate"] as Record<string, unknown>;
      assert.equal(after["created"], before["created"]);
      assert.ok(String(after["updated"]) > String(before["updated"]), JSON.stringify([before, after]));
    },
  ],
  medium: [
    template.accepts({ medium: { telephony3: { outgoing: { to: "+1", from: "+2" } } } }),
    template.refuses({ medium: { webRtc: {}, telephony1: {} } }, "medium"),
    template.refuses({ medium: { fax: {} } }, "medium.fax"),
  ],
  initialOutputMedium: [
    ...settingTakes({ initialOutputMedium: "MESSAGE_MEDIUM_TEXT" }),
    call.accepts(
      { initialOutputMedium: "MESSAGE_MEDIUM_UNSPECIFIED" },
      { initialOutputMedium: "MESSAGE_MEDIUM_VOICE" },
    ),
    call.accepts({}, { initialOutputMedium: "MESSAGE_MEDIUM_VOICE" }),
    ...settingRefuses({ initialOutputMedium: "text" }, "initialOutputMedium"),
  ],
  joinTimeout: [
    ...settingTakes({ joinTimeout: "1s" }),
    ...settingTakes({ joinTimeout: "3600.000000000s" }, { joinTimeout: "3600s" }),
    call.accepts({}, { joinTimeout: "30s" }),
    ...["0.999s", "3600.1s", "-1s", "030s", "30", "1.0123456789s", 30].flatMap((joinTimeout) =>
      settingRefuses({ joinTimeout }, "joinTimeout"),
    ),
  ],
  maxDuration: [
    ...settingTakes({ maxDuration: "86400s" }),
    call.accepts({}, { maxDuration: "3600s" }),
    ...["0s", "86400.5s", "1h"].flatMap((maxDuration) => settingRefuses({ maxDuration }, "maxDuration")),
  ],
  vadSettings: [
    ...settingTakes({ vadSettings: { turnEndpointDelay: "0.5s", frameActivationThreshold: 1 } }),
    ...settingRefuses({ vadSettings: { sensitivity: 1 } }, "vadSettings.sensitivity"),
  ],
  recordingEnabled: [
    ...settingTakes({ recordingEnabled: true }),
    call.accepts({}, { recordingEnabled: false }),
    ...settingRefuses({ recordingEnabled: "yes" }, "recordingEnabled"),
  ],
  firstSpeakerSettings: [
    ...settingTakes({ firstSpeakerSettings: { user: { fallback: { delay: "2s", text: "Hello?" } } } }),
    call.accepts({}, { firstSpeakerSettings: { agent: {} }, firstSpeaker: "FIRST_SPEAKER_AGENT" }),
    ...settingRefuses({ firstSpeakerSettings: {} }, "firstSpeakerSettings"),
  ],
  systemPrompt: [
    ...settingTakes({ systemPrompt: "Be kind." }),
    template.accepts({ systemPrompt: "Be kind to {{guest}}." }),
    template.refuses({ systemPrompt: "{{#open}}" }, "systemPrompt"),
    ...settingRefuses({ systemPrompt: ["x"] }, "systemPrompt"),
  ],
  temperature: [
    ...[0, 0.5, 1].flatMap((temperature) => settingTakes({ temperature })),
    call.accepts({}, { temperature: 0 }),
    ...[-0.01, 1.01, "0"].flatMap((temperature) => settingRefuses({ temperature }, "temperature")),
  ],
  model: [
    ...settingTakes({ model: "default" }),
    call.accepts({}, { model: "default" }),
    call.refuses({ model: "no-such-model" }, "model"),
    ...settingRefuses({ model: "" }, "model"),
  ],
  voice: [
    template.accepts({ voice: "any name" }),
    call.refuses({ voice: "no such voice" }, "voice"),
    ...settingRefuses({ voice: "a", externalVoice: voices }, "externalVoice"),
  ],
  externalVoice: [
    template.accepts({ externalVoice: voices }),
    ...settingRefuses({ externalVoice: {} }, "externalVoice"),
    ...settingRefuses({ externalVoice: { ...voices, provider2: {} } }, "externalVoice"),
    ...settingRefuses({ externalVoice: voices, voice: "a" }, "externalVoice"),
  ],
  voiceOverrides: [
    template.accepts({ voice: "a", voiceOverrides: { provider1: { speed: 1.1 } } }),
    ...settingRefuses({ voiceOverrides: { provider1: { speed: 1.1 } } }, "voiceOverrides"),
    ...settingRefuses(
      { voice: "a", voiceOverrides: { provider1: { model: "other" } } },
      "voiceOverrides.provider1.model",
    ),
    ...settingRefuses({ externalVoice: voices, voiceOverrides: { provider1: {} } }, "voiceOverrides"),
  ],
  languageHint: [
    ...settingTakes({ languageHint: "de-CH" }),
    template.accepts({ languageHint: "{{language}}" }),
    call.refuses({ languageHint: "x".repeat(17) }, "languageHint"),
  ],
  timeExceededMessage: [
    ...settingTakes({ timeExceededMessage: "Our time is up." }),
    template.accepts({ timeExceededMessage: "Goodbye {{guest}}" }),
    ...settingRefuses({ timeExceededMessage: 5 }, "timeExceededMessage"),
  ],
  inactivityMessages: [
    ...settingTakes({
      inactivityMessages: [
        { duration: "5s", message: "Hello?" },
        { duration: "3s", message: "Bye." },
      ],
    }),
    ...settingRefuses(
      { inactivityMessages: Array.from({ length: 101 }, () => ({ duration: "5s", message: "?" })) },
      "inactivityMessages",
    ),
  ],
  selectedTools: [
    template.accepts({ selectedTools: [{ toolName: "anything" }] }),
    template.refuses({ selectedTools: [{ toolName: "a", toolId: OTHER_ID }] }, "selectedTools.0"),
    call.refuses({ selectedTools: [{ toolName: "no such tool" }] }, "selectedTools.0.toolName"),
  ],
  dataConnection: [
    template.accepts({ dataConnection: { websocketUrl: "wss://data.example/x" } }),
    call.accepts(
      { dataConnection: { websocketUrl: "wss://data.example/x" } },
      { dataConnectionConfig: { websocketUrl: "wss://data.example/x" } },
    ),
    ...settingRefuses(
      { dataConnection: { websocketUrl: "http://data.example" } },
      "dataConnection.websocketUrl",
    ),
  ],
  contextSchema: [
    template.accepts({
      systemPrompt: "Guest {{guest}}",
      contextSchema: { type: "object", properties: { guest: { type: "string" } }, required: ["guest"] },
    }),
    template.refuses({ contextSchema: { type: "nonsense" } }, "contextSchema.type"),
    async (service) => {
      const agent = await made(service, "/api/agents", {
        callTemplate: {
          systemPrompt: "Guest {{guest}}",
          medium: { serverWebSocket: { inputSampleRate: 8000 } },
        },
      });
      const path = `/api/agents/${String(agent["agentId"])}/calls`;
      assertRefused(await ask(service, "POST", path, {}), "templateContext.guest");
      const filled = await made(service, path, { templateContext: { guest: "Ada & Bob" } });
      assert.equal(filled["systemPrompt"], "Guest Ada & Bob");
    },
  ],
};

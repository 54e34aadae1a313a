import { CallTemplate, StartAgentCallRequest } from "@parley/schema";
import { describe, expect, test } from "vitest";
import { requestedSettings, requestedAgentSettings } from "./requested-settings.ts";
import type { RequestedSettings } from "./requested-settings.ts";

const requested = (template: object, request: object): RequestedSettings =>
  requestedAgentSettings(CallTemplate.parse(template), StartAgentCallRequest.parse(request));

const socket = { serverWebSocket: { inputSampleRate: 16_000 } };

describe("requestedAgentSettings", () => {
  test.each<[string, object, object, object]>([
    ["nothing", {}, {}, {}],
    [
      "the template alone",
      { systemPrompt: "P", temperature: 0.5 },
      {},
      { systemPrompt: "P", temperature: 0.5 },
    ],
    [
      "the request over it",
      { joinTimeout: "10s", maxDuration: "60s" },
      { joinTimeout: "20s" },
      {
        joinTimeout: "20s",
        maxDuration: "60s",
      },
    ],
    ["the template's client messages", { clientMessages: "media" }, {}, { clientMessages: "media" }],
    [
      "client messages over them",
      { clientMessages: "media" },
      { clientMessages: "standard" },
      { clientMessages: "standard" },
    ],
    ["false over true", { recordingEnabled: true }, { recordingEnabled: false }, { recordingEnabled: false }],
    [
      "a medium as a whole",
      { medium: { ...socket } },
      { medium: { webRtc: {} } },
      { medium: { webRtc: {} } },
    ],
    [
      "first speaker as a whole",
      { firstSpeakerSettings: { agent: { text: "Hi", delay: "1s" } } },
      {
        firstSpeakerSettings: { agent: { delay: "2s" } },
      },
      { firstSpeakerSettings: { agent: { delay: "2s" } } },
    ],
    [
      "a list of secrets as a whole",
      { sharedSecrets: ["a".repeat(16)] },
      { sharedSecrets: [] },
      { sharedSecrets: [] },
    ],
    [
      "a voice over a voice with overrides",
      { voice: "a", voiceOverrides: { provider3: { speed: 1.5 } } },
      { voice: "b" },
      {
        voice: "b",
      },
    ],
    ["a voice over an external voice", { externalVoice: { provider4: {} } }, { voice: "b" }, { voice: "b" }],
    [
      "overrides over the template's",
      { voice: "a", voiceOverrides: { provider3: { speed: 1.5 } } },
      {
        voiceOverrides: { provider4: { speakingRate: 1.1 } },
      },
      { voice: "a", voiceOverrides: { provider4: { speakingRate: 1.1 } } },
    ],
    [
      "what only a request has",
      {},
      {
        metadata: { a: "b" },
        initialState: { n: 1 },
        initialMessages: [{ role: "MESSAGE_ROLE_USER", text: "Hi" }],
        experimentalSettings: { x: 1 },
        retentionPolicy: "auto_delete",
      },
      {
        metadata: { a: "b" },
        initialState: { n: 1 },
        initialMessages: [{ role: "MESSAGE_ROLE_USER", text: "Hi" }],
        experimentalSettings: { x: 1 },
        retentionPolicy: "auto_delete",
      },
    ],
    [
      "the template's transcript hints",
      { transcriptHints: ["Torquay"] },
      { experimentalSettings: { x: 1 } },
      { experimentalSettings: { x: 1, transcriptHints: ["Torquay"] } },
    ],
    [
      "transcript hints over the template's",
      { transcriptHints: ["Torquay"] },
      { experimentalSettings: { transcriptHints: [] } },
      { experimentalSettings: { transcriptHints: [] } },
    ],
    [
      "not what describes the template",
      { name: "t", contextSchema: {}, retentionPolicy: "retain" },
      {
        templateContext: { a: 1 },
      },
      { retentionPolicy: "retain" },
    ],
  ])("merges %s", (_what, template, request, wanted) => {
    expect(requested(template, request).values).toEqual(wanted);
  });

  test("tells where each value stands", () => {
    const { fieldOf } = requested({ voice: "a", model: "m" }, { joinTimeout: "2s" });
    expect([fieldOf("voice"), fieldOf("model"), fieldOf("joinTimeout"), fieldOf("medium")]).toEqual([
      "callTemplate.voice",
      "callTemplate.model",
      "joinTimeout",
      "medium",
    ]);
    expect(requested({ voice: "a" }, { voice: "b" }).fieldOf("voice")).toBe("voice");
    expect(requestedSettings({ voice: "a" }).fieldOf("voice")).toBe("voice");
  });

  const own = [
    { toolName: "look_up" },
    { temporaryTool: { modelToolName: "book", client: {} } },
    { toolId: "11111111-1111-4111-8111-111111111111", nameOverride: "renamed" },
  ];
  const fields = (overrides: object): string[] =>
    requested({ selectedTools: own }, { toolOverrides: overrides }).tools.map(({ field }) => field);
  const [first, second, third] = [0, 1, 2].map((index) => `callTemplate.selectedTools.${index}`);

  test.each<[string, object, (string | undefined)[]]>([
    ["no overrides", {}, [first, second, third]],
    ["remove, by the name the model sees", { remove: ["book", "renamed", "unknown"] }, [first]],
    ["removeAll", { removeAll: true }, []],
    ["add", { add: [{ toolName: "more" }] }, [first, second, third, "toolOverrides.add.0"]],
    [
      "removeAll, then remove, then add",
      { removeAll: true, remove: ["book"], add: [{ toolName: "book" }] },
      ["toolOverrides.add.0"],
    ],
    [
      "remove does not reach what is added",
      { remove: ["book"], add: [{ toolName: "x", nameOverride: "book" }] },
      [first, third, "toolOverrides.add.0"],
    ],
  ])("tools: %s", (_what, overrides, wanted) => {
    expect(fields(overrides)).toEqual(wanted);
  });

  test("a stored tool is taken away once its name is known", () => {
    const { tools } = requested({ selectedTools: own }, { toolOverrides: { remove: ["look_up"] } });
    expect(tools.map(({ removable }) => removable?.has("look_up"))).toEqual([true, true, true]);
    expect(
      requested({}, { toolOverrides: { add: [{ toolName: "x" }] } }).tools[0]?.removable,
    ).toBeUndefined();
  });
});

import { StartCallRequest } from "@parley/schema";
import { describe, expect, test } from "vitest";
import { settingsOf, stageSettingsOf } from "../../plan/call-settings.ts";
import type { PriorCall } from "../../plan/prior-call.ts";
import { noLimits } from "../../call/testing/compile-input.ts";
import { requestedSettings } from "../../plan/requested-settings.ts";
import { refusal, setUp, socket } from "./testing/call-creation.ts";

const PRIOR = "55555555-5555-4555-8555-555555555555";
const query = { priorCallId: PRIOR };
const secured = {
  modelToolName: "book",
  http: { baseUrlPattern: "https://example.com/book" },
  requirements: {
    httpSecurityOptions: {
      options: [
        { requirements: { key: { headerApiKey: { name: "X-Key" } } }, serviceCallTokenRequirement: {} },
      ],
    },
  },
};
const request = {
  systemPrompt: "Before.",
  temperature: 0.5,
  voice: "alba",
  languageHint: "de",
  maxDuration: "60s",
  joinTimeout: "10s",
  recordingEnabled: true,
  clientMessages: "standard",
  metadata: { a: "b" },
  initialState: { step: 1 },
  firstSpeakerSettings: { user: {} },
  dataConnection: { websocketUrl: "wss://example.com/side", headers: { "x-key": "secret" } },
  sharedSecrets: ["s".repeat(16)],
  inactivityMessages: [{ duration: "5s", message: "Hello?" }],
  vadSettings: { turnEndpointDelay: "0.5s" },
  experimentalSettings: { x: 1 },
  selectedTools: [{ temporaryTool: secured, authTokens: { key: "k" } }],
};

/** The result of a first call with `request`. */
async function priorOf(changes: object = {}): Promise<PriorCall> {
  const { call, started } = setUp({ randomToken: () => "first-token", randomId: () => "first-id" });
  await call({ ...request, ...changes });
  const [plan] = started;
  if (plan === undefined) throw new Error("did not start");
  const settings = settingsOf(
    requestedSettings(StartCallRequest.parse({ medium: socket, ...request, ...changes })),
    noLimits,
  );
  return {
    settings,
    metadata: request.metadata,
    stageSettings: stageSettingsOf(settings),
    plans: { templateContext: { name: "Ada" }, firstStage: plan.stage, lastStage: plan.stage },
    messages: [
      { role: "MESSAGE_ROLE_USER", text: "Hi", medium: "MESSAGE_MEDIUM_VOICE" },
      { role: "MESSAGE_ROLE_AGENT", text: "Hello", metadata: { interrupted: "true" } },
    ],
  };
}

async function after(body: object, prior?: PriorCall) {
  const loaded = prior ?? (await priorOf());
  const world = setUp({ loadPriorCall: async () => loaded });
  // The medium is unset, like the rest.
  await world.create({
    accountId: "acc",
    agentId: null,
    request: StartCallRequest.parse(body),
    query,
  });
  const [record] = world.stored;
  const [plan] = world.started;
  if (record === undefined || plan === undefined) throw new Error("did not start");
  return { record, plan };
}

describe("priorCallId", () => {
  test("everything unset comes from the prior call", async () => {
    const { record, plan } = await after({});
    expect(record.settings).toEqual((await priorOf()).settings);
    expect(record.metadata).toEqual({ a: "b" });
    expect(plan).toMatchObject({
      maxDurationMs: 60_000,
      joinTimeoutMs: 10_000,
      recordingEnabled: true,
      clientMessages: "standard",
      initialState: { step: 1 },
      firstSpeaker: { kind: "user" },
      templateContext: { name: "Ada" },
      dataConnection: { headers: { "x-key": "secret" }, sharedSecrets: ["s".repeat(16)] },
      stage: {
        systemPrompt: "Before.",
        voice: { kind: "deployment", name: "alba" },
        languageHint: "de",
        temperature: 0.5,
      },
    });
    expect(plan.initialMessages.map(({ text }) => text)).toEqual(["Hi", "Hello"]);
    expect(record.initialMessages[1]).toMatchObject({
      index: 1,
      role: "agent",
      metadata: { interrupted: "true" },
    });
  });

  test("what is given wins, and takes with it what belongs to it", async () => {
    const { record } = await after({
      systemPrompt: "Now.",
      voice: "en-us",
      firstSpeaker: "FIRST_SPEAKER_AGENT",
      metadata: {},
      medium: { serverWebSocket: { inputSampleRate: 8_000 } },
    });
    expect(record.settings).toMatchObject({
      systemPrompt: "Now.",
      voice: "en-us",
      firstSpeaker: "FIRST_SPEAKER_AGENT",
      firstSpeakerSettings: { agent: {} },
      medium: { serverWebSocket: { inputSampleRate: 8_000 } },
      languageHint: "de",
    });
    expect(record.metadata).toEqual({});
  });

  test("temporary tools come along with their credentials, under the new call's token and listing", async () => {
    const { plan, record } = await after({});
    expect(plan.stage.tools).toHaveLength(1);
    expect(plan.stage.tools[0]).toMatchObject({
      name: "book",
      implementation: { credentials: [{ name: "X-Key", value: "k" }], callToken: "token" },
    });
    expect(plan.callToken).toBe("token");
    expect(plan.stage.tools[0]?.callToolId).not.toBe("first-id");
    expect(record.stage.tools?.map(({ callToolId }) => callToolId)).toEqual([
      plan.stage.tools[0]?.callToolId,
    ]);
  });

  test.each([
    [[], []],
    [[{ temporaryTool: { modelToolName: "other", client: {} } }], ["other"]],
  ])("tools that are given replace them: %o", async (selectedTools, wanted) => {
    const { plan } = await after({ selectedTools });
    expect(plan.stage.tools.map(({ name }) => name)).toEqual(wanted);
  });

  test("stage settings are those of its last stage", async () => {
    const prior = await priorOf();
    const { plans } = prior;
    if (plans === null) throw new Error("no plans");
    const vad = { ...plans.lastStage.vad, minimumTurnDurationMs: 50 };
    const { plan, record } = await after(
      {},
      {
        ...prior,
        stageSettings: {
          ...prior.stageSettings,
          systemPrompt: "Later.",
          voice: null,
          initialState: { step: 2 },
        },
        plans: { ...plans, lastStage: { ...plans.lastStage, vad, tools: [] } },
      },
    );
    expect(plan.stage).toMatchObject({
      systemPrompt: "Later.",
      voice: { kind: "deployment", name: null },
      vad,
      tools: [],
    });
    expect(plan.initialState).toEqual({ step: 2 });
    expect(record.settings).toMatchObject({ vadSettings: { minimumTurnDuration: "0.05s" } });
  });

  test("a prior call of a version before leaves no tools", async () => {
    const { plan } = await after({}, { ...(await priorOf()), plans: null });
    expect([plan.stage.tools, plan.stage.systemPrompt]).toEqual([[], "Before."]);
  });

  test("the newest thousand messages, and no result without its call", async () => {
    const call = (invocationId: string) => ({
      role: "MESSAGE_ROLE_TOOL_CALL" as const,
      text: "{}",
      invocationId,
      toolName: "t",
    });
    const result = (invocationId: string) => ({
      role: "MESSAGE_ROLE_TOOL_RESULT" as const,
      text: "OK",
      invocationId,
      toolName: "t",
    });
    const said = (text: string) => ({ role: "MESSAGE_ROLE_USER" as const, text });
    const tail = [
      call("b"),
      result("a"),
      result("b"),
      ...Array.from({ length: 997 }, (_, index) => said(`${index}`)),
    ];
    const { plan } = await after({}, { ...(await priorOf()), messages: [said("old"), call("a"), ...tail] });
    expect(plan.initialMessages).toHaveLength(999);
    expect(plan.initialMessages.slice(0, 3).map(({ role, invocationId }) => [role, invocationId])).toEqual([
      ["tool_call", "b"],
      ["tool_result", "b"],
      ["user", null],
    ]);
  });

  test("messages of one's own are refused", async () => {
    const error = await refusal(setUp().call({ initialMessages: [] }, query));
    expect([error.kind, error.errors]).toEqual([
      "refused",
      [{ field: "initialMessages", message: "must not be given together with priorCallId" }],
    ]);
  });

  test("a call that is not there, and one that is running", async () => {
    const none = setUp();
    expect((await refusal(none.call({}, query))).kind).toBe("not_found");
    const running = setUp({ loadPriorCall: async () => "running" });
    expect((await refusal(running.call({}, query))).kind).toBe("prior_call_running");
    expect([none.stored, running.stored]).toEqual([[], []]);
  });

  test("a value of before that is no longer possible is named as the field that mends it", async () => {
    const prior = await priorOf();
    const world = setUp({
      loadPriorCall: async () => prior,
      limits: { concurrentCalls: 1, scheduledCalls: 1, joinTimeoutMs: 60_000, maxDurationMs: 30_000 },
      voices: () => [],
    });
    const error = await refusal(world.call({}, query));
    expect(error.errors.map(({ field }) => field)).toEqual(["maxDuration", "voice"]);
  });
});

import { DATA_MESSAGE_FLAGS } from "@parley/schema";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileCallPlan, dataMessageFlags, vadPlan } from "./compile-plan.ts";
import type { CallPlan } from "./plan.ts";
import { stageSettingsOf } from "./call-settings.ts";
import { parsePlan, storedPlan } from "./stored-plan.ts";
import { inputOf, planOf, requests, socket, turnTaking } from "../call/testing/compile-input.ts";

describe("compileCallPlan", () => {
  test("the plan of a call that asks for nothing but its medium", () => {
    expect(planOf({})).toEqual({
      callId: "c",
      accountId: "a",
      agentId: null,
      medium: {
        kind: "serverWebSocket",
        inputSampleRateHz: 16_000,
        outputSampleRateHz: 16_000,
        clientBufferSizeMs: 60,
        mediaIdleTimeoutMs: null,
      },
      joinTimeoutMs: 30_000,
      maxDurationMs: 3_600_000,
      dataMessages: dataMessageFlags(socket),
      firstSpeaker: { kind: "agent", delayMs: 0, text: null, prompt: null, uninterruptible: false },
      greetingPrompt: true,
      initialOutputMedium: "voice",
      initialMessages: [],
      initialState: {},
      metadata: {},
      recordingEnabled: false,
      templateContext: {},
      callToken: "call-token",
      warnings: [],
      dataConnection: null,
      turnTaking,
      stage: {
        stageId: "s",
        systemPrompt: "",
        temperature: 0,
        model: "default",
        voice: { kind: "deployment", name: null },
        languageHint: null,
        timeExceededMessage: null,
        inactivityMessages: [],
        tools: [],
        document: { settings: stageSettingsOf(inputOf({}).settings), tools: [] },
        vad: {
          frameActivationThreshold: 0.1,
          turnEndpointDelayMs: 384,
          minimumTurnDurationMs: 0,
          minimumInterruptionDurationMs: 90,
        },
      },
    });
  });

  test.each<[object, Partial<CallPlan["medium"]>]>([
    [{ outputSampleRate: 48_000 }, { inputSampleRateHz: 16_000, outputSampleRateHz: 48_000 }],
    [{ clientBufferSizeMs: 0 }, { clientBufferSizeMs: 20 }],
    [{ clientBufferSizeMs: 30_000 }, { clientBufferSizeMs: 30_000 }],
    [{ mediaIdleTimeout: "0s" }, { mediaIdleTimeoutMs: 10_000 }],
    [{ mediaIdleTimeout: "12.5s" }, { mediaIdleTimeoutMs: 12_500 }],
  ])("medium %o", (given, wanted) => {
    expect(
      planOf({ medium: { serverWebSocket: { inputSampleRate: 16_000, ...given } } }).medium,
    ).toMatchObject(wanted);
  });

  test.each<[object, CallPlan["firstSpeaker"]]>([
    [
      { agent: { text: "Hi", prompt: "Greet", delay: "1.5s", uninterruptible: true } },
      {
        kind: "agent",
        delayMs: 1_500,
        text: "Hi",
        prompt: null,
        uninterruptible: true,
      },
    ],
    [
      { agent: { text: "  ", prompt: "Greet" } },
      {
        kind: "agent",
        delayMs: 0,
        text: null,
        prompt: "Greet",
        uninterruptible: false,
      },
    ],
    [{ user: {} }, { kind: "user", fallback: null }],
    [{ user: { fallback: {} } }, { kind: "user", fallback: { delayMs: 5_000, text: null, prompt: null } }],
    [
      { user: { fallback: { delay: "0s", text: "Hello?" } } },
      {
        kind: "user",
        fallback: { delayMs: 0, text: "Hello?", prompt: null },
      },
    ],
  ])("first speaker %o", (firstSpeakerSettings, wanted) => {
    expect(planOf({ firstSpeakerSettings }).firstSpeaker).toEqual(wanted);
  });

  test("initial messages keep their roles, ids and order; no text is the empty text", () => {
    expect(
      planOf({
        initialMessages: [
          { role: "MESSAGE_ROLE_USER", text: "Hi", medium: "MESSAGE_MEDIUM_TEXT" },
          { role: "MESSAGE_ROLE_AGENT" },
          { role: "MESSAGE_ROLE_TOOL_CALL", text: "{}", invocationId: "i", toolName: "t" },
          { role: "MESSAGE_ROLE_TOOL_RESULT", text: "ok", invocationId: "i", toolName: "t" },
        ],
      }).initialMessages,
    ).toEqual([
      { role: "user", text: "Hi", medium: "text", invocationId: null, toolName: null },
      { role: "agent", text: "", medium: "voice", invocationId: null, toolName: null },
      { role: "tool_call", text: "{}", medium: "voice", invocationId: "i", toolName: "t" },
      { role: "tool_result", text: "ok", medium: "voice", invocationId: "i", toolName: "t" },
    ]);
  });

  test("inactivity messages", () => {
    const inactivityMessages = [
      { duration: "8s", message: "Still there?" },
      { duration: "4s", message: "Hello?", endBehavior: "END_BEHAVIOR_HANG_UP_SOFT" },
      { duration: "2s", message: "Bye.", endBehavior: "END_BEHAVIOR_HANG_UP_STRICT" },
    ];
    expect(planOf({ inactivityMessages }).stage.inactivityMessages).toEqual([
      { afterMs: 8_000, text: "Still there?", endBehavior: "none" },
      { afterMs: 4_000, text: "Hello?", endBehavior: "soft" },
      { afterMs: 2_000, text: "Bye.", endBehavior: "strict" },
    ]);
  });

  test("names stand for what the deployment has", () => {
    const plan = compileCallPlan({
      ...inputOf({ voice: "v", model: "m" }),
      names: { voice: { kind: "deployment", name: "inner" }, model: "default" },
    });
    expect(plan.stage).toMatchObject({ voice: { kind: "deployment", name: "inner" }, model: "default" });
  });

  test("WebRTC is 16 kHz, and who is lost by it has been silent for long", () => {
    for (const medium of [{}, { webRtc: {} }]) {
      const plan = planOf({ medium });
      expect(plan.medium).toMatchObject({
        kind: "webRtc",
        inputSampleRateHz: 16_000,
        outputSampleRateHz: 16_000,
      });
      expect(plan.turnTaking.reconnectGraceMs).toBe(1_000);
    }
    expect(planOf({}).turnTaking.reconnectGraceMs).toBe(10_000);
  });

  test("takes keys as messages over SIP", () => {
    expect(planOf({ medium: { sip: { incoming: {} } } }).medium).toMatchObject({
      kind: "sip",
      mediaIdleTimeoutMs: null,
      digits: { kind: "text", urgency: "immediate" },
    });
  });
});

describe("dataMessageFlags", () => {
  const on = { pong: true, state: true, transcript: true, clientToolInvocation: true, callStarted: true };
  const off = {
    dataConnectionToolInvocation: false,
    debug: false,
    callEvent: false,
    toolUsed: false,
    invokingTool: false,
    userStartedSpeaking: false,
    userStoppedSpeaking: false,
  };

  test("serverWebSocket", () => {
    expect(dataMessageFlags(socket)).toEqual({ ...on, ...off, playbackClearBuffer: true });
  });

  test("webRtc", () => {
    expect(dataMessageFlags({})).toEqual({ ...on, ...off, playbackClearBuffer: false });
  });

  test("media without a channel", () => {
    expect(Object.values(dataMessageFlags({ telephony1: {} }))).not.toContain(true);
  });

  test("a flag that is given decides, both ways", () => {
    for (const given of [true, false]) {
      const dataMessages = Object.fromEntries(DATA_MESSAGE_FLAGS.map((flag) => [flag, given]));
      expect(dataMessageFlags({ serverWebSocket: { inputSampleRate: 8_000, dataMessages } })).toEqual(
        dataMessages,
      );
      expect(dataMessageFlags({ webRtc: { dataMessages } })).toEqual(dataMessages);
    }
  });
});

describe("the data connection", () => {
  const websocketUrl = "wss://example.com/side";
  const flags = {
    pong: true,
    state: true,
    transcript: true,
    callStarted: true,
    dataConnectionToolInvocation: true,
    clientToolInvocation: false,
    playbackClearBuffer: false,
    debug: false,
    callEvent: false,
    toolUsed: false,
    invokingTool: false,
    userStartedSpeaking: false,
    userStoppedSpeaking: false,
  };

  test("with nothing but its address", () => {
    expect(planOf({ dataConnection: { websocketUrl } }).dataConnection).toEqual({
      websocketUrl,
      headers: {},
      sharedSecrets: [],
      audio: null,
      dataMessages: flags,
    });
  });

  test("with everything", () => {
    const dataConnection = {
      websocketUrl,
      headers: { "x-key": "k" },
      audioConfig: { sampleRate: 8_000, channelMode: "CHANNEL_MODE_MIXED" },
      dataMessages: { pong: false, debug: true },
    };
    const sharedSecrets = ["a".repeat(16), "b".repeat(16)];
    expect(planOf({ dataConnection, sharedSecrets }).dataConnection).toEqual({
      websocketUrl,
      headers: { "x-key": "k" },
      sharedSecrets,
      audio: { sampleRateHz: 8_000, channels: "mixed" },
      dataMessages: { ...flags, pong: false, debug: true },
    });
  });

  test("audio has defaults of its own", () => {
    const dataConnection = { websocketUrl, audioConfig: {} };
    expect(planOf({ dataConnection }).dataConnection?.audio).toEqual({
      sampleRateHz: 16_000,
      channels: "separated",
    });
  });
});

describe("vadPlan", () => {
  test.each([
    ["0s", 0],
    ["0.000001s", 32],
    ["0.001s", 32],
    ["0.031s", 32],
    ["0.032s", 32],
    ["0.032000001s", 32],
    ["0.0321s", 64],
    ["0.384s", 384],
    ["0.385s", 416],
    ["10s", 10_016],
  ])("turnEndpointDelay %s waits %i ms", (turnEndpointDelay, wanted) => {
    expect(vadPlan({ turnEndpointDelay }).turnEndpointDelayMs).toBe(wanted);
  });

  test("the delay is the least multiple of 32 ms that is not less", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10_000 }), (ms) => {
        const { turnEndpointDelayMs } = vadPlan({ turnEndpointDelay: `${ms / 1000}s` });
        expect(turnEndpointDelayMs % 32).toBe(0);
        expect(turnEndpointDelayMs - ms).toBeGreaterThanOrEqual(0);
        expect(turnEndpointDelayMs - ms).toBeLessThan(32);
      }),
    );
  });

  test.each<[object, number, number]>([
    [{}, 0, 90],
    [{ minimumTurnDuration: "0.5s" }, 500, 500],
    [{ minimumTurnDuration: "0.5s", minimumInterruptionDuration: "0.2s" }, 500, 500],
    [{ minimumTurnDuration: "0.2s", minimumInterruptionDuration: "0.5s" }, 200, 500],
    [{ minimumInterruptionDuration: "0s" }, 0, 0],
    [{ minimumTurnDuration: undefined }, 0, 90],
  ])("the larger of both durations interrupts: %o", (given, turn, interruption) => {
    expect(vadPlan(given)).toMatchObject({
      minimumTurnDurationMs: turn,
      minimumInterruptionDurationMs: interruption,
    });
  });
});

describe("any plan", () => {
  test("is the same for the same input", () => {
    fc.assert(
      fc.property(requests, (request) => {
        expect(compileCallPlan(inputOf(request))).toEqual(compileCallPlan(structuredClone(inputOf(request))));
      }),
    );
  });

  test("is frozen all the way down and shares nothing with its input", () => {
    fc.assert(
      fc.property(requests, (request) => {
        const input = inputOf(request);
        const plan = compileCallPlan(input);
        expectFrozen(plan);
        expect(Object.isFrozen(input.settings.initialState)).toBe(false);
        expect(Object.isFrozen(input.turnTaking)).toBe(false);
      }),
    );
  });

  test("comes back from JSON as it was", () => {
    fc.assert(
      fc.property(requests, (request) => {
        const plan = planOf(request);
        expect(parsePlan(JSON.parse(JSON.stringify(storedPlan(plan))))).toEqual(plan);
      }),
    );
  });
});

function expectFrozen(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  expect(Object.isFrozen(value)).toBe(true);
  for (const member of Object.values(value)) expectFrozen(member);
}

describe("the medium of a carrier", () => {
  test.each([
    ["telephony1", 8_000, 200],
    ["telephony2", 8_000, 200],
    ["telephony3", 16_000, 200],
    ["telephony4", 8_000, 300],
  ])("%s has usual rates of %d Hz, and is %d ms ahead", (kind, rate, aheadMs) => {
    const { medium, dataMessages } = planOf({ medium: { [kind]: {} } });
    expect(medium).toEqual({
      kind,
      inputSampleRateHz: rate,
      outputSampleRateHz: rate,
      clientBufferSizeMs: aheadMs,
      mediaIdleTimeoutMs: null,
      digits: { kind: "text", text: "{digits}", urgency: "immediate" },
    });
    expect(Object.values(dataMessages)).not.toContain(true);
  });

  test("has its keys as the request says", () => {
    const digitsOf = (dtmfHandling: object) =>
      planOf({ medium: { telephony4: { dtmfHandling } } }).medium.digits;
    expect(digitsOf({ ignore: true })).toEqual({ kind: "ignored" });
    expect(digitsOf({ ignore: false })).toEqual({ kind: "text", text: "{digits}", urgency: "immediate" });
    expect(digitsOf({ userTextMessage: { text: "Keys.", urgency: "URGENCY_LATER" } })).toEqual({
      kind: "text",
      text: "Keys.",
      urgency: "later",
    });
  });

  test("is stored and read back", () => {
    for (const dtmfHandling of [{}, { ignore: true }]) {
      const plan = planOf({ medium: { telephony2: { dtmfHandling } } });
      expect(parsePlan(JSON.parse(JSON.stringify(storedPlan(plan)))).medium).toEqual(plan.medium);
    }
  });
});

import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { Agent, AgentWrite } from "../agents/agent.ts";
import { mapSecrets, maskSecret, renderAnswer } from "./answer.ts";
import { StartCallRequest } from "../calls/call-requests.ts";
import { Call, CallStage } from "../calls/call.ts";
import { Message } from "../calls/message.ts";
import { AgentPage } from "../agents/agent-routes.ts";

const ID = "3f0c9a52-9d3b-4b7e-8f5e-0d2f5a1b6c7d";
const MOMENT = "2026-01-02T03:04:05.678Z";

const agent = {
  agentId: ID,
  publishedRevisionId: null,
  name: "a",
  created: MOMENT,
  callTemplate: null,
  statistics: { calls: 0 },
};

const secretTemplate = {
  medium: { sip: { outgoing: { to: "1", from: "2", username: "u", password: "sip-password" } } },
  externalVoice: {
    generic: { url: "https://tts.example", headers: { Authorization: "Bearer generic-key" } },
  },
  dataConnection: { websocketUrl: "wss://d.example", headers: { "X-Key": "short" } },
  sharedSecrets: ["0123456789abcdef"],
  selectedTools: [
    {
      temporaryTool: {
        modelToolName: "t",
        mcp: { serverUrl: "https://m.example", headers: { A: "mcp-secret" } },
      },
      authTokens: { key: "token-secret" },
    },
    {
      temporaryTool: {
        modelToolName: "u",
        client: {},
        requirements: {
          httpSecurityOptions: { options: [{ requirements: { key: { httpAuth: { scheme: "s" } } } }] },
        },
      },
      authTokens: { key: "other-secret" },
    },
  ],
};

describe("answers", () => {
  it("hold exactly the fields of their schema", () => {
    const { publishedRevisionId: _, ...stored } = agent;
    const answer = renderAnswer(Agent, { ...stored, accountId: "inside", row: 7 }, { check: true });
    expect(answer).toEqual(agent);
    expect(Object.keys(answer as object)).toEqual(Object.keys(Agent.shape));
  });

  it("have null for what a record lacks and nothing for what a settings object lacks", () => {
    const answer = renderAnswer(Agent, {
      ...agent,
      callTemplate: { voice: null, medium: undefined, temperature: 0 },
    });
    expect(answer).toEqual({ ...agent, callTemplate: { temperature: 0 } });
  });

  it("leave write-only fields out and mask secrets", () => {
    const answer = renderAnswer(Agent, { ...agent, callTemplate: secretTemplate }, { check: true });
    expect(answer).toEqual({
      ...agent,
      callTemplate: {
        medium: { sip: { outgoing: { to: "1", from: "2", username: "u" } } },
        externalVoice: { generic: { url: "https://tts.example", headers: { Authorization: "Bear…" } } },
        dataConnection: { websocketUrl: "wss://d.example", headers: { "X-Key": "…" } },
        selectedTools: [
          {
            temporaryTool: {
              modelToolName: "t",
              mcp: { serverUrl: "https://m.example", headers: { A: "mcp-…" } },
            },
          },
          { temporaryTool: secretTemplate.selectedTools[1]?.temporaryTool },
        ],
      },
    });
  });

  it("reach into pages", () => {
    const page = {
      results: [{ ...agent, callTemplate: secretTemplate }],
      next: null,
      previous: null,
      total: 1,
    };
    const text = JSON.stringify(renderAnswer(AgentPage, page, { check: true }));
    for (const secret of ["sip-password", "generic-key", "0123456789abcdef", "mcp-secret", "token-secret"]) {
      expect(text).not.toContain(secret);
    }
  });

  it("can be printed in vendor names", () => {
    expect(
      renderAnswer(
        Agent,
        { ...agent, callTemplate: { medium: { telephony1: {} } } },
        { check: true, names: "vendor" },
      ),
    ).toEqual({ ...agent, callTemplate: { medium: { twilio: {} } } });
  });

  it.each([
    ["a required field is absent", { ...agent, name: undefined }, "name is required"],
    ["a value has the wrong type", { ...agent, statistics: { calls: "1" } }, "statistics.calls must be"],
    [
      "a moment has no milliseconds",
      { ...agent, created: "2026-01-02T03:04:05Z" },
      "created must be a UTC date-time",
    ],
    [
      "a duration is not in its shortest form",
      { ...agent, callTemplate: { joinTimeout: "30.0s" } },
      "canonical form",
    ],
    ["an identifier is not in lower case", { ...agent, agentId: ID.toUpperCase() }, "canonical form"],
  ])("fail the check when %s", (_, value, message) => {
    expect(() => renderAnswer(Agent, value, { check: true })).toThrow(message);
  });

  it("are every field of a call", () => {
    const call = {
      callId: ID,
      created: MOMENT,
      billingStatus: "BILLING_STATUS_PENDING",
      firstSpeaker: "FIRST_SPEAKER_AGENT",
      firstSpeakerSettings: { agent: {} },
      initialOutputMedium: "MESSAGE_MEDIUM_VOICE",
      joinTimeout: "30s",
      maxDuration: "3600s",
      medium: { serverWebSocket: { inputSampleRate: 16_000 } },
      model: "default",
      temperature: 0,
      inactivityMessages: [],
      recordingEnabled: false,
      clientMessages: "trusted",
      hasErrors: false,
      firstWords: null,
      caller: null,
      medianReplyWait: null,
      transcriptOptional: true,
      metadata: { a: "b" },
      initialState: {},
      callbacks: { ended: { url: "https://a.example", secrets: ["shown-to-verify"] } },
    };
    const nulls =
      "agent agentId joined ended endReason joinUrl clientVersion billedDuration billedSideInputTokens " +
      "billedSideOutputTokens systemPrompt timeExceededMessage voice languageHint externalVoice voiceOverrides " +
      "engineUse cost vadSettings retentionPolicy shortSummary summary experimentalSettings requestContext dataConnectionConfig sipDetails";
    expect(renderAnswer(Call, call, { check: true })).toEqual({
      ...call,
      ...Object.fromEntries(nulls.split(" ").map((field) => [field, null])),
    });
  });

  it("are every field of a stage, and of a message what it has", () => {
    const stage = {
      callId: ID,
      callStageId: ID,
      created: MOMENT,
      model: "default",
      temperature: 0.5,
      inactivityMessages: [],
      errorCount: 0,
      initialState: {},
    };
    const nulls =
      "systemPrompt timeExceededMessage voice languageHint externalVoice voiceOverrides initialTokenCount " +
      "latestTokenCount experimentalSettings";
    expect(renderAnswer(CallStage, stage, { check: true })).toEqual({
      ...stage,
      ...Object.fromEntries(nulls.split(" ").map((field) => [field, null])),
    });
    const message = { role: "MESSAGE_ROLE_USER", text: "hi", callStageMessageIndex: 0, callStageId: ID };
    expect(renderAnswer(Message, { ...message, toolName: null }, { check: true })).toEqual(message);
  });
});

describe("secrets", () => {
  it("show four characters at most", () => {
    expect(maskSecret("")).toBe("…");
    expect(maskSecret("1234567")).toBe("…");
    expect(maskSecret("12345678")).toBe("1234…");
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (secret) => {
        const masked = maskSecret(secret);
        expect(Array.from(masked).length).toBeLessThanOrEqual(5);
        expect(maskSecret(masked)).toBe(masked);
      }),
    );
  });

  it("are found wherever a document keeps them", () => {
    const found: string[] = [];
    const sealed = mapSecrets(AgentWrite, { name: "a", callTemplate: secretTemplate }, (text) => {
      found.push(text);
      return `sealed:${text.length}`;
    });
    expect(found.sort()).toEqual(
      [
        "0123456789abcdef",
        "Bearer generic-key",
        "mcp-secret",
        "other-secret",
        "short",
        "sip-password",
        "token-secret",
      ].sort(),
    );
    expect(JSON.stringify(sealed)).not.toMatch(/secret"|generic-key|password":"sip/);
    expect(sealed).toMatchObject({ name: "a", callTemplate: { sharedSecrets: ["sealed:16"] } });
  });

  it("of callbacks are sealed but answered", () => {
    const request = {
      callbacks: { joined: { url: "https://a.example", secrets: ["whole"] } },
      metadata: { k: "plain" },
    };
    expect(mapSecrets(StartCallRequest, request, () => "x")).toEqual({
      callbacks: { joined: { url: "https://a.example", secrets: ["x"] } },
      metadata: { k: "plain" },
    });
  });

  it("come back when the change is undone", () => {
    const wrapped = mapSecrets(AgentWrite, { callTemplate: secretTemplate }, (text) => `<${text}>`);
    expect(mapSecrets(AgentWrite, wrapped, (text) => text.slice(1, -1))).toEqual({
      callTemplate: secretTemplate,
    });
  });

  it("leave what the schema does not know as it is", () => {
    expect(mapSecrets(z.strictObject({ a: z.string() }), { a: "x", b: ["y"] }, () => "z")).toEqual({
      a: "x",
      b: ["y"],
    });
  });
});

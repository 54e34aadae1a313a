import { describe, expect, it } from "vitest";
import { AgentPatch, AgentWrite } from "../agents/agent.ts";
import { StartAgentCallRequest, StartCallRequest } from "./call-requests.ts";
import { firstSpeakerOf } from "./call-settings.ts";
import { parseBody } from "../values/parse-body.ts";
import { problemsOf, type Row } from "../testing/problems.ts";

const many = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item);
const message = { role: "MESSAGE_ROLE_USER", text: "hi" };

describe("agent names", () => {
  it.each<Row>([
    ["one letter", { name: "a" }, []],
    ["64 letters", { name: "x".repeat(64) }, []],
    ["64 code points of two units each", { name: "😀".repeat(64) }, []],
    ["65", { name: "x".repeat(65) }, ["name: must have at most 64 characters"]],
    ["empty", { name: "" }, ["name: must not be empty"]],
    ["blank", { name: " \u00a0 " }, ["name: must not be blank"]],
    ["a line break", { name: "a\nb" }, ["name: must not contain control characters"]],
    ["a number", { name: 5 }, ["name: must be text"]],
  ])("%s", (_, body, problems) => {
    expect(problemsOf(AgentWrite, body)).toEqual(problems);
    expect(problemsOf(AgentPatch, body, { partial: true })).toEqual(problems);
  });
});

/** Cases that a call request and a template treat alike. */
const shared: readonly Row[] = [
  ["nothing", {}, []],
  ["join timeout at its least", { joinTimeout: "1s" }, []],
  ["join timeout at its most", { joinTimeout: "3600s" }, []],
  ["join timeout too short", { joinTimeout: "0.999s" }, ["joinTimeout: must be at least 1s"]],
  ["join timeout too long", { joinTimeout: "3600.1s" }, ["joinTimeout: must be at most 3600s"]],
  ["join timeout as a number", { joinTimeout: 30 }, ["joinTimeout: must be text"]],
  ["max duration at its most", { maxDuration: "86400s" }, []],
  ["max duration too long", { maxDuration: "86400.001s" }, ["maxDuration: must be at most 86400s"]],
  ["max duration of nothing", { maxDuration: "0s" }, ["maxDuration: must be at least 1s"]],
  ["a medium", { initialOutputMedium: "MESSAGE_MEDIUM_TEXT" }, []],
  ["recording as text", { recordingEnabled: "yes" }, ["recordingEnabled: must be true or false"]],
  ["client messages", { clientMessages: "media" }, []],
  [
    "client messages of another level",
    { clientMessages: "all" },
    ["clientMessages: must be one of trusted, standard, media"],
  ],
  ["ten secrets", { sharedSecrets: many(10, "0123456789abcdef") }, []],
  [
    "eleven secrets",
    { sharedSecrets: many(11, "0123456789abcdef") },
    ["sharedSecrets: must have at most 10 entries"],
  ],
  [
    "a short secret",
    { sharedSecrets: ["x".repeat(15)] },
    ["sharedSecrets.0: must have at least 16 characters"],
  ],
  [
    "a long secret",
    { sharedSecrets: ["x".repeat(128)] },
    ["sharedSecrets.0: must have at most 127 characters"],
  ],
  [
    "no first speaker",
    { firstSpeakerSettings: {} },
    ["firstSpeakerSettings: must have exactly one of user, agent"],
  ],
  [
    "two first speakers",
    { firstSpeakerSettings: { user: {}, agent: {} } },
    ["firstSpeakerSettings: must have exactly one of user, agent; it has user and agent"],
  ],
  [
    "a first speaker in full",
    { firstSpeakerSettings: { user: { fallback: { delay: "5s", text: "t", prompt: "p" } } } },
    [],
  ],
  [
    "a negative delay",
    { firstSpeakerSettings: { agent: { delay: "-1s" } } },
    ["firstSpeakerSettings.agent.delay: must be at least 0s"],
  ],
];

/** Settings that both StartCallRequest and CallTemplate have, but not StartAgentCallRequest. */
const own: readonly Row[] = [
  ["coldest", { temperature: 0 }, []],
  ["warmest", { temperature: 1 }, []],
  ["too warm", { temperature: 1.01 }, ["temperature: must be at most 1"]],
  ["too cold", { temperature: -0.01 }, ["temperature: must be at least 0"]],
  ["no number", { temperature: "0.5" }, ["temperature: must be a number"]],
  [
    "100 inactivity messages",
    {
      inactivityMessages: many(100, {
        duration: "1s",
        message: "m",
        endBehavior: "END_BEHAVIOR_HANG_UP_SOFT",
      }),
    },
    [],
  ],
  [
    "101 inactivity messages",
    { inactivityMessages: many(101, { duration: "1s", message: "m" }) },
    ["inactivityMessages: must have at most 100 entries"],
  ],
  [
    "an inactivity message at once",
    { inactivityMessages: [{ duration: "0s", message: "m" }] },
    ["inactivityMessages.0.duration: must be more than 0s"],
  ],
  ["voice activity", { vadSettings: { turnEndpointDelay: "10s", frameActivationThreshold: 0.1 } }, []],
  [
    "voice activity out of bounds",
    {
      vadSettings: {
        turnEndpointDelay: "10.1s",
        minimumTurnDuration: "-1s",
        minimumInterruptionDuration: "11s",
        frameActivationThreshold: 0.05,
      },
    },
    [
      "vadSettings.turnEndpointDelay: must be at most 10s",
      "vadSettings.minimumTurnDuration: must be at least 0s",
      "vadSettings.minimumInterruptionDuration: must be at most 10s",
      "vadSettings.frameActivationThreshold: must be at least 0.1",
    ],
  ],
  [
    "too high a threshold",
    { vadSettings: { frameActivationThreshold: 1.1 } },
    ["vadSettings.frameActivationThreshold: must be at most 1"],
  ],
  ["an empty model", { model: "" }, ["model: must not be empty"]],
];

function below(place: string, problems: readonly string[]): string[] {
  return problems.map((problem) => `${place}.${problem}`);
}

describe("settings of a call", () => {
  it.each([...shared, ...own])("%s", (_, body, problems) => {
    expect(problemsOf(StartCallRequest, body)).toEqual(problems);
  });
});

describe("settings of a template", () => {
  it.each([...shared, ...own])("%s", (_, callTemplate, problems) => {
    expect(problemsOf(AgentWrite, { callTemplate })).toEqual(below("callTemplate", problems));
  });

  it.each([
    ["a hundred hints", Array.from({ length: 100 }, (_, index) => `word ${String(index)}`), []],
    ["one hint more", Array.from({ length: 101 }, () => "word"), ["transcriptHints: "]],
    ["an empty hint", ["a", ""], ["transcriptHints.1: must not be empty"]],
    ["a hint of 101 characters", ["x".repeat(101)], ["transcriptHints.0: must have at most 100 characters"]],
    ["hints that are no list", "Torquay", ["transcriptHints: "]],
  ])("%s", (_, transcriptHints, problems) => {
    const found = problemsOf(AgentWrite, { callTemplate: { transcriptHints } });
    expect(found).toEqual(
      below("callTemplate", problems).map((problem) => expect.stringContaining(problem) as string),
    );
  });
});

describe("settings of an agent's call", () => {
  it.each(shared)("%s", (_, body, problems) => {
    expect(problemsOf(StartAgentCallRequest, body)).toEqual(problems);
  });

  it.each<Row>([
    ["context", { templateContext: { user: { name: "Ada" } } }, []],
    ["context that is no object", { templateContext: [1] }, ["templateContext: must be an object"]],
    ["an agent", { agentId: "3F0C9A52-9D3B-4B7E-8F5E-0D2F5A1B6C7D" }, []],
    ["no agent", { agentId: "me" }, ["agentId: must be a UUID"]],
    ["voice alone", { voice: "v" }, []],
    ["overrides of the template's voice", { voiceOverrides: { provider3: { speed: 1.5 } } }, []],
    ["tools", { toolOverrides: { removeAll: true, remove: ["a"], add: [{ toolName: "b" }] } }, []],
    [
      "a prompt, which only the template has",
      { systemPrompt: "x", vadSettings: {} },
      ["systemPrompt: is not a known field", "vadSettings: is not a known field"],
    ],
  ])("%s", (_, body, problems) => {
    expect(problemsOf(StartAgentCallRequest, body)).toEqual(problems);
  });
});

describe("masked secrets", () => {
  const headers = { Authorization: "Bear…", other: "whole" };
  const body = {
    dataConnection: { websocketUrl: "wss://d.example", headers },
    externalVoice: { generic: { url: "https://t.example", headers } },
    selectedTools: [
      { toolName: "a" },
      { temporaryTool: { modelToolName: "t", mcp: { serverUrl: "https://m.example", headers } } },
    ],
    initialState: { headers },
  };
  const refused = "must be given in full; responses show only its first characters";

  it("cannot begin a call", () => {
    expect(problemsOf(StartCallRequest, body).sort()).toEqual([
      `dataConnection.headers.Authorization: ${refused}`,
      `externalVoice.generic.headers.Authorization: ${refused}`,
      `selectedTools.1.temporaryTool.mcp.headers.Authorization: ${refused}`,
    ]);
    const { dataConnection, selectedTools } = body;
    expect(
      problemsOf(StartAgentCallRequest, { dataConnection, toolOverrides: { add: selectedTools } }).sort(),
    ).toEqual([
      `dataConnection.headers.Authorization: ${refused}`,
      `toolOverrides.add.1.temporaryTool.mcp.headers.Authorization: ${refused}`,
    ]);
  });

  it("pass in a template, where they may stand for stored ones", () => {
    const { initialState: _, ...callTemplate } = body;
    expect(problemsOf(AgentPatch, { callTemplate }, { partial: true })).toEqual([]);
  });
});

describe("what only a call has", () => {
  it.each<Row>([
    ["1000 messages", { initialMessages: many(1000, message) }, []],
    [
      "1001 messages",
      { initialMessages: many(1001, message) },
      ["initialMessages: must have at most 1000 entries"],
    ],
    [
      "a message with the times of another call",
      {
        initialMessages: [
          { role: "MESSAGE_ROLE_AGENT", timespan: 7, wallClockTimespan: null, callStageId: "x" },
        ],
      },
      [],
    ],
    [
      "a message without a role",
      { initialMessages: [{ text: "x" }] },
      ["initialMessages.0.role: is required"],
    ],
    ["labels", { metadata: { color: "red" } }, []],
    ["a label that is no text", { metadata: { n: 1 } }, ["metadata.n: must be text"]],
    [
      "reserved labels",
      { metadata: { "service.a": "x", "ultravox.b": "y", other: "z" } },
      [
        "metadata.service.a: must not begin with service., which is reserved",
        "metadata.ultravox.b: must not begin with ultravox., which is reserved",
      ],
    ],
    [
      "too many labels",
      { metadata: { a: "x".repeat(65_536) } },
      ["metadata: must have at most 65536 bytes as JSON"],
    ],
    ["a language", { languageHint: "zh-Hant-TW" }, []],
    ["a long language", { languageHint: "x".repeat(17) }, ["languageHint: must have at most 16 characters"]],
    ["speakers that agree", { firstSpeaker: "FIRST_SPEAKER_USER", firstSpeakerSettings: { user: {} } }, []],
    [
      "speakers that contradict",
      { firstSpeaker: "FIRST_SPEAKER_USER", firstSpeakerSettings: { agent: {} } },
      ["firstSpeaker: must agree with firstSpeakerSettings: FIRST_SPEAKER_AGENT"],
    ],
    [
      "callbacks",
      {
        callbacks: {
          joined: { url: "https://a.example/x" },
          ended: { url: "http://b.example", secrets: ["s"] },
        },
      },
      [],
    ],
    [
      "callbacks that cannot be called",
      { callbacks: { joined: {}, billed: { url: "ftp://a.example", secrets: ["", "x".repeat(121)] } } },
      [
        "callbacks.joined.url: is required",
        "callbacks.billed.url: must be a URL that begins with http:// or https://",
        "callbacks.billed.secrets.0: must not be empty",
        "callbacks.billed.secrets.1: must have at most 120 characters",
      ],
    ],
    [
      "an unknown policy",
      { retentionPolicy: "forget" },
      [
        "retentionPolicy: must be one of retain, auto_delete, CALL_RETENTION_POLICY_RETAIN, CALL_RETENTION_POLICY_AUTO_DELETE",
      ],
    ],
    ["a context, which only agents have", { templateContext: {} }, ["templateContext: is not a known field"]],
  ])("%s", (_, body, problems) => {
    expect(problemsOf(StartCallRequest, body)).toEqual(problems);
  });
});

describe("values that are taken", () => {
  it("come in their canonical form", () => {
    expect(
      parseBody(StartCallRequest, {
        joinTimeout: "30.000s",
        retentionPolicy: "CALL_RETENTION_POLICY_AUTO_DELETE",
        vadSettings: { turnEndpointDelay: "0.400s" },
      }),
    ).toEqual({
      joinTimeout: "30s",
      retentionPolicy: "auto_delete",
      vadSettings: { turnEndpointDelay: "0.4s" },
    });
  });

  it("get no defaults, so that a later default may apply", () => {
    expect(parseBody(StartCallRequest, {})).toEqual({});
    expect(parseBody(AgentWrite, { callTemplate: {} })).toEqual({ callTemplate: {} });
  });

  it("of template strings are judged when they are filled", () => {
    const callTemplate = { languageHint: "{{#user}}{{user.language}}{{/user}}" };
    expect(parseBody(AgentWrite, { callTemplate })).toEqual({ callTemplate });
  });

  it("say who opens the call", () => {
    expect(firstSpeakerOf({ user: {} })).toBe("FIRST_SPEAKER_USER");
    expect(firstSpeakerOf({ agent: {} })).toBe("FIRST_SPEAKER_AGENT");
  });
});

import { describe, expect, it } from "vitest";
import { Agent, AgentPatch, AgentWrite } from "../agents/agent.ts";
import { StartCallRequest } from "../calls/call-requests.ts";
import { ApiError } from "./errors.ts";
import { parseBody, parsePathParams, parseQuery } from "./parse-body.ts";
import {
  ListAgentsQuery,
  ListCallsQuery,
  ListEventsQuery,
  PageQuery,
  StartCallQuery,
} from "../routes/queries.ts";
import { routes } from "../routes/routes.ts";
import { editDistance } from "./suggest.ts";
import { problemsOf, type Row } from "../testing/problems.ts";
import { WebhookPatch } from "../webhooks/webhook.ts";

const AGENT_ID = "3f0c9a52-9d3b-4b7e-8f5e-0d2f5a1b6c7d";

function entries(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, "v"]));
}

function connection(headers: number): object {
  return { websocketUrl: "wss://a.example", headers: entries(headers) };
}

describe("bodies", () => {
  it.each([null, 1, "text", true, []].map((body) => [body]))("must be objects: %j", (body) => {
    expect(problemsOf(AgentWrite, body)).toEqual([": must be a JSON object"]);
  });

  it("report 100 problems at most", () => {
    const body = Object.fromEntries(Array.from({ length: 3_000 }, (_, index) => [`field${index}`, 1]));
    const problems = problemsOf(AgentWrite, body);
    expect([problems.length, problems[0], problems[100]]).toEqual([
      101,
      "field0: is not a known field",
      ": has more problems than are listed here",
    ]);
  });

  it.each([
    [
      { initialMessages: Array.from({ length: 1_001 }, () => ({ role: "MESSAGE_ROLE_USER", text: "a" })) },
      "initialMessages",
      "1000 entries",
    ],
    [{ metadata: entries(10_923) }, "metadata", "65536 bytes as JSON"],
    [
      { medium: { serverWebSocket: { inputSampleRate: 8000 } }, dataConnection: connection(51) },
      "dataConnection.headers",
      "50 entries",
    ],
  ])("are not looked at in what has too many entries", (body, field, most) => {
    expect(problemsOf(StartCallRequest, body)).toEqual([`${field}: must have at most ${most}`]);
  });

  it("report the places of texts that cannot be stored, in their order", () => {
    const body = {
      callTemplate: {
        systemPrompt: "\u0000",
        metadata: { a: "\ud800", "\udc00": "b" },
        greeting: ["\u0000"],
      },
    };
    expect(problemsOf(AgentWrite, body).slice(0, 4)).toEqual([
      "callTemplate.systemPrompt: must not contain the character U+0000",
      "callTemplate.metadata: has a key that must not contain half of a surrogate pair",
      "callTemplate.metadata.a: must not contain half of a surrogate pair",
      "callTemplate.greeting.0: must not contain the character U+0000",
    ]);
  });

  it("are refused with all their problems at once", () => {
    const body = {
      nmae: "x",
      callTemplate: {
        temperature: 2,
        voice: "v",
        externalVoice: { provider1: { speed: 9 }, generic: {} },
        joinTimeout: "soon",
        medium: { serverWebSocket: { inputSampleRate: "16000" }, webRtc: {} },
        inactivityMessages: [{ duration: "1s", message: "Hello?" }, { duration: "0s" }],
      },
    };
    expect(problemsOf(AgentWrite, body).sort()).toEqual(
      [
        "callTemplate.externalVoice.generic.url: is required",
        "callTemplate.externalVoice.provider1.speed: must be from 0.7 to 1.2",
        "callTemplate.externalVoice: must have exactly one of provider1, provider2, provider3, provider4, provider5, provider6, generic; it has provider1 and generic",
        "callTemplate.externalVoice: must not be given together with voice",
        "callTemplate.inactivityMessages.1.duration: must be more than 0s",
        "callTemplate.inactivityMessages.1.message: is required",
        'callTemplate.joinTimeout: must be a duration such as "30s" or "0.384s"',
        "callTemplate.medium.serverWebSocket.inputSampleRate: must be a number",
        "callTemplate.medium: must have at most one of webRtc, telephony1, serverWebSocket, telephony2, telephony3, telephony4, sip; it has webRtc and serverWebSocket",
        "callTemplate.temperature: must be at most 1",
        "nmae: is not a known field here; did you mean name?",
      ].sort(),
    );
  });

  it("fail as ApiError", () => {
    let thrown: unknown;
    try {
      parseBody(AgentWrite, { callTemplate: { temperature: 1.5 } });
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(ApiError);
    expect(thrown).toMatchObject({
      code: "validation_failed",
      status: 400,
      detail: "callTemplate.temperature must be at most 1",
      errors: [{ field: "callTemplate.temperature", message: "must be at most 1" }],
    });
  });

  it("may be a record that was fetched, with read-only fields of any shape", () => {
    const body = {
      agentId: 7,
      published_revision_id: [],
      created: "yesterday",
      statistics: null,
      name: "a",
      callTemplate: { created: 1, updated: {}, temperature: 0.5 },
    };
    expect(parseBody(AgentWrite, body)).toEqual({ name: "a", callTemplate: { temperature: 0.5 } });
  });
});

describe("null", () => {
  it("is absence in a new record", () => {
    expect(parseBody(AgentWrite, { name: null, callTemplate: null })).toEqual({});
    expect(
      parseBody(AgentWrite, {
        callTemplate: {
          voice: "v",
          externalVoice: null,
          medium: { sip: null, webRtc: { dataMessages: null } },
        },
      }),
    ).toEqual({ callTemplate: { voice: "v", medium: { webRtc: {} } } });
  });

  it("clears in a change, but only at the top", () => {
    expect(parseBody(AgentPatch, { name: null, callTemplate: null }, { partial: true })).toEqual({
      name: null,
      callTemplate: null,
    });
    expect(parseBody(AgentPatch, {}, { partial: true })).toEqual({});
    expect(parseBody(AgentPatch, { call_template: { voice: null } }, { partial: true })).toEqual({
      callTemplate: {},
    });
  });

  it("is refused in a change of what a record always has", () => {
    const partial = { partial: true };
    expect(problemsOf(WebhookPatch, { url: null, agent_id: null, secrets: null }, partial)).toEqual([
      "url: must not be null",
    ]);
    // Read-only fields are not checked.
    expect(problemsOf(WebhookPatch, { created: null }, partial)).toEqual([]);
  });

  it.each<Row>([
    [
      "required",
      { inactivityMessages: [{ duration: null, message: "m" }] },
      ["inactivityMessages.0.duration: must be text"],
    ],
    ["in a list", { sharedSecrets: [null] }, ["sharedSecrets.0: must be text"]],
    ["in a map of texts", { metadata: { a: null } }, ["metadata.a: must be text"]],
    ["in free values", { initialState: { a: null } }, []],
  ])("%s", (_, body, problems) => {
    expect(problemsOf(StartCallRequest, body)).toEqual(problems);
  });
});

describe("enums", () => {
  it("take the empty text and …_UNSPECIFIED as unset", () => {
    const body = {
      initialOutputMedium: "MESSAGE_MEDIUM_UNSPECIFIED",
      firstSpeaker: "",
      retentionPolicy: "CALL_RETENTION_POLICY_UNSPECIFIED",
      inactivityMessages: [{ duration: "1s", message: "m", endBehavior: "END_BEHAVIOR_UNSPECIFIED" }],
    };
    expect(parseBody(StartCallRequest, body)).toEqual({
      inactivityMessages: [{ duration: "1s", message: "m" }],
    });
  });

  it.each<Row>([
    [
      "unknown",
      { firstSpeaker: "FIRST_SPEAKER_DOG" },
      ["firstSpeaker: must be one of FIRST_SPEAKER_AGENT, FIRST_SPEAKER_USER"],
    ],
    [
      "in another case",
      { initialOutputMedium: "message_medium_voice" },
      ["initialOutputMedium: must be one of MESSAGE_MEDIUM_VOICE, MESSAGE_MEDIUM_TEXT"],
    ],
    [
      "required",
      { initialMessages: [{ role: "MESSAGE_ROLE_UNSPECIFIED", text: "a" }] },
      ["initialMessages.0.role: is required"],
    ],
  ])("are refused when %s", (_, body, problems) => {
    expect(problemsOf(StartCallRequest, body)).toEqual(problems);
  });
});

describe("unknown fields", () => {
  it.each([
    [{ systemPrompt: "x" }, "systemPrompt", "callTemplate.systemPrompt"],
    [{ system_prompt: "x" }, "system_prompt", "callTemplate.systemPrompt"],
    [{ twilio: {} }, "twilio", "callTemplate.medium.telephony1"],
    [{ turnEndpointDelay: "1s" }, "turnEndpointDelay", "callTemplate.vadSettings.turnEndpointDelay"],
    [{ calltemplate: {} }, "calltemplate", "callTemplate"],
    [{ callTemplte: {} }, "callTemplte", "callTemplate"],
    [{ callTemplate: { systemPromt: "x" } }, "callTemplate.systemPromt", "callTemplate.systemPrompt"],
    [
      { callTemplate: { vadSettings: { firstSpeakerSettings: {} } } },
      "callTemplate.vadSettings.firstSpeakerSettings",
      "callTemplate.firstSpeakerSettings",
    ],
    [
      { callTemplate: { selectedTools: [{ toolNmae: "t", toolId: AGENT_ID }] } },
      "callTemplate.selectedTools.0.toolNmae",
      "callTemplate.selectedTools.0.toolName",
    ],
  ])("are named with what was meant: %j", (body, field, meant) => {
    expect(problemsOf(AgentWrite, body)).toEqual([
      `${field}: is not a known field here; did you mean ${meant}?`,
    ]);
  });

  it.each([
    [{ favouriteColour: 1 }, "favouriteColour"],
    [{ ["x".repeat(5000)]: 1 }, "x".repeat(5000)],
    [{ "": 1 }, ""],
  ])("get no suggestion when nothing is near", (body, field) => {
    expect(problemsOf(AgentWrite, body)).toEqual([`${field}: is not a known field`]);
  });

  it("are ignored when the deployment is lenient", () => {
    const body = { name: "a", other: 1, callTemplate: { nope: 2, medium: { webRtc: { odd: 1 } } } };
    expect(parseBody(AgentWrite, body, { lenient: true })).toEqual({
      name: "a",
      callTemplate: { medium: { webRtc: {} } },
    });
  });

  it("count single-letter changes", () => {
    expect(editDistance("kitten", "sitting")).toBe(3);
    expect(editDistance("", "abc")).toBe(3);
    expect(editDistance("nmae", "name")).toBe(1);
    expect(editDistance("abcd", "cd")).toBe(2);
    expect(editDistance("same", "same")).toBe(0);
  });
});

describe("texts that cannot be stored", () => {
  it.each<Row>([
    ["U+0000", { systemPrompt: "a\u0000b" }, ["systemPrompt: must not contain the character U+0000"]],
    [
      "half a pair",
      { initialState: { a: ["\ud800"] } },
      ["initialState.a.0: must not contain half of a surrogate pair"],
    ],
    [
      "a key",
      { initialState: { "a\u0000": 1 } },
      ["initialState: has a key that must not contain the character U+0000"],
    ],
    ["a whole pair", { systemPrompt: "😀" }, []],
  ])("%s", (_, body, problems) => {
    expect(problemsOf(StartCallRequest, body)).toEqual(problems);
  });
});

describe("queries", () => {
  it("are read as the schema's types", () => {
    expect(
      parseQuery(ListCallsQuery, {
        pageSize: "5",
        agentIds: [AGENT_ID, AGENT_ID.toUpperCase()],
        durationMin: "1.50s",
        fromDate: "2026-02-03",
        toDate: "2026-02-03",
        "metadata.color": "red",
        "metadata[size]": "xl",
        sort: "-ended",
      }),
    ).toEqual({
      pageSize: 5,
      agentIds: [AGENT_ID, AGENT_ID],
      durationMin: "1.5s",
      fromDate: "2026-02-03T00:00:00.000Z",
      toDate: "2026-02-03T23:59:59.999Z",
      metadata: { color: "red", size: "xl" },
      sort: "-ended",
    });
    expect(parseQuery(ListCallsQuery, { agentIds: AGENT_ID })).toEqual({ agentIds: [AGENT_ID] });
    expect(parseQuery(StartCallQuery, { enable_greeting_prompt: "false" })).toEqual({
      enableGreetingPrompt: false,
    });
    expect(parseQuery(ListEventsQuery, { minimum_severity: "error" })).toEqual({ minimum_severity: "error" });
    expect(parseQuery(ListEventsQuery, { minimumSeverity: "error" })).toEqual({ minimum_severity: "error" });
  });

  it.each([
    ["2026-01-02T03:04:05+02:00", "2026-01-02T01:04:05.000Z"],
    ["2026-01-02T03:04:05", "2026-01-02T03:04:05.000Z"],
    ["2026-01-02T03:04:05.678901Z", "2026-01-02T03:04:05.678Z"],
  ])("read the moment %s", (fromDate, moment) => {
    expect(parseQuery(ListCallsQuery, { fromDate })).toEqual({ fromDate: moment });
  });

  it("count more than the largest page as the largest", () => {
    expect(parseQuery(PageQuery, { pageSize: "100" })).toEqual({ pageSize: 100 });
    expect(parseQuery(PageQuery, { page_size: "5000" })).toEqual({ pageSize: 100 });
  });

  it.each([
    [{ pageSize: "0" }, ["pageSize: must be at least 1"]],
    [{ pageSize: "-3" }, ["pageSize: must be at least 1"]],
    [{ pageSize: "2.5" }, ["pageSize: must be a whole number"]],
    [{ pageSize: "ten" }, ["pageSize: must be a number"]],
    [{ pageSize: "" }, ["pageSize: must be a number"]],
    [{ pageSize: ["1", "2"] }, ["pageSize: must be a number"]],
    [{ cursor: "" }, ["cursor: must not be empty"]],
    [{ search: "" }, ["search: must not be empty"]],
    [{ sort: "age" }, ["sort: must be one of name, -name, created, -created"]],
    [{ sort: "" }, ["sort: must be one of name, -name, created, -created"]],
    [{ pagesize: "3" }, ["pagesize: is not a known field here; did you mean pageSize?"]],
  ])("are refused: %j", (query, problems) => {
    expect(queryProblems(() => parseQuery(ListAgentsQuery, query))).toEqual(problems);
  });

  it.each([
    [{ agentIds: "7" }, ["agentIds.0: must be a UUID"]],
    [{ fromDate: "2026-02-30" }, ["fromDate: must be an ISO 8601 date or date-time"]],
    [{ fromDate: "yesterday" }, ["fromDate: must be an ISO 8601 date or date-time"]],
    [{ durationMax: "5" }, ['durationMax: must be a duration such as "30s" or "0.384s"']],
    [{ timeOfDayStart: "24:00:00" }, ["timeOfDayStart: must be a time such as 09:30:00"]],
    [{ voiceId: "nova" }, ["voiceId: must be a UUID"]],
    [{ "metadata.a": ["1", "2"] }, ["metadata.a: must be text"]],
  ])("of call lists are refused: %j", (query, problems) => {
    expect(queryProblems(() => parseQuery(ListCallsQuery, query))).toEqual(problems);
  });

  function queryProblems(parse: () => unknown): string[] {
    try {
      parse();
      return [];
    } catch (error) {
      return error instanceof ApiError
        ? error.errors.map(({ field, message }) => `${field}: ${message}`)
        : [];
    }
  }
});

describe("path parameters", () => {
  it("are read in any case", () => {
    expect(parsePathParams(routes.getAgent.params, { agent_id: AGENT_ID.toUpperCase() })).toEqual({
      agent_id: AGENT_ID,
    });
  });

  it("name nothing when they are malformed", () => {
    expect(() => parsePathParams(routes.getAgent.params, { agent_id: "me" })).toThrow(
      expect.objectContaining({ code: "not_found" }),
    );
  });

  it("are those of the answer", () => {
    expect(Agent.shape.agentId.parse(AGENT_ID)).toBe(AGENT_ID);
  });
});

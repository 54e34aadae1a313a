import { describe, expect, it } from "vitest";
import { StartAgentCallRequest, StartCallRequest } from "../calls/call-requests.ts";
import { CallTool } from "../calls/call.ts";
import { renderAnswer } from "../values/answer.ts";
import { parseBody } from "../values/parse-body.ts";
import { problemsOf, type Row } from "../testing/problems.ts";
import { BaseToolDefinition, SelectedTool } from "./tool.ts";

const ID = "56294126-5a7d-4948-b67d-3b7e13d55ea7";
const OTHER_ID = "8721c74d-af3f-4dfa-a736-3bc170ef917c";

const http = { baseUrlPattern: "https://api.example/orders" };

const parameter = (name: string, location: string) => ({ name, location: `PARAMETER_LOCATION_${location}` });

describe("tool definitions", () => {
  it.each<Row>([
    [
      "in full",
      {
        modelToolName: "look_up-1",
        description: "Looks an order up.",
        dynamicParameters: [{ ...parameter("id", "PATH"), schema: { type: "string" }, required: true }],
        staticParameters: [{ ...parameter("shop", "QUERY"), value: { a: [1] } }],
        automaticParameters: [{ ...parameter("call", "HEADER"), knownValue: "KNOWN_PARAM_CALL_ID" }],
        requirements: {
          httpSecurityOptions: {
            options: [
              { requirements: { key: { headerApiKey: { name: "X-Key" } } } },
              { serviceCallTokenRequirement: { scopes: ["a"] } },
            ],
          },
          requiredParameterOverrides: ["shop"],
        },
        timeout: "40s",
        precomputable: true,
        http: { baseUrlPattern: "https://api.example/orders/{id}", httpMethod: "get" },
        defaultReaction: "AGENT_REACTION_SPEAKS_ONCE",
        staticResponse: { responseText: "One moment." },
      },
      [],
    ],
    ["client", { client: {} }, []],
    ["dataConnection", { dataConnection: {} }, []],
    ["an answer alone", { staticResponse: { responseText: "ok" } }, []],
    ["an MCP server", { mcp: { serverUrl: "https://mcp.example", headers: { Authorization: "x" } } }, []],
    [
      "nothing",
      {},
      [": must have exactly one of http, client, dataConnection, mcp, or staticResponse alone"],
    ],
    [
      "two implementations",
      { http, client: {} },
      [
        ": must have exactly one of http, client, dataConnection, mcp, or staticResponse alone; it has http and client",
      ],
    ],
    [
      "a bad name",
      { client: {}, modelToolName: "look up" },
      ["modelToolName: must be 1 to 64 letters, digits, underscores or hyphens"],
    ],
    ["no time", { client: {}, timeout: "0s" }, ["timeout: must be more than 0s"]],
    ["too much time", { client: {}, timeout: "40.001s" }, ["timeout: must be at most 40s"]],
    [
      "an unknown method",
      { http: { ...http, httpMethod: "TRACE" } },
      ["http.httpMethod: must be one of GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS"],
    ],
    [
      "a body with GET",
      { http: { ...http, httpMethod: "Get" }, dynamicParameters: [parameter("a", "BODY"), { name: "b" }] },
      ["dynamicParameters.0.location: must not be in the body of a GET request"],
    ],
    [
      "a body with HEAD",
      {
        http: { ...http, httpMethod: "HEAD" },
        automaticParameters: [{ ...parameter("a", "BODY"), knownValue: "KNOWN_PARAM_CALL_ID" }],
      },
      ["automaticParameters.0.location: must not be in the body of a HEAD request"],
    ],
    [
      "places for a client tool",
      { client: {}, staticParameters: [parameter("a", "BODY"), parameter("b", "QUERY")] },
      ["staticParameters.1.location: must be PARAMETER_LOCATION_BODY, because the tool is not an http tool"],
    ],
    [
      "one name twice",
      { client: {}, dynamicParameters: [{ name: "a" }], staticParameters: [{ name: "a", value: 1 }] },
      ["staticParameters.0.name: must be unique among the tool's parameters"],
    ],
    ["no address", { http: {} }, ["http.baseUrlPattern: is required"]],
    [
      "another scheme",
      { http: { baseUrlPattern: "ftp://a" } },
      ["http.baseUrlPattern: must be a URL that begins with http:// or https://"],
    ],
    [
      "a query",
      { http: { baseUrlPattern: "https://a/b?c=d" } },
      ["http.baseUrlPattern: must have neither a query nor a fragment"],
    ],
    [
      "an encoded placeholder",
      { http: { baseUrlPattern: "https://a/%7Bid%7D" } },
      ["http.baseUrlPattern: must contain its placeholders as {name}, not percent-encoded"],
    ],
    [
      "half a placeholder",
      { http: { baseUrlPattern: "https://a/{id" } },
      ["http.baseUrlPattern: must contain its placeholders as {name}"],
    ],
    [
      "a placeholder without its parameter",
      { http: { baseUrlPattern: "https://a/{id}" }, dynamicParameters: [parameter("id", "QUERY")] },
      ["http.baseUrlPattern: must have a PATH parameter for each placeholder; {id} has none"],
    ],
    [
      "a parameter without its placeholder",
      { http, dynamicParameters: [parameter("id", "PATH")] },
      ["dynamicParameters.0.name: must have its place {id} in http.baseUrlPattern"],
    ],
    [
      "a security requirement of two kinds",
      {
        http,
        requirements: {
          httpSecurityOptions: {
            options: [{ requirements: { k: { queryApiKey: { name: "a" }, httpAuth: { scheme: "b" } } } }],
          },
        },
      },
      [
        "requirements.httpSecurityOptions.options.0.requirements.k: must have exactly one of queryApiKey, headerApiKey, httpAuth; it has queryApiKey and httpAuth",
      ],
    ],
    [
      "an unknown automatic value",
      { client: {}, automaticParameters: [{ name: "a", knownValue: "KNOWN_PARAM_WEATHER" }] },
      [
        "automaticParameters.0.knownValue: must be one of KNOWN_PARAM_CALL_ID, KNOWN_PARAM_CONVERSATION_HISTORY, KNOWN_PARAM_OUTPUT_SAMPLE_RATE, KNOWN_PARAM_CALL_STATE, KNOWN_PARAM_CALL_STAGE_ID, KNOWN_PARAM_THREAD_ID, KNOWN_PARAM_THREAD_STATES, KNOWN_PARAM_CALL_METADATA",
      ],
    ],
    [
      "broken lists",
      { client: {}, dynamicParameters: [null, 7, {}], staticParameters: "x" },
      [
        "dynamicParameters.0: must be an object",
        "dynamicParameters.1: must be an object",
        "dynamicParameters.2.name: is required",
        "staticParameters: must be a list",
      ],
    ],
  ])("%s", (_, body, problems) => {
    expect(problemsOf(BaseToolDefinition, body)).toEqual(problems);
  });

  it("keep null as the value of a static parameter, in requests and in answers", () => {
    const definition = {
      client: {},
      staticParameters: [{ name: "a", value: null, location: null }, { name: "b" }],
    };
    const parsed = { client: {}, staticParameters: [{ name: "a", value: null }, { name: "b" }] };
    expect(parseBody(BaseToolDefinition, definition)).toEqual(parsed);
    expect(renderAnswer(BaseToolDefinition, parsed, { check: true })).toEqual(parsed);
    const listed = { ...parsed.staticParameters[0], location: "PARAMETER_LOCATION_BODY" };
    expect(renderAnswer(CallTool.shape.definition, { staticParameters: [listed] })).toEqual({
      staticParameters: [listed],
    });
  });

  it("parse methods to capitals and drop null", () => {
    expect(
      parseBody(BaseToolDefinition, { description: null, http: { ...http, http_method: "patch" } }),
    ).toEqual({
      http: { ...http, httpMethod: "PATCH" },
    });
  });
});

const temporaryTool = { modelToolName: "t", client: {} };

describe("selected tools", () => {
  it.each<Row>([
    ["by id", { toolId: ID }, []],
    ["by name", { toolName: "hangUp", nameOverride: "bye", transitionId: "internal" }, []],
    ["in place", { temporaryTool, authTokens: { k: "v" }, parameterOverrides: { p: null } }, []],
    ["by something else than an id", { toolId: "hangUp" }, ["toolId: must be a UUID"]],
    ["none", { nameOverride: "a" }, [": must have exactly one of toolId, toolName, temporaryTool"]],
    [
      "two",
      { toolId: ID, toolName: "y" },
      [": must have exactly one of toolId, toolName, temporaryTool; it has toolId and toolName"],
    ],
    [
      "a bad name",
      { toolId: ID, nameOverride: "ä" },
      ["nameOverride: must be 1 to 64 letters, digits, underscores or hyphens"],
    ],
    [
      "without any name",
      { temporaryTool: { client: {} } },
      ["temporaryTool.modelToolName: is required, because the tool has no other name"],
    ],
    ["named by the override", { temporaryTool: { client: {} }, nameOverride: "n" }, []],
    ["all tools of a server", { temporaryTool: { mcp: { serverUrl: "https://mcp.example" } } }, []],
    [
      "without a required override",
      {
        temporaryTool: { ...temporaryTool, requirements: { requiredParameterOverrides: ["a", "b"] } },
        parameterOverrides: { b: 1 },
      },
      ["parameterOverrides: must give a, because the tool requires it"],
    ],
    [
      "without its token",
      {
        temporaryTool: {
          ...temporaryTool,
          requirements: {
            httpSecurityOptions: { options: [{ requirements: { k: { httpAuth: { scheme: "Bearer" } } } }] },
          },
        },
        authTokens: { other: "x" },
      },
      ["authTokens: must meet one of the tool's httpSecurityOptions"],
    ],
    [
      "with its token, or needing none",
      {
        temporaryTool: {
          ...temporaryTool,
          requirements: {
            httpSecurityOptions: {
              options: [{ requirements: { k: { httpAuth: { scheme: "Bearer" } } } }, {}],
            },
          },
        },
      },
      [],
    ],
    ["tokens that are no texts", { toolId: ID, authTokens: { k: 1 } }, ["authTokens.k: must be text"]],
  ])("%s", (_, body, problems) => {
    expect(problemsOf(SelectedTool, body)).toEqual(problems);
  });

  it.each<Row>([
    ["different", [{ toolName: "a" }, { toolName: "b" }, { toolId: ID }, { temporaryTool }], []],
    [
      "equal overrides",
      [
        { toolName: "a", nameOverride: "n" },
        { toolId: OTHER_ID, nameOverride: "n" },
      ],
      ["selectedTools.1.nameOverride: must be unique; entry 0 has it already"],
    ],
    [
      "an override that equals a definition's name",
      [{ toolName: "a", nameOverride: "t" }, { temporaryTool }],
      ["selectedTools.1.temporaryTool.modelToolName: must be unique; entry 0 has it already"],
    ],
    [
      "one tool twice",
      [{ toolId: ID.toUpperCase() }, { toolName: "x" }, { toolId: ID }, { toolName: "x" }],
      [
        "selectedTools.2.toolId: must be unique; entry 0 has it already",
        "selectedTools.3.toolName: must be unique; entry 1 has it already",
      ],
    ],
    ["one tool twice under two names", [{ toolId: ID }, { toolId: ID, nameOverride: "b" }], []],
    ["128", Array.from({ length: 128 }, (_, index) => ({ toolName: `t${index}` })), []],
    [
      "129",
      Array.from({ length: 129 }, (_, index) => ({ toolName: `t${index}` })),
      ["selectedTools: must have at most 128 entries"],
    ],
  ])("of one call: %s", (_, selectedTools, problems) => {
    expect(problemsOf(StartCallRequest, { selectedTools })).toEqual(problems);
  });

  it("are judged the same where an agent's call adds them", () => {
    expect(
      problemsOf(StartAgentCallRequest, { toolOverrides: { add: [{ toolName: "a" }, { toolName: "a" }] } }),
    ).toEqual(["toolOverrides.add.1.toolName: must be unique; entry 0 has it already"]);
  });
});

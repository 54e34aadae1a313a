import { BaseToolDefinition, CallTool, SelectedTool } from "@parley/schema";
import { describe, expect, test } from "vitest";
import { openJsonSchema } from "../providers/json-schema/json-schema.ts";
import { compileTool, modelNameOf, parameterSchema } from "./compile-tools.ts";
import type { CompiledTool, FoundTool, McpServerTool } from "./compile-tools.ts";

const { checkSchema } = openJsonSchema();
const schemaFaults = (tool: FoundTool) => checkSchema(parameterSchema(tool));

/** A tool of the account called `book`, unless `changes` say otherwise. */
function found(definition: object, selection: object = {}, changes: Partial<FoundTool> = {}): FoundTool {
  return {
    selection: SelectedTool.parse({ toolName: "book", ...selection }),
    field: "selectedTools.3",
    definition: BaseToolDefinition.parse(definition),
    toolId: "t",
    recordName: "book",
    builtIn: null,
    mcpTool: null,
    ...changes,
  };
}

const compile = (tool: FoundTool) =>
  compileTool(tool, {
    callToken: "token",
    newId: () => "4d8e3c9a-92f2-4f5e-8b4b-0d5f2f6b1c11",
    schemaFaults,
  });

function compiled(...given: Parameters<typeof found>): CompiledTool {
  const result = compile(found(...given));
  if ("errors" in result) throw new Error(JSON.stringify(result.errors));
  return result.compiled;
}

function refused(...given: Parameters<typeof found>): string[] {
  const result = compile(found(...given));
  return "errors" in result ? result.errors.map(({ field, message }) => `${field} ${message}`) : [];
}

const at = (baseUrlPattern: string, httpMethod?: string) => ({
  http: { baseUrlPattern, ...(httpMethod === undefined ? {} : { httpMethod }) },
});
const url = "https://example.com/book";

describe("a tool with nothing but its address", () => {
  test("has every default", () => {
    const { plan, listed } = compiled(at(url));
    expect(plan).toEqual({
      name: "book",
      callToolId: "4d8e3c9a-92f2-4f5e-8b4b-0d5f2f6b1c11",
      toolId: "t",
      description: "",
      parameters: { type: "object", properties: {} },
      dynamic: [],
      fixed: [],
      automatic: [],
      implementation: { kind: "http", method: "GET", urlPattern: url, credentials: [], callToken: null },
      timeoutMs: 2_500,
      precomputable: false,
      defaultReaction: "speaks",
      staticResponse: null,
    });
    expect(listed.definition).toMatchObject({
      timeout: "2.5s",
      precomputable: false,
      http: {
        baseUrlPattern: url,
        httpMethod: "GET",
        authHeaders: [],
        authQueryParams: [],
        callTokenScopes: [],
      },
    });
  });
});

describe("names", () => {
  const mcp = { mcp: { serverUrl: "https://example.com/mcp" } };
  const offered: McpServerTool = { name: "rooms.find/all", description: "", inputSchema: {} };
  test.each<[string, FoundTool, string]>([
    ["the record's", found({ client: {} }), "book"],
    ["the definition's", found({ client: {}, modelToolName: "own" }), "own"],
    ["the selection's", found({ client: {}, modelToolName: "own" }, { nameOverride: "mine" }), "mine"],
    ["the server's, as a model can say it", found(mcp, {}, { mcpTool: offered }), "rooms_find_all"],
    [
      "one tool of a server is called as its definition says",
      found({ mcp: { ...mcp.mcp, toolName: "x" }, modelToolName: "own" }, {}, { mcpTool: offered }),
      "own",
    ],
  ])("%s", (_what, tool, wanted) => {
    expect(modelNameOf(tool)).toBe(wanted);
  });

  test("a record whose name the model cannot say needs another", () => {
    expect(refused({ client: {} }, {}, { recordName: "book a room" })).toEqual([
      'selectedTools.3.nameOverride must be given and be 1 to 64 letters, digits, underscores or hyphens; "book a room" is not',
    ]);
    expect(refused({ client: {} }, { nameOverride: "ok" }, { recordName: "book a room" })).toEqual([]);
  });

  test("descriptions", () => {
    expect(compiled({ client: {}, description: "D" }).plan.description).toBe("D");
    const { plan, listed } = compiled({ client: {}, description: "D" }, { descriptionOverride: "O" });
    expect([plan.description, listed.definition.description]).toEqual(["O", "O"]);
  });
});

describe("parameters", () => {
  const integer = { type: "integer", minimum: 1 };
  const parameters = {
    dynamicParameters: [
      { name: "beds", schema: integer, required: true },
      { name: "note" },
      { name: "hotel", location: "PARAMETER_LOCATION_PATH", required: true },
    ],
    staticParameters: [
      { name: "currency", value: "EUR" },
      { name: "x-a", location: "PARAMETER_LOCATION_HEADER", value: 1 },
      { name: "nothing" },
    ],
    automaticParameters: [
      { name: "call", knownValue: "KNOWN_PARAM_CALL_ID", location: "PARAMETER_LOCATION_QUERY" },
    ],
  };
  const pattern = "https://example.com/{hotel}";

  test("are sorted by who gives their values", () => {
    const { plan } = compiled({ ...at(pattern, "POST"), ...parameters });
    expect(plan.parameters).toEqual({
      type: "object",
      properties: { beds: integer, note: { type: "string" }, hotel: { type: "string" } },
      required: ["beds", "hotel"],
    });
    expect(plan.dynamic).toEqual([
      { name: "beds", location: "body" },
      { name: "note", location: "body" },
      { name: "hotel", location: "path" },
    ]);
    expect(plan.fixed).toEqual([
      { name: "currency", location: "body", value: "EUR" },
      { name: "x-a", location: "header", value: 1 },
    ]);
    expect(plan.automatic).toEqual([{ name: "call", location: "query", known: "callId" }]);
  });

  test("an override of any kind is fixed and hidden, in its place", () => {
    const parameterOverrides = { beds: 2, hotel: "inn", currency: "USD", call: "none", note: null };
    const { plan, listed } = compiled({ ...at(pattern, "POST"), ...parameters }, { parameterOverrides });
    expect(plan.parameters).toEqual({ type: "object", properties: {} });
    expect([plan.dynamic, plan.automatic]).toEqual([[], []]);
    expect(plan.fixed).toEqual([
      { name: "beds", location: "body", value: 2 },
      { name: "note", location: "body", value: null },
      { name: "hotel", location: "path", value: "inn" },
      { name: "currency", location: "body", value: "USD" },
      { name: "x-a", location: "header", value: 1 },
      { name: "call", location: "query", value: "none" },
    ]);
    expect(listed.definition.dynamicParameters).toEqual([]);
    expect(listed.definition.staticParameters).toContainEqual({
      name: "hotel",
      location: "PARAMETER_LOCATION_PATH",
      value: "inn",
    });
  });

  const unplaced = { dynamicParameters: [{ name: "a" }] };
  const inQuery = { dynamicParameters: [{ name: "a", location: "PARAMETER_LOCATION_QUERY" }] };
  const inBody = { dynamicParameters: [{ name: "a", location: "PARAMETER_LOCATION_BODY" }] };
  test.each<[string, string | undefined, object, string, string]>([
    ["no method, a parameter without a place", undefined, unplaced, "POST", "body"],
    ["no method, a body parameter", undefined, inBody, "POST", "body"],
    ["no method, a query parameter", undefined, inQuery, "GET", "query"],
    ["GET", "get", unplaced, "GET", "query"],
    ["HEAD", "Head", unplaced, "HEAD", "query"],
    ["DELETE", "DELETE", unplaced, "DELETE", "body"],
    ["PUT", "PUT", unplaced, "PUT", "body"],
    ["POST in the query", "POST", inQuery, "POST", "query"],
  ])("%s", (_what, method, given, wanted, place) => {
    const { plan } = compiled({ ...at(url, method), ...given });
    expect(plan.implementation).toMatchObject({ method: wanted });
    expect(plan.dynamic).toEqual([{ name: "a", location: place }]);
  });

  test.each([
    ["KNOWN_PARAM_CALL_ID", "callId"],
    ["KNOWN_PARAM_CONVERSATION_HISTORY", "conversationHistory"],
    ["KNOWN_PARAM_OUTPUT_SAMPLE_RATE", "outputSampleRate"],
    ["KNOWN_PARAM_CALL_STATE", "callState"],
    ["KNOWN_PARAM_CALL_STAGE_ID", "callStageId"],
    ["KNOWN_PARAM_THREAD_ID", "threadId"],
    ["KNOWN_PARAM_THREAD_STATES", "threadStates"],
    ["KNOWN_PARAM_CALL_METADATA", "callMetadata"],
  ])("%s is %s", (knownValue, known) => {
    const { plan } = compiled({ client: {}, automaticParameters: [{ name: "a", knownValue }] });
    expect(plan.automatic).toEqual([{ name: "a", location: "body", known }]);
  });

  test("an override that the tool demands must be given", () => {
    const definition = { client: {}, requirements: { requiredParameterOverrides: ["key"] } };
    expect(refused(definition)).toEqual([
      "selectedTools.3.parameterOverrides must give key, because the tool requires it",
    ]);
    expect(compiled(definition, { parameterOverrides: { key: 5 } }).plan.fixed).toEqual([
      { name: "key", location: "body", value: 5 },
    ]);
  });

  test("a schema that cannot be used is reported", () => {
    const definition = { client: {}, dynamicParameters: [{ name: "a", schema: { type: "text" } }] };
    expect(refused(definition)[0]).toMatch(
      /^selectedTools\.3\.toolName has parameters\.properties\.a\.type that cannot be used: it /,
    );
    const selection = { toolName: undefined, temporaryTool: { ...definition, modelToolName: "x" } };
    expect(refused(definition, selection)[0]).toMatch(/^selectedTools\.3\.temporaryTool has /);
  });
});

describe("security", () => {
  const secured = (...options: object[]) => ({
    ...at(url),
    requirements: { httpSecurityOptions: { options } },
  });
  const query = { requirements: { key: { queryApiKey: { name: "k" } } } };
  const header = { requirements: { pass: { headerApiKey: { name: "X-Pass" } } } };
  const both = {
    requirements: { key: { queryApiKey: { name: "k" } }, user: { httpAuth: { scheme: "Bearer" } } },
  };
  const token = { serviceCallTokenRequirement: { scopes: ["a"] } };

  test.each<[string, object[], Record<string, string>, object[], string | null]>([
    ["no options", [], { key: "1" }, [], null],
    ["a query key", [query], { key: "1" }, [{ place: "query", name: "k", value: "1" }], null],
    ["a header key", [header], { pass: "2" }, [{ place: "header", name: "X-Pass", value: "2" }], null],
    [
      "all of an option",
      [both],
      { key: "1", user: "u" },
      [
        { place: "query", name: "k", value: "1" },
        { place: "header", name: "Authorization", value: "Bearer u" },
      ],
      null,
    ],
    [
      "the first that is met",
      [both, header, query],
      { key: "1", pass: "2" },
      [expect.objectContaining({ name: "X-Pass" })],
      null,
    ],
    ["an empty one only at last", [{}, query], { key: "1" }, [expect.objectContaining({ name: "k" })], null],
    ["an empty one when nothing else can", [query, {}], {}, [], null],
    ["the call token", [token], {}, [], "token"],
    ["the call token is not nothing", [{}, token], {}, [], "token"],
    [
      "the call token with a key",
      [{ ...query, ...token }],
      { key: "1" },
      [expect.objectContaining({ name: "k" })],
      "token",
    ],
  ])("%s", (_what, options, authTokens, credentials, callToken) => {
    const { plan } = compiled(secured(...options), { authTokens });
    expect(plan.implementation).toMatchObject({ credentials, callToken });
  });

  test("nothing usable", () => {
    expect(refused(secured(both, header), { authTokens: { key: "1" } })).toEqual([
      "selectedTools.3.authTokens must meet one of the tool's httpSecurityOptions",
    ]);
  });

  test.each(["a\r\nX-Other: 1", "pä\u0100"])("a token that no header carries: %j", (pass) => {
    expect(refused(secured(header), { authTokens: { pass } })).toEqual([
      "selectedTools.3.authTokens.pass must contain only characters that a header can carry: Latin-1 without line breaks",
    ]);
  });

  test("listings have the names, never the values", () => {
    const { listed } = compiled(secured({ ...both, ...token }), {
      authTokens: { key: "very-secret", user: "very-secret" },
    });
    expect(listed.definition.http).toEqual({
      baseUrlPattern: url,
      httpMethod: "GET",
      authHeaders: ["Authorization"],
      authQueryParams: ["k"],
      callTokenScopes: ["a"],
    });
    expect(JSON.stringify(listed)).not.toContain("very-secret");
    expect(JSON.stringify(listed)).not.toContain('"token"');
  });
});

describe("where it runs", () => {
  const mcp = { mcp: { serverUrl: "https://example.com/mcp", headers: { authorization: "h" } } };
  const offered: McpServerTool = {
    name: "rooms.find",
    description: "Finds rooms.",
    inputSchema: {
      $schema: "https://json-schema.org/draft-07/schema",
      type: "object",
      properties: { beds: { $ref: "#/$defs/count" }, note: { type: "string" } },
      required: ["beds"],
      $defs: { count: { type: "integer" } },
    },
  };

  test.each<[string, object, Partial<FoundTool>, object]>([
    ["client", { client: {} }, {}, { kind: "client" }],
    ["data connection", { dataConnection: {} }, {}, { kind: "dataConnection" }],
    ["nowhere", { staticResponse: { responseText: "Later." } }, {}, { kind: "static" }],
    [
      "inside the service",
      { staticResponse: {} },
      { builtIn: "hangUp" },
      { kind: "builtIn", builtIn: "hangUp" },
    ],
    [
      "on a server",
      mcp,
      { mcpTool: offered },
      {
        kind: "mcp",
        serverUrl: "https://example.com/mcp",
        headers: { authorization: "h" },
        toolName: "rooms.find",
      },
    ],
  ])("%s", (_what, definition, changes, wanted) => {
    expect(compiled(definition, {}, changes).plan.implementation).toEqual(wanted);
  });

  test("a tool of a server takes what the server says, but for overrides", () => {
    const { plan, listed } = compiled(mcp, { parameterOverrides: { note: "n" } }, { mcpTool: offered });
    expect(plan.description).toBe("Finds rooms.");
    expect(plan.parameters).toEqual({
      type: "object",
      properties: { beds: { $ref: "#/$defs/count" } },
      required: ["beds"],
      $defs: { count: { type: "integer" } },
    });
    expect(plan.fixed).toEqual([{ name: "note", location: "body", value: "n" }]);
    expect(JSON.stringify(listed)).not.toContain("authorization");
  });

  test.each<[object, string | null]>([
    [{ client: {} }, null],
    [{ client: {}, staticResponse: { responseText: "At once." } }, "At once."],
    [{ staticResponse: {} }, "OK"],
  ])("static response of %o", (definition, wanted) => {
    const { plan, listed } = compiled(definition);
    expect(plan.staticResponse).toBe(wanted);
    expect(listed.definition.staticResponse?.responseText ?? null).toBe(wanted);
  });

  test.each([
    ["AGENT_REACTION_SPEAKS", "speaks"],
    ["AGENT_REACTION_LISTENS", "listens"],
    ["AGENT_REACTION_SPEAKS_ONCE", "speaks-once"],
  ])("%s", (defaultReaction, wanted) => {
    expect(compiled({ client: {}, defaultReaction }).plan.defaultReaction).toBe(wanted);
  });

  test("time", () => {
    expect(compiled({ client: {}, timeout: "40s", precomputable: true }).plan).toMatchObject({
      timeoutMs: 40_000,
      precomputable: true,
    });
    expect(compiled({ client: {}, timeout: "0.0001s" }).plan.timeoutMs).toBe(1);
  });

  test("every listing is one of the interface", () => {
    for (const definition of [at(url), { client: {} }, { dataConnection: {} }, { staticResponse: {} }, mcp]) {
      const mcpTool = "mcp" in definition ? offered : null;
      const { listed } = compiled({ ...definition }, {}, { mcpTool, toolId: null });
      expect(CallTool.safeParse(listed).success).toBe(true);
    }
  });
});

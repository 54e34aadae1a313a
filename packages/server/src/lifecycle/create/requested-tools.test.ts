import { CallTemplate, SelectedTool, StartAgentCallRequest, StartCallRequest } from "@parley/schema";
import { describe, expect, test } from "vitest";
import { requestedSettings, requestedAgentSettings } from "../../plan/requested-settings.ts";
import type { RequestedTool } from "../../plan/requested-settings.ts";
import type { McpServerTool } from "../../plan/compile-tools.ts";
import type { KnownTool } from "../../plan/selected-tools.ts";
import { prepareTools } from "./requested-tools.ts";
import { directSchemaChecks } from "./testing/schema-checks.ts";

const own = (toolId: string, name: string, definition: object = { client: {} }): KnownTool => ({
  toolId,
  name,
  own: true,
  builtIn: null,
  definition,
});
const hangUp: KnownTool = { ...own("b1", "hangUp", {}), own: false, builtIn: "hangUp" };
const corpus: KnownTool = {
  ...own("b2", "queryCorpus", {
    dynamicParameters: [{ name: "corpus_id" }, { name: "query", required: true }],
    requirements: { requiredParameterOverrides: ["corpus_id"] },
  }),
  own: false,
  builtIn: "queryCorpus",
};
const transfer: KnownTool = { ...own("b3", "warmTransfer", {}), own: false, builtIn: "nextTransfer" };

async function prepare(
  tools: readonly RequestedTool[],
  known: readonly KnownTool[] = [hangUp, corpus, transfer],
  listed: () => Promise<readonly McpServerTool[]> = () => Promise.reject(new Error("refused by the server")),
) {
  let ids = 0;
  const requested: object[] = [];
  const result = await prepareTools("acc", tools, "token", {
    checkSchema: directSchemaChecks.checkSchema,
    findTools: async (accountId, wanted) => {
      requested.push({ accountId, ...wanted });
      return known;
    },
    refusedTarget: (url) => (new URL(url).hostname.startsWith("10.") ? "address not allowed" : null),
    listMcpTools: async (serverUrl, headers) => {
      requested.push({ serverUrl, headers });
      return listed();
    },
    randomId: () => `id-${(ids += 1)}`,
  });
  return {
    names: result.tools.map(({ plan }) => plan.name),
    plans: result.tools.map(({ plan }) => plan),
    errors: result.errors.map(({ field, message }) => `${field} ${message}`),
    unavailable: result.unavailable,
    requested,
  };
}

const select = (...tools: object[]): readonly RequestedTool[] =>
  tools.map((tool, index) => ({ tool: SelectedTool.parse(tool), field: `selectedTools.${index}` }));
const ID = "77777777-7777-4777-8777-777777777777";
const client = (modelToolName: string) => ({ temporaryTool: { modelToolName, client: {} } });

test("an address that is written out and not allowed is refused, where it stands", async () => {
  const http = (baseUrlPattern: string) => ({
    temporaryTool: {
      modelToolName: "look",
      http: { baseUrlPattern },
      ...(baseUrlPattern.includes("{id}")
        ? { dynamicParameters: [{ name: "id", location: "PARAMETER_LOCATION_PATH" }] }
        : {}),
    },
  });
  const mcp = { temporaryTool: { modelToolName: "mcp", mcp: { serverUrl: "https://10.0.0.1/mcp" } } };
  const stored = { ...own(ID, "book", { http: { baseUrlPattern: "http://10.0.0.2/x" } }) };
  const { errors, requested } = await prepare(select(http("http://10.0.0.3/{id}"), mcp, { toolId: ID }), [
    stored,
  ]);
  expect(errors).toEqual([
    "selectedTools.0.temporaryTool.http.baseUrlPattern is not allowed: address not allowed",
    "selectedTools.1.temporaryTool.mcp.serverUrl is not allowed: address not allowed",
    "selectedTools.2 is not allowed: address not allowed",
  ]);
  expect(requested).toHaveLength(1);
});

test("a server is asked once for all of its tools, and a call has a bounded number of servers", async () => {
  const mcp = (serverUrl: string, toolName: string) => ({
    temporaryTool: { modelToolName: toolName, mcp: { serverUrl, toolName } },
  });
  const listed = () =>
    Promise.resolve(["a", "b"].map((name) => ({ name, description: "", inputSchema: { type: "object" } })));
  const twice = await prepare(
    select(mcp("https://x.test/mcp", "a"), mcp("https://x.test/mcp", "b")),
    [],
    listed,
  );
  expect([twice.errors, twice.names, twice.requested.length]).toEqual([[], ["a", "b"], 1]);
  const many = Array.from({ length: 9 }, (_, n) => ({
    ...mcp(`https://x${n}.test/mcp`, "a"),
    nameOverride: `a${n}`,
  }));
  const { errors, requested } = await prepare(select(...many), [], listed);
  expect(requested).toHaveLength(8);
  expect(errors).toEqual([expect.stringContaining("at most 8 servers")]);
});

describe("references", () => {
  test("are looked up once, ids in lower case, and only when there are any", async () => {
    const { requested, names } = await prepare(
      select({ toolId: ID.toUpperCase() }, { toolName: "hangUp" }, client("mine")),
      [own(ID, "book"), hangUp],
    );
    expect(requested).toEqual([{ accountId: "acc", ids: [ID], names: ["hangUp"] }]);
    expect(names).toEqual(["book", "hangUp", "mine"]);
    expect((await prepare(select(client("mine")))).requested).toEqual([]);
  });

  test("a built-in tool runs inside the service", async () => {
    const { plans } = await prepare(select({ toolName: "hangUp" }));
    expect(plans[0]).toMatchObject({ toolId: "b1", implementation: { kind: "builtIn", builtIn: "hangUp" } });
  });

  test("own tools win over public ones of the same name", async () => {
    const { plans } = await prepare(select({ toolName: "hangUp" }), [hangUp, own("mine", "hangUp")]);
    expect(plans[0]).toMatchObject({ toolId: "mine", implementation: { kind: "client" } });
  });

  test.each<[string, object[], readonly KnownTool[], string[]]>([
    [
      "a deleted tool, by id",
      [{ toolId: ID }],
      [],
      [`selectedTools.0.toolId names a tool that does not exist: ${ID}`],
    ],
    [
      "a deleted tool, by name",
      [client("a"), { toolName: "book" }],
      [],
      ["selectedTools.1.toolName names a tool that does not exist: book"],
    ],
    [
      "a name of several own tools",
      [{ toolName: "book" }],
      [own("1", "book"), own("2", "book")],
      ["selectedTools.0.toolName names more than one tool of the account; give toolId instead"],
    ],
    [
      "one model-facing name for two tools",
      [{ toolName: "book" }, { ...client("other"), nameOverride: "book" }],
      [own("1", "book")],
      ["selectedTools.1 must have a unique name; selectedTools.0 is already called book"],
    ],
    [
      "a name that only the stored definition tells",
      [client("reserve"), { toolName: "book" }],
      [own("1", "book", { client: {}, modelToolName: "reserve" })],
      ["selectedTools.1 must have a unique name; selectedTools.0 is already called reserve"],
    ],
    [
      "no corpus",
      [{ toolName: "queryCorpus" }],
      [corpus],
      ["selectedTools.0.parameterOverrides must give corpus_id, because the tool requires it"],
    ],
    [
      "what is no id of a corpus",
      [{ toolName: "queryCorpus", parameterOverrides: { corpus_id: "c" } }],
      [corpus],
      ['selectedTools.0.parameterOverrides.corpus_id must be the id of a corpus, not "c"'],
    ],
    [
      "an override of nothing",
      [{ toolName: "queryCorpus", parameterOverrides: { limit: 3 } }],
      [corpus],
      [
        "selectedTools.0.parameterOverrides.limit must be the name of a parameter of the tool",
        "selectedTools.0.parameterOverrides must give corpus_id, because the tool requires it",
      ],
    ],
  ])("refuses %s", async (_what, tools, known, wanted) => {
    expect((await prepare(select(...tools), known)).errors).toEqual(wanted);
  });

  test("what is not built yet is no fault of the request", async () => {
    const { errors, unavailable } = await prepare(select({ toolName: "warmTransfer" }));
    expect([errors, unavailable]).toEqual([
      [],
      ["selectedTools.0.toolName: warmTransfer is not available in this version"],
    ]);
  });
});

describe("tools taken away from an agent's", () => {
  const template = CallTemplate.parse({
    selectedTools: [{ toolName: "book" }, { toolName: "gone" }, client("mine")],
  });
  const requested = (toolOverrides: object): readonly RequestedTool[] =>
    requestedAgentSettings(template, StartAgentCallRequest.parse({ toolOverrides })).tools;
  const known = [own("1", "book", { client: {}, modelToolName: "reserve" })];

  test("by the name that the stored tool tells; a deleted one by its record's", async () => {
    const { names, errors } = await prepare(requested({ remove: ["reserve", "gone"] }), known);
    expect([names, errors]).toEqual([["mine"], []]);
  });

  test("not by a name that the model does not see", async () => {
    expect((await prepare(requested({ remove: ["book", "gone"] }), known)).names).toEqual([
      "reserve",
      "mine",
    ]);
  });

  test("a deleted one that stays is named as the agent's", async () => {
    expect((await prepare(requested({}), known)).errors).toEqual([
      "callTemplate.selectedTools.1.toolName names a tool that does not exist: gone",
    ]);
  });

  test("another of the name may take its place", async () => {
    const { plans } = await prepare(
      requested({ remove: ["reserve", "gone"], add: [client("reserve")] }),
      known,
    );
    expect(plans.map(({ name, toolId }) => [name, toolId])).toEqual([
      ["mine", null],
      ["reserve", null],
    ]);
  });
});

describe("tools of a server", () => {
  const mcp = (more: object = {}, selection: object = {}) => ({
    ...selection,
    temporaryTool: { mcp: { serverUrl: "https://example.com/mcp", headers: { a: "b" }, ...more } },
  });
  const offered = ["find", "book.room"].map((name) => ({
    name,
    description: `To ${name}.`,
    inputSchema: { type: "object", properties: { [name]: { type: "string" } }, required: [name] },
  }));
  const list = () => Promise.resolve(offered);

  test("all of them", async () => {
    const { plans, requested } = await prepare(select(mcp()), [], list);
    expect(requested).toEqual([{ serverUrl: "https://example.com/mcp", headers: { a: "b" } }]);
    expect(plans.map(({ name, description }) => [name, description])).toEqual([
      ["find", "To find."],
      ["book_room", "To book.room."],
    ]);
    expect(plans[1]?.implementation).toMatchObject({ kind: "mcp", toolName: "book.room" });
  });

  test("one of them, whose parameters the server tells", async () => {
    const { plans } = await prepare(select(mcp({ toolName: "find" })), [], list);
    expect(plans).toMatchObject([{ name: "find", parameters: { required: ["find"] } }]);
  });

  test("an override counts where there is such a parameter", async () => {
    const { plans, errors } = await prepare(select(mcp({}, { parameterOverrides: { find: "x" } })), [], list);
    expect(errors).toEqual([]);
    expect(plans.map(({ fixed }) => fixed.length)).toEqual([1, 0]);
  });

  test("a definition that says everything needs no server", async () => {
    const tool = {
      temporaryTool: { mcp: { serverUrl: "https://example.com/mcp", toolName: "x" }, dynamicParameters: [] },
    };
    const { names, requested } = await prepare(select(tool));
    expect([names, requested]).toEqual([["x"], []]);
  });

  test.each<[string, object, () => Promise<readonly McpServerTool[]>, string]>([
    [
      "a server that cannot be asked",
      mcp(),
      () => Promise.reject(new Error("HTTP 404")),
      "selectedTools.0.temporaryTool.mcp.serverUrl must be the address of a server that lists its tools: HTTP 404",
    ],
    [
      "a server without tools",
      mcp(),
      () => Promise.resolve([]),
      "selectedTools.0.temporaryTool.mcp.serverUrl must be the address of a server with tools; this one has none",
    ],
    [
      "a tool that the server has not",
      mcp({ toolName: "none" }),
      list,
      "selectedTools.0.temporaryTool.mcp.toolName must be a tool of the server; it has none of the name none",
    ],
    [
      "one name for all",
      mcp({}, { nameOverride: "one" }),
      list,
      "selectedTools.0.nameOverride must not be given for all 2 tools of a server",
    ],
  ])("refuses %s", async (_what, tool, listed, wanted) => {
    expect((await prepare(select(tool), [], listed)).errors).toEqual([wanted]);
  });

  test("a stored server is named by its reference", async () => {
    const known = [own("1", "shop", { mcp: { serverUrl: "https://example.com/mcp" } })];
    expect((await prepare(select({ toolName: "shop" }), known)).errors).toEqual([
      "selectedTools.0.toolName must be the address of a server that lists its tools: refused by the server",
    ]);
  });

  test("no more than a model can be shown", async () => {
    const many = Array.from({ length: 129 }, (_, index) => ({
      name: `t${index}`,
      description: "",
      inputSchema: {},
    }));
    expect((await prepare(select(mcp()), [], () => Promise.resolve(many))).errors).toEqual([
      "selectedTools must be at most 128 tools together with those of servers; they are 129",
    ]);
  });
});

test("a request's tools are named by their places", () => {
  const { tools } = requestedSettings(StartCallRequest.parse({ selectedTools: [client("a"), client("b")] }));
  expect(tools.map(({ field }) => field)).toEqual(["selectedTools.0", "selectedTools.1"]);
});

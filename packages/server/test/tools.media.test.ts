/**
 * The assembled service: tools by HTTP and of an MCP server, from the request that names them to what the caller hears.
 */

import { afterAll, beforeAll, expect, test } from "vitest";
import { readAllowedTargets } from "../src/net/address-filter.ts";
import type { LlmEngine, LlmPart } from "../src/ports/llm.ts";
import { openLocalServer, type LocalServer } from "../src/ports/testing/local-server.ts";
import { openMcpTestServer, type McpTestServer } from "../src/providers/tools-mcp/testing/mcp-server.ts";
import { until } from "../src/runner/testing/call-client.ts";
import { openFaultyEngines } from "./faulty-engines.ts";
import { NOTHING, openRunningService, USER_FIRST, type RunningService } from "./running-service.ts";

/** Calls the tool that the user names, and then says its result. */
const llm: LlmEngine = {
  name: "calling",
  models: [],
  async *generate({ messages }): AsyncGenerator<LlmPart> {
    await Promise.resolve();
    const last = messages.at(-1);
    if (last?.role === "user") {
      yield { type: "tool-call", call: { id: "m1", name: last.text, arguments: { city: "Bern" } } };
    } else yield { type: "text-delta", text: `It says: ${last?.text ?? ""}.` };
    yield { type: "finish", reason: "stop", inputTokens: 1, outputTokens: 1 };
  },
  close: () => Promise.resolve(),
};

let service: RunningService;
let web: LocalServer;
let mcp: McpTestServer;

beforeAll(async () => {
  web = await openLocalServer(({ path, body }, response) => {
    response.setHeader("content-type", "text/plain");
    response.end(`${path} ${body}`);
  });
  const inputSchema = { type: "object" as const, properties: { city: { type: "string" } } };
  mcp = await openMcpTestServer({
    list: () => ({ tools: [{ name: "trains", description: "Trains.", inputSchema }] }),
    run: (_name, { city }) => ({ content: [{ type: "text", text: `trains to ${String(city)}` }] }),
  });
  service = await openRunningService(
    { allowPrivateTargets: readAllowedTargets("127.0.0.1") },
    { ...openFaultyEngines(), llm },
  );
});

afterAll(async () => {
  await service.close();
  await web.close();
  await mcp.close();
});

function selectedTools() {
  const city = { name: "city", required: true, schema: { type: "string" } };
  return [
    {
      temporaryTool: {
        modelToolName: "weather",
        description: "Weather.",
        dynamicParameters: [{ ...city, location: "PARAMETER_LOCATION_PATH" }],
        staticParameters: [{ name: "unit", location: "PARAMETER_LOCATION_BODY", value: "C" }],
        http: { baseUrlPattern: `${web.baseUrl}/{city}`, httpMethod: "POST" },
      },
    },
    { temporaryTool: { mcp: { serverUrl: mcp.url } } },
  ];
}

/** What the agent says after the tool was named. */
async function answerTo(tools: readonly object[], name: string): Promise<string> {
  const { callId, client } = await service.call({ ...USER_FIRST, voice: "quick", selectedTools: tools });
  client.send({ type: "user_text_message", text: name });
  const spoken = () => client.of("transcript").find(({ role, final }) => role === "agent" && final);
  await until(() => spoken() !== undefined, `an answer to ${name}`, 15_000);
  client.socket.close(1000);
  await service.endedSoon(callId);
  return spoken()?.text ?? "";
}

test("an http tool and one of an MCP server run once, and the caller hears what they gave", async () => {
  const tools = selectedTools();
  expect(await answerTo(tools, "weather")).toBe('It says: /v1/Bern {"unit":"C"}.');
  expect(web.requests).toHaveLength(1);
  expect(await answerTo(tools, "trains")).toBe("It says: trains to Bern.");
  expect(mcp.runs).toEqual(["trains"]);
  expect(await service.leftovers()).toEqual(NOTHING);
});

test("a test of a tool and a call send the same request, nulls as well", async () => {
  const known = [
    "CALL_ID",
    "CALL_STAGE_ID",
    "CALL_STATE",
    "CALL_METADATA",
    "CONVERSATION_HISTORY",
    "OUTPUT_SAMPLE_RATE",
    "THREAD_ID",
    "THREAD_STATES",
  ];
  const definition = {
    description: "Weather.",
    dynamicParameters: [
      { name: "city", required: true, schema: { type: "string" } },
      { name: "day", schema: { type: "string" } },
    ],
    staticParameters: [
      { name: "unit", value: "C" },
      { name: "region", value: null },
      { name: "none", location: "PARAMETER_LOCATION_QUERY", value: null },
      { name: "X-Source", location: "PARAMETER_LOCATION_HEADER", value: "voice" },
    ],
    automaticParameters: known.map((name) => ({ name, knownValue: `KNOWN_PARAM_${name}` })),
    requirements: {
      httpSecurityOptions: { options: [{ requirements: { key: { headerApiKey: { name: "X-Key" } } } }] },
    },
    http: { baseUrlPattern: `${web.baseUrl}/same` },
  };
  const made = await service.ask<{ toolId: string }>("POST", "/api/tools", { name: "same", definition });
  expect(made.status).toBe(201);
  expect(await service.get(`/api/tools/${made.body.toolId}`)).toMatchObject({
    definition: { staticParameters: [{ value: "C" }, { value: null }, { value: null }, {}] },
  });
  const authTokens = { key: "key-of-the-tool" };
  const from = web.requests.length;
  const path = `/api/tools/${made.body.toolId}/test`;
  expect((await service.ask("POST", path, { city: "Bern", authTokens })).status).toBe(200);
  await answerTo([{ toolName: "same", authTokens }], "same");
  const [tested, called] = web.requests.slice(from).map(({ body, headers, ...rest }) => ({
    ...rest,
    body: JSON.parse(body) as Record<string, unknown>,
    headers: Object.entries(headers).filter(([name]) => !/^(?:content-length|.*-invocation-id)$/.test(name)),
  }));
  expect(called?.headers).toContainEqual(["x-key", "key-of-the-tool"]);
  expect(called?.body).toMatchObject({ city: "Bern", unit: "C", region: null, OUTPUT_SAMPLE_RATE: 16_000 });
  // What is not of the tool, but of the one call.
  for (const name of ["CALL_ID", "CALL_STAGE_ID", "CONVERSATION_HISTORY", "OUTPUT_SAMPLE_RATE"]) {
    expect(typeof tested?.body[name]).toBe(typeof called?.body[name]);
    if (tested !== undefined && called !== undefined) tested.body[name] = called.body[name];
  }
  expect(tested).toEqual(called);
  const refused = await service.ask("POST", path, { city: "Bern" });
  expect([refused.status, refused.body.errors?.map(({ field }) => field)]).toEqual([400, ["authTokens"]]);
});

/** A call whose client may send this much, and how often the tool was reached since its creation. */
async function callOfLevel(settings: object) {
  const before = web.requests.length;
  const tools = selectedTools().slice(0, 1);
  const call = await service.call({ ...USER_FIRST, voice: "quick", selectedTools: tools, ...settings });
  const force = (city: unknown) => {
    const toolCalls = [{ name: "weather", arguments: { city } }];
    call.client.send({ type: "forced_agent_message", toolCalls });
  };
  const recorded = async (type: string) => {
    const events = () => call.client.of("call_event").filter(({ event }) => event.type === type);
    await until(() => events().length > 0, `${type} to be told`, 15_000);
    return events()[0]?.event.text ?? "";
  };
  const end = async () => {
    call.client.socket.close(1000);
    await service.endedSoon(call.callId);
  };
  return { ...call, force, recorded, end, reached: () => web.requests.length - before };
}

test("a client of a media call cannot call a tool itself, is told so, and the call goes on", async () => {
  const { callId, client, force, recorded, end, reached } = await callOfLevel({ clientMessages: "media" });
  expect(await service.record(callId)).toMatchObject({ clientMessages: "media" });
  force("Bern");
  expect(await recorded("data_message.refused")).toContain("forced_agent_message");
  expect(reached()).toBe(0);
  client.send({ type: "user_text_message", text: "weather" });
  await until(() => client.of("transcript").some(({ role }) => role === "agent"), "an answer", 15_000);
  expect(reached()).toBe(1);
  await end();
});

test("arguments of a client that break the schema never reach the tool", async () => {
  const { callId, force, recorded, end, reached } = await callOfLevel({});
  expect(await service.record(callId)).toMatchObject({ clientMessages: "trusted" });
  force(4711);
  expect(await recorded("tool.failed")).toContain("city");
  expect(reached()).toBe(0);
  force("Bern");
  await until(() => reached() === 1, "the tool to be reached", 15_000);
  await end();
});

test("what takes too long to check is stopped in a thread and answered, and the calls go on", async () => {
  const pattern = "^(?=(a+)+$)";
  const contextSchema = { properties: { a: { type: "string", pattern } } };
  const agent = await service.ask<{ agentId: string }>("POST", "/api/agents", {
    callTemplate: { contextSchema },
  });
  expect(agent.status).toBe(201);
  const path = `/api/agents/${agent.body.agentId}/calls`;
  const refused = await service.ask("POST", path, { templateContext: { a: `${"a".repeat(60)}!` } });
  expect([refused.status, refused.body.errors]).toEqual([
    400,
    [{ field: "templateContext", message: "takes too long to check against its schema" }],
  ]);
  const parameter = { name: "city", schema: { type: "string", pattern: "^(?!x)[A-Z]" }, required: true };
  const tool = {
    modelToolName: "look",
    dynamicParameters: [parameter],
    staticResponse: { responseText: "Fine." },
  };
  expect(await answerTo([{ temporaryTool: tool }], "look")).toBe("It says: Fine..");
  const strict = { ...parameter, schema: { type: "string", pattern: "^(?!B)[A-Z]" } };
  expect(await answerTo([{ temporaryTool: { ...tool, dynamicParameters: [strict] } }], "look")).toContain(
    "must match pattern",
  );
});

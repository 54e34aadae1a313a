import type { CallToolResult, ListToolsResult } from "@modelcontextprotocol/sdk/types.js";
import { afterEach, describe, expect, it } from "vitest";
import type { ToolOutcome } from "@parley/schema";
import { readAllowedTargets } from "../../net/address-filter.ts";
import { openGuardedClient } from "../../net/guarded-fetch.ts";
import { openLocalServer, type LocalHandler } from "../../ports/testing/local-server.ts";
import { describeToolInvokerConformance } from "../../ports/testing/tool-invoker-conformance.ts";
import type { ToolInvocation } from "../../ports/tool-invoker.ts";
import { until } from "../../ports/testing/until.ts";
import { openMcpTestServer, type McpTestServerOptions } from "./testing/mcp-server.ts";
import { openMcpTools, type McpTools } from "./tools-mcp.ts";

const client = openGuardedClient({ allowed: readAllowedTargets("127.0.0.1") });
const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function serve(options: McpTestServerOptions) {
  const server = await openMcpTestServer(options);
  closing.push(() => server.close());
  return server;
}

function openTools(): McpTools {
  const tools = openMcpTools(client);
  closing.push(() => tools.close());
  return tools;
}

function callOf(
  serverUrl: string,
  toolName: string,
  fields: Partial<ToolInvocation> = {},
  headers = {},
): ToolInvocation {
  return {
    invocationId: "inv-1",
    callId: "c",
    accountId: "a",
    toolName: "t",
    implementation: { kind: "mcp", serverUrl, headers, toolName },
    values: [],
    timeoutMs: 10_000,
    ...fields,
  };
}

const never = () => new AbortController().signal;
const text = (value: string): CallToolResult => ({ content: [{ type: "text", text: value }] });

function runTestTool(name: string, given: Readonly<Record<string, unknown>>): Promise<CallToolResult> {
  if (name === "hang") return new Promise(() => undefined);
  if (name === "break") return Promise.resolve({ ...text("on purpose"), isError: true });
  return Promise.resolve(text(name === "flood" ? "a".repeat(500_000) : String(given["text"])));
}

describe.each([
  ["events", false, false],
  ["JSON", true, false],
  ["events and a memory of its clients", false, true],
])("with answers as %s,", (_how, json, remembers) => {
  describeToolInvokerConformance("MCP", async () => {
    const server = await openMcpTestServer({ run: runTestTool, json, remembers });
    return {
      invoker: openMcpTools(client),
      call: (tool, { invocationId, text: value }) =>
        callOf(server.url, tool, { invocationId, values: [{ name: "text", location: "body", value }] }),
      runs: () => server.runs.length,
      begun: () => server.begun(),
      close: () => server.close(),
    };
  });
});

async function resultOf(result: CallToolResult): Promise<ToolOutcome> {
  const server = await serve({ run: () => result });
  return openTools().invoke(callOf(server.url, "t"), never());
}

describe("the result of an MCP tool", () => {
  it.each<[string, CallToolResult, string]>([
    ["several texts", { content: [...text("a").content, ...text("b").content] }, "a\nb"],
    ["texts before data", { ...text("a"), structuredContent: { b: 1 } }, "a"],
    ["data", { content: [], structuredContent: { seats: 4 } }, '{"seats":4}'],
    ["nothing", { content: [] }, "OK"],
    ["a document", { content: [{ type: "resource", resource: { uri: "a:b", text: "inside" } }] }, "inside"],
    [
      "an image",
      { content: [{ type: "image", data: "aGk=", mimeType: "image/png" }] },
      "[Binary content that cannot be shown: image/png.]",
    ],
    [
      "a link",
      { content: [{ type: "resource_link", name: "menu", uri: "https://a.example/m" }] },
      "menu: https://a.example/m",
    ],
  ])("takes %s", async (_what, result, wanted) => {
    expect(await resultOf(result)).toMatchObject({ kind: "completed", result: wanted });
  });

  it("is a failure when the server says so, shortened for the model", async () => {
    expect(await resultOf({ ...text("x".repeat(3_000)), isError: true })).toMatchObject({
      kind: "failed",
      cause: "error",
      text: `The tool failed: ${"x".repeat(2_000)}`,
      errorDetails: "x".repeat(3_000),
    });
    expect(await resultOf({ content: [], isError: true })).toMatchObject({
      text: "The tool failed: no reason was given",
    });
  });
});

describe("an MCP tool", () => {
  it("is sent its headers and the invocation, and the server is left", async () => {
    const server = await serve({ run: runTestTool, remembers: true });
    const tools = openTools();
    const call = callOf(server.url, "echo", {}, { Authorization: "Bearer s" });
    expect(await tools.invoke(call, never())).toMatchObject({ kind: "completed" });
    await tools.close();
    expect(server.requests.map(({ method }) => method)).toEqual(["POST", "POST", "POST", "DELETE"]);
    for (const { headers } of server.requests) expect(headers).toMatchObject({ authorization: "Bearer s" });
    for (const { headers } of server.requests.slice(0, 3))
      expect(headers).toMatchObject({ "x-service-invocation-id": "inv-1" });
    expect([server.clients(), server.runs]).toEqual([0, ["echo"]]);
  });

  it("notifies the server of a cancellation", async () => {
    const cancelled = Promise.withResolvers<void>();
    const server = await serve({
      remembers: true,
      run: (_name, _given, signal) => {
        signal.addEventListener("abort", () => {
          cancelled.resolve();
        });
        return new Promise(() => undefined);
      },
    });
    const controller = new AbortController();
    const begun = server.begun();
    const running = openTools()
      .invoke(callOf(server.url, "t"), controller.signal)
      .catch((error: unknown) => String(error));
    await begun;
    controller.abort();
    expect(await running).toContain("abort");
    await cancelled.promise;
  });

  it.each<[string, LocalHandler, string]>([
    ["is none", (_request, response) => void response.writeHead(404).end("secret-1 is here"), "HTTP 404"],
    [
      "sends elsewhere",
      (_request, response) => void response.writeHead(307, { location: "/x" }).end(),
      "connection failed",
    ],
    ["hangs up", (_request, response) => void response.destroy(), "connection failed"],
    [
      "floods",
      (_request, response) => {
        response.writeHead(200, { "content-type": "application/json" });
        response.end("x".repeat(2_000_000));
      },
      "the answer is longer than 1048576 bytes",
    ],
  ])("fails, asked once, when the server %s", async (_what, handler, reason) => {
    const server = await openLocalServer(handler);
    closing.push(() => server.close());
    const call = callOf(server.baseUrl, "t", {}, { "X-Key": "secret-1" });
    const answer = await openTools().invoke(call, never());
    expect(answer).toMatchObject({ kind: "failed", cause: "error", text: `The tool failed: ${reason}` });
    expect(JSON.stringify(answer)).not.toContain("secret-1");
    expect(server.requests).toHaveLength(1);
  });

  it("keeps the headers of its server out of results and failures", async () => {
    const key = "the-key-1";
    const server = await serve({
      run: (name) => ({ ...text(`${name}: ${key}, en-GB`), isError: name === "fail" }),
    });
    const headers = { Authorization: `Bearer ${key}`, "Accept-Language": "en-GB" };
    const tools = openTools();
    expect(await tools.invoke(callOf(server.url, "t", {}, headers), never())).toMatchObject({
      result: "t: [secret], en-GB",
    });
    expect(await tools.invoke(callOf(server.url, "fail", {}, headers), never())).toMatchObject({
      text: "The tool failed: fail: [secret], en-GB",
      errorDetails: "fail: [secret], en-GB",
    });
  });

  it("leaves good results whole where headers are words of them", async () => {
    const said = "Hotel Bellevue, Bellevue, confirmed";
    const server = await serve({ run: () => text(said) });
    const headers = { "X-Tenant": "Hotel Bellevue", "X-Want": "confirmed" };
    const answer = await openTools().invoke(callOf(server.url, "t", {}, headers), never());
    expect(answer).toMatchObject({ result: said });
  });

  it("is refused where the target is not allowed", async () => {
    const answer = await openTools().invoke(callOf("http://10.0.0.1/mcp", "t"), never());
    expect(answer).toMatchObject({
      kind: "failed",
      text: "The tool failed: address not allowed",
      errorDetails: expect.stringContaining("ALLOW_PRIVATE_TARGETS") as string,
    });
  });
});

describe("the connection of a call to a server", () => {
  const idOf = ({ headers }: { readonly headers: Record<string, unknown> }) =>
    headers["x-service-invocation-id"];
  const echo = (url: string, n: number, fields: Partial<ToolInvocation> = {}, headers = {}) =>
    callOf(
      url,
      "echo",
      { invocationId: `inv-${String(n)}`, values: [{ name: "text", location: "body", value: n }], ...fields },
      headers,
    );

  it.each([true, false])("stays open for its next invocation (remembered: %s)", async (remembers) => {
    const server = await serve({ run: runTestTool, remembers });
    const tools = openTools();
    for (const n of [1, 2, 3]) {
      expect(await tools.invoke(echo(server.url, n), never())).toMatchObject({ result: String(n) });
    }
    expect(server.requests.map(idOf)).toEqual(["inv-1", "inv-1", "inv-1", "inv-2", "inv-3"]);
    expect(server.clients()).toBe(remembers ? 1 : 0);
    await tools.close();
    expect(server.clients()).toBe(0);
  });

  it("is no other call's, and none of other headers", async () => {
    const server = await serve({ run: runTestTool, remembers: true });
    const tools = openTools();
    await tools.invoke(echo(server.url, 1), never());
    await tools.invoke(echo(server.url, 2, { callId: "other" }), never());
    await tools.invoke(echo(server.url, 3, {}, { "X-Key": "k" }), never());
    expect([server.requests.length, server.clients()]).toEqual([9, 3]);
  });

  it("is shared by invocations at the same time, each under its own id", async () => {
    const server = await serve({ run: runTestTool, remembers: true });
    const tools = openTools();
    const answers = await Promise.all([1, 2, 3].map((n) => tools.invoke(echo(server.url, n), never())));
    expect(answers).toMatchObject([{ result: "1" }, { result: "2" }, { result: "3" }]);
    expect(new Set(server.requests.slice(2).map(idOf))).toEqual(new Set(["inv-1", "inv-2", "inv-3"]));
    expect(server.requests).toHaveLength(5);
    expect(server.clients()).toBe(1);
  });

  it("is left when nobody has used it for a while", async () => {
    const server = await serve({ run: runTestTool, remembers: true });
    const tools = openMcpTools(client, "X-Service-", 50);
    closing.push(() => tools.close());
    await tools.invoke(echo(server.url, 1), never());
    expect(server.clients()).toBe(1);
    await until(() => server.clients() === 0);
    expect(await tools.invoke(echo(server.url, 2), never())).toMatchObject({ result: "2" });
  });

  it("is opened again where the server has forgotten it, and the tool still runs once", async () => {
    const server = await serve({ run: runTestTool, remembers: true });
    const tools = openTools();
    await tools.invoke(echo(server.url, 1), never());
    server.forget();
    expect(await tools.invoke(echo(server.url, 2), never())).toMatchObject({ result: "2" });
    expect(server.runs).toEqual(["echo", "echo"]);
    expect(server.clients()).toBe(1);
  });

  it("is not used again after a tool was given up, and does not end what else runs on it", async () => {
    const finish = Promise.withResolvers<void>();
    const server = await serve({
      remembers: true,
      run: async (name, given) => {
        if (name === "slow") await finish.promise;
        return runTestTool(name === "slow" ? "echo" : name, given);
      },
    });
    const tools = openTools();
    await tools.invoke(echo(server.url, 1), never());
    const begun = server.begun();
    const slow = tools.invoke(
      { ...echo(server.url, 2), implementation: callOf(server.url, "slow").implementation },
      never(),
    );
    await begun;
    const hang = callOf(server.url, "hang", { invocationId: "inv-3", timeoutMs: 100 });
    expect(await tools.invoke(hang, never())).toMatchObject({ kind: "failed", cause: "timeout" });
    expect(await tools.invoke(echo(server.url, 4), never())).toMatchObject({ result: "4" });
    finish.resolve();
    expect(await slow).toMatchObject({ result: "2" });
    await until(() => server.clients() === 1);
  });
});

describe("the list of tools", () => {
  const inputSchema = { type: "object" as const, properties: { seats: { type: "integer" } } };
  const many = (count: number, prefix = "t"): ListToolsResult["tools"] =>
    Array.from({ length: count }, (_, i) => ({ name: `${prefix}${String(i)}`, inputSchema }));

  it("is read page by page, with the headers of the server", async () => {
    const server = await serve({
      list: (cursor) =>
        cursor === undefined
          ? { tools: [{ name: "book", description: "Books.", inputSchema }], nextCursor: "2" }
          : { tools: [{ name: `cancel-${cursor}`, inputSchema }] },
    });
    expect(await openTools().listTools(server.url, { "X-Key": "k" })).toEqual([
      { name: "book", description: "Books.", inputSchema },
      { name: "cancel-2", description: "", inputSchema },
    ]);
    expect(server.requests.every(({ headers }) => headers["x-key"] === "k")).toBe(true);
  });

  it.each<[string, (cursor: string | undefined) => ListToolsResult, string]>([
    ["too many", () => ({ tools: many(129) }), "it has more than 128 tools"],
    [
      "endless",
      (cursor = "0") => ({ tools: many(1, `p${cursor}-`), nextCursor: String(Number(cursor) + 1) }),
      "its list of tools has more than 16 pages",
    ],
    [
      "with an endless schema",
      () => ({ tools: [{ name: "t", inputSchema: { ...inputSchema, title: "x".repeat(65_536) } }] }),
      "the schema of its tool t is longer than 65536 characters",
    ],
    [
      "with an endless name",
      () => ({ tools: many(1, "x".repeat(200)) }),
      "a name of its tools is too long or empty",
    ],
  ])("is not taken when it is %s", async (_what, list, reason) => {
    const server = await serve({ list });
    await expect(openTools().listTools(server.url, {})).rejects.toThrow(reason);
  });

  it.each([true, false])("is not taken when its pages together are too long (as JSON: %s)", async (json) => {
    const schema = { ...inputSchema, title: "x".repeat(60_000) };
    const server = await serve({
      json,
      list: (cursor = "0") => ({
        tools: [1, 2, 3].map((n) => ({ name: `t${cursor}-${String(n)}`, inputSchema: schema })),
        nextCursor: String(Number(cursor) + 1),
      }),
    });
    await expect(openTools().listTools(server.url, {})).rejects.toThrow(
      "its list of tools is longer than 1048576 bytes",
    );
    // Five pages fit: the introduction of both sides, its confirmation, six pages, and the parting of those who
    // remember.
    expect(server.requests).toHaveLength(8);
  });

  it("takes as many as a call may have, and cuts endless descriptions", async () => {
    const server = await serve({ list: () => ({ tools: many(128) }) });
    expect(await openTools().listTools(server.url, {})).toHaveLength(128);
    const wordy = await serve({
      list: () => ({ tools: [{ name: "t", description: "x".repeat(20_000), inputSchema }] }),
    });
    const [tool] = await openTools().listTools(wordy.url, {});
    expect(tool?.description).toHaveLength(16_384);
  });

  it("says why there is none", async () => {
    const tools = openTools();
    await expect(tools.listTools("http://192.168.1.1/", {})).rejects.toThrow("address not allowed");
    const plain = await openLocalServer((_request, response) => {
      response.writeHead(401).end();
    });
    closing.push(() => plain.close());
    await expect(tools.listTools(plain.baseUrl, {})).rejects.toThrow("HTTP 401");
    await expect(tools.listTools(plain.baseUrl, { Host: "x" })).rejects.toThrow("cannot be set");
    await expect(tools.listTools(plain.baseUrl, {}, AbortSignal.abort())).rejects.toThrow("abort");
  });
});

/** The assembled service: tools of every kind, stages, injected words, the text medium and the data connection. */

import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { loadConfig } from "../src/config/config.ts";
import { openScriptedLlm } from "../src/providers/llm-scripted/llm-scripted.ts";
import { until, wait, type CallClient } from "../src/runner/testing/call-client.ts";
import { openFaultyEngines } from "./faulty-engines.ts";
import { NOTHING, openRunningService, USER_FIRST, type RunningService } from "./running-service.ts";
import { openToolHost, type ToolHost, type ToolReply } from "./tool-host.ts";

let service: RunningService;
let host: ToolHost;

const REPLIES: Readonly<Record<string, ToolReply>> = {
  walk: { body: "You are at the door." },
  stage: {
    headers: { "x-service-response-type": "new-stage", "content-type": "application/json" },
    body: JSON.stringify({ systemPrompt: "You are the cashier.", toolResultText: "Handed over." }),
  },
  goodbye: { headers: { "x-service-response-type": "hang-up" }, body: '{"message": "Goodbye then."}' },
  state: { headers: { "x-service-update-call-state": '{"paid": true}' }, body: "Paid." },
  broken: { status: 404, body: "no such room" },
  slow: { body: "late", afterMs: 1_500 },
  history: { body: "Seen." },
};

beforeAll(async () => {
  host = await openToolHost(({ path }) => REPLIES[path.split(/[/?]/)[1] ?? ""] ?? { status: 500 });
  const { allowPrivateTargets } = loadConfig({ ALLOW_PRIVATE_TARGETS: "127.0.0.1" });
  const engines = { ...openFaultyEngines(), llm: await openScriptedLlm() };
  service = await openRunningService({ allowPrivateTargets }, engines);
});

afterAll(async () => {
  await service.close();
  await host.close();
});

function httpTool(modelToolName: string, place: string, more: object = {}): object {
  return {
    temporaryTool: {
      modelToolName,
      description: "Does it.",
      http: { baseUrlPattern: `${host.httpUrl}/${place}`, httpMethod: "POST" },
      // The default of 2.5 s may pass on a busy machine.
      timeout: "30s",
      ...more,
    },
  };
}

const finals = (client: CallClient, role: "agent" | "user") =>
  client.of("transcript").filter((message) => message.final && message.role === role);

function type(client: CallClient, text: string): void {
  client.send({ type: "user_text_message", text, urgency: "immediate" });
}

async function said(client: CallClient, text: string): Promise<void> {
  await until(() => finals(client, "agent").some((final) => final.text === text), `the agent to say ${text}`);
}

interface Page<Row> {
  readonly results: readonly Row[];
}

/** Messages are stored some time after they were heard. */
const RECORDED = { timeout: 60_000, interval: 50 };

describe.concurrent("a tool", () => {
  test("of HTTP gets what its parameters say, once, and its answer is said", async () => {
    const dynamicParameters = [{ name: "meters", schema: { type: "number" }, required: true }];
    const automaticParameters = [
      { name: "call", location: "PARAMETER_LOCATION_QUERY", knownValue: "KNOWN_PARAM_CALL_ID" },
    ];
    const tool = httpTool("goForward", "walk", { dynamicParameters, automaticParameters });
    const { callId, client } = await service.call({ ...USER_FIRST, selectedTools: [tool] });
    type(client, "Go forward ten meters.");
    await said(client, "You are at the door.");
    const requests = host.requests.filter(({ path }) => path.includes(callId));
    expect(requests).toHaveLength(1);
    expect(requests[0]).toMatchObject({
      method: "POST",
      path: `/walk?call=${callId}`,
      body: '{"meters":10}',
    });
    const invocationId = requests[0]?.headers["x-service-invocation-id"];
    expect(invocationId).toMatch(/^call_/);
    const messages = await service.get<Page<Record<string, unknown>>>(`/api/calls/${callId}/messages`);
    expect(messages.results).toMatchObject([
      { role: "MESSAGE_ROLE_USER" },
      { role: "MESSAGE_ROLE_TOOL_CALL", toolName: "goForward", invocationId, text: '{"meters":10}' },
      { role: "MESSAGE_ROLE_TOOL_RESULT", toolName: "goForward", invocationId, text: "You are at the door." },
      { role: "MESSAGE_ROLE_AGENT", text: "You are at the door." },
    ]);
    const tools = await service.get<readonly { name: string }[]>(`/api/calls/${callId}/tools`);
    expect(tools.map(({ name }) => name)).toEqual(["goForward"]);
  });

  test("that fails is reported to the model, counted and recorded, and the call continues", async () => {
    const { callId, client } = await service.call({
      ...USER_FIRST,
      selectedTools: [httpTool("look", "broken")],
    });
    type(client, "look");
    await until(() => finals(client, "agent").length === 1, "the agent to say so");
    expect(finals(client, "agent")[0]?.text).toBe("The tool failed: HTTP 404 no such room");
    await until(() => client.eventTypes().includes("tool.failed"), "the event");
    const stages = await service.get<Page<{ errorCount: number }>>(`/api/calls/${callId}/stages`);
    expect(stages.results).toMatchObject([{ errorCount: 1 }]);
  });

  test("that is too slow fails after its timeout", async () => {
    const tool = httpTool("look", "slow", { timeout: "0.4s" });
    const { client } = await service.call({ ...USER_FIRST, selectedTools: [tool] });
    type(client, "look");
    await said(client, "The tool failed: timeout after 0.4s");
    expect(client.eventTypes()).toContain("tool.timeout");
  });

  test.each([
    ["that fails", () => httpTool("look", "broken"), "The tool failed: HTTP 404 no such room"],
    [
      "that is too slow",
      () => httpTool("look", "slow", { timeout: "0.4s" }),
      "The tool failed: timeout after 0.4s",
    ],
    [
      "that the client never answers",
      () => ({ temporaryTool: { modelToolName: "look", client: {}, timeout: "0.4s" } }),
      "The tool failed: timeout after 0.4s",
    ],
  ])("%s is told to the client with its result and the details", async (_what, tool, result) => {
    const medium = { dataMessages: { toolUsed: true } };
    const { callId, client } = await service.call({ ...USER_FIRST, selectedTools: [tool()] }, medium);
    type(client, "look");
    await said(client, result);
    const messages = await service.get<Page<Record<string, unknown>>>(`/api/calls/${callId}/messages`);
    const [used] = client.of("tool_used");
    const stored = messages.results.find(({ role }) => role === "MESSAGE_ROLE_TOOL_RESULT");
    expect(used?.result?.replace("\n", " ")).toBe(result);
    expect(used?.errorDetails).toBeTruthy();
    expect(stored).toMatchObject({ text: used?.result, errorDetails: used?.errorDetails });
  });

  test("of the client is asked for and answered by data messages", async () => {
    const tool = {
      temporaryTool: {
        modelToolName: "goForward",
        description: "Walks.",
        dynamicParameters: [{ name: "meters", schema: { type: "number" }, required: true }],
        client: {},
      },
    };
    const { client } = await service.call({ ...USER_FIRST, selectedTools: [tool] });
    type(client, "Go forward three meters.");
    await until(() => client.of("client_tool_invocation").length === 1, "the invocation");
    const [requested] = client.of("client_tool_invocation");
    expect(requested).toMatchObject({ toolName: "goForward", parameters: { meters: 3 } });
    client.send({
      type: "client_tool_result",
      invocationId: requested?.invocationId,
      result: "You see a garden.",
    });
    await said(client, "You see a garden.");
  });

  test("of the data connection is asked for and answered there", async () => {
    const tool = { temporaryTool: { modelToolName: "look", description: "Looks.", dataConnection: {} } };
    const before = host.sockets.length;
    const { client } = await service.call({
      ...USER_FIRST,
      selectedTools: [tool],
      dataConnection: { websocketUrl: `${host.wsUrl}/data` },
    });
    const greeted = () => host.messages.some((message) => message["type"] === "call_started");
    await until(() => host.sockets.length > before && greeted(), "the data connection");
    type(client, "look");
    const requested = () =>
      host.messages.find((message) => message["type"] === "data_connection_tool_invocation");
    await until(() => requested() !== undefined, "the invocation");
    const answer = {
      type: "data_connection_tool_result",
      invocationId: requested()?.["invocationId"],
      result: "A wall.",
    };
    host.sockets[before]?.send(JSON.stringify(answer));
    await said(client, "A wall.");
    expect(client.of("data_connection_tool_invocation")).toEqual([]);
    expect(host.messages.map((message) => message["type"])).toContain("transcript");
  });

  test("may lead to another stage, with its own prompt and the messages so far", async () => {
    const { callId, client } = await service.call({
      ...USER_FIRST,
      selectedTools: [httpTool("pay", "stage")],
    });
    type(client, "pay");
    await said(client, "Handed over.");
    const stages = await service.get<Page<Record<string, unknown>>>(`/api/calls/${callId}/stages`);
    expect(stages.results).toHaveLength(2);
    expect(stages.results[1]).toMatchObject({ systemPrompt: "You are the cashier." });
    const last = await service.messages(callId);
    expect(last.map(({ role }) => role.replace("MESSAGE_ROLE_", ""))).toEqual([
      "USER",
      "TOOL_CALL",
      "TOOL_RESULT",
      "AGENT",
    ]);
  });

  test("gets the conversation as the API lists it, with stages, times and states", async () => {
    const automaticParameters = [{ name: "history", knownValue: "KNOWN_PARAM_CONVERSATION_HISTORY" }];
    const selectedTools = [
      httpTool("pay", "state"),
      httpTool("next", "stage"),
      httpTool("look", "history", { automaticParameters }),
    ];
    const initialMessages = [{ role: "MESSAGE_ROLE_AGENT", text: "Before." }];
    const settings = { ...USER_FIRST, selectedTools, initialMessages, initialState: { guest: "Ada" } };
    const { callId, client } = await service.call(settings);
    for (const [words, answer] of [
      ["pay", "Paid."],
      ["next", "Handed over."],
      ["look", "Seen."],
    ] as const) {
      type(client, words);
      await said(client, answer);
    }
    const sent = host.requests.find(({ path }) => path === "/history");
    const { history } = JSON.parse(sent?.body ?? "") as { history: readonly Record<string, unknown>[] };
    const path = `/api/calls/${callId}/messages?pageSize=100`;
    const recorded = async () => (await service.get<Page<Record<string, unknown>>>(path)).results;
    // Without the running call, its result and what was said of it, which are recorded some time after they were heard.
    await vi.waitFor(async () => expect((await recorded()).slice(0, -3)).toEqual(history), RECORDED);
    const stages = await service.get<Page<{ callStageId: string }>>(`/api/calls/${callId}/stages`);
    const ids = stages.results.map(({ callStageId }) => callStageId);
    expect(new Set(history.map(({ callStageId }) => callStageId))).toEqual(new Set(ids));
    expect(ids).toHaveLength(2);
    expect(history.find(({ callState }) => callState)?.["callState"]).toEqual({ guest: "Ada", paid: true });
    expect(history.filter(({ timespan }) => timespan === undefined)).toHaveLength(1);
  });

  test("may change the state of the call, and hang up", async () => {
    const selectedTools = [httpTool("pay", "state"), httpTool("leave", "goodbye")];
    const { callId, client } = await service.call({
      ...USER_FIRST,
      selectedTools,
      initialState: { guest: "Ada" },
    });
    type(client, "pay");
    await said(client, "Paid.");
    const messages = await service.get<Page<Record<string, unknown>>>(`/api/calls/${callId}/messages`);
    expect(messages.results[2]).toMatchObject({ callState: { guest: "Ada", paid: true } });
    type(client, "leave");
    expect((await service.ended(callId)).endReason).toBe("agent_hangup");
    expect(finals(client, "agent").at(-1)?.text).toBe("Goodbye then.");
  });

  test("that comes with the service hangs up", async () => {
    const { callId, client } = await service.call({ ...USER_FIRST, selectedTools: [{ toolName: "hangUp" }] });
    type(client, "goodbye");
    expect((await service.ended(callId)).endReason).toBe("agent_hangup");
  });

  test("to a private address that is not allowed is refused, with the reason on record", async () => {
    const definition = {
      modelToolName: "look",
      description: "Looks.",
      http: { baseUrlPattern: "http://localhost.localdomain.invalid/x", httpMethod: "GET" },
    };
    const { callId, client } = await service.call({
      ...USER_FIRST,
      selectedTools: [{ temporaryTool: definition }],
    });
    type(client, "look");
    await until(() => client.eventTypes().includes("tool.failed"), "the failure");
    await until(() => finals(client, "agent").length === 1, "the agent to say so");
    const messages = await service.get<Page<Record<string, unknown>>>(`/api/calls/${callId}/messages`);
    expect(messages.results[2]?.["text"]).toMatch(/^The tool failed: /);
    const refused = await service.ask("POST", "/api/calls", {
      medium: { serverWebSocket: { inputSampleRate: 16_000 } },
      selectedTools: [
        {
          temporaryTool: {
            ...definition,
            http: { ...definition.http, baseUrlPattern: "http://169.254.169.254/x" },
          },
        },
      ],
    });
    expect(refused.status).toBe(400);
    expect(refused.body.errors?.[0]?.field).toContain("baseUrlPattern");
  });
});

describe.concurrent("the agent", () => {
  test("says and does what it is made to by REST", async () => {
    const { callId, client } = await service.call({
      ...USER_FIRST,
      selectedTools: [httpTool("look", "walk")],
    });
    const answer = await service.ask("POST", `/api/calls/${callId}/send_data_message`, {
      type: "forced_agent_message",
      content: "One moment.",
      toolCalls: [{ name: "look", arguments: {} }],
    });
    expect(answer.status).toBe(204);
    await said(client, "One moment.");
    await said(client, "You are at the door.");
  });

  test("writes instead of speaking, and speaks again", async () => {
    const { client } = await service.call({ ...USER_FIRST, initialOutputMedium: "MESSAGE_MEDIUM_TEXT" });
    type(client, "ten of clubs");
    await until(() => finals(client, "agent").length === 1, "the written answer");
    expect(finals(client, "agent")[0]).toMatchObject({ medium: "text" });
    expect(client.frames).toHaveLength(0);
    client.send({ type: "set_output_medium", medium: "voice" });
    type(client, "queen of hearts");
    await until(() => client.frames.length > 10, "sound");
    await until(() => finals(client, "agent").length === 2, "the spoken answer");
    expect(finals(client, "agent")[1]).toMatchObject({ medium: "voice" });
  });

  test("minds silence, and hangs up at the end of its patience", async () => {
    const inactivityMessages = [
      { duration: "0.5s", message: "Are you there?" },
      { duration: "0.5s", message: "I hang up now.", endBehavior: "END_BEHAVIOR_HANG_UP_STRICT" },
    ];
    const { callId, client } = await service.call({ ...USER_FIRST, inactivityMessages });
    expect((await service.ended(callId)).endReason).toBe("agent_hangup");
    expect(finals(client, "agent").map(({ text }) => text)).toEqual(["Are you there?", "I hang up now."]);
  });
});

test("a stored tool is selected by its name, and its history names the call", async () => {
  const definition = {
    description: "Walks.",
    http: { baseUrlPattern: `${host.httpUrl}/walk`, httpMethod: "GET" },
  };
  const made = await service.ask<{ toolId: string }>("POST", "/api/tools", { name: "stroll", definition });
  expect(made.status).toBe(201);
  const tried = await service.ask("POST", `/api/tools/${made.body.toolId}/test`, {});
  expect([tried.status, tried.bytes.toString("utf8")]).toEqual([200, "You are at the door."]);
  const { callId, client } = await service.call({ ...USER_FIRST, selectedTools: [{ toolName: "stroll" }] });
  type(client, "stroll");
  await said(client, "You are at the door.");
  const history = await service.get<Page<{ call: { callId: string } }>>(
    `/api/tools/${made.body.toolId}/history`,
  );
  expect(history.results.map(({ call }) => call.callId)).toEqual([callId]);
});

test("nothing is left", async () => {
  await wait(100);
  expect(await service.leftovers()).toEqual(NOTHING);
});

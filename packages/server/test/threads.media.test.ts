/** The assembled service: side threads over a real websocket, with a tool by HTTP, up to what is stored. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { readAllowedTargets } from "../src/net/address-filter.ts";
import type { LlmEngine, LlmPart } from "../src/ports/llm.ts";
import { openLocalServer, type LocalServer } from "../src/ports/testing/local-server.ts";
import { until } from "../src/runner/testing/call-client.ts";
import { openFaultyEngines } from "./faulty-engines.ts";
import { NOTHING, openRunningService, USER_FIRST, type RunningService } from "./running-service.ts";

const INPUT_TOKENS = 7;
const OUTPUT_TOKENS = 2;
const FOUND = "I found 3 rooms";

/** Looks rooms up, reports them with a second tool, and waits forever where it is told to. */
const SCRIPT: Readonly<Record<string, string>> = { research: "lookUp", "3 rooms": "report", wait: "hang" };

const llm: LlmEngine = {
  name: "scripted",
  models: [],
  async *generate({ messages }): AsyncGenerator<LlmPart> {
    await Promise.resolve();
    const last = messages.at(-1)?.text ?? "";
    const name = SCRIPT[last];
    if (name !== undefined) yield { type: "tool-call", call: { id: "m1", name, arguments: {} } };
    else yield { type: "text-delta", text: `You said ${last}.` };
    const counts = { inputTokens: INPUT_TOKENS, outputTokens: OUTPUT_TOKENS };
    yield { type: "finish", reason: "stop", ...counts };
  },
  close: () => Promise.resolve(),
};

let service: RunningService;
let web: LocalServer;

beforeAll(async () => {
  web = await openLocalServer(({ path }, response) => {
    if (path === "/v1/hang") return;
    if (path === "/v1/report") {
      const told = { type: "user_text_message", text: FOUND, urgency: "immediate" };
      const dataMessage = { ...told, threadId: "_PARENT" };
      response.setHeader("x-service-response-type", "send-to-thread");
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ callingThreadResultText: "Reported.", dataMessage }));
      return;
    }
    response.setHeader("content-type", "text/plain");
    response.end("3 rooms");
  });
  const allowPrivateTargets = readAllowedTargets("127.0.0.1");
  service = await openRunningService({ allowPrivateTargets }, { ...openFaultyEngines(), llm });
});

afterAll(async () => {
  await service.close();
  await web.close();
});

function tool(name: string): object {
  const known = { name: "thread", location: "PARAMETER_LOCATION_BODY", knownValue: "KNOWN_PARAM_THREAD_ID" };
  return {
    temporaryTool: {
      modelToolName: name,
      description: name,
      timeout: "40s",
      automaticParameters: [known],
      http: { baseUrlPattern: `${web.baseUrl}/${name}`, httpMethod: "POST" },
    },
  };
}

const spawn = (newThreadId: string, text: string) => ({
  type: "spawn_thread",
  newThreadId,
  additionalMessages: [{ role: "MESSAGE_ROLE_USER", text }],
});

test("a thread calls a tool, reports to the conversation, and ends with the call", async () => {
  const selectedTools = ["lookUp", "report", "hang"].map(tool);
  const { callId, client } = await service.call({ ...USER_FIRST, voice: "quick", selectedTools });
  client.send(spawn("research", "research"));
  client.send(spawn("a b", "research"));
  client.send({ type: "user_text_message", text: "Hi", threadId: "nobody" });
  const said = () => client.of("transcript").filter(({ final }) => final);
  await until(() => said().some(({ role }) => role === "agent"), "the report");
  expect(said().map(({ role, text }) => [role, text])).toEqual([
    ["user", FOUND],
    ["agent", `You said ${FOUND}.`],
  ]);
  const completed = () => client.of("side_generation_completed");
  await until(() => completed().length === 3, "the third generation");
  expect(completed().map(({ text, toolCalls }) => [text, toolCalls.map(({ name }) => name)])).toEqual([
    ["", ["lookUp"]],
    ["", ["report"]],
    ["You said Reported..", []],
  ]);
  expect(web.requests.map(({ path, body }) => [path, body])).toEqual([
    ["/v1/lookUp", '{"thread":"research"}'],
    ["/v1/report", '{"thread":"research"}'],
  ]);
  const requested = web.requested();
  client.send(spawn("patient", "wait"));
  await requested;
  const lost = web.hungUp();
  client.send({ type: "hang_up" });
  await service.endedSoon(callId);
  await lost;
  expect(client.of("thread_spawned").map(({ threadId }) => threadId)).toEqual(["research", "patient"]);
  expect(client.of("thread_rejected")).toEqual([
    { type: "thread_rejected", threadId: "a b", reason: "invalid" },
  ]);
  expect(client.of("thread_terminated").map(({ threadId, reason }) => [threadId, reason])).toEqual([
    ["research", "call_ended"],
    ["patient", "call_ended"],
  ]);
  // Three generations of one thread and one of the other; the conversation's own are not among them.
  expect(await service.get(`/api/calls/${callId}`)).toMatchObject({
    billedSideInputTokens: 4 * INPUT_TOKENS,
    billedSideOutputTokens: 4 * OUTPUT_TOKENS,
  });
  const types = (await service.events(callId)).map(({ type }) => type);
  expect(types.filter((type) => type === "side_generation.completed")).toHaveLength(4);
  expect(types).toContain("thread_comms.non_existent_thread");
  expect(types).toContain("thread.canceled");
  const messages = await service.messages(callId);
  expect(messages.map(({ role }) => role)).toEqual(["MESSAGE_ROLE_USER", "MESSAGE_ROLE_AGENT"]);
  expect(await service.leftovers()).toEqual(NOTHING);
});

test("a client of the level media cannot spawn a thread", async () => {
  const { callId, client } = await service.call({ ...USER_FIRST, clientMessages: "media" });
  client.send(spawn("research", "research"));
  await until(() => client.eventTypes().includes("data_message.refused"), "the refusal");
  client.send({ type: "hang_up" });
  await service.endedSoon(callId);
  expect(client.of("thread_spawned")).toEqual([]);
  expect(await service.get(`/api/calls/${callId}`)).toMatchObject({ billedSideInputTokens: null });
});

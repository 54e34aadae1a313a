/**
 * Token counts of stages: what the model server reports, and nothing else. And the traces of whole calls, as a collector
 * gets them. With the whole service.
 */

import { afterAll, beforeAll, expect, test } from "vitest";
import { loadConfig } from "../src/config/config.ts";
import type { EndedSpan } from "../src/ports/testing/fake-traces.ts";
import { openLocalServer, type LocalServer } from "../src/ports/testing/local-server.ts";
import { openTraceCollector, type TraceCollector } from "../src/ports/testing/trace-collector.ts";
import { openOpenAiLlm } from "../src/providers/llm-openai/llm-openai.ts";
import { until } from "../src/runner/testing/call-client.ts";
import { treeOf } from "../src/runner/traces/testing/traced-call.ts";
import { HEARD, openFaultyEngines } from "./faulty-engines.ts";
import {
  callSettings,
  openRunningService,
  USER_FIRST,
  type RunningService,
  type TestCall,
} from "./running-service.ts";
import { openToolHost, type ToolHost } from "./tool-host.ts";

let service: RunningService;
let model: LocalServer;
let host: ToolHost;
let collector: TraceCollector;

/** What the server says about the tokens of a request, by the system prompt of the stage. */
const REPORTS: Readonly<Record<string, (messages: number) => number | undefined>> = {
  "counts ": (messages) => 100 + messages,
  "counts-later ": (messages) => (messages > 2 ? 200 + messages : undefined),
  "counts-not ": () => undefined,
  "counts-none ": () => 0,
  "counts-half ": () => 10.5,
  "counts-too-much ": () => 3_000_000_000,
};

interface Asked {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly tools?: readonly unknown[];
}

const head = { id: "x1", object: "chat.completion.chunk", created: 1_760_000_000, model: "small" };
const chunk = (more: object): string => `data: ${JSON.stringify({ ...head, ...more })}\n\n`;
const next = { index: 0, id: "c1", type: "function", function: { name: "next", arguments: "{}" } };

/** Calls the tool where it is offered one, and answers otherwise. */
function answer(body: string): string {
  const { messages, tools = [] } = JSON.parse(body) as Asked;
  const [delta, finish] =
    tools.length > 0 ? [{ tool_calls: [next] }, "tool_calls"] : [{ content: "Yes." }, "stop"];
  const report = Object.entries(REPORTS).find(([prompt]) => messages[0]?.content.startsWith(prompt))?.[1];
  const tokens = report?.(messages.length);
  const usage = tokens === undefined ? {} : { usage: { prompt_tokens: tokens, completion_tokens: 3 } };
  return [
    chunk({ choices: [{ index: 0, delta, finish_reason: null }] }),
    chunk({ choices: [{ index: 0, delta: {}, finish_reason: finish }] }),
    chunk({ choices: [], ...usage }),
    "data: [DONE]\n\n",
  ].join("");
}

beforeAll(async () => {
  host = await openToolHost(() => ({
    headers: { "x-service-response-type": "new-stage", "content-type": "application/json" },
    body: JSON.stringify({ systemPrompt: "counts in the second stage", selectedTools: [] }),
  }));
  model = await openLocalServer(({ body }, response) => {
    if (body.includes("refuses ")) {
      response.writeHead(429, { "content-type": "application/json" });
      response.end('{"error":{"message":"busy"}}');
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(answer(body));
  });
  const llm = await openOpenAiLlm({ baseUrl: model.baseUrl, apiKey: null, model: "small" });
  const { allowPrivateTargets } = loadConfig({ ALLOW_PRIVATE_TARGETS: "127.0.0.1" });
  collector = await openTraceCollector();
  const traces = { endpoint: collector.endpoint, headers: {} };
  service = await openRunningService({ allowPrivateTargets, traces }, { ...openFaultyEngines(), llm });
});

afterAll(async () => {
  await service.close();
  await Promise.all([model.close(), host.close(), collector.close()]);
});

function begin(systemPrompt: string, settings: object = {}): Promise<TestCall> {
  return service.call({
    ...USER_FIRST,
    initialOutputMedium: "MESSAGE_MEDIUM_TEXT",
    systemPrompt,
    ...settings,
  });
}

async function type({ client }: TestCall, text: string): Promise<void> {
  const said = (): number =>
    client.of("transcript").filter((message) => message.final && message.role === "agent").length;
  const before = said();
  client.send({ type: "user_text_message", text, urgency: "immediate" });
  await until(() => said() > before, "the answer");
}

async function counts({ callId }: TestCall): Promise<unknown[][]> {
  type Stage = Readonly<Record<"initialTokenCount" | "latestTokenCount", number | null>>;
  const { results } = await service.get<{ results: readonly Stage[] }>(`/api/calls/${callId}/stages`);
  return results.map((stage) => [stage.initialTokenCount, stage.latestTokenCount]);
}

async function hangUp({ callId, client }: TestCall): Promise<void> {
  client.send({ type: "hang_up" });
  await service.ended(callId);
}

test("are those of the first and the latest request of each stage, and stay after the end", async () => {
  const baseUrlPattern = `${host.httpUrl}/next`;
  const tool = { modelToolName: "next", description: "Next.", http: { baseUrlPattern, httpMethod: "POST" } };
  const call = await begin("counts in the first stage", {
    selectedTools: [{ temporaryTool: { ...tool, timeout: "30s" } }],
  });
  await type(call, "go on");
  await type(call, "and on");
  // One message and the prompt; then the tool's call and result as well; then an answer and a question more.
  const expected = [
    [102, 102],
    [104, 106],
  ];
  await expect.poll(() => counts(call), { timeout: 30_000 }).toEqual(expected);
  await hangUp(call);
  expect(await counts(call)).toEqual(expected);
});

test("begin with the first request that is reported", async () => {
  const call = await begin("counts-later than the first request");
  for (const text of ["one", "two", "three"]) await type(call, text);
  await expect.poll(() => counts(call), { timeout: 30_000 }).toEqual([[204, 206]]);
  await hangUp(call);
});

test.each(["counts-not ", "counts-none ", "counts-half ", "counts-too-much "])(
  "are null where the model server reports no number of tokens: %s",
  async (prompt) => {
    const call = await begin(`${prompt}at all`);
    await type(call, "one");
    await hangUp(call);
    expect(await counts(call)).toEqual([[null, null]]);
  },
);

const PARENT = { traceId: "4bf92f3577b34da6a3ce929d0e0e4736", spanId: "00f067aa0ba902b7" };

/** Joins a call that a request with the header `traceparent` has created. */
async function beginTraced(settings: object): Promise<TestCall> {
  const created = await fetch(`${service.url}/api/calls`, {
    method: "POST",
    headers: {
      "x-api-key": service.key,
      "content-type": "application/json",
      traceparent: `00-${PARENT.traceId}-${PARENT.spanId}-01`,
    },
    body: JSON.stringify(callSettings({ ...USER_FIRST, ...settings })),
  });
  expect(created.status).toBe(201);
  const { callId, joinUrl } = (await created.json()) as { callId: string; joinUrl: string };
  const client = service.connect(joinUrl);
  await client.opened();
  client.start();
  return { callId, joinUrl, client };
}

async function agentSaid({ client }: TestCall): Promise<void> {
  await until(() => client.of("transcript").some(({ role, final }) => role === "agent" && final), "words");
}

/** A spoken question, for which the model calls a tool that begins a new stage, in which it answers. */
async function callWithTool(): Promise<TestCall> {
  const baseUrlPattern = `${host.httpUrl}/next`;
  const tool = { modelToolName: "next", description: "Next.", http: { baseUrlPattern, httpMethod: "POST" } };
  const call = await beginTraced({
    systemPrompt: "counts in secret-prompt-1",
    voice: "quick",
    selectedTools: [{ temporaryTool: { ...tool, timeout: "30s" } }],
  });
  await call.client.say(1_000);
  await agentSaid(call);
  await until(() => call.client.of("state").at(-1)?.state === "listening", "the end of the answer");
  await hangUp(call);
  return call;
}

/** The agent is interrupted by typed words, in the middle of the text that it was given to say. */
async function interruptedCall(): Promise<TestCall> {
  const text = "One two three four five six seven eight nine ten eleven twelve.";
  const call = await service.call({ firstSpeakerSettings: { agent: { text } } });
  await until(() => call.client.frames.length > 10, "the agent's voice");
  call.client.send({ type: "user_text_message", text: "stop", urgency: "immediate" });
  await until(() => call.client.of("transcript").some(({ text: said }) => said === "Yes."), "the answer");
  await hangUp(call);
  return call;
}

async function callOfBusyModel(): Promise<TestCall> {
  const call = await service.call({ ...USER_FIRST, systemPrompt: "refuses every request" });
  call.client.send({ type: "user_text_message", text: "secret-words-1", urgency: "immediate" });
  await call.client.closed;
  await service.ended(call.callId);
  return call;
}

const traceOf = (callId: string): string => callId.replaceAll("-", "");

// The last test here: the stop of the service sends the spans that are left.
test("traces show calls that succeed, use a tool, fail and are interrupted, and nothing that was said", async () => {
  const [used, interrupted, busy] = await Promise.all([callWithTool(), interruptedCall(), callOfBusyModel()]);
  await service.close();
  const spans = collector.spans();
  const treeIn = (traceId: string, parentId: string | null): string[] =>
    treeOf(
      spans.filter((span) => span.traceId === traceId),
      parentId,
    );
  const named = (traceId: string, name: string): EndedSpan | undefined =>
    spans.find((span) => span.traceId === traceId && span.name === name);

  const tree = treeIn(PARENT.traceId, PARENT.spanId);
  expect(tree.filter((line) => !line.includes("speech_to_text"))).toEqual([
    "call",
    "  turn, speech finished",
    "    chat small",
    "    execute_tool next",
    "    chat small",
    "    text_to_speech",
  ]);
  expect(tree).toContain("    speech_to_text");
  expect(named(PARENT.traceId, "chat small")).toMatchObject({
    kind: "client",
    attributes: {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "openai",
      "gen_ai.request.model": "small",
      "gen_ai.usage.input_tokens": 102,
      "gen_ai.usage.output_tokens": 3,
      "server.address": "127.0.0.1",
    },
  });
  expect(named(PARENT.traceId, "call")?.attributes).toMatchObject({
    "gen_ai.conversation.id": used.callId,
    "gen_ai.usage.output_tokens": 6,
    "parley.call.end_reason": "agent_hangup",
  });
  const invocation = named(PARENT.traceId, "execute_tool next")?.attributes["gen_ai.tool.call.id"];
  const request = host.requests.at(-1);
  expect(Object.values(request?.headers ?? {})).toContain(invocation);
  expect(request?.headers).not.toHaveProperty("traceparent");

  expect(treeIn(traceOf(interrupted.callId), null).filter((line) => line.includes("turn"))).toEqual([
    "  turn, opening interrupted",
    "  turn, text finished",
  ]);
  const failed = treeIn(traceOf(busy.callId), null);
  expect(failed[0]).toBe("call, failed: system_error");
  expect(failed).toContain("    chat small, failed: 429");

  const sent = collector.server.requests.map(({ body }) => body).join("");
  for (const secret of [
    HEARD,
    "Yes.",
    "secret-prompt-1",
    "secret-words-1",
    "busy",
    "twelve",
    service.key,
    host.httpUrl,
  ])
    expect(sent).not.toContain(secret);
});

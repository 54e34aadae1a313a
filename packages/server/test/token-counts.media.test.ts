/** Token counts of stages: what the model server reports, and nothing else. With the whole service. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { loadConfig } from "../src/config/config.ts";
import { openLocalServer, type LocalServer } from "../src/ports/testing/local-server.ts";
import { openOpenAiLlm } from "../src/providers/llm-openai/llm-openai.ts";
import { until } from "../src/runner/testing/call-client.ts";
import { openFaultyEngines } from "./faulty-engines.ts";
import { openRunningService, USER_FIRST, type RunningService, type TestCall } from "./running-service.ts";
import { openToolHost, type ToolHost } from "./tool-host.ts";

let service: RunningService;
let model: LocalServer;
let host: ToolHost;

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
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(answer(body));
  });
  const llm = await openOpenAiLlm({ baseUrl: model.baseUrl, apiKey: null, model: "small" });
  const { allowPrivateTargets } = loadConfig({ ALLOW_PRIVATE_TARGETS: "127.0.0.1" });
  service = await openRunningService({ allowPrivateTargets }, { ...openFaultyEngines(), llm });
});

afterAll(async () => {
  await service.close();
  await Promise.all([model.close(), host.close()]);
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

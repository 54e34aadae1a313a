import { afterEach, describe, expect, it } from "vitest";
import type { LlmTool } from "@parley/schema";
import { collect, neverAborted } from "../../ports/testing/collect.ts";
import { describeLlmConformance, llmRequest, textOf } from "../../ports/testing/llm-conformance.ts";
import { openLocalServer, type LocalHandler, type LocalServer } from "../../ports/testing/local-server.ts";
import type { LlmEngine } from "../../ports/llm.ts";
import { openOpenAiLlm } from "./llm-openai.ts";

const servers: LocalServer[] = [];
const engines: LlmEngine[] = [];
afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.close()));
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function open(handler: LocalHandler, apiKey: string | null = "secret-key-1") {
  const server = await openLocalServer(handler);
  servers.push(server);
  const engine = await openOpenAiLlm({
    baseUrl: server.baseUrl,
    apiKey,
    model: "small",
    models: ["large"],
  });
  engines.push(engine);
  return { server, engine };
}

type Delta = Readonly<Record<string, unknown>>;
const head = { id: "x1", object: "chat.completion.chunk", created: 1_760_000_000, model: "small" };
const chunk = (delta: Delta, finish: string | null = null): string =>
  `data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const usageOf = (input: number, output = input): string =>
  `data: ${JSON.stringify({ ...head, choices: [], usage: { prompt_tokens: input, completion_tokens: output } })}\n\n`;
const usage = usageOf(50, 9);
const done = "data: [DONE]\n\n";
const toolCall = (fields: Delta): string => chunk({ tool_calls: [fields] });

const stream =
  (...events: readonly string[]): LocalHandler =>
  (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(events.join(""));
  };

const respond =
  (status: number, type: string, body: string): LocalHandler =>
  (_request, response) => {
    response.writeHead(status, { "content-type": type });
    response.end(body);
  };

/** Begins an answer and leaves it so. */
const hang: LocalHandler = (_request, response) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(chunk({ content: "We " }));
};

/** Says back what the last message was, a word per chunk. */
const echo: LocalHandler = ({ body }, response) => {
  const { messages } = JSON.parse(body) as { messages: { content: unknown }[] };
  const words = `You said: ${JSON.stringify(messages.at(-1)?.content)}.`.split(/(?<= )/);
  return stream(
    ...words.map((content) => chunk({ content })),
    chunk({}, "stop"),
    usage,
    done,
  )({ method: "", path: "", headers: {}, body }, response);
};

const hello = llmRequest({ messages: [{ role: "user", text: "Hello there" }] });
const tools: LlmTool[] = [
  {
    name: "lookup",
    description: "Looks up.",
    parameters: { type: "object", properties: { q: { type: "string" } } },
  },
];

describeLlmConformance("an OpenAI-compatible server", {
  open: async () => (await open(echo)).engine,
  requests: [hello, llmRequest({ messages: [{ role: "user", text: "one two three" }] }), llmRequest()],
  openHanging: async () => {
    const { engine, server } = await open(hang);
    return { engine, reached: server.requested() };
  },
  openFailing: async () =>
    (
      await open((_request, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(chunk({ content: "We " }), () => response.destroy());
      })
    ).engine,
});

const GOOD = [
  chunk({ role: "assistant", content: "" }),
  chunk({ reasoning_content: "The caller wants to know…" }),
  chunk({ reasoning: "so I say" }),
  ": OPENROUTER PROCESSING\n\n",
  chunk({ content: "We open " }),
  chunk({ content: "" }),
  chunk({ content: "at nine, señor. 😀" }),
  chunk({}, "stop"),
  usage,
  done,
];
const GOOD_PARTS = [
  { type: "text-delta", text: "We open " },
  { type: "text-delta", text: "at nine, señor. 😀" },
  { type: "finish", reason: "stop", inputTokens: 50, outputTokens: 9 },
];

describe("what is asked of an OpenAI-compatible server", () => {
  it("is one streamed chat completion", async () => {
    const { engine, server } = await open(stream(...GOOD));
    const request = llmRequest({
      model: "large",
      temperature: 0.3,
      systemPrompt: "You are Ada.",
      instruction: "Be short.",
      messages: [
        { role: "agent", text: "Hello." },
        { role: "user", text: "When do you open?" },
        {
          role: "agent",
          text: "",
          toolCalls: [{ id: "call00001", name: "lookup", arguments: { q: "hours" } }],
        },
        { role: "tool", invocationId: "call00001", toolName: "lookup", text: "nine" },
      ],
      tools,
    });
    const { parts, error } = await collect(engine.generate(request, neverAborted()));
    expect(error).toBeNull();
    expect(parts).toEqual(GOOD_PARTS);
    const [requested] = server.requests;
    expect(requested).toMatchObject({ method: "POST", path: "/v1/chat/completions" });
    expect(requested?.headers.authorization).toBe("Bearer secret-key-1");
    expect(JSON.parse(requested?.body ?? "")).toMatchObject({
      model: "large",
      temperature: 0.3,
      stream: true,
      stream_options: { include_usage: true },
      messages: [
        { role: "system", content: "You are Ada.\n\nBe short." },
        { role: "assistant", content: "Hello." },
        { role: "user", content: "When do you open?" },
        {
          role: "assistant",
          tool_calls: [
            { id: "call00001", type: "function", function: { name: "lookup", arguments: '{"q":"hours"}' } },
          ],
        },
        { role: "tool", tool_call_id: "call00001", content: "nine" },
      ],
      tools: [{ type: "function", function: { name: "lookup", parameters: tools[0]?.parameters } }],
    });
  });

  it("goes without a key where there is none", async () => {
    const { engine, server } = await open(stream(...GOOD), null);
    expect((await collect(engine.generate(hello, neverAborted()))).parts).toEqual(GOOD_PARTS);
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
  });
});

describe("what is understood of an OpenAI-compatible server", () => {
  it("reads a stream that is cut at every byte, with either line end", async () => {
    for (const text of [GOOD.join(""), GOOD.join("").replaceAll("\n", "\r\n")]) {
      const { engine } = await open(async (_request, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        for (const byte of Buffer.from(text)) {
          response.write(Uint8Array.of(byte));
          await new Promise((resolve) => setImmediate(resolve));
        }
        response.end();
      });
      const { parts, error } = await collect(engine.generate(hello, neverAborted()));
      expect(error).toBeNull();
      expect(parts).toEqual(GOOD_PARTS);
    }
  });

  it("yields text while the rest is still to come", async () => {
    let finish = (): void => undefined;
    const { engine } = await open((_request, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(chunk({ content: "We " }));
      finish = () => response.end(chunk({ content: "open" }) + chunk({}, "stop") + done);
    });
    const { parts, error } = await collect(engine.generate(hello, neverAborted()), (_part, index) => {
      if (index === 0) finish();
    });
    expect(error).toBeNull();
    expect(parts.at(-1)).toEqual({ type: "finish", reason: "stop", inputTokens: null, outputTokens: null });
    expect(textOf(parts)).toBe("We open");
  });

  it("hangs up when it is aborted and when its reader stops", async () => {
    const { engine, server } = await open(hang);
    const abort = new AbortController();
    const first = server.hungUp();
    await collect(engine.generate(hello, abort.signal), () => {
      abort.abort();
    });
    await first;
    const second = server.hungUp();
    for await (const part of engine.generate(hello, neverAborted())) {
      expect(part.type).toBe("text-delta");
      break;
    }
    await second;
  });

  it.each([
    [
      "in fragments",
      [
        toolCall({ index: 0, id: "c1", type: "function", function: { name: "lookup", arguments: "" } }),
        toolCall({ index: 0, function: { arguments: '{"q":' } }),
        toolCall({ index: 0, function: { arguments: '"hours"}' } }),
      ],
    ],
    [
      "whole",
      [
        toolCall({
          index: 0,
          id: "c1",
          type: "function",
          function: { name: "lookup", arguments: '{"q":"hours"}' },
        }),
      ],
    ],
    [
      "without an index",
      [toolCall({ id: "c1", type: "function", function: { name: "lookup", arguments: '{"q":"hours"}' } })],
    ],
  ])("passes on a tool call sent %s", async (_name, events) => {
    for (const finish of ["tool_calls", "stop"]) {
      const { engine } = await open(stream(...events, chunk({}, finish), usage, done));
      const { parts, error } = await collect(engine.generate({ ...hello, tools }, neverAborted()));
      expect(error).toBeNull();
      const [first, ...others] = parts.filter(({ type }) => type !== "tool-call-delta");
      expect(first).toEqual({
        type: "tool-call",
        call: { id: "c1", name: "lookup", arguments: { q: "hours" } },
      });
      expect(others).toHaveLength(1);
    }
  });

  it("takes empty arguments as none", async () => {
    const { engine } = await open(
      stream(
        toolCall({ index: 0, id: "c1", type: "function", function: { name: "lookup", arguments: "" } }),
        chunk({}, "tool_calls"),
        done,
      ),
    );
    const { parts, error } = await collect(engine.generate({ ...hello, tools }, neverAborted()));
    expect(error).toBeNull();
    expect(parts).toContainEqual({ type: "tool-call", call: { id: "c1", name: "lookup", arguments: {} } });
  });

  it.each([
    ["length", "length"],
    ["content_filter", "content-filter"],
    ["something new", "other"],
  ])("maps the finish reason %s", async (raw, reason) => {
    const { engine } = await open(stream(chunk({ content: "Hm." }), chunk({}, raw), done));
    expect((await collect(engine.generate(hello, neverAborted()))).parts.at(-1)).toMatchObject({ reason });
  });

  it.each([0, -5, 10.5, 3_000_000_000, 1e300])("takes %s input tokens for not reported", async (tokens) => {
    const { engine } = await open(
      stream(chunk({ content: "Hm." }), chunk({}, "stop"), usageOf(tokens), done),
    );
    const { parts } = await collect(engine.generate(hello, neverAborted()));
    expect(parts.at(-1)).toMatchObject({ inputTokens: null, outputTokens: tokens === 0 ? 0 : null });
  });

  it("takes an answer without words for what it is", async () => {
    const { engine } = await open(stream(chunk({ content: "" }), chunk({}, "stop"), done));
    const { parts, error } = await collect(engine.generate(hello, neverAborted()));
    expect(error).toBeNull();
    expect(parts).toEqual([{ type: "finish", reason: "stop", inputTokens: null, outputTokens: null }]);
  });
});

const we = chunk({ content: "We " });

const calling = (name: string, args: string): LocalHandler => {
  const call = toolCall({ index: 0, id: "c1", type: "function", function: { name, arguments: args } });
  return stream(call, chunk({}, "tool_calls"), done);
};

describe("what fails at an OpenAI-compatible server", () => {
  it.each([
    [
      "an error in the stream",
      stream(we, 'data: {"error":{"message":"out of memory","code":500}}\n\n', done),
      "out of memory",
    ],
    ["an error without a reason", stream(we, 'data: {"error":{}}\n\n', done), "the model server"],
    ["an error before any text", stream('data: {"error":{"message":"busy"}}\n\n'), "busy"],
    [
      "a flat error",
      stream('data: {"object":"error","message":"bad","code":400}\n\n'),
      "not a chat completion",
    ],
    ["a finish reason of error", stream(we, chunk({}, "error"), done), "the model server"],
    ["an end without a finish", stream(we), "sent an incomplete answer"],
    ["[DONE] without a finish", stream(we, done), "sent an incomplete answer"],
    ["no stream at all", stream(), "sent an incomplete answer"],
    ["JSON that is none", stream(we, "data: {oops\n\n", done), "not a chat completion"],
    ["another document", stream('data: {"hello":"world"}\n\n', done), "the model server"],
    ["a page", respond(200, "text/html", "<h1>Welcome</h1>"), "the model server"],
    [
      "a whole JSON answer",
      respond(200, "application/json", '{"choices":[{"message":{"content":"Hi"}}]}'),
      "the model server",
    ],
    [
      "401",
      respond(401, "application/json", '{"error":{"message":"Wrong key secret-key-1"}}'),
      "HTTP 401: Wrong key [key]",
    ],
    [
      "404",
      respond(404, "application/json", '{"error":{"message":"no model small","code":404}}'),
      "HTTP 404: no model small",
    ],
    [
      "429",
      respond(
        429,
        "application/json",
        '{"error":{"message":"slow down","type":"x","param":null,"code":"rate"}}',
      ),
      "HTTP 429: slow down",
    ],
    ["500", respond(500, "text/plain", "Hello there is what the caller said"), "HTTP 500"],
    [
      "503",
      respond(503, "application/json", '{"error":{"code":503,"message":"Loading model"}}'),
      "HTTP 503: Loading model",
    ],
    ["tool arguments that are no object", calling("lookup", "[1]"), "called a tool"],
    ["tool arguments that are no JSON", calling("lookup", '{"q":'), "called a tool"],
    ["a tool that does not exist", calling("other", "{}"), "called a tool"],
    [
      "a connection broken off",
      ((_request, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(we, () => response.destroy());
      }) satisfies LocalHandler,
      "closed the connection early",
    ],
    [
      "a connection refused",
      ((_request, response) => {
        response.destroy();
      }) satisfies LocalHandler,
      "closed the connection early",
    ],
  ])("throws on %s, asks once, and shows neither key nor words", async (_name, handler, message) => {
    const { engine, server } = await open(handler);
    const { parts, error } = await collect(engine.generate({ ...hello, tools }, neverAborted()));
    expect(error?.message).toContain(message);
    expect(error?.message).toMatch(/^the model server /);
    expect(error?.message).not.toMatch(/secret-key-1|Hello there|caller said/);
    expect(error?.cause).toBeUndefined();
    expect(parts.some((part) => part.type === "finish")).toBe(false);
    expect(server.requests).toHaveLength(1);
  });

  it.each([401, 403, 404, 429, 500])("HTTP %i says whether a retry can help", async (status) => {
    const { engine } = await open(respond(status, "application/json", '{"error":{"message":"no"}}'));
    const { error } = await collect(engine.generate(hello, neverAborted()));
    expect(error).toMatchObject({ isPermanent: status < 405, type: String(status) });
  });

  it("a refused model is a permanent failure where the server says it by a code", async () => {
    const body = '{"error":{"message":"no","code":"model_not_found"}}';
    const { engine } = await open(respond(400, "application/json", body));
    const { error } = await collect(engine.generate(hello, neverAborted()));
    expect(error).toMatchObject({ isPermanent: true, message: "the model server answered HTTP 400: no" });
  });

  it("throws when nobody listens", async () => {
    const { engine, server } = await open(echo);
    await server.close();
    const { error } = await collect(engine.generate(hello, neverAborted()));
    expect(error?.message).toBe("the model server cannot be reached (ECONNREFUSED)");
  });
});

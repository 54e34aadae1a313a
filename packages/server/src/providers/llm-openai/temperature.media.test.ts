import { afterEach, describe, expect, it } from "vitest";
import { collect, neverAborted } from "../../ports/testing/collect.ts";
import { llmRequest, textOf } from "../../ports/testing/llm-conformance.ts";
import { openLocalServer, type LocalHandler } from "../../ports/testing/local-server.ts";
import { openOpenAiLlm } from "./llm-openai.ts";

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
});

const OPENAI =
  "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.";
const ANTHROPIC = "`temperature` is deprecated for this model.";

/** Refuses requests of these models that have a temperature. */
const refusing =
  (status: number, message: string, models: readonly string[]): LocalHandler =>
  ({ body }, response) => {
    const asked = JSON.parse(body) as { model: string; temperature?: number };
    if (asked.temperature !== undefined && models.includes(asked.model)) {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(
        JSON.stringify({ error: { message, type: "invalid_request_error", param: null, code: null } }),
      );
      return;
    }
    const head = { id: "x1", object: "chat.completion.chunk", created: 1_760_000_000, model: asked.model };
    const chunk = (delta: object, finish_reason: string | null) =>
      `data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(`${chunk({ content: "We open at nine." }, null)}${chunk({}, "stop")}data: [DONE]\n\n`);
  };

async function open(handler: LocalHandler) {
  const server = await openLocalServer(handler);
  const engine = await openOpenAiLlm({
    baseUrl: server.baseUrl,
    apiKey: null,
    model: "gpt-5-mini",
    models: ["small"],
  });
  opened.push(engine, server);
  const ask = (model = "default") =>
    collect(engine.generate(llmRequest({ model, temperature: 0 }), neverAborted()));
  const temperatures = () =>
    server.requests.map(({ body }) => (JSON.parse(body) as { temperature?: number }).temperature);
  return { ask, temperatures };
}

describe("a model that refuses a temperature", () => {
  it.each([
    [400, OPENAI],
    [400, ANTHROPIC],
    [422, "Unsupported parameter: 'temperature' is not supported with this model."],
  ])(
    "is asked again without it (%i, %s), and later at once; other models still get it",
    async (status, said) => {
      const { ask, temperatures } = await open(refusing(status, said, ["gpt-5-mini"]));
      for (let turn = 0; turn < 2; turn += 1) {
        const { parts, error } = await ask();
        expect(error).toBeNull();
        expect(textOf(parts)).toBe("We open at nine.");
      }
      expect((await ask("small")).error).toBeNull();
      expect(temperatures()).toEqual([0, undefined, undefined, 0]);
    },
  );

  it.each([
    [400, "This model's maximum context length is 4096 tokens."],
    [401, "the temperature of your key"],
    [500, "temperature"],
  ])("is not taken for one that refuses something else (%i, %s)", async (status, said) => {
    const { ask, temperatures } = await open(refusing(status, said, ["gpt-5-mini"]));
    expect((await ask()).error?.message).toContain(said);
    expect(temperatures()).toEqual([0]);
  });

  it("is not taken for one by the refusal of a tool that has a temperature, which concerns no other call", async () => {
    const message = "Invalid schema for function 'heat': In context=('properties', 'temperature')";
    const answer = refusing(400, "", []);
    let requests = 0;
    const { ask, temperatures } = await open((request, response) => {
      requests += 1;
      if (requests > 2) return answer(request, response);
      return void response
        .writeHead(400, { "content-type": "application/json" })
        .end(JSON.stringify({ error: { message } }));
    });
    expect((await ask()).error?.message).toContain("Invalid schema");
    expect((await ask()).error).toBeNull();
    expect(temperatures()).toEqual([0, undefined, 0]);
  });

  it("fails where it refuses the request without a temperature, too", async () => {
    const { ask, temperatures } = await open((_request, response) => {
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: OPENAI } }));
    });
    expect((await ask()).error?.message).toContain("answered HTTP 400");
    expect(temperatures()).toEqual([0, undefined]);
  });
});

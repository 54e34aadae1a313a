import { serialize } from "node:v8";
import { expect, it } from "vitest";
import type { StartLocalChild } from "../local-child/local-child.ts";
import { LlmLink, type GenerationListener } from "./llm-link.ts";
import type { ChatRequest, LlmAnswer, LlmLoadOrder } from "./llm-protocol.ts";

const ORDER: LlmLoadOrder = {
  model: { name: "m", family: "gguf", paths: {}, files: [], languages: ["*"], voices: [] },
  packageFolder: "/nowhere",
  threads: 1,
  contextTokens: 512,
  parallel: 1,
};

const request = (text: string): ChatRequest => ({
  history: [{ type: "user", text }],
  functions: {},
  temperature: 0,
  maxTokens: 10,
});

/** Refuses what cannot be copied, as the channel to a process does, and answers the rest at once. */
const startChild: StartLocalChild = (_program, _order, listener) => {
  const answer = { type: "aborted" } satisfies LlmAnswer;
  setImmediate(() => listener.heard({ type: "ready" }));
  return {
    pid: undefined,
    send(message) {
      serialize(message);
      const { id } = message as { readonly id: number };
      setImmediate(() => listener.heard({ type: "answered", id, answer: answer as never }));
    },
    end: () => Promise.resolve(),
  };
};

function outcome(link: LlmLink, sent: ChatRequest): Promise<string> {
  return new Promise((resolve) => {
    const listener: GenerationListener = {
      text: () => undefined,
      answered: ({ type }) => resolve(type),
      failed: (reason) => resolve(`failed: ${reason}`),
    };
    link.generate(sent, listener);
  });
}

it("fails a request alone that cannot be sent to the process, also one that has waited", async () => {
  const program = new URL("file:///nowhere");
  const link = new LlmLink({ name: "The model", program, order: ORDER, startChild, log: () => undefined });
  await link.load();
  const params = JSON.parse(`${"[".repeat(30_000)}${"]".repeat(30_000)}`) as unknown;
  const deep: ChatRequest = {
    ...request("x"),
    history: [
      {
        type: "model",
        response: [{ type: "functionCall", name: "f", params, result: "", startsNewChunk: true }],
      },
    ],
  };
  expect(await outcome(link, deep)).toMatch(/^failed: /);
  const outcomes = [request("a"), deep, request("b")].map((sent) => outcome(link, sent));
  expect(await Promise.all(outcomes)).toEqual(["aborted", expect.stringMatching(/^failed: /), "aborted"]);
  await link.close();
});

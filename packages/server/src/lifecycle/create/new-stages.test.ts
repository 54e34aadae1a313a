/** New stages in live calls: from a tool's answer to a call that goes on under other settings, on a manual clock. */

import nodeProcess from "node:process";
import { beforeAll, expect, test } from "vitest";
import { planOf } from "../../call/testing/compile-input.ts";
import { initResampler } from "../../media/resample.ts";
import type { LlmEngine, LlmPart, LlmRequest } from "../../ports/llm.ts";
import type { SttEngine } from "../../ports/stt.ts";
import { completedAnswer, openFakeToolInvoker } from "../../ports/testing/fake-tool-invoker.ts";
import { openTemplateParser } from "../../providers/templates/mustache.ts";
import { createStagePreparer } from "./prepare-stage.ts";
import { directSchemaChecks } from "./testing/schema-checks.ts";
import { openCallWorld } from "../../runner/testing/call-world.ts";
import { openFakeEngines } from "../../runner/testing/fakes.ts";

beforeAll(async () => {
  await initResampler(nodeProcess);
});

let ids = 0;
const prepareStage = createStagePreparer({
  ...directSchemaChecks,
  parseTemplate: openTemplateParser(),
  findTools: async () => [],
  refusedTarget: () => null,
  listMcpTools: () => Promise.reject(new Error("none")),
  voices: () => [],
  findVoices: async () => [],
  voiceKeys: async () => new Map(),
  spokenKinds: () => new Set(),
  models: () => ["default"],
  aliases: { voices: [], models: [] },
  randomId: () => `new-${(ids += 1)}`,
});

/** Calls its first tool for what the user says, and says what the tool gave. */
function openCallingLlm(): LlmEngine & { readonly requests: LlmRequest[] } {
  const requests: LlmRequest[] = [];
  return {
    name: "calling",
    models: [],
    requests,
    async *generate(request): AsyncGenerator<LlmPart> {
      requests.push(request);
      await Promise.resolve();
      const last = request.messages.at(-1);
      const [tool] = request.tools;
      if (last?.role === "tool" || tool === undefined) yield { type: "text-delta", text: "Done." };
      else yield { type: "tool-call", call: { id: `m-${requests.length}`, name: tool.name, arguments: {} } };
      yield { type: "finish", reason: "stop", inputTokens: 1, outputTokens: 1 };
    },
    close: () => Promise.resolve(),
  };
}

async function moveOn(document: object) {
  const llm = openCallingLlm();
  const fakes = openFakeEngines();
  const languages: (string | null)[] = [];
  const stt: SttEngine = {
    ...fakes.stt,
    open: (options, listener) => {
      languages.push(options.language);
      return fakes.stt.open(options, listener);
    },
  };
  const invoker = openFakeToolInvoker({
    answer: () => ({ ...completedAnswer(JSON.stringify(document)), responseType: "new-stage" }),
  });
  const world = openCallWorld({ ...fakes, stt, llm }, undefined, invoker, prepareStage);
  const { stage } = planOf({
    systemPrompt: "First.",
    languageHint: "en",
    selectedTools: [],
  });
  const implementation = {
    kind: "http",
    method: "GET",
    urlPattern: "https://example.com",
    credentials: [],
    callToken: null,
  } as const;
  const tool = {
    name: "move_on",
    callToolId: "ct",
    toolId: null,
    description: "",
    parameters: { type: "object", properties: {} },
    dynamic: [],
    fixed: [],
    automatic: [],
    implementation,
    timeoutMs: 2_500,
    precomputable: false,
    defaultReaction: "speaks",
    staticResponse: null,
  } as const;
  const { hear } = await world.joined({
    firstSpeaker: { kind: "user", fallback: null },
    stage: { ...stage, tools: [tool] },
    warnings: ["there is no recogniser x"],
  });
  await hear(1_000, true);
  await hear(6_000, false);
  return { ...world, llm, languages, hear };
}

test("the call continues under the stage that the tool answered with", async () => {
  const { llm, languages, records, hear } = await moveOn({
    systemPrompt: "Second.",
    languageHint: "de",
    selectedTools: [],
    toolResultText: "Moved on.",
  });
  expect(records.stages.map(({ record }) => record.stage.systemPrompt)).toEqual(["Second."]);
  const after = llm.requests.filter(({ systemPrompt }) => systemPrompt === "Second.");
  expect(after.at(-1)?.tools).toEqual([]);
  expect(after.at(-1)?.messages.at(-1)).toMatchObject({ role: "tool", text: "Moved on." });
  expect(languages).toEqual(["en", "de"]);
  await hear(1_000, true);
  await hear(4_000, false);
  expect(llm.requests.at(-1)).toMatchObject({ systemPrompt: "Second." });
  expect(llm.requests.at(-1)?.messages.at(-1)?.role).toBe("user");
});

test("an answer that is no stage is a failed tool, and the call stays as it was", async () => {
  const { llm, languages, records } = await moveOn({ systemPrompt: "Second.", maxDuration: "1s" });
  expect(records.stages).toEqual([]);
  expect(records.toolFailures).toHaveLength(1);
  expect(llm.requests.at(-1)).toMatchObject({ systemPrompt: "First." });
  expect(llm.requests.at(-1)?.messages.at(-1)).toMatchObject({
    role: "tool",
    text: expect.stringContaining("maxDuration cannot be changed by a new stage") as unknown,
  });
  expect(languages).toEqual(["en"]);
});

test("what the plan warns of is on record from the join on", async () => {
  const { records } = await moveOn({});
  const warned = records.events.filter(({ event }) => event.type === "stt.warned");
  expect(warned.map(({ event }) => [event.severity, event.text])).toEqual([
    ["warning", "there is no recogniser x"],
  ]);
});

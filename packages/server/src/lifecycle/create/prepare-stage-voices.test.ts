import { describe, expect, test } from "vitest";
import { planOf } from "../../call/testing/compile-input.ts";
import type { StagePlan } from "../../plan/plan.ts";
import { parseStagePlan } from "../../plan/stored-plan.ts";
import { openTemplateParser } from "../../providers/templates/mustache.ts";
import { createStagePreparer, type PlanSources } from "./prepare-stage.ts";
import { directSchemaChecks } from "./testing/schema-checks.ts";

const ADA = {
  generic: { url: "https://tts.example", headers: { "X-Key": "very-secret" }, responseWordsPerMinute: 160 },
};

let ids = 0;
const sources: PlanSources = {
  ...directSchemaChecks,
  parseTemplate: openTemplateParser(),
  findTools: async () => [],
  refusedTarget: () => null,
  listMcpTools: () => Promise.reject(new Error("nobody listens there")),
  voices: () => [],
  findVoices: async (_account, name) =>
    name === "ada"
      ? [{ voiceId: "55555555-5555-4555-8555-555555555555", name, kind: "generic", definition: ADA }]
      : [],
  voiceKeys: async () => new Map(),
  spokenKinds: () => new Set(["generic"]),
  models: () => ["default"],
  aliases: { voices: [], models: [] },
  randomId: () => `id-${(ids += 1)}`,
};

describe("a new stage", () => {
  test("may take a voice of a provider, whose overrides stages after it replace", async () => {
    const plan = planOf({});
    const begin = async (from: StagePlan, body: object) => {
      const result = await createStagePreparer(sources)(plan, from, JSON.stringify(body), false);
      if ("error" in result) throw new Error(result.error);
      return result.stage;
    };
    const adas = await begin(plan.stage, { voice: "ada" });
    const voiceId = "55555555-5555-4555-8555-555555555555";
    const voice = { kind: "external", provider: "generic", settings: ADA.generic, key: "none", voiceId };
    expect(adas.voice).toEqual(voice);
    expect(parseStagePlan(JSON.parse(JSON.stringify(adas)))).toEqual(adas);
    expect((await begin(adas, { systemPrompt: "Next." })).voice).toEqual(voice);
    const faster = await begin(adas, { voiceOverrides: { generic: { responseWordsPerMinute: 190 } } });
    expect(faster.voice).toEqual({ ...voice, settings: { ...ADA.generic, responseWordsPerMinute: 190 } });
    const other = { generic: { url: "https://other.example" } };
    expect((await begin(faster, { externalVoice: other })).voice).toEqual({
      ...voice,
      settings: other.generic,
      voiceId: null,
    });
  });

  test("may not take a voice at an address that is refused", async () => {
    const refusedTarget = (url: string) => (url.includes("127.0.0.1") ? "address not allowed" : null);
    const plan = planOf({});
    const body = { externalVoice: { generic: { url: "http://127.0.0.1/" } } };
    const result = await createStagePreparer({ ...sources, refusedTarget })(
      plan,
      plan.stage,
      JSON.stringify(body),
      false,
    );
    expect(result).toEqual({
      error: "The new stage cannot begin: externalVoice.generic.url is not allowed: address not allowed.",
    });
  });
});

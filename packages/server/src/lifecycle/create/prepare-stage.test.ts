import { describe, expect, test } from "vitest";
import { planOf } from "../../call/testing/compile-input.ts";
import { testTool } from "../../call/testing/fake-tools.ts";
import type { CallPlan, StagePlan } from "../../plan/plan.ts";
import { parseStagePlan } from "../../plan/stored-plan.ts";
import { openTemplateParser } from "../../providers/templates/mustache.ts";
import { createStagePreparer, type PlanSources } from "./prepare-stage.ts";
import { directSchemaChecks } from "./testing/schema-checks.ts";

let ids = 0;
const sources: PlanSources = {
  ...directSchemaChecks,
  parseTemplate: openTemplateParser(),
  findTools: async () => [],
  refusedTarget: () => null,
  listMcpTools: () => Promise.reject(new Error("nobody listens there")),
  voices: () => [
    { voiceId: "33333333-3333-4333-8333-333333333333", name: "alba" },
    { voiceId: "44444444-4444-4444-8444-444444444444", name: "bruno" },
  ],
  findVoices: async (_account, name) =>
    name === "ada"
      ? [
          {
            voiceId: "55555555-5555-4555-8555-555555555555",
            name,
            kind: "generic",
            definition: { generic: { url: "https://tts.example" } },
          },
        ]
      : [],
  voiceKeys: async () => new Map(),
  spokenKinds: () => new Set(),
  models: () => ["default", "small"],
  aliases: { voices: [], models: [] },
  randomId: () => `id-${(ids += 1)}`,
};
const prepare = createStagePreparer(sources);

const ofDeployment = (name: string | null) => ({ kind: "deployment", name }) as const;

const client = (modelToolName: string) => ({ temporaryTool: { modelToolName, client: {} } });
const before = {
  systemPrompt: "Before.",
  temperature: 0.5,
  languageHint: "en",
  timeExceededMessage: "Over.",
  inactivityMessages: [{ duration: "5s", message: "Hello?" }],
  vadSettings: { turnEndpointDelay: "0.5s" },
  initialState: { step: 1 },
};

function planWith(changes: Partial<CallPlan> = {}): CallPlan {
  const plan = planOf(before);
  const stage = {
    ...plan.stage,
    voice: { kind: "deployment", name: "alba" } as const,
    document: { ...plan.stage.document, settings: { ...plan.stage.document.settings, voice: "alba" } },
  };
  return {
    ...plan,
    stage,
    templateContext: { name: "Ada", city: "Lima" },
    callToken: "the-token",
    ...changes,
  };
}

async function prepared(body: object | string, plan = planWith()) {
  const result = await prepare(
    plan,
    plan.stage,
    typeof body === "string" ? body : JSON.stringify(body),
    false,
  );
  if ("error" in result) throw new Error(result.error);
  return result;
}

async function refused(body: object | string): Promise<string> {
  const plan = planWith();
  const result = await prepare(
    plan,
    plan.stage,
    typeof body === "string" ? body : JSON.stringify(body),
    false,
  );
  return "error" in result ? result.error : "not refused";
}

describe("a new stage", () => {
  test("that changes nothing is the stage before under another id", async () => {
    const plan = planWith();
    const result = await prepared({}, plan);
    expect(result).toEqual({
      stage: { ...plan.stage, stageId: result.stage.stageId },
      initialMessages: null,
      initialState: null,
      toolResultText: "OK",
    });
    expect(result.stage.stageId).not.toBe(plan.stage.stageId);
    expect(Object.isFrozen(result.stage.document.settings)).toBe(true);
  });

  test("changes what it names, in the plan and in the record", async () => {
    const { stage, initialMessages, initialState, toolResultText } = await prepared({
      systemPrompt: "Now.",
      temperature: 0,
      model: "small",
      voice: "bruno",
      languageHint: "de",
      timeExceededMessage: "Ende.",
      inactivityMessages: [],
      vadSettings: { minimumTurnDuration: "0.2s" },
      initialState: { step: 2 },
      initialMessages: [{ role: "MESSAGE_ROLE_USER", text: "Hi" }],
      toolResultText: "Go on.",
    });
    expect(stage).toMatchObject({
      systemPrompt: "Now.",
      temperature: 0,
      model: "small",
      voice: { kind: "deployment", name: "bruno" },
      languageHint: "de",
      timeExceededMessage: "Ende.",
      inactivityMessages: [],
      vad: { turnEndpointDelayMs: 384, minimumTurnDurationMs: 200 },
    });
    expect(stage.document.settings).toMatchObject({
      systemPrompt: "Now.",
      model: "small",
      voice: "bruno",
      languageHint: "de",
      initialState: { step: 2 },
      inactivityMessages: [],
    });
    expect(initialMessages).toEqual([
      { role: "user", text: "Hi", medium: "voice", invocationId: null, toolName: null },
    ]);
    expect([initialState, toolResultText]).toEqual([{ step: 2 }, "Go on."]);
    expect(parseStagePlan(JSON.parse(JSON.stringify(stage)))).toEqual(stage);
  });

  test("may name its voice and model by an alias, and warns of what was replaced", async () => {
    const aliases = {
      voices: [
        { name: "Mark", target: "bruno" },
        { name: "*", target: "default" },
      ],
      models: [{ name: "*", target: "small" }],
    };
    const begin = async (body: object, plan = planWith()) => {
      const result = await createStagePreparer({ ...sources, aliases })(
        plan,
        plan.stage,
        JSON.stringify(body),
        false,
      );
      if ("error" in result) throw new Error(result.error);
      return result.stage;
    };
    const marks = await begin({ voice: "Mark", voiceOverrides: { provider1: { speed: 1.1 } } });
    expect([marks.voice, marks.document.settings.voice]).toEqual([ofDeployment("bruno"), "Mark"]);
    expect(marks.warnings?.map(({ type }) => type)).toEqual(["voice.overrides_ignored"]);
    const other = await begin({ voice: "Jessica", model: "their-model" });
    expect([other.voice, other.model, other.document.settings.model]).toEqual([
      ofDeployment(null),
      "small",
      "their-model",
    ]);
    expect(other.warnings?.map(({ type }) => type)).toEqual(["model.replaced", "voice.replaced"]);
    expect(parseStagePlan(JSON.parse(JSON.stringify(other)))).toEqual(other);
    // What a stage inherits was warned of before.
    const next = await begin({ systemPrompt: "Next." }, { ...planWith(), stage: other });
    expect([next.voice, next.model, next.warnings]).toEqual([ofDeployment(null), "small", undefined]);
  });

  test("may give overrides for the voice before, which stages after it have as well", async () => {
    const aliases = { voices: [{ name: "*", target: "bruno" }], models: [] };
    const plan = planWith();
    const { settings, ...document } = plan.stage.document;
    const marks = {
      ...plan.stage,
      voice: ofDeployment("bruno"),
      document: { ...document, settings: { ...settings, voice: "Mark" } },
    };
    const begin = async (from: StagePlan, body: object) => {
      const result = await createStagePreparer({ ...sources, aliases })(
        plan,
        from,
        JSON.stringify(body),
        false,
      );
      if ("error" in result) throw new Error(result.error);
      return result.stage;
    };
    const overridden = await begin(marks, { voiceOverrides: { provider1: { speed: 1.1 } } });
    expect([overridden.voice, overridden.document.settings.voice]).toEqual([ofDeployment("bruno"), "Mark"]);
    expect(overridden.document.settings.voiceOverrides).toEqual({ provider1: { speed: 1.1 } });
    expect(overridden.warnings?.map(({ type }) => type)).toEqual(["voice.overrides_ignored"]);
    const next = await begin(overridden, { systemPrompt: "Next." });
    expect(next.document.settings.voiceOverrides).toEqual({ provider1: { speed: 1.1 } });
    const other = await begin(overridden, { voice: "alba" });
    expect([other.voice, other.document.settings.voiceOverrides]).toEqual([ofDeployment("alba"), null]);
  });

  test("keeps the voice before, whatever has become of its record", async () => {
    const plan = planWith();
    const { settings } = plan.stage.document;
    const gone = { ...plan.stage.document, settings: { ...settings, voice: "deleted meanwhile" } };
    const { stage } = await prepared(
      { systemPrompt: "Now." },
      { ...plan, stage: { ...plan.stage, document: gone } },
    );
    expect([stage.voice, stage.document.settings.voice]).toEqual([ofDeployment("alba"), "deleted meanwhile"]);
  });

  test("null and snake_case are read as in every body", async () => {
    const { stage } = await prepared({ system_prompt: "Now.", temperature: null, languageHint: null });
    expect(stage).toMatchObject({ systemPrompt: "Now.", temperature: 0.5, languageHint: "en" });
  });

  test("its texts are filled from the call's context and its own, which wins", async () => {
    const { stage, toolResultText } = await prepared({
      systemPrompt: "Help {{name}} in {{city}}.",
      selectedTools: [{ ...client("a"), descriptionOverride: "For {{name}}.", authTokens: {} }],
      templateContext: { city: "Rome" },
      toolResultText: "{{name}}",
    });
    expect(stage.systemPrompt).toBe("Help Ada in Rome.");
    expect(stage.tools[0]?.description).toBe("For Ada.");
    expect(toolResultText).toBe("{{name}}");
  });

  test("tools are inherited when unset, replaced when given, gone when the list is empty", async () => {
    const first = await prepared({ selectedTools: [client("a")] });
    expect(first.stage.tools.map(({ name }) => name)).toEqual(["a"]);
    const second = await prepared({ systemPrompt: "Next." }, planWith({ stage: first.stage }));
    expect(second.stage.tools).toEqual(first.stage.tools);
    expect(second.stage.document.tools).toEqual(first.stage.document.tools);
    const third = await prepared({ selectedTools: [] }, planWith({ stage: second.stage }));
    expect([third.stage.tools, third.stage.document.tools]).toEqual([[], []]);
  });

  test("its tools know the call by the same token", async () => {
    const temporaryTool = {
      modelToolName: "a",
      http: { baseUrlPattern: "https://example.com" },
      requirements: { httpSecurityOptions: { options: [{ serviceCallTokenRequirement: {} }] } },
    };
    const { stage } = await prepared({ selectedTools: [{ temporaryTool }] });
    expect(stage.tools[0]?.implementation).toMatchObject({ callToken: "the-token" });
    expect(JSON.stringify(stage.document)).not.toContain("the-token");
  });
});

describe("an answer that cannot be used", () => {
  test.each<[string, object | string, string]>([
    ["no JSON", "{", "its body is not JSON"],
    ["a list", "[]", "must be a JSON object"],
    ["a medium", { medium: { webRtc: {} } }, "medium cannot be changed by a new stage"],
    [
      "a first speaker",
      { first_speaker: "FIRST_SPEAKER_USER" },
      "firstSpeaker cannot be changed by a new stage",
    ],
    [
      "durations",
      { maxDuration: "60s", joinTimeout: "5s" },
      "maxDuration cannot be changed by a new stage; joinTimeout cannot be changed by a new stage",
    ],
    ["recording", { recordingEnabled: true }, "recordingEnabled cannot be changed by a new stage"],
    ["client messages", { clientMessages: "trusted" }, "clientMessages cannot be changed by a new stage"],
    ["a wrong type", { temperature: "hot" }, "temperature must be a number"],
    [
      "overrides of another provider than that of the voice before",
      { voiceOverrides: { provider1: { speed: 1.1 } } },
      "voiceOverrides.provider1 must be the provider of the voice; alba is a voice of this deployment and has none",
    ],
    [
      "overrides of an external voice",
      {
        externalVoice: { generic: { url: "https://example.com", body: { t: "{text}" } } },
        voiceOverrides: { generic: {} },
      },
      "voiceOverrides must only be given together with voice",
    ],
    [
      "an unknown voice",
      { voice: "Mark" },
      "voice names a voice that does not exist: Mark; there are alba, bruno",
    ],
    ["an unknown model", { model: "huge" }, "model must be a known model: default, small"],
    [
      "a voice without a key",
      { externalVoice: { provider2: { voiceId: "x" } } },
      "externalVoice.provider2 needs a key for this provider, and the account has none",
    ],
    [
      "an own voice that is not built",
      { voice: "ada" },
      "voice: ada is a voice of generic, which is not available in this version",
    ],
    [
      "a voice that is not built",
      { externalVoice: { generic: { url: "https://example.com" } } },
      "externalVoice.generic: voices of generic are not available in this version",
    ],
    ["an unknown variable", { systemPrompt: "{{missing}}" }, "templateContext.missing is required"],
    [
      "a context against its schema",
      { contextSchema: { properties: { name: { type: "number" } } } },
      "templateContext.name must be number",
    ],
    [
      "a text that is no template",
      { systemPrompt: "{{#a}}" },
      'systemPrompt is not a valid template: Unclosed section "a" at 6',
    ],
    [
      "a language that is none",
      { languageHint: "x".repeat(17) },
      "languageHint must have at most 16 characters",
    ],
    [
      "an unknown tool",
      { selectedTools: [{ toolName: "gone" }] },
      "selectedTools.0.toolName names a tool that does not exist: gone",
    ],
    [
      "a server that is not there",
      { selectedTools: [{ temporaryTool: { mcp: { serverUrl: "https://example.com" } } }] },
      "selectedTools.0.temporaryTool.mcp.serverUrl must be the address of a server that lists its tools: nobody listens there",
    ],
  ])("%s", async (_what, body, wanted) => {
    expect(await refused(body)).toBe(`The new stage cannot begin: ${wanted}.`);
  });

  test("names the first faults only", async () => {
    const body = { maxDuration: "1s", joinTimeout: "1s", medium: {}, metadata: {}, callbacks: {} };
    expect(await refused(body)).toMatch(/stage; and 2 more\.$/);
  });
});

describe("a stage that may only have tools of the call", () => {
  const TOOL_ID = "66666666-6666-4666-8666-666666666666";
  const tool = { ...testTool("lookUp", { toolId: TOOL_ID, callToolId: TOOL_ID }) };
  const listed = { callToolId: TOOL_ID, toolId: TOOL_ID, name: "lookUp", definition: {} };
  const plan = planWith();
  const first = {
    ...plan.stage,
    tools: [tool],
    document: { ...plan.stage.document, tools: [listed] },
  };
  const later = { ...plan.stage, stageId: "later" };

  async function begin(body: object, from = later) {
    return await prepare({ ...plan, stage: first }, from, JSON.stringify(body), true);
  }

  test.each([
    ["by its id", [{ toolId: TOOL_ID }]],
    ["by its id in capitals", [{ toolId: TOOL_ID.toUpperCase() }]],
    ["by its name", [{ toolName: "lookUp" }]],
    ["twice", [{ toolName: "lookUp" }, { toolId: TOOL_ID }]],
  ])("gets one of the first stage as it was, %s", async (_how, selectedTools) => {
    const result = await begin({ selectedTools, systemPrompt: "Now." });
    const document = { tools: [listed] };
    expect(result).toMatchObject({ stage: { systemPrompt: "Now.", tools: [tool], document } });
  });

  test("keeps those of the stage before where it names none, or has none", async () => {
    expect(await begin({}, first)).toMatchObject({ stage: { tools: [tool] } });
    expect(await begin({ selectedTools: [] }, first)).toMatchObject({ stage: { tools: [] } });
  });

  test.each<[string, object, string]>([
    [
      "a stored tool that the call never had",
      { toolName: "deleteCustomer" },
      "must be a tool that the call already had",
    ],
    [
      "another id",
      { toolId: "77777777-7777-4777-8777-777777777777" },
      "must be a tool that the call already had",
    ],
    ["a tool of its own", client("mine"), "temporaryTool must not be given"],
    ["another name", { toolId: TOOL_ID, nameOverride: "pay" }, "nameOverride must not be given"],
    [
      "other values",
      { toolId: TOOL_ID, parameterOverrides: { a: 1 } },
      "parameterOverrides must not be given",
    ],
  ])("refuses %s", async (_what, selected, words) => {
    const result = await begin({ selectedTools: [selected] });
    expect("error" in result ? result.error : "not refused").toContain(words);
  });
});

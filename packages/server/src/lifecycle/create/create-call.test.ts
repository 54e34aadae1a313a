import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { CallPlan } from "../../plan/plan.ts";
import { parsePlan } from "../../plan/stored-plan.ts";
import { AGENT_NOT_FOUND } from "./requested-call.ts";
import { AGENT, TOOL, refusal, setUp, socket } from "./testing/call-creation.ts";

describe("a call without an agent", () => {
  test("is stored and started, with its texts as they are", async () => {
    const { call, stored, started } = setUp();
    const request = {
      systemPrompt: "Say {{name}}.",
      voice: "33333333-3333-4333-8333-333333333333",
      metadata: { a: "b" },
      initialMessages: [
        { role: "MESSAGE_ROLE_USER", text: "Hi", errorDetails: "e", metadata: { n: 1, t: "x" } },
      ],
    };
    expect(await call(request)).toEqual({ kind: "created", callId: "id-1" });
    expect(stored).toEqual([
      expect.objectContaining({
        callId: "id-1",
        agentId: null,
        agentRevisionId: null,
        nodeId: "n1",
        createdAtMs: 1_000_000,
        joinDeadlineMs: 1_030_000,
        mediumKind: "serverWebSocket",
        joinToken: "token",
        metadata: { a: "b" },
        initialMessages: [
          expect.objectContaining({
            index: 0,
            role: "user",
            text: "Hi",
            errorDetails: "e",
            metadata: { n: "1", t: "x" },
          }),
        ],
      }),
    ]);
    expect(stored[0]?.settings).toMatchObject({
      systemPrompt: "Say {{name}}.",
      voice: request.voice,
      medium: socket,
    });
    expect(stored[0]?.stage).toMatchObject({ stageId: "id-2", settings: { systemPrompt: "Say {{name}}." } });
    expect(started).toEqual([parsePlan(stored[0]?.plan)]);
    expect(started[0]?.stage).toMatchObject({
      systemPrompt: "Say {{name}}.",
      voice: { kind: "deployment", name: "alba" },
      model: "default",
    });
    expect(started[0]?.greetingPrompt).toBe(true);
  });

  test("enableGreetingPrompt=false", async () => {
    const { call, started } = setUp();
    await call({}, { enableGreetingPrompt: false });
    expect(started[0]?.greetingPrompt).toBe(false);
  });

  test("a call of the console is stored as one", async () => {
    const { call, stored } = setUp();
    await call({}, { madeInConsole: true });
    await call({});
    expect(stored.map(({ isOfConsole }) => isOfConsole)).toEqual([true, false]);
  });

  test.each([
    [undefined, "default"],
    ["default", "default"],
    ["small", "small"],
    ["ultravox-v0.7", "default"],
    ["fixie-ai/ultravox-70B", "default"],
    ["ultravox/ultravox-v0.6", "default"],
  ])("model %s means %s and is echoed as sent", async (model, wanted) => {
    const { call, started, stored } = setUp();
    await call({ model });
    expect(started[0]?.stage.model).toBe(wanted);
    expect(stored[0]?.settings).toMatchObject({ model: model ?? "default" });
  });
});

describe("the voice on record", () => {
  const alba = "33333333-3333-4333-8333-333333333333";

  test.each<[object, string | null]>([
    [{ voice: "alba" }, alba],
    [{ voice: alba.toUpperCase() }, alba],
    [{}, null],
  ])("of %o", async (request, voiceId) => {
    const { call, stored } = setUp();
    await call(request);
    expect(stored.map((record) => record.voiceId)).toEqual([voiceId]);
  });

  test("nothing is looked up for a call that names no voice", async () => {
    const never = () => Promise.reject(new Error("asked"));
    const { call, started } = setUp({ findVoices: never, voiceKeys: never });
    await call({});
    expect(started).toHaveLength(1);
  });
});

describe("tools", () => {
  test("are in the plan with their secrets, and on record without", async () => {
    const { call, stored, started } = setUp({ randomToken: () => "secret-token", randomId: randomUUID });
    const temporaryTool = {
      modelToolName: "book",
      http: { baseUrlPattern: "https://example.com/book" },
      requirements: {
        httpSecurityOptions: {
          options: [
            { requirements: { key: { queryApiKey: { name: "k" } } }, serviceCallTokenRequirement: {} },
          ],
        },
      },
    };
    const authTokens = { key: "secret-key" };
    await call({
      selectedTools: [{ toolName: "find_room" }, { toolName: "hangUp" }, { temporaryTool, authTokens }],
    });
    expect(started[0]?.stage.tools.map(({ name, toolId }) => [name, toolId])).toEqual([
      ["find_room", TOOL],
      ["hangUp", "56294126-5a7d-4948-b67d-3b7e13d55ea7"],
      ["book", null],
    ]);
    expect(started[0]?.stage.tools[2]?.implementation).toMatchObject({
      credentials: [{ place: "query", name: "k", value: "secret-key" }],
      callToken: "secret-token",
    });
    expect(started).toEqual([parsePlan(JSON.parse(JSON.stringify(stored[0]?.plan)))]);
    expect(stored[0]?.stage.tools).toEqual(started[0]?.stage.document.tools);
    expect(JSON.stringify([stored[0]?.stage, stored[0]?.settings])).not.toContain("secret");
  });

  test("texts, inactivity messages and a data connection may be asked for as well", async () => {
    const { call, started } = setUp();
    await call({
      initialOutputMedium: "MESSAGE_MEDIUM_TEXT",
      inactivityMessages: [{ duration: "5s", message: "Hello?" }],
      dataConnection: { websocketUrl: "wss://example.com" },
    });
    expect(started[0]).toMatchObject({
      initialOutputMedium: "text",
      dataConnection: { websocketUrl: "wss://example.com" },
      stage: { inactivityMessages: [{ afterMs: 5_000 }] },
    });
  });

  test("what experimentalSettings name and nobody has is a warning", async () => {
    const { call, started } = setUp();
    for (const transcriptionProvider of ["own", "other", 7]) {
      await call({ experimentalSettings: { transcriptionProvider } });
    }
    expect(started.map(({ warnings }) => warnings)).toEqual([
      [],
      ["experimentalSettings.transcriptionProvider: there is no recogniser other here, only own"],
      ["experimentalSettings.transcriptionProvider: there is no recogniser 7 here, only own"],
    ]);
  });

  test("an agent's template context continues to later stages, and fills its tools", async () => {
    const temporaryTool = { modelToolName: "book", client: {}, description: "For {{name}}." };
    const template = { medium: socket, selectedTools: [{ temporaryTool }] };
    const { callAgent, started } = setUp({}, template);
    await callAgent({ templateContext: { name: "Ada", more: 1 } });
    expect(started[0]?.templateContext).toEqual({ name: "Ada", more: 1 });
    expect(started[0]?.stage.tools[0]?.description).toBe("For Ada.");
  });
});

describe("a call of an agent", () => {
  const template = {
    medium: socket,
    systemPrompt: "Greet {{user.name}} of {{city}}.",
    languageHint: "{{#language}}{{language}}{{/language}}",
    timeExceededMessage: "Bye {{user.name}}.",
  };

  test("is filled from its context, once", async () => {
    const { callAgent, stored, started } = setUp({}, template);
    await callAgent({
      templateContext: { user: { name: "{{city}}" }, city: "Lima", language: "es" },
      joinTimeout: "10s",
    });
    expect(stored[0]?.settings).toMatchObject({
      systemPrompt: "Greet {{city}} of Lima.",
      languageHint: "es",
      timeExceededMessage: "Bye {{city}}.",
      joinTimeout: "10s",
    });
    expect(stored[0]).toMatchObject({ agentId: AGENT, agentRevisionId: "r1", joinDeadlineMs: 1_010_000 });
    expect(started[0]?.stage.systemPrompt).toBe("Greet {{city}} of Lima.");
  });

  test("expects the words of the agent, unless it has words of its own", async () => {
    const { callAgent, started, stored } = setUp({}, { medium: socket, transcriptHints: ["Torquay"] });
    await callAgent({});
    await callAgent({ experimentalSettings: { transcriptHints: ["Paignton"] } });
    await callAgent({ experimentalSettings: { transcriptHints: [] } });
    expect(started.map(({ transcriptHints }) => transcriptHints)).toEqual([
      ["Torquay"],
      ["Paignton"],
      undefined,
    ]);
    expect(stored[0]?.settings).toMatchObject({ experimentalSettings: { transcriptHints: ["Torquay"] } });
  });

  test("an agent without a template uses the defaults", async () => {
    const { callAgent, started } = setUp();
    await callAgent({ medium: socket });
    expect(started[0]?.firstSpeaker).toMatchObject({ kind: "agent" });
  });

  test.each<[string, object, object, string[]]>([
    ["no context", template, {}, ["templateContext.city is required", "templateContext.user is required"]],
    [
      "half a context",
      template,
      { templateContext: { user: {}, city: "L" } },
      ["templateContext.user.name is required"],
    ],
    [
      "a context against the agent's schema",
      { contextSchema: { properties: { n: { type: "number" } }, additionalProperties: false } },
      {
        templateContext: { n: "1", m: 2 },
      },
      ["templateContext.m is not allowed", "templateContext.n must be number"],
    ],
    [
      "a schema that cannot be used",
      { contextSchema: { $ref: "https://example.com" } },
      {},
      ["callTemplate.contextSchema.$ref must stay inside the schema: only references with # are allowed"],
    ],
    [
      "a text that is no template",
      { systemPrompt: "{{#a}}" },
      {},
      ['callTemplate.systemPrompt is not a valid template: Unclosed section "a" at 6'],
    ],
    [
      "a language that fills to too much",
      { languageHint: "{{l}}" },
      { templateContext: { l: "x".repeat(17) } },
      ["callTemplate.languageHint must have at most 16 characters"],
    ],
    [
      "another agent",
      {},
      { agentId: "44444444-4444-4444-8444-444444444444" },
      ["agentId must be the agent of the path, or left out"],
    ],
    [
      "the agent's own voice",
      { voice: "Mark" },
      {},
      ["callTemplate.voice names a voice that does not exist: Mark; there are alba, en-us"],
    ],
    [
      "the agent's own model",
      { model: "large" },
      {},
      ["callTemplate.model must be a known model: default, small"],
    ],
    [
      "overrides without a voice",
      {},
      { voiceOverrides: { provider3: { speed: 1 } } },
      ["voiceOverrides must only be given together with voice"],
    ],
    [
      "overrides with an external voice",
      { externalVoice: { generic: { url: "https://example.com" } } },
      {
        voiceOverrides: { generic: {} },
      },
      ["voiceOverrides must only be given together with voice"],
    ],
    [
      "a tool that is gone",
      { selectedTools: [{ toolName: "look_up" }] },
      {},
      ["callTemplate.selectedTools.0.toolName names a tool that does not exist: look_up"],
    ],
    [
      "a tool added twice",
      { selectedTools: [{ toolName: "hangUp" }] },
      { toolOverrides: { add: [{ toolName: "hangUp" }] } },
      ["toolOverrides.add.0 must have a unique name; callTemplate.selectedTools.0 is already called hangUp"],
    ],
  ])("refuses %s", async (_what, ofAgent, request, wanted) => {
    const { callAgent, stored, started } = setUp({}, { medium: socket, ...ofAgent });
    const error = await refusal(callAgent(request));
    expect(error.kind).toBe("refused");
    expect(error.errors.map(({ field, message }) => `${field} ${message}`)).toEqual(wanted);
    expect([stored, started]).toEqual([[], []]);
  });

  test("an agent that is not there, or was deleted meanwhile", async () => {
    expect((await refusal(setUp().callAgent({}, "none"))).kind).toBe("not_found");
    const { callAgent, started } = setUp({ insertCall: async () => AGENT_NOT_FOUND });
    expect((await refusal(callAgent({ medium: socket }))).kind).toBe("not_found");
    expect(started).toEqual([]);
  });
});

describe("capacity", () => {
  const limits = {
    concurrentCalls: 2,
    scheduledCalls: 1,
    joinTimeoutMs: 3_600_000,
    maxDurationMs: 86_400_000,
  };

  test("503 when the process carries all it can", async () => {
    const { call, stored } = setUp({ limits, liveCalls: () => 2 });
    const error = await refusal(call({}));
    expect([error.kind, error.waitMs]).toEqual(["full", 5_000]);
    expect(stored).toEqual([]);
  });

  test("calls of batches leave places to others", async () => {
    const live = { calls: 0 };
    const { create } = setUp({ limits, liveCalls: () => live.calls });
    const requested = { accountId: "account", agentId: null, request: { medium: socket }, query: {} };
    const scheduled = { batchId: "batch", position: 0, claimId: "claim" };
    expect((await create({ ...requested, scheduled })).kind).toBe("created");
    live.calls = 1;
    expect((await refusal(create({ ...requested, scheduled }))).kind).toBe("full");
    expect((await create(requested)).kind).toBe("created");
  });

  test("many at once do not pass together, and a failed one leaves its place", async () => {
    const live: CallPlan[] = [];
    const { call } = setUp({
      limits,
      liveCalls: () => live.length,
      startCall: (plan) => {
        live.push(plan);
        return "started";
      },
    });
    const results = await Promise.all([call({}), call({}), call({}), call({ voice: "unknown" })]);
    expect(results.map(({ kind }) => kind)).toEqual(["created", "created", "full", "refused"]);
    live.pop();
    expect((await call({})).kind).toBe("created");
    expect(live).toHaveLength(2);
  });
});

describe("a start that fails", () => {
  const broken = new Error("broken");

  test("takes the record back", async () => {
    const { call, removed } = setUp({
      startCall: () => {
        throw broken;
      },
    });
    await expect(call({})).rejects.toBe(broken);
    expect(removed).toEqual(["id-1"]);
  });

  test.each([
    ["full", "This server has reached its limit of concurrent calls."],
    ["draining", "The service is shutting down and accepts no new calls; try again shortly."],
  ] as const)("says why when the process is %s, and removes the record", async (outcome, reason) => {
    const { call, removed } = setUp({ startCall: () => outcome });
    expect(await call({})).toEqual({ kind: "full", reason, waitMs: 5_000 });
    expect(removed).toHaveLength(1);
  });

  test("an insert whose outcome is unknown is removed as well", async () => {
    const { call, removed, started } = setUp({ insertCall: () => Promise.reject(broken) });
    await expect(call({})).rejects.toBe(broken);
    expect([removed, started]).toEqual([["id-1"], []]);
  });

  test("a record that cannot be removed is logged for the operator, and the client gets the first failure", async () => {
    const second = new Error("still broken");
    const { call, warnings } = setUp({
      startCall: () => Promise.reject(broken),
      removeUnstartedCall: () => Promise.reject(second),
    });
    await expect(call({})).rejects.toBe(broken);
    expect(warnings).toEqual([second]);
  });
});

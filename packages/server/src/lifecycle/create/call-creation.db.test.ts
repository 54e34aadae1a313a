import { randomUUID } from "node:crypto";
import { CallTemplate, StartAgentCallRequest, StartCallRequest } from "@parley/schema";
import { expect, it } from "vitest";
import type { CreateCallOutcome } from "../api.ts";
import type { StartOutcome } from "../../runner/live-calls.ts";
import { createdId, refusal } from "./testing/call-creation.ts";
import { directSchemaChecks } from "./testing/schema-checks.ts";
import { callCreator, type CallParts } from "../../app/call-creator.ts";
import type { CallPlan } from "../../plan/plan.ts";
import { type Config, loadConfig } from "../../config/config.ts";
import { planSources } from "../../app/plan-sources.ts";
import { publicVoiceId } from "../../voices/public-voices.ts";
import { openFakeEngines } from "../../runner/testing/fakes.ts";
import { getAccount, setAccountLimits } from "../../store/accounts/accounts.ts";
import { createAgent } from "../../store/agents/agents.ts";
import { listCalls } from "../../store/calls/call-list.ts";
import { listStageTools } from "../../store/calls/call-tools.ts";
import { getCall } from "../../store/calls/calls.ts";
import type { Store } from "../../store/opening/open-store.ts";
import { appendMessage, listMessages } from "../../store/calls/messages.ts";
import { insertStage } from "../../store/calls/stages.ts";
import { markEnded, newMessage } from "../../store/testing/calls.ts";
import { describeOnBothDatabases, newAccount } from "../../store/testing/databases.ts";
import { createThrottle } from "../../store/accounts/throttles.ts";
import { createTools, deleteTool } from "../../store/agents/tools.ts";
import { setTtsKeys } from "../../store/accounts/tts-keys.ts";
import { createVoice, deleteVoice } from "../../store/agents/voices.ts";

const medium = { serverWebSocket: { inputSampleRate: 16_000 } };
const config = loadConfig({});

type Attempt = (body: object, priorCallId?: string, throttle?: string) => Promise<CreateCallOutcome>;

/** Call creation of one account, with calls that only record their start. */
async function setUp(store: Pick<Store, "db">, rates: Partial<Config> = {}) {
  const started: CallPlan[] = [];
  const start: { outcome: StartOutcome } = { outcome: "started" };
  const notified = { count: 0 };
  const fakes = openFakeEngines();
  const engines = {
    ...fakes,
    turnDetectors: [],
    llm: { ...fakes.llm, models: [] },
    tts: { ...fakes.tts, name: "engine", voices: ["alba"] },
  };
  const parts = {
    config: { ...config, ...rates },
    logger: { warn: () => {} },
    engines,
    store,
    sources: planSources(
      store.db,
      engines,
      directSchemaChecks,
      { listMcpTools: () => Promise.reject(new Error("none")) },
      config,
    ),
    nodeId: randomUUID(),
    storage: { remember: () => {}, forget: () => {} },
    liveCalls: {
      count: () => 0,
      startCall: (plan: CallPlan) => {
        if (start.outcome === "started") started.push(plan);
        return start.outcome;
      },
    },
    endCall: () => Promise.reject(new Error("No call of these tests is to be ended.")),
    deliver: () => (notified.count += 1),
    prepareDial: () => Promise.resolve(null),
  } as unknown as CallParts;
  const create = callCreator(parts);
  const accountId = await newAccount(store.db);
  const attempt: Attempt = (body, priorCallId, throttle) => {
    const request = StartCallRequest.parse({ ...(priorCallId === undefined ? { medium } : {}), ...body });
    return create({ accountId, agentId: null, request, query: { priorCallId, throttle } });
  };
  const attemptOfAgent = (agentId: string, throttle?: string): Promise<CreateCallOutcome> => {
    const request = StartAgentCallRequest.parse({});
    return create({ accountId, agentId, request, query: { throttle } });
  };
  const call = (...given: Parameters<Attempt>): Promise<string> => createdId(attempt(...given));
  const callAgent = (...given: Parameters<typeof attemptOfAgent>): Promise<string> =>
    createdId(attemptOfAgent(...given));
  return { accountId, attempt, attemptOfAgent, call, callAgent, create, started, start, notified };
}

const secured = {
  modelToolName: "book",
  http: { baseUrlPattern: "https://example.com/book" },
  requirements: {
    httpSecurityOptions: { options: [{ requirements: { key: { headerApiKey: { name: "X-Key" } } } }] },
  },
};
const withTool = { selectedTools: [{ temporaryTool: secured, authTokens: { key: "very-secret" } }] };

describeOnBothDatabases("call creation", (current) => {
  it("lists the tools of a call's first stage without their secrets", async () => {
    const { db } = current();
    const { accountId, call, started } = await setUp({ db });
    const [tool] = await createTools(db, accountId, [{ name: "look_up", definition: { client: {} } }]);
    const selectedTools = [{ toolName: "hangUp" }, { toolId: tool?.toolId }, ...withTool.selectedTools];
    const callId = await call({ selectedTools });
    const plan = started[0];
    const listed = await listStageTools(db, accountId, callId, plan?.stage.stageId ?? "");
    expect(listed.map(({ name, toolId }) => [name, toolId])).toEqual([
      ["hangUp", "56294126-5a7d-4948-b67d-3b7e13d55ea7"],
      ["look_up", tool?.toolId],
      ["book", null],
    ]);
    expect(listed).toEqual(plan?.stage.document.tools);
    expect(JSON.stringify([listed, await getCall(db, accountId, callId)])).not.toContain("very-secret");
    expect(JSON.stringify(plan?.stage.tools)).toContain("very-secret");
  });

  it("refuses an agent whose tool was deleted, and names it", async () => {
    const { db } = current();
    const { accountId, callAgent, started, attemptOfAgent } = await setUp({ db });
    const [tool] = await createTools(db, accountId, [{ name: "look_up", definition: { client: {} } }]);
    const callTemplate = CallTemplate.parse({ medium, selectedTools: [{ toolName: "look_up" }] });
    const { agentId } = await createAgent(db, accountId, { name: "a", callTemplate });
    await callAgent(agentId);
    expect(started[0]?.stage.tools.map(({ name }) => name)).toEqual(["look_up"]);
    await deleteTool(db, accountId, tool?.toolId ?? "");
    const error = await refusal(attemptOfAgent(agentId));
    expect([error.kind, error.errors]).toEqual([
      "refused",
      [
        {
          field: "callTemplate.selectedTools.0.toolName",
          message: "names a tool that does not exist: look_up",
        },
      ],
    ]);
  });

  it("finds no tool of another account", async () => {
    const { db } = current();
    const other = await newAccount(db);
    const [tool] = await createTools(db, other, [{ name: "look_up", definition: { client: {} } }]);
    const { attempt } = await setUp({ db });
    expect((await refusal(attempt({ selectedTools: [{ toolId: tool?.toolId }] }))).errors).toEqual([
      { field: "selectedTools.0.toolId", message: `names a tool that does not exist: ${tool?.toolId}` },
    ]);
  });

  it("takes an own voice before one of everybody, and puts the voice on record", async () => {
    const { db } = current();
    const { accountId, call, started, attempt } = await setUp({ db });
    const listed = async (voiceId: string) =>
      (await listCalls(db, accountId, { voiceId }, { after: null, direction: "forward", limit: 5 })).rows.map(
        ({ callId }) => callId,
      );
    const callId = await call({ voice: "alba" });
    await call({});
    expect(started.map(({ stage }) => stage.voice)).toEqual([
      { kind: "deployment", name: "alba" },
      { kind: "deployment", name: null },
    ]);
    expect(await listed(publicVoiceId("engine", "alba"))).toEqual([callId]);
    const definition = { provider1: { voiceId: "x" } };
    const own = { name: "alba", description: null, primaryLanguage: null, definition };
    const { voiceId } = await createVoice(db, accountId, own);
    const keyless = await refusal(attempt({ voice: "alba" }));
    expect(keyless.errors.map(({ field }) => field)).toEqual(["voice"]);
    await setTtsKeys(db, accountId, { provider1: { key: "0123456789", prefix: "0123" } });
    for (const body of [{ voice: "alba" }, { voice: voiceId }, { externalVoice: definition }]) {
      expect([body, (await refusal(attempt(body))).kind]).toEqual([body, "not_available"]);
    }
    expect(await listed(voiceId)).toEqual([]);
    // The id means the public one, whatever else has its name.
    await call({ voice: publicVoiceId("engine", "alba") });
    await deleteVoice(db, accountId, voiceId);
    await call({ voice: "alba" });
    expect(await listed(publicVoiceId("engine", "alba"))).toHaveLength(3);
    expect((await refusal(attempt({ voice: voiceId }))).errors[0]?.message).toContain(voiceId);
  });

  it("finds no voice of another account", async () => {
    const { db } = current();
    const own = { name: "ada", description: null, primaryLanguage: null, definition: { provider1: {} } };
    const { voiceId } = await createVoice(db, await newAccount(db), own);
    const { attempt } = await setUp({ db });
    for (const voice of ["ada", voiceId]) {
      expect((await refusal(attempt({ voice }))).errors).toEqual([
        { field: "voice", message: `names a voice that does not exist: ${voice}; there are alba` },
      ]);
    }
  });

  it("continues from a prior call that has ended", async () => {
    const { db } = current();
    const { accountId, call, started, attempt } = await setUp({ db });
    const first = await call({
      ...withTool,
      systemPrompt: "Before.",
      metadata: { a: "b" },
      sharedSecrets: ["s".repeat(16)],
      dataConnection: { websocketUrl: "wss://example.com", headers: { "x-key": "very-secret" } },
      initialMessages: [{ role: "MESSAGE_ROLE_USER", text: "Earlier" }],
    });
    const stageId = started[0]?.stage.stageId ?? "";
    const said = newMessage(1, { role: "agent", text: "Later", metadata: { interrupted: "true" } });
    await appendMessage(db, accountId, first, stageId, said);
    expect((await refusal(attempt({}, first))).kind).toBe("prior_call_running");
    await markEnded(db, accountId, first, {
      endReason: "hangup",
      endedAtMs: Date.now(),
    });
    const second = await call({ temperature: 1 }, first);
    const plan = started[1];
    expect(plan).toMatchObject({
      metadata: { a: "b" },
      dataConnection: { headers: { "x-key": "very-secret" }, sharedSecrets: ["s".repeat(16)] },
      stage: { systemPrompt: "Before.", temperature: 1 },
    });
    expect(plan?.stage.tools[0]?.implementation).toMatchObject({
      credentials: [{ name: "X-Key", value: "very-secret" }],
    });
    expect(plan?.initialMessages.map(({ text }) => text)).toEqual(["Earlier", "Later"]);
    const page = { limit: 10, after: null, direction: "forward" } as const;
    const { rows } = await listMessages(db, accountId, second, { mode: "last_stage" }, page);
    expect(rows.map(({ text, metadata, initial }) => [text, metadata, initial])).toEqual([
      ["Earlier", {}, true],
      ["Later", { interrupted: "true" }, true],
    ]);
    expect(await listStageTools(db, accountId, second, plan?.stage.stageId ?? "")).toHaveLength(1);
  });

  it("takes stage settings, tools and history from the prior call's last stage", async () => {
    const { db } = current();
    const { accountId, call, started } = await setUp({ db });
    const first = await call({ ...withTool, systemPrompt: "First." });
    const firstStage = started[0]?.stage;
    if (firstStage === undefined) throw new Error("did not start");
    await appendMessage(db, accountId, first, firstStage.stageId, newMessage(0, { text: "In the first" }));
    const [own] = firstStage.tools;
    const [listed] = firstStage.document.tools;
    if (own === undefined || listed === undefined) throw new Error("no tool");
    const plan = {
      ...firstStage,
      stageId: randomUUID(),
      tools: [{ ...own, name: "later" }],
      document: {
        settings: { ...firstStage.document.settings, systemPrompt: "Second." },
        tools: [{ ...listed, name: "later" }],
      },
    };
    await insertStage(db, accountId, first, {
      stageId: plan.stageId,
      settings: plan.document.settings,
      tools: plan.document.tools,
      plan,
      inheritsMessages: true,
      createdAt: new Date(),
    });
    await appendMessage(db, accountId, first, plan.stageId, newMessage(0, { text: "In the second" }));
    await markEnded(db, accountId, first, {
      endReason: "hangup",
      endedAtMs: Date.now(),
    });
    await call({}, first);
    expect(started[1]?.stage).toMatchObject({ systemPrompt: "Second.", tools: [{ name: "later" }] });
    expect(started[1]?.initialMessages.map(({ text }) => text)).toEqual(["In the first", "In the second"]);
    expect(JSON.stringify(started[1]?.stage.tools)).toContain("very-secret");
  });

  it("knows no prior call of another account, and none that is deleted", async () => {
    const { db } = current();
    const other = await setUp({ db });
    const foreign = await other.call({});
    const { attempt } = await setUp({ db });
    for (const id of [foreign, randomUUID()]) expect((await refusal(attempt({}, id))).kind).toBe("not_found");
  });

  it("refuses calls beyond the limits of the account with the time to wait, and stores nothing of them", async () => {
    const { db } = current();
    const limited = await setUp({ db });
    await setAccountLimits(db, limited.accountId, { allowedConcurrentCalls: 1 });
    await limited.call({});
    const busy = await refusal(limited.attempt({}));
    expect([busy.kind, busy.waitMs]).toEqual(["later", 5_000]);
    const rated = await setUp({ db }, { callsPerMinutePerAccount: 1, callsPerSecondPerAccount: 5 });
    await rated.call({});
    const fast = await refusal(rated.attempt({}));
    expect(fast).toMatchObject({ kind: "later", limit: "account rate" });
    expect(fast.waitMs).toBeGreaterThan(50_000);
    for (const { accountId, started } of [limited, rated]) {
      expect((await getAccount(db, accountId))?.activeCalls).toBe(1);
      expect(started).toHaveLength(1);
    }
  });

  it("creates calls, with and without an agent, as fast as a throttle allows", async () => {
    const { db } = current();
    const { accountId, call, callAgent, notified, attempt, attemptOfAgent } = await setUp({ db });
    const rules = [{ maxCalls: 2, windowSeconds: 60 }];
    const { throttleId } = await createThrottle(db, accountId, { name: "gently", rules });
    const callTemplate = CallTemplate.parse({ medium });
    const { agentId } = await createAgent(db, accountId, { name: "a", callTemplate });
    expect((await refusal(attempt({ voice: "nobody's" }, undefined, "gently"))).kind).toBe("refused");
    await call({}, undefined, "gently");
    await callAgent(agentId, throttleId);
    const more = [() => attempt({}, undefined, throttleId), () => attemptOfAgent(agentId, "gently")];
    for (const refused of more) {
      const outcome = await refusal(refused());
      expect(outcome).toMatchObject({ kind: "later", limit: "throttle" });
      expect(outcome.waitMs).toBeGreaterThan(50_000);
    }
    await call({});
    // Webhooks are woken for the three that were created, and for none that was refused.
    expect(notified.count).toBe(3);
  });

  it("gives a throttle back what a call took that could not start", async () => {
    const { db } = current();
    const { accountId, call, attempt, start } = await setUp({ db });
    const rules = [{ maxCalls: 1, windowSeconds: 60 }];
    await createThrottle(db, accountId, { name: "gently", rules });
    start.outcome = "full";
    expect((await refusal(attempt({}, undefined, "gently"))).kind).toBe("full");
    start.outcome = "started";
    await call({}, undefined, "gently");
  });
});

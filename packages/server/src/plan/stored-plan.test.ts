import { randomUUID } from "node:crypto";
import { StartCallRequest } from "@parley/schema";
import { describe, expect, test } from "vitest";
import { requestedSettings } from "./requested-settings.ts";
import { compileCallPlan } from "./compile-plan.ts";
import { compileTools, findDefinitions } from "./selected-tools.ts";
import { parsePlan, PLAN_VERSION, storedPlan, UnreadablePlan } from "./stored-plan.ts";
import { levelOf } from "../call/life/message-rights.ts";
import { inputOf, planOf } from "../call/testing/compile-input.ts";

describe("parsePlan", () => {
  const stored = (): Record<string, unknown> =>
    JSON.parse(
      JSON.stringify(storedPlan(planOf({ initialMessages: [{ role: "MESSAGE_ROLE_USER", text: "Hi" }] }))),
    ) as Record<string, unknown>;

  test.each<[string, unknown, RegExp]>([
    ["nothing", null, /a plan of version undefined, not 2/],
    ["a list", [], /version undefined/],
    ["another version", { ...stored(), planVersion: PLAN_VERSION + 1 }, /version 3, not 2/],
    ["no version", { ...stored(), planVersion: undefined }, /version undefined/],
    ["a missing part", { ...stored(), medium: undefined }, /^plan\.medium is not an object$/],
    ["a negative length", { ...stored(), joinTimeoutMs: -1 }, /^plan\.joinTimeoutMs is not 0 or more$/],
    [
      "a length that is no number",
      { ...stored(), maxDurationMs: null },
      /^plan\.maxDurationMs is not a number$/,
    ],
    [
      "an unknown medium",
      { ...stored(), medium: { kind: "pigeon" } },
      /^plan\.medium\.kind is not one of serverWebSocket, webRtc, telephony1, telephony2, telephony3, telephony4$/,
    ],
    [
      "an unknown first speaker",
      { ...stored(), firstSpeaker: { kind: "nobody" } },
      /^plan\.firstSpeaker\.kind/,
    ],
    [
      "a bad message",
      { ...stored(), initialMessages: [{ role: "user" }] },
      /^plan\.initialMessages\.0\.text is not a text$/,
    ],
    ["a list that is none", { ...stored(), initialMessages: {} }, /^plan\.initialMessages is not a list$/],
    ["metadata that is no text", { ...stored(), metadata: { a: 1 } }, /^plan\.metadata\.a is not a text$/],
    [
      "a flag that is none",
      { ...stored(), greetingPrompt: "yes" },
      /^plan\.greetingPrompt is not true or false$/,
    ],
  ])("refuses %s", (_what, json, words) => {
    expect(() => parsePlan(json)).toThrow(UnreadablePlan);
    expect(() => parsePlan(json)).toThrow(words);
  });

  test("takes a plan of an earlier version, without client messages, as that of a trusted client", () => {
    const plan = parsePlan(stored());
    expect(stored()).not.toHaveProperty("clientMessages");
    expect(levelOf(plan, "client")).toBe("trusted");
    const limited = parsePlan(JSON.parse(JSON.stringify(storedPlan(planOf({ clientMessages: "media" })))));
    expect(levelOf(limited, "client")).toBe("media");
    expect(() => parsePlan({ ...stored(), clientMessages: "all" })).toThrow(
      /^plan\.clientMessages is not one of trusted, standard, media$/,
    );
  });

  test.each([null, "alba"])("takes the voice %s of an earlier version as one of the deployment", (voice) => {
    const { stage, ...plan } = stored();
    const before = { ...plan, stage: { ...(stage as object), voice } };
    expect(parsePlan(before).stage.voice).toEqual({ kind: "deployment", name: voice });
  });

  const external = {
    kind: "external",
    provider: "provider1",
    settings: { voiceId: "v", speed: 1.1 },
    key: "account",
    voiceId: null,
  };

  const withVoice = (voice: unknown) => {
    const { stage, ...plan } = stored();
    return parsePlan({ ...plan, stage: { ...(stage as object), voice } });
  };

  test("reads an external voice", () => {
    expect(withVoice(external).stage.voice).toEqual(external);
  });

  test.each<[string, unknown, RegExp]>([
    ["a number", 7, /^plan\.stage\.voice\.kind is not one of deployment, external$/],
    ["another kind", { kind: "robot" }, /^plan\.stage\.voice\.kind/],
    ["another provider", { ...external, provider: "provider9" }, /^plan\.stage\.voice\.provider/],
    ["settings out of range", { ...external, settings: { speed: 9 } }, /^plan\.stage\.voice\.settings/],
    ["another key", { ...external, key: "sk-0123" }, /^plan\.stage\.voice\.key is not one of account/],
  ])("refuses %s for a voice", (_what, voice, problem) => {
    expect(() => withVoice(voice)).toThrow(problem);
  });

  test("drops what it does not know", () => {
    expect(parsePlan({ ...stored(), later: 1 })).not.toHaveProperty("later");
  });
});

describe("tools, stages and the data connection of a stored plan", () => {
  const selectedTools = [
    {
      temporaryTool: {
        modelToolName: "book",
        http: { baseUrlPattern: "https://example.com" },
        dynamicParameters: [{ name: "a" }],
        staticParameters: [{ name: "b", value: { deep: [1, null] } }],
        automaticParameters: [{ name: "c", knownValue: "KNOWN_PARAM_THREAD_STATES" }],
        requirements: {
          httpSecurityOptions: { options: [{ requirements: { k: { queryApiKey: { name: "k" } } } }] },
        },
      },
      authTokens: { k: "1" },
    },
    { temporaryTool: { modelToolName: "show", client: {}, staticResponse: { responseText: "Shown." } } },
    { temporaryTool: { modelToolName: "tell", dataConnection: {}, precomputable: true } },
    { temporaryTool: { modelToolName: "say", staticResponse: {} } },
  ];
  const dataConnection = { websocketUrl: "wss://example.com", audioConfig: {}, headers: { a: "b" } };

  function stored(): Record<string, unknown> {
    const requested = requestedSettings(StartCallRequest.parse({ selectedTools })).tools;
    const problems = { errors: [], unavailable: [] };
    const ground = { callToken: "token", schemaFaults: () => [], newId: randomUUID };
    const tools = compileTools(findDefinitions(requested, [], problems), requested, ground, problems);
    expect(problems.errors).toEqual([]);
    const plan = compileCallPlan({ ...inputOf({ dataConnection }), tools, templateContext: { n: [1] } });
    const json = JSON.parse(JSON.stringify(storedPlan(plan))) as Record<string, unknown>;
    expect(parsePlan(json)).toEqual(plan);
    return json;
  }

  /** Sets the member at a dotted path. */
  function changed(json: Record<string, unknown>, path: string, value: unknown): unknown {
    const keys = path.split(".");
    const last = keys.pop() ?? "";
    const at = keys.reduce<Record<string, unknown>>(
      (here, key) => here[key] as Record<string, unknown>,
      json,
    );
    at[last] = value;
    return json;
  }

  test.each<[string, unknown, string]>([
    ["callToken", null, "plan.callToken is not a text"],
    ["warnings", "x", "plan.warnings is not a list"],
    ["templateContext", [], "plan.templateContext is not an object"],
    [
      "stage.tools.0.implementation.kind",
      "pigeon",
      "plan.stage.tools.0.implementation.kind is not one of http, mcp, client, dataConnection, static, builtIn",
    ],
    ["stage.tools.0.implementation.method", 1, "plan.stage.tools.0.implementation.method is not a text"],
    [
      "stage.tools.0.implementation.credentials.0.place",
      "cookie",
      "plan.stage.tools.0.implementation.credentials.0.place is not one of query, header",
    ],
    [
      "stage.tools.0.implementation.callToken",
      1,
      "plan.stage.tools.0.implementation.callToken is not a text",
    ],
    [
      "stage.tools.1.implementation",
      { kind: "builtIn", builtIn: "other" },
      "plan.stage.tools.1.implementation.builtIn is not one of hangUp, leaveVoicemail, playDtmfSounds, queryCorpus, coldTransfer, warmTransfer, acceptTransfer, refuseTransfer",
    ],
    [
      "stage.tools.0.dynamic.0.location",
      "cookie",
      "plan.stage.tools.0.dynamic.0.location is not one of query, path, header, body",
    ],
    [
      "stage.tools.0.automatic.0.known",
      "weather",
      "plan.stage.tools.0.automatic.0.known is not one of callId, conversationHistory, outputSampleRate, callState, callStageId, threadId, threadStates, callMetadata",
    ],
    ["stage.tools.0.timeoutMs", "2500", "plan.stage.tools.0.timeoutMs is not a number"],
    [
      "stage.tools.0.defaultReaction",
      "sings",
      "plan.stage.tools.0.defaultReaction is not one of speaks, listens, speaks-once",
    ],
    ["stage.tools.0.parameters", [], "plan.stage.tools.0.parameters is not an object"],
    [
      "stage.document.tools.0.callToolId",
      "x",
      "plan.stage.document.tools.0 is not as the interface shows it",
    ],
    [
      "stage.document.settings.temperature",
      7,
      "plan.stage.document.settings is not as the interface shows it",
    ],
    [
      "dataConnection.audio.channels",
      "5.1",
      "plan.dataConnection.audio.channels is not one of mixed, separated",
    ],
    ["dataConnection.dataMessages.pong", 1, "plan.dataConnection.dataMessages.pong is not true or false"],
    ["dataConnection.sharedSecrets", null, "plan.dataConnection.sharedSecrets is not a list"],
  ])("%s may not be %o", (path, value, wanted) => {
    const json = changed(stored(), path, value);
    expect(() => parsePlan(json)).toThrow(new UnreadablePlan(wanted));
  });
});

/** Call creation over lists instead of a store and a runner, for tests. */

import {
  BaseToolDefinition,
  CallTemplate,
  type FieldError,
  StartAgentCallRequest,
  StartCallRequest,
} from "@parley/schema";
import type { CallPlan } from "../../../plan/plan.ts";
import type { KnownTool } from "../../../plan/selected-tools.ts";
import { turnTaking } from "../../../call/testing/compile-input.ts";
import { openTemplateParser } from "../../../providers/templates/mustache.ts";
import type { NewCall } from "../../../store/calls/calls.ts";
import type { CreateCallInput, CreateCallOutcome, NotCreated } from "../../api.ts";
import { createCallCreator } from "../create-call.ts";
import { directSchemaChecks } from "./schema-checks.ts";
import type { CreateCallDeps } from "../create-call.ts";

const parseTemplate = openTemplateParser();
const { checkSchema, checkValue } = directSchemaChecks;
export const AGENT = "22222222-2222-4222-8222-222222222222";
export const socket = { serverWebSocket: { inputSampleRate: 16_000 } };

const knownTool = (toolId: string, name: string, builtIn: string | null, definition: object): KnownTool => ({
  toolId,
  name,
  own: builtIn === null,
  builtIn,
  definition: BaseToolDefinition.parse(definition),
});

export const TOOL = "66666666-6666-4666-8666-666666666666";

/** One of the account and three public ones. */
const KNOWN_TOOLS: readonly KnownTool[] = [
  knownTool(TOOL, "find_room", null, {
    http: { baseUrlPattern: "https://rooms.example/find", httpMethod: "GET" },
    dynamicParameters: [{ name: "beds", schema: { type: "integer" }, required: true }],
  }),
  knownTool("56294126-5a7d-4948-b67d-3b7e13d55ea7", "hangUp", "hangUp", {
    dynamicParameters: [{ name: "reason" }],
    staticParameters: [{ name: "strict", value: true }],
    staticResponse: {},
  }),
  knownTool("84a31bac-5c1b-41c3-9058-f81acb7ffaa7", "queryCorpus", "queryCorpus", {
    dynamicParameters: [{ name: "query", required: true }],
    requirements: { requiredParameterOverrides: ["corpus_id"] },
    staticResponse: {},
  }),
  knownTool("2fff509d-273f-414e-91ff-aa933435a545", "coldTransfer", "coldTransfer", { staticResponse: {} }),
];

/** One agent, two voices, two models, capacity for ten calls. */
export function setUp(changes: Partial<CreateCallDeps> = {}, template: object | null = null) {
  const stored: NewCall[] = [];
  const started: CallPlan[] = [];
  const removed: string[] = [];
  const warnings: unknown[] = [];
  let ids = 0;
  const create = createCallCreator({
    loadAgent: async (_account, agentId) =>
      agentId === AGENT
        ? { agentId, revisionId: "r1", callTemplate: template === null ? null : CallTemplate.parse(template) }
        : null,
    loadPriorCall: async () => null,
    loadConsultedCall: async () => null,
    servesSip: false,
    findThrottle: async (_account, nameOrId) =>
      nameOrId === "gently" ? { throttleId: "t1" } : nameOrId === "twin" ? "ambiguous" : "unknown",
    insertCall: async (_account, call) => {
      stored.push(call);
      return "inserted";
    },
    removeUnstartedCall: async (_account, callId) => {
      removed.push(callId);
    },
    removeUndialledCall: async (_account, callId) => {
      removed.push(callId);
    },
    releaseCall: async () => true,
    prepareDial: async () => null,
    warn: (_message, error) => warnings.push(error),
    startCall: (plan) => {
      started.push(plan);
      return "started" as const;
    },
    liveCalls: () => 0,
    limits: { concurrentCalls: 10, scheduledCalls: 10, joinTimeoutMs: 3_600_000, maxDurationMs: 86_400_000 },
    nodeId: "n1",
    voices: () => [
      { voiceId: "33333333-3333-4333-8333-333333333333", name: "alba" },
      { voiceId: "44444444-4444-4444-8444-444444444444", name: "en-us" },
    ],
    findVoices: async () => [],
    voiceKeys: async () => new Map(),
    spokenKinds: () => new Set(),
    models: () => ["default", "small"],
    aliases: { voices: [], models: [] },
    recognisers: () => ["own"],
    findTools: async (_account, { ids, names }) =>
      KNOWN_TOOLS.filter(({ toolId, name }) => ids.includes(toolId) || names.includes(name)),
    refusedTarget: () => null,
    listMcpTools: () => Promise.reject(new Error("nobody listens there")),
    turnTaking,
    parseTemplate,
    checkSchema,
    checkValue,
    randomId: () => `id-${(ids += 1)}`,
    randomToken: () => "token",
    nowMs: () => 1_000_000,
    ...changes,
  });
  const call = (request: object, query: CreateCallInput["query"] = {}) =>
    create({
      accountId: "acc",
      agentId: null,
      request: StartCallRequest.parse({ medium: socket, ...request }),
      query,
    });
  const callAgent = (request: object = {}, agentId = AGENT) =>
    create({ accountId: "acc", agentId, request: StartAgentCallRequest.parse(request), query: {} });
  return { create, call, callAgent, stored, started, removed, warnings };
}

export interface Refusal {
  readonly kind: NotCreated["kind"];
  /** Empty unless fields are wrong. */
  readonly errors: readonly FieldError[];
  readonly reason: string | null;
  readonly waitMs: number | null;
}

/** The outcome of an attempt that must leave no call. */
export async function refusal(attempt: Promise<CreateCallOutcome>): Promise<Refusal> {
  const outcome = await attempt;
  if (outcome.kind === "created") throw new Error("a call was created");
  return { errors: [], reason: null, waitMs: null, ...outcome };
}

/** The id of the call that an attempt must create. */
export async function createdId(attempt: Promise<CreateCallOutcome>): Promise<string> {
  const outcome = await attempt;
  if (outcome.kind !== "created") throw new Error("no call was created", { cause: outcome });
  return outcome.callId;
}

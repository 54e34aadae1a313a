/** An HTTP server on a real store, with calls that are stored but never run. */

import { randomBytes, randomUUID } from "node:crypto";
import {
  type CallTemplate,
  type DeploymentEngine,
  type SipCheck,
  firstSpeakerOf,
  mediumKindOf,
  type StartCallRequest,
  Uuid,
} from "@parley/schema";
import { type Logger, pino } from "pino";
import { Registry } from "prom-client";
import { callResource, sampleCalls } from "../../lifecycle/resource.ts";
import { getAgentForCall } from "../../store/agents/agents.ts";
import { createApiKey } from "../../store/accounts/api-keys.ts";
import { insertCall } from "../../store/calls/calls.ts";
import { getCorpus } from "../../store/corpora/corpora.ts";
import type { Db } from "../../store/database/db.ts";
import { getSipRegistration } from "../../store/telephony/sip-registrations.ts";
import { newAccount, type TestStore } from "../../store/testing/databases.ts";
import type { CreateCall } from "../../lifecycle/api.ts";
import type { CarrierRequests } from "../../telephony/api.ts";
import type { SipChecks } from "../../telephony/sip/checks/check-trunk.ts";
import type { HttpDeps, HttpServer, InjectResponse } from "../deps.ts";
import type { EngineAdministration } from "../engine-administration.ts";
import { buildServer } from "../server.ts";

export const PUBLIC_URL = "https://voice.example";

/** Log lines as objects, newest last. */
export interface TestLog {
  readonly logger: Logger;
  readonly text: () => string;
  readonly lines: () => Record<string, unknown>[];
}

export function testLog(): TestLog {
  const written: string[] = [];
  const logger = pino({ level: "debug" }, { write: (line) => written.push(line) });
  return {
    logger,
    text: () => written.join(""),
    lines: () => written.map((line) => JSON.parse(line) as Record<string, unknown>),
  };
}

const builtIn: DeploymentEngine = {
  source: "built_in",
  description: "an engine of the tests",
  baseUrl: null,
  model: null,
  voice: null,
  apiKey: null,
  selectedBy: null,
  setBy: { baseUrl: null, apiKey: null, model: null, voice: null },
  isStored: false,
  unusedReason: null,
  warning: null,
  list: [],
};

const OFF: SipCheck = { ok: false, findings: [], answers: [] };
const noSip = (db: Db): SipChecks => ({
  check: async () => OFF,
  checkRegistration: async (accountId, registrationId) =>
    (await getSipRegistration(db, accountId, registrationId)) === null ? null : OFF,
});

/** Every corpus of the account is empty. */
const emptyCorpora =
  (db: Db): HttpDeps["searchCorpus"] =>
  async ({ accountId, corpusId }) =>
    (await getCorpus(db, accountId, corpusId)) === null
      ? { kind: "no_corpus" }
      : { kind: "found", hits: [], notes: { vectors: null, reranker: null } };

/** Engines that nobody can change. */
const builtInEngines: EngineAdministration = {
  operatorKey: null,
  show: () => ({ stt: builtIn, llm: builtIn, tts: builtIn }),
  changesOf: () => ({ kind: "changed", changes: {} }),
  reload: () => Promise.resolve(),
  look: () => Promise.resolve(),
  test: () => Promise.resolve({ works: false, latencyMs: 0, detail: "No engine runs here." }),
  findLocalServers: () => Promise.resolve([]),
};

/** No account has configured a carrier. */
const noCarriers: CarrierRequests = {
  answerCall: () => Promise.resolve({ kind: "forbidden" }),
  noteStatus: () => Promise.resolve({ kind: "forbidden" }),
  transfer: () => Promise.resolve({ kind: "forbidden" }),
  instruct: () => Promise.resolve({ kind: "forbidden" }),
  check: () => Promise.resolve(null),
};

const SETTINGS: HttpDeps["settings"] = {
  rateLimitPerKey: 0,
  rateLimitPerAccount: 0,
  ignoreUnknownFields: false,
  apiNames: "neutral",
  sipHost: "sip.example",
  servesSip: true,
  allowedOrigins: [],
  trustedProxies: [],
  maxConnectionsPerAddress: 200,
  checkResponses: true,
};

/** Files are taken and not stored, and no source is loaded. */
const unloadedCorpora: HttpDeps["corpora"] = {
  limits: { documentsPerAccount: 10_000, bytesPerAccount: 1_073_741_824 },
  filePlace: { nodeId: "test" },
  files: { write: () => Promise.resolve(), remove: () => Promise.resolve() },
  queueLoad: () => Promise.resolve(),
  wakeLoads: () => undefined,
};

/** Nobody joins over WebRTC. */
const noWebRtc: HttpDeps["webRtc"] = {
  iceServerLinks: [],
  offer: () => Promise.resolve({ kind: "gone" }),
  patch: () => Promise.resolve({ kind: "unknown" }),
  renegotiate: () => Promise.resolve({ kind: "unknown" }),
  hangUp: () => Promise.resolve("unknown"),
};

const noRooms: HttpDeps["rooms"] = {
  open: () => Promise.resolve("gone"),
  waitToSignal: () => 0,
  signal: () => Promise.reject(new Error("no room is open")),
};

/** Dependencies of an HTTP server in a test; `changes` win. */
export function testDeps({ store, db, secretsKey }: TestStore, changes: Partial<HttpDeps> = {}): HttpDeps {
  const { registry = new Registry() } = changes;
  return {
    store,
    host: "127.0.0.1",
    port: 0,
    version: "0.1.0",
    publicUrl: PUBLIC_URL,
    secretsKey,
    logger: testLog().logger,
    registry,
    readMetrics: () => registry.metrics(),
    settings: SETTINGS,
    readEventLog: () => Promise.resolve(null),
    recordings: {
      create: () => Promise.reject(new Error("no recording is made here")),
      resume: () => Promise.reject(new Error("no recording is made here")),
      open: () => Promise.resolve(null),
      openPart: () => Promise.resolve(null),
      link: () => Promise.resolve(null),
      isShared: false,
      remove: () => Promise.resolve(),
    },
    removeFiles: () => Promise.resolve(),
    modelNames: () => ["default", "scripted"],
    nameAliases: () => ({ voices: [], models: [] }),
    examplePhrases: () => ["go forward ten meters"],
    publicVoices: () => [],
    previewVoice: () => Promise.resolve({ kind: "failed", reason: "no engine speaks here" }),
    previewDefinition: () => Promise.resolve({ kind: "not_spoken" }),
    deploymentVoiceKinds: new Set(),
    clonerFor: () => Promise.resolve(null),
    lostEngines: () => [],
    degradedParts: () => [],
    checkTemplates: async () => [],
    contextChecker: async () => ({ problemsOf: async () => [], allGood: async () => true }),
    accountRates: [],
    rateShare: () => 1,
    createCall: storeCall(db),
    carriers: noCarriers,
    sipChecks: noSip(db),
    findJoin: () => Promise.resolve("not_found"),
    connectCall: () => "gone",
    webRtc: noWebRtc,
    rooms: noRooms,
    sendToCall: () => Promise.resolve("not_live"),
    endUnjoined: () => Promise.resolve("not_waiting"),
    engines: builtInEngines,
    console: { state: () => Promise.resolve({ kind: "off" }) },
    searchCorpus: emptyCorpora(db),
    testTool: () => Promise.resolve({ kind: "failed", reason: "no tool is run here" }),
    refusedTarget: () => null,
    corpora: unloadedCorpora,
    deliver: () => undefined,
    dispatchBatches: () => undefined,
    callResource,
    sampleCall: sampleCalls({ maxJoinTimeoutMs: 86_400_000, maxCallDurationMs: 86_400_000 }),
    toolsOfOpenApi: async () => ({ errors: [{ field: "file", message: "is not read here" }] }),
    nowMs: () => Date.now(),
    ...changes,
  };
}

/** Stores a call as call creation does, without checking names or starting anything. */
export function storeCall(db: Db): CreateCall {
  return async ({ accountId, agentId, request, requestContext, incoming }) => {
    const agent = agentId === null ? null : await getAgentForCall(db, accountId, agentId);
    if (agentId !== null && agent === null) return { kind: "not_found", reason: "There is no such agent." };
    const template = (agent?.callTemplate ?? {}) as CallTemplate;
    const requested = { ...template, ...request } as StartCallRequest;
    const firstSpeakerSettings = requested.firstSpeakerSettings ?? { agent: {} };
    const stage = {
      systemPrompt: requested.systemPrompt ?? null,
      model: requested.model ?? "default",
      temperature: requested.temperature ?? 0,
      voice: requested.voice ?? null,
      inactivityMessages: requested.inactivityMessages ?? [],
      experimentalSettings: requested.experimentalSettings ?? null,
      initialState: requested.initialState ?? {},
    };
    const ids = { callId: incoming?.callId ?? randomUUID(), stageId: randomUUID() };
    await insertCall(db, accountId, {
      callId: ids.callId,
      agentId,
      agentRevisionId: agent?.revisionId ?? null,
      nodeId: "test",
      createdAtMs: Date.now(),
      joinDeadlineMs: Date.now() + 30_000,
      mediumKind: mediumKindOf(requested.medium),
      // Call creation resolves names; here only an id identifies a voice.
      voiceId: Uuid.safeParse(requested.voice).data ?? null,
      joinToken: randomBytes(24).toString("base64url"),
      settings: {
        ...stage,
        firstSpeakerSettings,
        firstSpeaker: firstSpeakerOf(firstSpeakerSettings),
        initialOutputMedium: requested.initialOutputMedium ?? "MESSAGE_MEDIUM_VOICE",
        joinTimeout: requested.joinTimeout ?? "30s",
        maxDuration: requested.maxDuration ?? "3600s",
        medium: requested.medium ?? { webRtc: {} },
        recordingEnabled: requested.recordingEnabled ?? false,
        retentionPolicy: requested.retentionPolicy ?? "retain",
        transcriptOptional: requested.transcriptOptional ?? true,
        vadSettings: requested.vadSettings ?? null,
        dataConnectionConfig: requested.dataConnection ?? null,
        callbacks: requested.callbacks ?? null,
      },
      plan: {},
      metadata: requested.metadata ?? {},
      requestContext: requestContext ?? null,
      stage: { stageId: ids.stageId, settings: stage },
      initialMessages: (requested.initialMessages ?? []).map((message, index) => ({
        index,
        role: "user" as const,
        text: message.text ?? "",
        medium: "text" as const,
        invocationId: null,
        toolName: null,
        errorDetails: null,
        timespan: null,
        wallClockTimespan: null,
        metadata: {},
      })),
    });
    return { kind: "created", callId: ids.callId };
  };
}

export interface Reply<Body = Record<string, unknown>> {
  readonly status: number;
  readonly headers: InjectResponse["headers"];
  readonly text: string;
  readonly json: Body;
}

export interface Client {
  readonly accountId: string;
  readonly key: string;
  readonly prefix: string;
  readonly get: <Body = Record<string, unknown>>(url: string) => Promise<Reply<Body>>;
  readonly post: <Body = Record<string, unknown>>(url: string, body?: unknown) => Promise<Reply<Body>>;
  readonly patch: <Body = Record<string, unknown>>(url: string, body?: unknown) => Promise<Reply<Body>>;
  readonly put: <Body = Record<string, unknown>>(url: string, body?: unknown) => Promise<Reply<Body>>;
  readonly delete: (url: string) => Promise<Reply>;
}

/** Sends one request; a body that is not a text is sent as JSON. */
export async function send<Body = Record<string, unknown>>(
  server: HttpServer,
  method: string,
  url: string,
  { headers = {}, body, from }: { headers?: Record<string, string>; body?: unknown; from?: string } = {},
): Promise<Reply<Body>> {
  const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
  const type: Record<string, string> = text === undefined ? {} : { "content-type": "application/json" };
  const response = await server.inject({
    method,
    url: url.replace(PUBLIC_URL, ""),
    headers: { ...type, ...headers },
    ...(text === undefined ? {} : { body: text }),
    ...(from === undefined ? {} : { remoteAddress: from }),
  });
  const isJson = /\bjson\b/.test(String(response.headers["content-type"] ?? ""));
  return {
    status: response.status,
    headers: response.headers,
    text: response.body,
    json: (isJson && response.body !== "" ? JSON.parse(response.body) : {}) as Body,
  };
}

/** A new account with one key. */
export async function newClient(server: HttpServer, db: Db): Promise<Client> {
  const accountId = await newAccount(db);
  const { secret, prefix } = await createApiKey(db, accountId, {
    name: "test",
    creator: null,
    expiryDate: null,
  });
  const headers = { "x-api-key": secret };
  return {
    accountId,
    key: secret,
    prefix,
    get: (url) => send(server, "GET", url, { headers }),
    post: (url, body) => send(server, "POST", url, { headers, body: body ?? {} }),
    patch: (url, body) => send(server, "PATCH", url, { headers, body: body ?? {} }),
    put: (url, body) => send(server, "PUT", url, { headers, body: body ?? {} }),
    delete: (url) => send(server, "DELETE", url, { headers }),
  };
}

export async function openTestServer(store: TestStore, changes: Partial<HttpDeps> = {}): Promise<HttpServer> {
  return buildServer(testDeps(store, changes));
}

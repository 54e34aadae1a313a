/** A door on a real store, with calls that are stored but never run. */

import { randomBytes, randomUUID } from "node:crypto";
import { type CallTemplate, firstSpeakerOf, mediumKindOf, type StartCallRequest, Uuid } from "@parley/schema";
import { type Logger, pino } from "pino";
import { Registry } from "prom-client";
import { sampleCalls } from "../../call-rendering.ts";
import { getAgentForCall } from "../../store/agents.ts";
import { createApiKey } from "../../store/api-keys.ts";
import { insertCall } from "../../store/calls.ts";
import type { Db } from "../../store/db.ts";
import { newAccount, type TestStore } from "../../store/testing/databases.ts";
import type { CreateCallInput, HttpDeps, HttpServer, InjectResponse } from "../deps.ts";
import { notFound } from "../routes/shared.ts";
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

/** Deps of a door in a test; `changes` win. */
export function testDeps({ store, db, secretsKey }: TestStore, changes: Partial<HttpDeps> = {}): HttpDeps {
  return {
    store,
    host: "127.0.0.1",
    port: 0,
    version: "0.1.0",
    publicUrl: PUBLIC_URL,
    secretsKey,
    logger: testLog().logger,
    registry: new Registry(),
    settings: {
      rateLimitPerKey: 0,
      rateLimitPerAccount: 0,
      lenientFields: false,
      apiNames: "neutral",
      sipHost: "sip.example",
      allowedOrigins: [],
      trustedProxies: [],
      checkResponses: true,
    },
    readEventLog: () => Promise.resolve(null),
    recordings: {
      create: () => Promise.reject(new Error("no recording is made here")),
      open: () => Promise.resolve(null),
      openPart: () => Promise.resolve(null),
      link: () => Promise.resolve(null),
      isShared: false,
      remove: () => Promise.resolve(),
    },
    removeFiles: () => Promise.resolve(),
    modelNames: () => ["default", "scripted"],
    publicVoices: () => [],
    previewVoice: () => Promise.resolve({ kind: "failed", reason: "no engine speaks here" }),
    lostEngines: () => [],
    checkTemplates: () => [],
    contextChecker: () => ({ problemsOf: () => [], allGood: () => true }),
    accountRates: [],
    createCall: storeCall(db),
    findJoin: () => Promise.resolve("not_found"),
    connectCall: () => "gone",
    webRtc: {
      iceServerLinks: [],
      offer: () => Promise.resolve({ kind: "gone" }),
      patch: () => Promise.resolve({ kind: "unknown" }),
      hangUp: () => false,
    },
    sendToCall: () => "not_live",
    console: { state: () => Promise.resolve({ kind: "off" }) },
    testTool: () => Promise.resolve({ kind: "failed", reason: "no tool is run here" }),
    refusedTarget: () => null,
    deliver: () => undefined,
    dispatchBatches: () => undefined,
    sampleCall: sampleCalls({ maxJoinTimeoutMs: 86_400_000, maxCallDurationMs: 86_400_000 }),
    toolsOfOpenApi: () => ({ errors: [{ field: "file", message: "is not read here" }] }),
    nowMs: () => Date.now(),
    ...changes,
  };
}

export interface StoredCall {
  readonly callId: string;
  readonly stageId: string;
}

/** Stores a call as call creation does, without checking names or starting anything. */
export function storeCall(db: Db): (input: CreateCallInput) => Promise<StoredCall> {
  return async ({ accountId, agentId, request }) => {
    const agent = agentId === null ? null : await getAgentForCall(db, accountId, agentId);
    if (agentId !== null && agent === null) throw notFound("agent");
    const template = (agent?.callTemplate ?? {}) as CallTemplate;
    const asked = { ...template, ...request } as StartCallRequest;
    const firstSpeakerSettings = asked.firstSpeakerSettings ?? { agent: {} };
    const stage = {
      systemPrompt: asked.systemPrompt ?? null,
      model: asked.model ?? "default",
      temperature: asked.temperature ?? 0,
      voice: asked.voice ?? null,
      inactivityMessages: asked.inactivityMessages ?? [],
      experimentalSettings: asked.experimentalSettings ?? null,
      initialState: asked.initialState ?? {},
    };
    const ids = { callId: randomUUID(), stageId: randomUUID() };
    await insertCall(db, accountId, {
      callId: ids.callId,
      agentId,
      agentRevisionId: agent?.revisionId ?? null,
      nodeId: "test",
      createdAtMs: Date.now(),
      joinDeadlineMs: Date.now() + 30_000,
      mediumKind: mediumKindOf(asked.medium),
      // Names are looked up by call creation; here only an id tells which voice is meant.
      voiceId: Uuid.safeParse(asked.voice).data ?? null,
      joinToken: randomBytes(24).toString("base64url"),
      settings: {
        ...stage,
        firstSpeakerSettings,
        firstSpeaker: firstSpeakerOf(firstSpeakerSettings),
        initialOutputMedium: asked.initialOutputMedium ?? "MESSAGE_MEDIUM_VOICE",
        joinTimeout: asked.joinTimeout ?? "30s",
        maxDuration: asked.maxDuration ?? "3600s",
        medium: asked.medium ?? { webRtc: {} },
        recordingEnabled: asked.recordingEnabled ?? false,
        retentionPolicy: asked.retentionPolicy ?? "retain",
        transcriptOptional: asked.transcriptOptional ?? true,
        vadSettings: asked.vadSettings ?? null,
        dataConnectionConfig: asked.dataConnection ?? null,
      },
      plan: {},
      metadata: asked.metadata ?? {},
      requestContext: null,
      stage: { stageId: ids.stageId, settings: stage },
      initialMessages: (asked.initialMessages ?? []).map((message, index) => ({
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
    return ids;
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

/** Sends one request; a body that is no text is sent as JSON. */
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

export async function openDoor(store: TestStore, changes: Partial<HttpDeps> = {}): Promise<HttpServer> {
  return buildServer(testDeps(store, changes));
}

/** The functions and settings that the doors are given. */

import { randomBytes, randomUUID } from "node:crypto";
import type { Logger } from "pino";
import manifest from "../package.json" with { type: "json" };
import type { CallStorage } from "./call-storage.ts";
import { checkTemplates, type TemplateTools } from "./call/template-fields.ts";
import type { Config } from "./config.ts";
import type { Engines } from "./engines.ts";
import type { ConnectCallInput, ConnectOutcome, FindJoinInput, HttpDeps, JoinLookup } from "./http/deps.ts";
import type { Metrics } from "./metrics.ts";
import type { Recordings } from "./ports/recordings.ts";
import type { ToolInvoker } from "./ports/tool-invoker.ts";
import type { JsonSchemaChecker } from "./providers/json-schema/json-schema.ts";
import { openTemplateParser } from "./providers/templates/mustache.ts";
import type { TurnTraces } from "./providers/traces/otlp-traces.ts";
import { createCallCreator, type CreateCall } from "./runner/create-call.ts";
import type { LiveCalls, OpenTransport } from "./runner/live-calls.ts";
import { getAgentForCall } from "./store/agents.ts";
import { getCallForJoin, insertCall, matchesJoinToken, withdrawCall } from "./store/calls.ts";
import type { Db, Store } from "./store/db.ts";
import { AgentGoneError } from "./store/store-errors.ts";
import { openWebSocketTransport } from "./transports/websocket/websocket-transport.ts";

/** What is there before the doors are. */
export interface Parts {
  readonly config: Config;
  readonly logger: Logger;
  readonly engines: Engines;
  readonly store: Store;
  readonly secretsKey: Uint8Array;
  readonly schemas: JsonSchemaChecker;
  readonly toolInvoker: ToolInvoker;
  readonly nodeId: string;
  readonly metrics: Metrics;
  readonly recordings: Recordings;
  readonly storage: CallStorage;
  readonly liveCalls: LiveCalls;
  /** Null: no collector is configured. */
  readonly traces: TurnTraces | null;
}

/** Path spelling of each medium that can be joined by websocket here. */
const MEDIUM_PATHS: Readonly<Record<string, string>> = { serverWebSocket: "server_web_socket" };
/** 192 bits, URL-safe. */
const JOIN_TOKEN_BYTES = 24;

export function httpDeps(parts: Parts): HttpDeps {
  const { config, engines, logger, metrics, store, secretsKey, recordings, liveCalls, schemas } = parts;
  const tools = { ...schemas, parseTemplate: openTemplateParser() };
  return {
    host: config.host,
    port: config.port,
    // A free port is known only once the door listens.
    publicUrl: config.port === 0 ? null : config.publicUrl,
    version: manifest.version,
    logger,
    store,
    secretsKey,
    recordings,
    registry: metrics.registry,
    settings: {
      rateLimitPerKey: config.rateLimitPerKey,
      rateLimitPerAccount: config.rateLimitPerAccount,
      lenientFields: config.lenientFields,
      apiNames: config.apiNames,
      allowedOrigins: config.corsOrigins,
      checkResponses: false,
    },
    modelNames: () => ["default", ...engines.llm.models],
    // The door opens after the engines, so there is nothing to wait for.
    enginesNotReady: () => [],
    checkTemplates: (template) => checkTemplates(template, tools),
    createCall: callCreator(parts, tools, schemas.checkValue),
    findJoin: (join) => findJoin(store.db, liveCalls, join),
    connectCall: (input) => connectCall(liveCalls, input),
    nowMs: Date.now,
  };
}

function callCreator(
  { config, engines, logger, store, nodeId, liveCalls, storage }: Parts,
  tools: TemplateTools,
  checkValue: JsonSchemaChecker["checkValue"],
): CreateCall {
  const { db } = store;
  return createCallCreator({
    loadAgent: (accountId, agentId) => getAgentForCall(db, accountId, agentId),
    async insertCall(accountId, call) {
      try {
        await insertCall(db, accountId, call);
        return "inserted";
      } catch (error) {
        if (error instanceof AgentGoneError) return "agent_gone";
        throw error;
      }
    },
    withdrawCall: (accountId, callId) => withdrawCall(db, accountId, callId),
    warn: (message, error) => logger.warn({ error: String(error) }, message),
    startCall(plan, start) {
      storage.remember(plan);
      try {
        liveCalls.startCall(plan, start);
      } catch (error) {
        storage.forget(plan.callId);
        throw error;
      }
    },
    liveCalls: () => liveCalls.count(),
    limits: {
      concurrentCalls: config.maxLiveCalls,
      joinTimeoutMs: config.maxJoinTimeoutMs,
      maxDurationMs: config.maxCallDurationMs,
    },
    nodeId,
    voices: () => engines.tts.voices.map((name) => ({ voiceId: null, name })),
    models: () => ["default", ...engines.llm.models],
    recognisers: () => [engines.stt.name],
    findTools: () => Promise.resolve([]),
    listMcpTools: () => Promise.reject(new Error("MCP servers are not available in this version")),
    turnTaking: config.turnTaking,
    ...tools,
    checkValue,
    randomId: randomUUID,
    randomToken: () => randomBytes(JOIN_TOKEN_BYTES).toString("base64url"),
    nowMs: Date.now,
  });
}

async function findJoin(db: Db, liveCalls: LiveCalls, join: FindJoinInput): Promise<JoinLookup> {
  const call = await getCallForJoin(db, join.callId);
  if (call === null || !matchesJoinToken(call, join.token)) return "not_found";
  if (MEDIUM_PATHS[call.mediumKind] !== join.medium) return "not_found";
  const state = liveCalls.joinState(join.callId);
  if (state === "not_live") return "gone";
  // Whether a connection that seems alive is so is found out when the next one comes: the runner asks it.
  return state === "connected" || call.joinedAtMs !== null ? "lost" : "ok";
}

function connectCall(liveCalls: LiveCalls, input: ConnectCallInput): Promise<ConnectOutcome> {
  const open: OpenTransport = (medium, listener) => openWebSocketTransport(input.socket, medium, listener);
  return liveCalls.connectCall(input.callId, open, input.query);
}

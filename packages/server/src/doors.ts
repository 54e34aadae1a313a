/** The functions and settings that the doors are given. */

import type { Logger } from "pino";
import manifest from "../package.json" with { type: "json" };
import { callCreator } from "./call-creation.ts";
import type { CallStorage } from "./call-storage.ts";
import { checkTemplates } from "./call/template-fields.ts";
import type { Config } from "./config.ts";
import type { Engines } from "./engines.ts";
import { readEventLog } from "./event-logs.ts";
import type { ConnectCallInput, ConnectOutcome, FindJoinInput, HttpDeps, JoinLookup } from "./http/deps.ts";
import type { Metrics } from "./metrics.ts";
import { refusedLiteral } from "./net/target-url.ts";
import type { Recordings } from "./ports/recordings.ts";
import type { ToolInvoker } from "./ports/tool-invoker.ts";
import { toolsOfOpenApi } from "./providers/openapi-tools/openapi-tools.ts";
import type { TurnTraces } from "./providers/traces/otlp-traces.ts";
import type { LiveCalls, OpenTransport } from "./runner/live-calls.ts";
import type { PlanSources } from "./runner/prepare-stage.ts";
import { getCallForJoin, matchesJoinToken } from "./store/calls.ts";
import type { Db, Store } from "./store/db.ts";
import { openToolTester } from "./tool-invokers.ts";
import { openWebSocketTransport } from "./transports/websocket/websocket-transport.ts";

/** What is there before the doors are. */
export interface Parts {
  readonly config: Config;
  readonly logger: Logger;
  readonly engines: Engines;
  readonly store: Store;
  readonly secretsKey: Uint8Array;
  readonly sources: PlanSources;
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

export function httpDeps(parts: Parts): HttpDeps {
  const { config, engines, logger, metrics, store, secretsKey, recordings, liveCalls, sources } = parts;
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
    readEventLog: (accountId, callId) => readEventLog(store.db, accountId, callId),
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
    checkTemplates: (template) => checkTemplates(template, sources),
    createCall: callCreator(parts),
    findJoin: (join) => findJoin(store.db, liveCalls, join),
    connectCall: (input) => connectCall(liveCalls, input),
    sendToCall: (callId, message) => liveCalls.sendToCall(callId, message),
    testTool: openToolTester(config),
    refusedTarget: (url, kind) => refusedLiteral(url, config.allowPrivateTargets, kind),
    toolsOfOpenApi,
    nowMs: Date.now,
  };
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

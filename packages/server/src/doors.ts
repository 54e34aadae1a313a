/** The functions and settings that the doors are given. */

import { DEFAULT_CLIENT_BUFFER_MS } from "@parley/schema";
import type { Logger } from "pino";
import manifest from "../package.json" with { type: "json" };
import { accountRates } from "./call-admission.ts";
import type { EndCall } from "./call-ending.ts";
import { sampleCalls } from "./call-rendering.ts";
import type { CallStorage } from "./call-storage.ts";
import type { OpenedConsole } from "./console-site.ts";
import { checkTemplates, contextChecker } from "./call/template-fields.ts";
import type { Config } from "./config.ts";
import type { Engines } from "./engines.ts";
import { readEventLog } from "./event-logs.ts";
import type { ConnectCallInput, ConnectOutcome, FindJoinInput, HttpDeps, JoinLookup } from "./http/deps.ts";
import type { BatchDispatcher } from "./jobs/batches/dispatcher.ts";
import type { Jobs } from "./jobs/jobs.ts";
import type { WebhookDispatcher } from "./jobs/webhooks/dispatcher.ts";
import type { Metrics } from "./metrics.ts";
import { refusedLiteral } from "./net/target-url.ts";
import type { Recordings } from "./ports/recordings.ts";
import type { ToolInvoker } from "./ports/tool-invoker.ts";
import { publicVoices } from "./public-voices.ts";
import type { JsonSchemaChecker } from "./providers/json-schema/json-schema.ts";
import { toolsOfOpenApi } from "./providers/openapi-tools/openapi-tools.ts";
import type { TurnTraces } from "./providers/traces/otlp-traces.ts";
import type { CreateCall } from "./runner/create-call.ts";
import type { RecordingUploads } from "./recording-uploads.ts";
import type { LiveCalls, OpenTransport } from "./runner/live-calls.ts";
import type { PlanSources } from "./runner/prepare-stage.ts";
import { getCallForJoin, matchesJoinToken } from "./store/calls.ts";
import type { Db, Store } from "./store/db.ts";
import { openToolTester } from "./tool-invokers.ts";
import type { PreviewVoiceAloud } from "./voice-previews.ts";
import type { LegThreads } from "./transports/webrtc/leg-threads.ts";
import { openWebSocketTransport } from "./transports/websocket/websocket-transport.ts";
import type { Upkeep } from "./upkeep.ts";
import type { WebRtcJoins } from "./webrtc-joins.ts";

/** What is there before the doors are. */
export interface Parts {
  readonly config: Config;
  readonly logger: Logger;
  readonly engines: Engines;
  readonly store: Store;
  readonly secretsKey: Uint8Array;
  readonly sources: PlanSources;
  readonly schemas: JsonSchemaChecker;
  readonly toolInvoker: ToolInvoker;
  readonly nodeId: string;
  readonly metrics: Metrics;
  readonly recordings: Recordings;
  readonly uploads: RecordingUploads | null;
  readonly upkeep: Upkeep;
  readonly storage: CallStorage;
  readonly liveCalls: LiveCalls;
  readonly jobs: Jobs;
  readonly dispatcher: WebhookDispatcher;
  readonly endCall: EndCall;
  /** Webhooks may have something to be told. */
  readonly deliver: () => void;
  readonly webRtc: WebRtcJoins;
  readonly legThreads: LegThreads;
  readonly previewVoice: PreviewVoiceAloud;
  readonly console: OpenedConsole;
  /** Null: no collector is configured. */
  readonly traces: TurnTraces | null;
}

/** Path spelling of each medium that can be joined by a URL here. */
const MEDIUM_PATHS: Readonly<Record<string, string>> = {
  serverWebSocket: "server_web_socket",
  webRtc: "web_rtc",
};

/** A websocket in the place of WebRTC is waited for as long as others are (D114), and has the usual buffer. */
const INSTEAD_OF_WEB_RTC = { clientBufferSizeMs: DEFAULT_CLIENT_BUFFER_MS, graceMs: 10_000 };

/** What the doors give to each other. */
export interface Handed {
  readonly createCall: CreateCall;
  readonly batches: Pick<BatchDispatcher, "wake">;
}

export function httpDeps(parts: Parts, { createCall, batches }: Handed): HttpDeps {
  const { config, engines, logger, metrics, store, secretsKey, recordings, liveCalls, sources, schemas } =
    parts;
  const everybodys = publicVoices(engines.tts);
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
    removeFiles: (callId) => parts.upkeep.removeFiles(callId),
    readEventLog: (accountId, callId) => readEventLog(store.db, accountId, callId),
    registry: metrics.registry,
    settings: {
      rateLimitPerKey: config.rateLimitPerKey,
      rateLimitPerAccount: config.rateLimitPerAccount,
      lenientFields: config.lenientFields,
      apiNames: config.apiNames,
      sipHost: config.sipHost,
      allowedOrigins: config.corsOrigins,
      trustedProxies: config.trustedProxies,
      checkResponses: false,
    },
    modelNames: () => ["default", ...engines.llm.models],
    publicVoices: () => everybodys,
    previewVoice: parts.previewVoice,
    lostEngines: () => [engines.vad, engines.stt].flatMap((engine) => engine.unusable?.() ?? []),
    checkTemplates: (template) => checkTemplates(template, sources),
    contextChecker: (template) => contextChecker(template, { ...sources, ...schemas }),
    accountRates: accountRates(config),
    createCall,
    findJoin: (join) => findJoin(store.db, liveCalls, join),
    connectCall: (input) => connectCall(liveCalls, input),
    webRtc: parts.webRtc,
    sendToCall: (callId, message) => liveCalls.sendToCall(callId, message),
    console: parts.console,
    testTool: openToolTester(config),
    refusedTarget: (url, kind) => refusedLiteral(url, config.allowPrivateTargets, kind),
    deliver: parts.deliver,
    dispatchBatches: () => batches.wake(),
    sampleCall: sampleCalls(config),
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
  const { callId, socket, query, keepsAudio } = input;
  const open: OpenTransport = (medium, listener) =>
    openWebSocketTransport(socket, keepsAudio ? { ...medium, ...INSTEAD_OF_WEB_RTC } : medium, listener);
  return liveCalls.connectCall(callId, open, { ...query, keepsAudio });
}

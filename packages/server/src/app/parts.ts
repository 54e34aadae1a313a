/** Opens the parts of the service. Each is closed with the stack, in the reverse order. */

import { join } from "node:path";
import type { Logger } from "pino";
import { headerPrefixes } from "@parley/schema";
import manifest from "../../package.json" with { type: "json" };
import { createArgumentCheck } from "./argument-check.ts";
import { callEnder, type EndCall } from "../lifecycle/end/ending.ts";
import { callRenderer } from "../lifecycle/resource.ts";
import type { CallStorage } from "../lifecycle/storage.ts";
import type { Config } from "../config/config.ts";
import { isFirst } from "../config/workers/workers.ts";
import type { EngineMeter } from "./costs/engine-meter.ts";
import { openConsole, type OpenedConsole } from "./console-site.ts";
import { openCorpora, type OpenedCorpora } from "./corpora/corpora.ts";
import { openGuardedDataConnections } from "./data-connections.ts";
import { openCallReach, type CallReach } from "./directory/call-reach.ts";
import { openNodeDirectory, type NodeDirectory } from "./directory/node-directory.ts";
import { openWebRtc } from "./media-threads/web-rtc.ts";
import type { EngineTarget } from "../config/model-servers.ts";
import { engineAdministration } from "./deployment/engine-administration.ts";
import type { LiveEngines } from "./deployment/live-engines.ts";
import { loadOperatorKey } from "./deployment/operator-key.ts";
import type { Engines } from "./engines.ts";
import type { EngineAdministration } from "../http/engine-administration.ts";
import type { OpenedJournal } from "../lifecycle/journal/record-journal.ts";
import type { Jobs } from "../jobs/jobs.ts";
import { openDispatcher, type WebhookDispatcher } from "../jobs/webhooks/dispatcher.ts";
import { ensureKeys, type FirstKey } from "./first-key.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import type { GuardedClient } from "../net/guarded-fetch.ts";
import { openCallRecords, type CallRecording } from "./journal.ts";
import { nodeOfFiles, openNode, type OpenedNode } from "./node-id.ts";
import { openSchemaChecks, type SchemaChecks } from "../providers/json-schema/schema-checks.ts";
import { openPreviewFiles } from "../providers/preview-files/preview-files.ts";
import { planSources } from "./plan-sources.ts";
import type { Announcer } from "../nodes/announcer.ts";
import type { Adoption } from "../lifecycle/adoption/adoption.ts";
import { openResuming } from "./resuming/resuming.ts";
import { openTools, type Retrieval } from "./corpora/retrieval.ts";
import { openRecordingsStore, type RecordingsStore } from "./recordings-store.ts";
import { openClock } from "../pacing/clock.ts";
import { type LiveCalls, openLiveCalls } from "../runner/live-calls.ts";
import { createStagePreparer, type PlanSources } from "../lifecycle/create/prepare-stage.ts";
import type { NodeBoot } from "../store/nodes/node-claims.ts";
import { readClocks } from "../store/database/clock-difference.ts";
import type { Store } from "../store/opening/open-store.ts";
import { JobPool } from "../threads/job-pool.ts";
import { startJobThread } from "../threads/job-thread.ts";
import type { DeploymentTools } from "./tool-invokers.ts";
import { watchClock, type ClockWatch } from "../upkeep/clock-watch.ts";
import { openUpkeep, type Upkeep } from "../upkeep/upkeep.ts";
import type { StartLegThread } from "../transports/rtc/leg-thread.ts";
import type { LegThreads } from "../transports/rtc/leg-threads.ts";
import type { WebRtcJoins } from "../joins/webrtc-joins.ts";
import { createPreviews, previewsOfEngine, type PreviewVoiceAloud } from "../voices/voice-previews.ts";
import { getTtsKey } from "../store/accounts/tts-keys.ts";
import { definitionPreviews, type PreviewDefinition } from "./voices/definition-previews.ts";
import { createVoiceHealth } from "./voices/voice-health.ts";
import { createVoiceKeys } from "./voices/voice-keys.ts";
import { deploymentVoiceKeys } from "./voices/voice-providers.ts";
import { openCarrierCalls, type OpenedCarriers } from "./telephony/carriers.ts";
import { createVoices } from "./voices/call-voices.ts";
import type { Voices } from "../ports/voices.ts";
import type { Recordings } from "../ports/recordings.ts";
import type { TtsEngine } from "../ports/tts.ts";
import type { Traces } from "../ports/traces.ts";
import type { RecordingUploads } from "../upkeep/recording-uploads.ts";

/** Everything that is open before requests are answered. */
export interface Parts {
  readonly config: Config;
  readonly logger: Logger;
  /** They may change: copy what must not. */
  readonly engines: LiveEngines;
  readonly engineAdministration: EngineAdministration;
  readonly store: Store;
  readonly secretsKey: Uint8Array;
  readonly sources: PlanSources;
  readonly schemas: SchemaChecks;
  /** Threads for checks that could hold up this one. */
  readonly jobPool: JobPool;
  readonly toolInvoker: DeploymentTools;
  /** Searches in corpora. */
  readonly retrieval: Retrieval;
  /** A client that may also reach what `ALLOW_PRIVATE_TARGETS` allows. */
  readonly client: GuardedClient;
  readonly nodeId: string;
  readonly boot: NodeBoot;
  /** Joins, and operations on calls of any node. */
  readonly reach: CallReach;
  readonly announcer: Announcer;
  /** The key that this start has generated; null where there was one. */
  readonly newApiKey: FirstKey | null;
  /** With a free port it is known once the server listens. */
  readonly publicUrl: () => string;
  readonly setPublicUrl: (publicUrl: string) => void;
  readonly metrics: Metrics;
  readonly recordings: Recordings;
  readonly uploads: RecordingUploads | null;
  readonly upkeep: Upkeep;
  readonly clock: ClockWatch;
  readonly storage: CallStorage;
  readonly journal: OpenedJournal;
  readonly liveCalls: LiveCalls;
  readonly jobs: Jobs;
  readonly dispatcher: WebhookDispatcher;
  readonly endCall: EndCall;
  /** Call it after a transaction that may have written webhook deliveries. */
  readonly deliver: () => void;
  readonly corpora: OpenedCorpora;
  readonly carrierCalls: OpenedCarriers;
  readonly webRtc: WebRtcJoins;
  readonly legThreads: LegThreads;
  readonly previewVoice: PreviewVoiceAloud;
  readonly previewDefinition: PreviewDefinition;
  readonly console: OpenedConsole;
  /** Null: no collector is configured. */
  readonly traces: Traces | null;
}

/** The parts that are open already. */
export interface Basis extends Pick<
  Parts,
  "config" | "logger" | "client" | "engines" | "store" | "secretsKey" | "jobs"
> {
  /** The service cannot go on, and must be started again. */
  readonly onLost: (reason: string) => void;
  /** As the environment sets them. */
  readonly baseEngines: Engines;
  readonly meter: EngineMeter;
  readonly startLegThread: StartLegThread;
  /** In tests: see `ParleyOptions`. */
  readonly nodeLeaseMs: number | undefined;
}

/** When a part cannot be opened, this rejects, and the stack closes those that are open. */
export async function openParts(opened: AsyncDisposableStack, basis: Basis): Promise<Parts> {
  const { config, logger, engines, store, jobs } = basis;
  const { db } = store;
  const ownNode = await openOwnNode(opened, basis);
  const { node, directory, announcer } = ownNode;
  const { boot } = node;
  const { nodeId } = boot;
  const newApiKey = await ensureKeys(db, config, nodeId);
  const metrics = createMetrics(() => liveCalls.count(), engines.lists.reports, config.worker);
  engines.lists.watch(metrics.engineLists);
  basis.meter.watch(metrics.engineUsed);
  const { recordings, uploads, listRecordings } = await openRecordingsStore(config, db, nodeId, logger);
  const traces = await openTraces(config, nodeId, logger);
  opened.defer(() => traces?.close());
  const tools = await openTools(opened, basis, (...call) => carrierCalls.transfer(...call));
  let servedAt = config.publicUrl;
  const publicUrl = (): string => servedAt;
  const dispatcher = openWebhooks({ ...basis, metrics, publicUrl });
  opened.defer(() => dispatcher.close());
  // Before the dispatcher, which still sends what jobs have queued. Closed again with the store, which has no effect.
  opened.defer(() => jobs.close());
  const deliver = (): void => dispatcher.wake();
  const endCall = callEnder({ db, jobs, metering: config.metering, deliver });
  const taken = (callId: string): void => liveCalls.abandon(callId);
  const recording = await openCallRecords(opened, { ...basis, node, metrics, deliver, taken });
  const { storage, journal } = recording;
  const jobPool = new JobPool({ start: startJobThread, log: (message) => logger.warn(message) });
  opened.defer(() => jobPool.close());
  const schemas = openSchemaChecks(jobPool.run);
  const sources = planSources(db, engines, schemas, tools.toolInvoker, config);
  const { voices, previewVoices } = openVoices(basis);
  const callParts = { ...basis, ...recording, ...tools, recordings, schemas, sources, traces, voices };
  const liveCalls = openCalls({ ...callParts, announcer });
  const carrierCalls = openCarrierCalls(opened, { ...basis, liveCalls, directory, publicUrl, metrics });
  const adoption = openResuming(opened, { ...basis, node, liveCalls, storage, journal, announcer });
  opened.defer(() => uploads?.close());
  return {
    ...basis,
    newApiKey,
    announcer,
    publicUrl,
    setPublicUrl: (url) => (servedAt = url),
    sources,
    schemas,
    jobPool,
    ...tools,
    nodeId,
    boot,
    metrics,
    recordings,
    uploads,
    ...openSweeps(opened, { ...basis, nodeId, recordings, listRecordings, deliver }),
    corpora: await openOwnCorpora(opened, basis, nodeId, tools.retrieval),
    storage,
    journal,
    liveCalls,
    carrierCalls,
    dispatcher,
    endCall,
    deliver,
    ...openJoins(opened, { ...basis, ...recording, ...ownNode, adoption, liveCalls, metrics }),
    ...(await openVoicePreviews(basis, sources, previewVoices)),
    engineAdministration: await openEngineAdministration(opened, basis),
    console: openConsole(config.console, logger, isFirst(config.worker)),
    traces,
  };
}

/** Its uploaded files belong to the node that has the files of all processes of this service. */
async function openOwnCorpora(
  opened: AsyncDisposableStack,
  basis: Basis,
  ownNodeId: string,
  { embedder }: Retrieval,
): Promise<OpenedCorpora> {
  const nodeId = await nodeOfFiles(basis.config, ownNodeId);
  return openCorpora(opened, { ...basis, nodeId, embedder });
}

interface OwnNode extends NodeDirectory {
  readonly node: OpenedNode;
}

async function openOwnNode(opened: AsyncDisposableStack, basis: Basis): Promise<OwnNode> {
  const node = await openNode(basis.config.nodeDir, basis.store, basis.logger);
  opened.defer(() => node.close());
  const directory = await openNodeDirectory(opened, { ...basis, node: node.boot });
  return { node, ...directory };
}

function openJoins(
  opened: AsyncDisposableStack,
  parts: Basis &
    CallRecording &
    OwnNode &
    Pick<Parts, "liveCalls" | "metrics"> & { readonly adoption: Adoption },
): Pick<Parts, "webRtc" | "legThreads" | "reach"> {
  const { webRtc, roomSockets, legThreads } = openWebRtc(opened, parts);
  const reach = openCallReach({
    ...parts,
    node: parts.node.boot,
    webRtc,
    roomSockets,
    iceServers: parts.config.webRtc.iceServers,
    resumeTimeoutMs: parts.config.resumeTimeoutMs,
    currency: parts.meter.currency,
  });
  opened.defer(() => reach.close());
  return { webRtc, legThreads, reach };
}

function openSweeps(
  opened: AsyncDisposableStack,
  parts: Basis &
    Pick<Parts, "nodeId" | "recordings" | "deliver"> & {
      readonly listRecordings: RecordingsStore["listRecordings"] | undefined;
    },
): Pick<Parts, "clock" | "upkeep"> {
  const { config, store, logger } = parts;
  const { db } = store;
  const clock = watchClock({ readClocks: () => readClocks(db), logger });
  const upkeep = openUpkeep({ ...config, ...parts, db, clock, nowMs: Date.now });
  opened.defer(() => upkeep.close());
  return { clock, upkeep };
}

function openCalls(
  parts: Basis &
    CallRecording &
    Pick<Parts, "announcer" | "recordings" | "toolInvoker" | "schemas" | "sources" | "traces"> & {
      readonly voices: Voices;
    },
): LiveCalls {
  const { config, engines, storage, journal, recordings, toolInvoker, schemas, sources, traces, logger } =
    parts;
  return openLiveCalls({
    engines,
    voices: parts.voices,
    records: storage.records,
    journal,
    recordings,
    storeEventLogs: config.storeEventLogs,
    keepsSnapshots: config.resumeTimeoutMs > 0,
    // Without an address there are no other processes.
    lease: config.nodeAddress === null || config.databaseUrl === null ? undefined : parts.announcer.lease,
    openDataConnection: openGuardedDataConnections(config),
    toolInvoker,
    checkArguments: createArgumentCheck(schemas),
    prepareStage: createStagePreparer(sources),
    clock: openClock(),
    traces,
    logger,
    currency: parts.meter.currency,
    maxLiveCalls: config.maxLiveCalls,
  });
}

function openWebhooks({
  config,
  store,
  logger,
  client,
  metrics,
  publicUrl,
}: Basis & Pick<Parts, "client" | "metrics" | "publicUrl">): WebhookDispatcher {
  return openDispatcher({
    db: store.db,
    client,
    renderCall: callRenderer(config, publicUrl),
    prefixes: headerPrefixes(config.apiNames),
    metrics: metrics.deliveries,
    log: logger,
    nowMs: Date.now,
    random: Math.random,
  });
}

interface OpenedVoices {
  /** Of calls. */
  readonly voices: Voices;
  /** A preview is spoken by its voice or not at all, whatever calls have found. */
  readonly previewVoices: Voices;
}

/** Keys are fetched from the store when a voice is first needed. */
function openVoices({
  config,
  engines,
  store,
  meter,
}: Pick<Basis, "config" | "engines" | "store" | "meter">): OpenedVoices {
  const keys = createVoiceKeys({
    readAccountKey: (accountId, provider) => getTtsKey(store.db, accountId, provider),
    deployment: deploymentVoiceKeys(config),
    nowMs: Date.now,
  });
  const parts = { providers: engines.voiceProviders ?? {}, keys, meter };
  const health = createVoiceHealth(openClock());
  return {
    voices: createVoices({ ...parts, health, fallback: () => engines.lists.voices() }),
    previewVoices: createVoices({ ...parts, health: null }),
  };
}

async function openVoicePreviews(
  { config, engines, logger }: Basis,
  sources: PlanSources,
  voices: Voices,
): Promise<Pick<Parts, "previewVoice" | "previewDefinition">> {
  const preview = createPreviews({ files: await openPreviewFiles(join(config.nodeDir, "previews")), logger });
  const target = (): EngineTarget | null => engines.choices.tts.target;
  const previewVoice = previewsOfEngine(preview, () => ({
    engine: engines.first.tts,
    settings: [target()?.baseUrl, target()?.model].filter((setting) => setting !== undefined),
    secrets: [target()?.apiKey],
  }));
  const deployment = (): TtsEngine => engines.first.tts;
  return { previewVoice, previewDefinition: definitionPreviews({ preview, sources, voices, deployment }) };
}

async function openEngineAdministration(
  opened: AsyncDisposableStack,
  { config, engines, baseEngines }: Basis,
): Promise<EngineAdministration> {
  const closing = new AbortController();
  opened.defer(() => closing.abort());
  const operatorKey = await loadOperatorKey(config);
  return engineAdministration({
    live: engines,
    base: baseEngines,
    config,
    operatorKey,
    closing: closing.signal,
  });
}

/** Loaded only where a collector is named: the libraries take a tenth of a second. */
async function openTraces({ traces }: Config, nodeId: string, logger: Logger): Promise<Traces | null> {
  if (traces === null) return null;
  const { openOtlpTraces } = await import("../providers/traces/otlp-traces.ts");
  const { version } = manifest;
  logger.info(`traces: spans of calls, turns and requests to ${traces.endpoint}`);
  return openOtlpTraces({ ...traces, version, nodeId, warn: (message) => logger.warn(message) });
}

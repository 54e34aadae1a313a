/** Puts the service together: opens the store, hands functions to the doors, and takes everything down in reverse. */

import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { Logger } from "pino";
import manifest from "../package.json" with { type: "json" };
import { sweepRegularly } from "./admission-sweep.ts";
import { createArgumentCheck } from "./argument-check.ts";
import { openBatches } from "./batch-calls.ts";
import { callCreator } from "./call-creation.ts";
import { callEnder } from "./call-ending.ts";
import { callRenderer } from "./call-rendering.ts";
import { createCallStorage } from "./call-storage.ts";
import type { Config } from "./config.ts";
import { openConsole } from "./console-site.ts";
import { openGuardedDataConnections } from "./data-connections.ts";
import { httpDeps, type Parts } from "./doors.ts";
import { closeEngines, type Engines } from "./engines.ts";
import type { HttpServer } from "./http/deps.ts";
import { buildServer } from "./http/server.ts";
import { JOB_DEFINITIONS, jobsToRun, type JobParts, type SummaryParts } from "./job-kinds.ts";
import { openJobs, type Jobs } from "./jobs/jobs.ts";
import type { SummaryOutcome } from "./jobs/summaries/summarize-call.ts";
import type { BatchDispatcher } from "./jobs/batches/dispatcher.ts";
import { openDispatcher, type WebhookDispatcher } from "./jobs/webhooks/dispatcher.ts";
import { headerPrefixes } from "./jobs/webhooks/signature.ts";
import { initResampler } from "./media/resample.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import { openGuardedClient } from "./net/guarded-fetch.ts";
import { loadNodeId } from "./node-id.ts";
import { openJsonSchema } from "./providers/json-schema/json-schema.ts";
import { openPreviewFiles } from "./providers/preview-files/preview-files.ts";
import type { TurnTraces } from "./providers/traces/otlp-traces.ts";
import { planSources } from "./plan-sources.ts";
import { watchNodes, type NodeWatch } from "./lost-nodes.ts";
import { openRecordingsStore } from "./recordings-store.ts";
import { recoverCalls } from "./recovery.ts";
import { openClock } from "./runner/clock.ts";
import { type LiveCalls, openLiveCalls } from "./runner/live-calls.ts";
import { createStagePreparer } from "./runner/prepare-stage.ts";
import { ensureDefaultAccount } from "./store/accounts.ts";
import { ensureApiKey, ensureFirstApiKey } from "./store/api-keys.ts";
import { openStore, type Db, type Store } from "./store/db.ts";
import { loadSecretsKey } from "./store/secrets-key.ts";
import { openToolInvoker } from "./tool-invokers.ts";
import { openUpkeep } from "./upkeep.ts";
import { startLegThread } from "./transports/webrtc/leg-thread.ts";
import { openLegThreads } from "./transports/webrtc/leg-threads.ts";
import { openWebRtcJoins } from "./webrtc-joins.ts";
import { createVoicePreviews, type PreviewVoiceAloud } from "./voice-previews.ts";

export interface Parley {
  readonly publicUrl: string;
  readonly port: number;
  /** The key made by the first start; null at every later one, and when API_KEY names one. */
  readonly newApiKey: string | null;
  /** Resolves, with a sentence, when the service cannot go on and must be started again. */
  readonly lost: Promise<string>;
  /** Lets calls end within `DRAIN_TIMEOUT_MS`, then ends them, and lets go of everything. Idempotent. */
  close(): Promise<void>;
}

/**
 * Takes over the engines, also when it throws. They may still be opening: that and opening the database take half a
 * second to a second each, so they go on at once.
 * @throws StoreStartError when the database or its key cannot be used; what prevented the engines from opening.
 */
export async function openParley(
  config: Config,
  opening: Engines | Promise<Engines>,
  logger: Logger,
): Promise<Parley> {
  const { promise: lost, resolve: onLost } = Promise.withResolvers<string>();
  const [store, engines] = await both(openKeyedStore(config, logger, onLost), opening);
  try {
    await initResampler(process);
    return { ...(await assemble(config, engines, logger, store)), lost };
  } catch (error) {
    await closeEngines(engines);
    await closeKeyedStore(store);
    throw error;
  }
}

interface KeyedStore {
  readonly store: Store;
  readonly jobs: Jobs;
  readonly secretsKey: Uint8Array;
}

async function openKeyedStore(
  config: Config,
  logger: Logger,
  onLost: (reason: string) => void,
): Promise<KeyedStore> {
  const secretsKey = loadSecretsKey(config);
  const store = await openStore({ ...config, secretsKey, log: logger, onLost });
  try {
    return { store, secretsKey, jobs: await openJobs({ store, definitions: JOB_DEFINITIONS, log: logger }) };
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function closeKeyedStore({ store, jobs }: KeyedStore): Promise<void> {
  await jobs.close();
  await store.close();
}

/** When one of them fails, the other is closed again. */
async function both(
  storeOpening: Promise<KeyedStore>,
  enginesOpening: Engines | Promise<Engines>,
): Promise<[KeyedStore, Engines]> {
  const [store, engines] = await Promise.allSettled([storeOpening, enginesOpening]);
  if (store.status === "fulfilled" && engines.status === "fulfilled") return [store.value, engines.value];
  if (store.status === "fulfilled") await closeKeyedStore(store.value);
  if (engines.status === "fulfilled") await closeEngines(engines.value);
  throw store.status === "rejected" ? store.reason : (engines as PromiseRejectedResult).reason;
}

/** From ready to the loading of what a start can do without: whoever waits for ready is served first. */
const WARM_AFTER_MS = 1_000;

async function assemble(
  config: Config,
  engines: Engines,
  logger: Logger,
  { store, secretsKey, jobs }: KeyedStore,
): Promise<Omit<Parley, "lost">> {
  const { db } = store;
  const nodeId = await loadNodeId(config.dataDir);
  const newApiKey = await ensureKeys(db, config);
  const metrics = createMetrics(() => liveCalls.count());
  const { recordings, uploads } = await openRecordingsStore(config, db, logger);
  const traces = await openTraces(config, logger);
  // With a free port it is known once the door listens; nothing is told before.
  let servedAt = config.publicUrl;
  const dispatcher = openWebhooks(config, db, metrics, logger, () => servedAt);
  const deliver = (): void => dispatcher.wake();
  const endCall = callEnder({ db, jobs, metering: config.metering, deliver });
  const upkeep = openUpkeep({ ...config, db, nodeId, recordings, deliver, logger, nowMs: Date.now });
  const storage = createCallStorage(db, metrics, traces, logger, { endCall, deliver });
  const schemas = openJsonSchema();
  const toolInvoker = openToolInvoker(config);
  const sources = planSources(db, engines, schemas, toolInvoker, config);
  const liveCalls = openLiveCalls({
    engines,
    records: storage.records,
    recordings,
    keepEventLogs: config.keepEventLogs,
    openDataConnection: openGuardedDataConnections(config),
    toolInvoker,
    checkArguments: createArgumentCheck(schemas),
    prepareStage: createStagePreparer(sources),
    clock: openClock(),
    logger,
    maxLiveCalls: config.maxLiveCalls,
  });
  const { webRtc, legThreads } = openWebRtc(config, liveCalls, logger);
  const parts: Parts = {
    config,
    logger,
    engines,
    store,
    secretsKey,
    sources,
    schemas,
    toolInvoker,
    nodeId,
    metrics,
    recordings,
    uploads,
    upkeep,
    storage,
    liveCalls,
    jobs,
    dispatcher,
    endCall,
    deliver,
    webRtc,
    legThreads,
    previewVoice: await openVoicePreviews(config, engines, logger),
    console: openConsole(config.console, logger),
    traces,
  };
  return {
    ...(await serve(
      parts,
      { toolInvoker, schemas },
      { get: () => servedAt, set: (url) => (servedAt = url) },
    )),
    newApiKey,
  };
}

/** Opens the door, and begins what goes on beside the calls. */
async function serve(
  parts: Parts,
  warmed: Pick<Warmed, "toolInvoker" | "schemas">,
  servedAt: { readonly get: () => string; readonly set: (publicUrl: string) => void },
): Promise<Omit<Parley, "lost" | "newApiKey">> {
  const { logger, store, nodeId, liveCalls, storage, endCall, jobs, upkeep } = parts;
  const { legThreads, dispatcher } = parts;
  const { db } = store;
  const createCall = callCreator(parts);
  const batches = openBatches(parts, createCall, servedAt.get);
  const http = await buildServer(httpDeps(parts, { createCall, batches }));
  // Before the recovery: nobody else may take this node for lost while it ends its calls of before.
  const nodes = await watchNodes({ db, nodeId, liveCalls, endCall, logger });
  await recoverCalls({ db, nodeId, liveCalls, storage, endCall, logger });
  await http.listen();
  servedAt.set(http.publicUrl);
  dispatcher.start();
  batches.start();
  await jobs.start(jobsToRun(jobParts(parts)));
  upkeep.start();
  parts.uploads?.start();
  nodes.start();
  parts.console.start();
  const warming = setTimeout(() => warm({ ...warmed, legThreads, logger }), WARM_AFTER_MS).unref();
  const sweep = sweepRegularly(db, logger);
  let closing: Promise<void> | null = null;
  const close = (): Promise<void> => {
    clearTimeout(warming);
    sweep.stop();
    return (closing ??= takeDown(parts, http, nodes, batches));
  };
  return { publicUrl: http.publicUrl, port: http.port, close };
}

function jobParts(parts: Parts): JobParts {
  const { config, store, jobs, upkeep, deliver, logger } = parts;
  const removeFiles = (callId: string): Promise<void> => upkeep.removeFiles(callId);
  const { metering } = config;
  const summaries = summaryParts(parts);
  return { db: store.db, jobs, metering, deliver, removeFiles, summaries, log: logger, nowMs: Date.now };
}

/** Null where they are switched off, and where there is no model: rules cannot write them. */
function summaryParts({ config, engines, logger, metrics }: Parts): SummaryParts | null {
  if (!config.summaries || config.llm === null) return null;
  const { contextWindowTokens } = config.turnTaking;
  const ended = (outcome: SummaryOutcome): void => metrics.summaryEnded(outcome);
  return { llm: engines.llm, contextWindowTokens, log: logger, ended };
}

/** The key that was made because there was none; null otherwise. */
async function ensureKeys(db: Store["db"], { apiKey }: Config): Promise<string | null> {
  const { accountId } = await ensureDefaultAccount(db);
  if (apiKey !== null) await ensureApiKey(db, accountId, apiKey);
  return (await ensureFirstApiKey(db, accountId))?.secret ?? null;
}

/** The main thread and the database are given the rest of the machine. */
function openWebRtc(
  { host, webRtc: settings }: Config,
  liveCalls: LiveCalls,
  logger: Logger,
): Pick<Parts, "webRtc" | "legThreads"> {
  const legThreads = openLegThreads({
    start: startLegThread,
    maxThreads: Math.max(1, availableParallelism() - 1),
    log: (message) => logger.error(message),
  });
  const webRtc = openWebRtcJoins({ host, settings, liveCalls, openLeg: legThreads.open, logger });
  return { webRtc, legThreads };
}

function openWebhooks(
  config: Config,
  db: Db,
  metrics: Metrics,
  log: Logger,
  publicUrl: () => string,
): WebhookDispatcher {
  return openDispatcher({
    db,
    client: openGuardedClient({ allowed: config.allowPrivateTargets }),
    renderCall: callRenderer(config, publicUrl),
    prefixes: headerPrefixes(config.apiNames),
    metrics: metrics.deliveries,
    log,
    nowMs: Date.now,
    random: Math.random,
  });
}

interface Warmed {
  readonly toolInvoker: { readonly warm: () => Promise<void> };
  readonly legThreads: { readonly warm: () => Promise<void> };
  readonly schemas: { readonly warm: () => void };
  readonly logger: Logger;
}

function warm({ toolInvoker, legThreads, schemas, logger }: Warmed): void {
  schemas.warm();
  const failed = (what: string) => (error: unknown) =>
    logger.error({ error: String(error) }, `${what} did not load`);
  toolInvoker.warm().catch(failed("tools"));
  legThreads.warm().catch(failed("WebRTC"));
}

/** Calls go first, while the store still takes their records; the door stays open meanwhile, but takes nothing new. */
async function takeDown(
  parts: Parts,
  http: HttpServer,
  nodes: NodeWatch,
  batches: BatchDispatcher,
): Promise<void> {
  http.drain();
  // While the calls that it has made can still be told of.
  await batches.close();
  await parts.console.close();
  const summary = await parts.liveCalls.drain(parts.config.drainTimeoutMs);
  parts.logger.info(summary, "calls are over");
  await http.close();
  await parts.webRtc.close();
  await parts.legThreads.close();
  await parts.upkeep.close();
  await parts.uploads?.close();
  await nodes.close();
  // Jobs first: what they leave to be told still goes out.
  await parts.jobs.close();
  await parts.dispatcher.close();
  await closeEngines(parts.engines);
  await parts.toolInvoker.close();
  await parts.traces?.close();
  await parts.store.close();
}

async function openVoicePreviews(
  { dataDir, tts }: Config,
  { tts: engine }: Engines,
  logger: Logger,
): Promise<PreviewVoiceAloud> {
  return createVoicePreviews({
    engine,
    engineSettings: tts === null ? [] : [tts.baseUrl, tts.model],
    files: await openPreviewFiles(join(dataDir, "previews")),
    logger,
    secrets: [tts?.apiKey],
  });
}

/** Loaded only where a collector is named: the libraries take a tenth of a second. */
async function openTraces({ traces }: Config, logger: Logger): Promise<TurnTraces | null> {
  if (traces === null) return null;
  const { openTurnTraces } = await import("./providers/traces/otlp-traces.ts");
  logger.info(`traces: one span per turn to ${traces.endpoint}`);
  return openTurnTraces({ ...traces, version: manifest.version, warn: (message) => logger.warn(message) });
}

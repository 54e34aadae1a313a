/** Puts the service together: opens the store, hands functions to the doors, and takes everything down in reverse. */

import { join } from "node:path";
import type { Logger } from "pino";
import manifest from "../package.json" with { type: "json" };
import { createArgumentCheck } from "./argument-check.ts";
import { createCallStorage } from "./call-storage.ts";
import type { Config } from "./config.ts";
import { openGuardedDataConnections } from "./data-connections.ts";
import { httpDeps, type Parts } from "./doors.ts";
import { closeEngines, type Engines } from "./engines.ts";
import type { HttpServer } from "./http/deps.ts";
import { buildServer } from "./http/server.ts";
import { initResampler } from "./media/resample.ts";
import { createMetrics } from "./metrics.ts";
import { loadNodeId } from "./node-id.ts";
import { openJsonSchema } from "./providers/json-schema/json-schema.ts";
import { openFileRecordings } from "./providers/recordings/file-recordings.ts";
import type { TurnTraces } from "./providers/traces/otlp-traces.ts";
import { planSources } from "./plan-sources.ts";
import { recoverCalls } from "./recovery.ts";
import { openClock } from "./runner/clock.ts";
import { openLiveCalls } from "./runner/live-calls.ts";
import { createStagePreparer } from "./runner/prepare-stage.ts";
import { ensureDefaultAccount } from "./store/accounts.ts";
import { ensureApiKey, ensureFirstApiKey } from "./store/api-keys.ts";
import { openStore, type Store } from "./store/db.ts";
import { loadSecretsKey } from "./store/secrets-key.ts";
import { openToolInvoker } from "./tool-invokers.ts";

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
    await store.store.close();
    throw error;
  }
}

interface KeyedStore {
  readonly store: Store;
  readonly secretsKey: Uint8Array;
}

async function openKeyedStore(
  config: Config,
  logger: Logger,
  onLost: (reason: string) => void,
): Promise<KeyedStore> {
  const secretsKey = loadSecretsKey(config);
  return { store: await openStore({ ...config, secretsKey, log: logger, onLost }), secretsKey };
}

/** When one of them fails, the other is closed again. */
async function both(
  storeOpening: Promise<KeyedStore>,
  enginesOpening: Engines | Promise<Engines>,
): Promise<[KeyedStore, Engines]> {
  const [store, engines] = await Promise.allSettled([storeOpening, enginesOpening]);
  if (store.status === "fulfilled" && engines.status === "fulfilled") return [store.value, engines.value];
  if (store.status === "fulfilled") await store.value.store.close();
  if (engines.status === "fulfilled") await closeEngines(engines.value);
  throw store.status === "rejected" ? store.reason : (engines as PromiseRejectedResult).reason;
}

/** From ready to the loading of what a start can do without: whoever waits for ready is served first. */
const WARM_AFTER_MS = 1_000;

async function assemble(
  config: Config,
  engines: Engines,
  logger: Logger,
  { store, secretsKey }: KeyedStore,
): Promise<Omit<Parley, "lost">> {
  const { db } = store;
  const nodeId = await loadNodeId(config.dataDir);
  const { accountId } = await ensureDefaultAccount(db);
  if (config.apiKey !== null) await ensureApiKey(db, accountId, config.apiKey);
  const newKey = await ensureFirstApiKey(db, accountId);
  const metrics = createMetrics(() => liveCalls.count());
  const recordings = await openFileRecordings(join(config.dataDir, "recordings"));
  const traces = await openTraces(config, logger);
  const storage = createCallStorage(db, metrics, traces, logger);
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
  const parts: Parts = {
    config,
    logger,
    engines,
    store,
    secretsKey,
    sources,
    toolInvoker,
    nodeId,
    metrics,
    recordings,
    storage,
    liveCalls,
    traces,
  };
  const http = await buildServer(httpDeps(parts));
  await recoverCalls({ db, nodeId, liveCalls, storage, logger });
  await http.listen();
  const warming = setTimeout(() => {
    toolInvoker
      .warm()
      .catch((error: unknown) => logger.error({ error: String(error) }, "tools did not load"));
  }, WARM_AFTER_MS).unref();
  let closing: Promise<void> | null = null;
  const close = (): Promise<void> => {
    clearTimeout(warming);
    return (closing ??= takeDown(parts, http));
  };
  return { publicUrl: http.publicUrl, port: http.port, newApiKey: newKey?.secret ?? null, close };
}

/** Calls go first, while the store still takes their records; the door stays open meanwhile, but takes nothing new. */
async function takeDown(parts: Parts, http: HttpServer): Promise<void> {
  http.drain();
  const summary = await parts.liveCalls.drain(parts.config.drainTimeoutMs);
  parts.logger.info(summary, "calls are over");
  await http.close();
  await closeEngines(parts.engines);
  await parts.toolInvoker.close();
  await parts.traces?.close();
  await parts.store.close();
}

/** Loaded only where a collector is named: the libraries take a tenth of a second. */
async function openTraces({ traces }: Config, logger: Logger): Promise<TurnTraces | null> {
  if (traces === null) return null;
  const { openTurnTraces } = await import("./providers/traces/otlp-traces.ts");
  logger.info(`traces: one span per turn to ${traces.endpoint}`);
  return openTurnTraces({ ...traces, version: manifest.version, warn: (message) => logger.warn(message) });
}

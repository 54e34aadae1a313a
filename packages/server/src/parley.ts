/** Puts the service together: opens the store, hands functions to the doors, and takes everything down in reverse. */

import { join } from "node:path";
import type { Logger } from "pino";
import { createCallStorage, recoverCalls } from "./call-storage.ts";
import type { Config } from "./config.ts";
import { httpDeps, type Parts } from "./doors.ts";
import { closeEngines, type Engines } from "./engines.ts";
import type { HttpServer } from "./http/deps.ts";
import { buildServer } from "./http/server.ts";
import { initResampler } from "./media/resample.ts";
import { createMetrics } from "./metrics.ts";
import { loadNodeId } from "./node-id.ts";
import { openFileRecordings } from "./providers/recordings/file-recordings.ts";
import { openClock } from "./runner/clock.ts";
import { openLiveCalls } from "./runner/live-calls.ts";
import { ensureDefaultAccount } from "./store/accounts.ts";
import { ensureApiKey, ensureFirstApiKey } from "./store/api-keys.ts";
import { openStore, type Store } from "./store/db.ts";
import { loadSecretsKey } from "./store/secrets-key.ts";

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
 * Takes over the engines: `close` closes them too.
 * @throws StoreStartError when the database or its key cannot be used; the engines are then still the caller's.
 */
export async function openParley(config: Config, engines: Engines, logger: Logger): Promise<Parley> {
  await initResampler(process);
  const secretsKey = loadSecretsKey(config);
  const { promise: lost, resolve: onLost } = Promise.withResolvers<string>();
  const store = await openStore({ ...config, secretsKey, log: logger, onLost });
  try {
    return { ...(await assemble(config, engines, logger, store, secretsKey)), lost };
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function assemble(
  config: Config,
  engines: Engines,
  logger: Logger,
  store: Store,
  secretsKey: Uint8Array,
): Promise<Omit<Parley, "lost">> {
  const { db } = store;
  const nodeId = await loadNodeId(config.dataDir);
  const { accountId } = await ensureDefaultAccount(db);
  if (config.apiKey !== null) await ensureApiKey(db, accountId, config.apiKey);
  const newKey = await ensureFirstApiKey(db, accountId);
  const metrics = createMetrics(() => liveCalls.count());
  const recordings = await openFileRecordings(join(config.dataDir, "recordings"));
  const storage = createCallStorage(db, metrics, logger);
  const liveCalls = openLiveCalls({
    engines,
    records: storage.records,
    recordings,
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
    nodeId,
    metrics,
    recordings,
    storage,
    liveCalls,
  };
  const http = await buildServer(httpDeps(parts));
  await recoverCalls({ db, nodeId, liveCalls, storage, logger });
  await http.listen();
  let closing: Promise<void> | null = null;
  const close = (): Promise<void> => (closing ??= takeDown(parts, http));
  return { publicUrl: http.publicUrl, port: http.port, newApiKey: newKey?.secret ?? null, close };
}

/** Calls go first, while the store still takes their records; the door stays open meanwhile, but takes nothing new. */
async function takeDown(parts: Parts, http: HttpServer): Promise<void> {
  http.drain();
  const summary = await parts.liveCalls.drain(parts.config.drainTimeoutMs);
  parts.logger.info(summary, "calls are over");
  await http.close();
  await closeEngines(parts.engines);
  await parts.store.close();
}

/** Starts the service from its parts, and closes everything in reverse. */

import type { Logger } from "pino";
import { sweepRegularly } from "../upkeep/admission-sweep.ts";
import { openBatches } from "./batch-calls.ts";
import { callCreator } from "./call-creator.ts";
import type { Config } from "../config/config.ts";
import { openEngineMeter } from "./costs/engine-meter.ts";
import { httpDeps } from "./http-deps.ts";
import type { HttpDeps } from "../http/deps.ts";
import type { FirstKey } from "./first-key.ts";
import { openParts, type Parts } from "./parts.ts";
import { sayWhichEngines, sayWhichFollow } from "./deployment/engine-lines.ts";
import { createLiveEngines, followStored } from "./deployment/live-engines.ts";
import { closeEngines, type Engines } from "./engines.ts";
import { sayBestModel } from "./deployment/local-engines.ts";
import { buildServer } from "../http/server.ts";
import { textOf } from "../corpora/search-corpus.ts";
import { beginIndexing } from "../jobs/corpora/embed-chunks.ts";
import { JOB_DEFINITIONS, jobsToRun, type JobParts, type SummaryParts } from "./job-kinds.ts";
import { openJobs, type Jobs } from "../jobs/jobs.ts";
import type { SummaryOutcome } from "../jobs/summaries/summarize-call.ts";
import { listenError, reservePort } from "./reserve-port.ts";
import type { LlmEngine } from "../ports/llm.ts";
import { openGuardedClient, type GuardedClient } from "../net/guarded-fetch.ts";
import { initResampler } from "../media/resample.ts";
import { recoverCalls } from "../lifecycle/end/recovery.ts";
import { refuseWrongClock } from "../store/database/clock-difference.ts";
import { readEngineSettings, type StoredEngines } from "../store/deployment/engine-settings.ts";
import { openStore, type Store } from "../store/opening/open-store.ts";
import { loadSecretsKey } from "../store/secrets/secrets-key.ts";
import type { StartLegThread } from "../transports/rtc/leg-thread.ts";
import { createSip, sipChecks } from "./telephony/sip.ts";
import { startMediaThread } from "./media-threads/start-media-thread.ts";

export interface Parley {
  readonly publicUrl: string;
  readonly port: number;
  /** The key that the first start generated; null at every later one, and when API_KEY names one. */
  readonly newApiKey: FirstKey | null;
  /** Resolves, with a sentence, when the service cannot go on and must be started again. */
  readonly lost: Promise<string>;
  /** Lets calls end within `DRAIN_TIMEOUT_MS`, then ends them, and closes everything. Idempotent. */
  close(): Promise<void>;
  /** What `/metrics` of this process alone would print. */
  ownMetrics(): Promise<string>;
}

export interface ParleyOptions {
  /** Starts the threads of WebRTC connections; tests cause faults in them. */
  readonly startLegThread?: StartLegThread;
  /** For URLs of users. Unset: one of its own. */
  readonly client?: GuardedClient;
  /** Other processes of this service listen at the same port. */
  readonly sharesPort?: boolean;
  /** The metrics of all processes of this service. Unset: there is only this one. */
  readonly allMetrics?: HttpDeps["readMetrics"];
  /** In tests: how long other nodes take this one to run after its last announcement. */
  readonly nodeLeaseMs?: number;
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
  options: ParleyOptions = {},
): Promise<Parley> {
  const {
    startLegThread = startMediaThread,
    client = openGuardedClient({ allowed: config.allowPrivateTargets }),
    sharesPort = false,
  } = options;
  const { promise: lost, resolve: onLost } = Promise.withResolvers<string>();
  // Closes, in reverse, what is open when the start fails. The running service takes over the stack.
  await using opened = new AsyncDisposableStack();
  const port = sharesPort ? Promise.resolve(async () => undefined) : reservePort(config);
  opened.defer(async () => (await port.catch(() => null))?.());
  const storeOpening = port.then(() => openKeyedStore(config, logger, onLost));
  const [store, baseEngines] = await both(opened, storeOpening, opening);
  await initResampler(process);
  const readStored = (): Promise<StoredEngines> => readEngineSettings(store.store.db);
  const meter = openEngineMeter(config.prices);
  const engines = createLiveEngines({ base: baseEngines, config, readStored, logger, meter });
  await engines.reload();
  sayWhichEngines(engines.choices, config, logger);
  sayBestModel(engines.choices, config, logger);
  sayWhichFollow(engines.lists.reports(), logger);
  const { nodeLeaseMs } = options;
  const others = { baseEngines, meter, onLost, startLegThread, nodeLeaseMs };
  const basis = { config, logger, client, engines, ...others, ...store };
  const parts = await openParts(opened, basis);
  const ownMetrics = (): Promise<string> => parts.metrics.registry.metrics();
  const readMetrics = options.allMetrics ?? ownMetrics;
  const served = await serve(opened, { ...parts, readMetrics, sharesPort }, await port);
  const running = opened.move();
  let closing: Promise<void> | null = null;
  const close = (): Promise<void> => (closing ??= running.disposeAsync());
  return { ...served, newApiKey: parts.newApiKey, lost, close, ownMetrics };
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
  const store = await openStore({ ...config, dataDir: config.nodeDir, secretsKey, log: logger, onLost });
  try {
    await refuseWrongClock(store.db);
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

/** Of chunks that were stored while the service was down, or had another model of embeddings. */
async function makeMissingVectors({
  store: { db },
  jobs,
  retrieval: { embedder },
  logger,
}: Parts): Promise<void> {
  const queued = await beginIndexing({ db, jobs, embedder });
  if (queued > 0) logger.info(`corpora: vectors are being made for ${String(queued)} corpora`);
}

/** Whatever has opened is closed with the stack, also when the other one fails. */
async function both(
  opened: AsyncDisposableStack,
  storeOpening: Promise<KeyedStore>,
  enginesOpening: Engines | Promise<Engines>,
): Promise<[KeyedStore, Engines]> {
  const [store, engines] = await Promise.allSettled([storeOpening, enginesOpening]);
  if (store.status === "fulfilled") opened.defer(() => closeKeyedStore(store.value));
  if (engines.status === "fulfilled") opened.defer(() => closeEngines(engines.value));
  if (store.status === "rejected") throw store.reason;
  if (engines.status === "rejected") throw engines.reason;
  return [store.value, engines.value];
}

/**
 * Answers requests, and begins what runs beside the calls. At shutdown calls end first, while the store still takes
 * their records. Until then the HTTP server stays open, but accepts nothing new.
 */
async function serve(
  opened: AsyncDisposableStack,
  parts: Parts & Required<Pick<HttpDeps, "readMetrics" | "sharesPort">>,
  releasePort: () => Promise<void>,
): Promise<Pick<Parley, "publicUrl" | "port">> {
  const { config, logger, store, boot, reach, liveCalls, storage, journal, endCall, jobs } = parts;
  const { db } = store;
  const { readMetrics, sharesPort } = parts;
  const { prepareDial: prepareCarrierDial, requests } = parts.carrierCalls;
  const sip = config.sip === null ? null : createSip(parts, config.sip);
  const prepareDial = sip === null ? prepareCarrierDial : sip.withDialling(prepareCarrierDial);
  const createCall = callCreator({ ...parts, prepareDial });
  const batches = openBatches(parts, createCall);
  const carriers = requests(createCall);
  const checks = sip?.checks ?? sipChecks(parts);
  const http = await buildServer(
    httpDeps(parts, { createCall, batches, carriers, sipChecks: checks, readMetrics, sharesPort }),
  );
  // Stopped after the calls: the end of a sweep must not delay theirs.
  const sweep = sweepRegularly(db, logger);
  opened.defer(() => sweep.stop());
  opened.defer(() => http.close());
  // After the calls have ended, so that their other sides get a BYE.
  opened.defer(() => sip?.close());
  opened.defer(async () => {
    reach.leaveCalls();
    const draining = liveCalls.drain(config.drainTimeoutMs);
    await reach.giveUpReleased();
    const summary = await draining;
    logger.info(summary, "all calls have ended");
  });
  opened.defer(() => parts.console.close());
  // Before the calls that it has made end, so that it can still record them.
  opened.defer(() => batches.close());
  await journal.replay();
  const journaled = journal.callIds();
  await recoverCalls({ db, boot, liveCalls, storage, endCall, logger, journaled });
  journal.start();
  await sip?.open(createCall);
  // Requests are counted against this node's share of the rates.
  await parts.announcer.shared();
  await releasePort();
  await http.listen().catch((error: unknown) => {
    throw listenError(error, config);
  });
  parts.setPublicUrl(http.publicUrl);
  parts.dispatcher.start();
  batches.start();
  await jobs.start(jobsToRun(jobParts(parts)));
  await makeMissingVectors(parts);
  parts.upkeep.start();
  parts.corpora.upkeep.start();
  parts.uploads?.start();
  reach.start();
  parts.console.start();
  const warming = setTimeout(() => warm(parts), WARM_AFTER_MS).unref();
  opened.defer(() => clearTimeout(warming));
  watchEngines(opened, parts);
  opened.defer(() => {
    http.drain();
    parts.announcer.drain();
  });
  return { publicUrl: http.publicUrl, port: http.port };
}

/** Asks the engines whether they can be used, and follows what the operator stores at other nodes. */
function watchEngines(opened: AsyncDisposableStack, { config, engines, logger }: Parts): void {
  const probing = new AbortController();
  opened.defer(() => probing.abort());
  void engines.look(probing.signal);
  if (config.databaseUrl === null) return;
  const following = followStored(engines, logger);
  opened.defer(() => following.stop());
}

/** Wait from readiness to the loading of what the start does not need, so that the first requests are served first. */
const WARM_AFTER_MS = 1_000;

function warm({ toolInvoker, legThreads, logger }: Parts): void {
  const failed = (what: string) => (error: unknown) =>
    logger.error({ error: String(error) }, `${what} did not load`);
  toolInvoker.warm().catch(failed("tools"));
  legThreads.warm().catch(failed("WebRTC"));
}

function jobParts(parts: Parts): JobParts {
  const { config, store, jobs, upkeep, deliver, logger } = parts;
  const removeFiles = (callId: string): Promise<void> => upkeep.removeFiles(callId);
  const { metering } = config;
  const summaries = summaryParts(parts);
  const { embedder, vectors } = parts.retrieval;
  const embedding = { embedder, support: vectors.support, textOf, log: logger, nowMs: Date.now };
  const { carriers } = parts.carrierCalls;
  return {
    db: store.db,
    jobs,
    metering,
    deliver,
    removeFiles,
    summaries,
    embedding,
    carriers,
    corpora: parts.corpora.loads,
    log: logger,
    nowMs: Date.now,
  };
}

/** Null where summaries are switched off. */
function summaryParts({ config, engines, logger, metrics }: Parts): SummaryParts | null {
  if (!config.summaries) return null;
  const { contextWindowTokens } = config.turnTaking;
  const llm = (): LlmEngine | null => (engines.choices.llm.target === null ? null : engines.llm);
  const ended = (outcome: SummaryOutcome): void => metrics.summaryEnded(outcome);
  return { llm, contextWindowTokens, log: logger, ended };
}

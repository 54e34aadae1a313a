/** Starts the service from the environment, prints its addresses, and stops it in order on a signal. */

import cluster from "node:cluster";
import { availableParallelism } from "node:os";
import type { Logger } from "pino";
import { ConfigError } from "../config/config-error.ts";
import { type Config, loadConfig } from "../config/config.ts";
import { configOfWorker } from "../config/workers/worker-config.ts";
import { type WorkerPlace, workerCount } from "../config/workers/workers.ts";
import { openEngines } from "./engines.ts";
import { greeting } from "./greeting.ts";
import { openLog } from "./log.ts";
import { openGuardedClient } from "../net/guarded-fetch.ts";
import { openParley, type Parley, type ParleyOptions } from "./parley.ts";
import { StoreStartError } from "../store/database/store-errors.ts";
import { messageOf, stackOf } from "../pacing/error-text.ts";
import { placeIn } from "./workers/messages.ts";
import { startPrimary } from "./workers/primary.ts";
import { openPrimaryLink, workerEnvironment } from "./workers/worker.ts";

async function start(): Promise<void> {
  const place = cluster.isWorker ? placeIn(process.argv) : null;
  if (place !== null) return startWorker(place);
  const config = loadConfig(process.env);
  const logger = openLog(config.logLevel, process.stdout);
  const count = workerCount(config.workers, availableParallelism());
  if (count > 1 && config.databaseUrl !== null) return startPrimary(config, count, logger);
  if (count > 1) {
    logger.warn(
      "workers: one process, because the embedded database belongs to one; set DATABASE_URL for WORKERS to have an effect",
    );
  }
  const parley = await open(config, logger);
  process.stdout.write(greeting(parley, config));
  stopOnSignal(parley, () => process.exit(1));
}

/** What it prints and the port are those of the service; everything else is its own. */
async function startWorker(place: WorkerPlace): Promise<void> {
  const link = openPrimaryLink();
  const config = configOfWorker(loadConfig(await workerEnvironment(process.env, place.number)), place);
  const logger = openLog(config.logLevel, process.stdout).child({ worker: place.number });
  const parley = await open(config, logger, { sharesPort: true, allMetrics: link.allMetrics });
  // A terminal and some supervisors signal every process: the primary decides what a second signal means.
  const stop = stopOnSignal(parley, () => undefined);
  link.serve(parley, stop);
}

async function open(config: Config, logger: Logger, options: ParleyOptions = {}): Promise<Parley> {
  const client = openGuardedClient({ allowed: config.allowPrivateTargets });
  const parley = await openParley(config, openEngines(config, logger, client), logger, {
    ...options,
    client,
  });
  // A supervisor restarts the service; continuing would lose every record.
  void parley.lost.then((reason) => {
    process.stderr.write(`${reason}\n`);
    process.exit(1);
  });
  return parley;
}

/** The first signal lets calls finish within `DRAIN_TIMEOUT_MS`. Returns what a signal does. */
function stopOnSignal(parley: Parley, again: () => void): () => void {
  let stopping = false;
  const stop = (): void => {
    if (stopping) {
      again();
      return;
    }
    stopping = true;
    parley.close().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`The service did not stop cleanly: ${messageOf(error)}\n`);
        process.exit(1);
      },
    );
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  return stop;
}

/** Never rejects: an error at the start is printed in a sentence, and the process ends with 1. */
export async function run(): Promise<void> {
  try {
    await start();
  } catch (error) {
    refuse(error);
  }
}

function refuse(error: unknown): never {
  const known = error instanceof ConfigError || error instanceof StoreStartError;
  const detail = known ? messageOf(error) : stackOf(error);
  process.stderr.write(`Parley cannot start. ${detail}\n`);
  process.exit(1);
}

/** The process that starts the workers of a service, which all listen at its port. It takes no connections itself. */

import cluster from "node:cluster";
import type { Logger } from "pino";
import { ConfigError } from "../../config/config-error.ts";
import { checkWorkerPorts } from "../../config/workers/worker-config.ts";
import type { Config } from "../../config/config.ts";
import { greeting } from "../greeting.ts";
import { reservePort } from "../reserve-port.ts";
import { placeArgument } from "./messages.ts";
import { warnOfLeftJournals } from "./left-journals.ts";
import { freePort } from "./worker.ts";
import { WorkerSet } from "./worker-set.ts";

/** Node has shared ports (`SO_REUSEPORT`) on these. */
const SHARING_SYSTEMS: ReadonlySet<string> = new Set(["linux", "freebsd"]);

/**
 * Resolves once all workers are ready. The process ends with 1 when one of them cannot start.
 * @throws ConfigError with a sentence that says what to do
 */
export async function startPrimary(config: Config, count: number, logger: Logger): Promise<void> {
  if (!SHARING_SYSTEMS.has(process.platform)) {
    throw new ConfigError(
      `WORKERS (${String(count)}) needs a system whose processes can share a port, such as Linux.`,
    );
  }
  checkWorkerPorts(config, count);
  // In use by another program: said once, before any worker has begun.
  const port = await takenPort(config);
  await warnOfLeftJournals(config.dataDir, count, logger);
  const workers = new WorkerSet({
    count,
    drainTimeoutMs: config.drainTimeoutMs,
    fork: (number) => {
      cluster.setupPrimary({ args: [placeArgument({ number, count })] });
      return cluster.fork({ PORT: String(port) });
    },
    logger,
  });
  stopOnSignal(workers);
  const served = await workers.start();
  if (served === null) {
    await workers.stop();
    process.exit(1);
  }
  logger.info({ workers: count }, "all workers are ready");
  process.stdout.write(greeting(served, config));
}

/** The port of all workers, which is known to be free. Each of them binds it by itself. */
async function takenPort(config: Config): Promise<number> {
  if (config.port === 0) return freePort(config.host);
  const release = await reservePort(config);
  await release();
  return config.port;
}

/** As of a service with one process: the first signal lets calls end, a second one ends them at once. */
function stopOnSignal(workers: WorkerSet): void {
  let stopping = false;
  const stop = (): void => {
    if (stopping) {
      workers.kill();
      process.exit(1);
    }
    stopping = true;
    void workers.stop().then(() => process.exit(0));
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
}

/** Starts the service from the environment, prints its addresses, and stops it in order on a signal. */

import { ConfigError } from "../config/config-error.ts";
import { loadConfig } from "../config/config.ts";
import { openEngines } from "./engines.ts";
import { greeting } from "./greeting.ts";
import { openLog } from "./log.ts";
import { openGuardedClient } from "../net/guarded-fetch.ts";
import { openParley, type Parley } from "./parley.ts";
import { StoreStartError } from "../store/database/store-errors.ts";
import { messageOf, stackOf } from "../pacing/error-text.ts";

async function start(): Promise<void> {
  const config = loadConfig(process.env);
  const logger = openLog(config.logLevel, process.stdout);
  const client = openGuardedClient({ allowed: config.allowPrivateTargets });
  const parley = await openParley(config, openEngines(config, logger, client), logger, { client });
  process.stdout.write(greeting(parley, config));
  stopOnSignal(parley);
  // A supervisor restarts the service; continuing would lose every record.
  void parley.lost.then((reason) => {
    process.stderr.write(`${reason}\n`);
    process.exit(1);
  });
}

/** The first signal lets calls finish within `DRAIN_TIMEOUT_MS`; a second one stops at once. */
function stopOnSignal(parley: Parley): void {
  let stopping = false;
  const stop = (): void => {
    if (stopping) process.exit(1);
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

/** Starts the service from the environment, prints where it is, and stops it in order when told to. */

import { ConfigError, loadConfig, type Config } from "./config.ts";
import { openEngines } from "./engines.ts";
import { openLog } from "./log.ts";
import { openParley, type Parley } from "./parley.ts";
import { StoreStartError } from "./store/store-errors.ts";

async function start(): Promise<void> {
  const config = loadConfig(process.env);
  const logger = openLog(config.logLevel, process.stdout);
  const parley = await openParley(config, openEngines(config, logger), logger);
  greet(parley, config);
  stopOnSignal(parley);
  // A supervisor starts the service again; going on would lose every record.
  void parley.lost.then((reason) => {
    process.stderr.write(`${reason}\n`);
    process.exit(1);
  });
}

function greet(parley: Parley, config: Config): void {
  // A fragment: browsers send it to nobody, and the console takes it out of the address.
  const signIn = parley.newApiKey === null ? "" : `#key=${parley.newApiKey}`;
  const lines = [
    "",
    "Parley is ready.",
    "",
    `  Service    ${parley.publicUrl}`,
    ...(config.console ? [`  Console    ${parley.publicUrl}/${signIn}`] : []),
    `  Reference  ${parley.publicUrl}/docs`,
    ...(parley.newApiKey === null
      ? []
      : [`  API key    ${parley.newApiKey}   (shown this once; every request needs it as X-API-Key)`]),
    `  Data       ${config.databaseUrl === null ? config.dataDir : "PostgreSQL"}`,
    "",
  ];
  process.stdout.write(`${lines.join("\n")}\n`);
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
        process.stderr.write(`The service did not stop cleanly: ${sentence(error)}\n`);
        process.exit(1);
      },
    );
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
}

function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Never rejects: what prevents a start is said in a sentence, and the process ends with 1. */
export async function run(): Promise<void> {
  try {
    await start();
  } catch (error) {
    refuse(error);
  }
}

function refuse(error: unknown): never {
  const known = error instanceof ConfigError || error instanceof StoreStartError;
  const inUse = (error as NodeJS.ErrnoException).code === "EADDRINUSE";
  const detail = inUse
    ? `Something else listens at the address of HOST and PORT (${sentence(error)}).`
    : known || !(error instanceof Error)
      ? sentence(error)
      : (error.stack ?? error.message);
  process.stderr.write(`Parley cannot start. ${detail}\n`);
  process.exit(1);
}

/** The database of the service, as the environment configures it. */

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { type Config, loadConfig } from "../config/config.ts";
import { embeddedDatabaseDir, refuseIncompleteRestore } from "../store/database/data-dir.ts";
import type { Db } from "../store/database/db.ts";
import type { StoreLog } from "../store/opening/open-database.ts";
import { openSharedStore, openStore, type Store } from "../store/opening/open-store.ts";
import { loadSecretsKey } from "../store/secrets/secrets-key.ts";
import { CommandError, type CommandInput } from "./command.ts";

/** Leaves out messages about the steps of opening the store. */
export function logOf({ note }: Pick<CommandInput, "note">): StoreLog {
  const say = (fields: object, message: string): void => note(`${message} ${JSON.stringify(fields)}`);
  return { info: () => undefined, warn: say, error: say };
}

/** Refuses to create a database by mistake, such as in the wrong folder. */
export function requireDatabase({ dataDir, databaseUrl }: Config): void {
  if (databaseUrl !== null) return;
  refuseIncompleteRestore(dataDir);
  if (existsSync(embeddedDatabaseDir(dataDir))) return;
  throw new CommandError(
    `There is no database in ${resolve(dataDir)}; set DATA_DIR or DATABASE_URL as for the service, or start the service once.`,
  );
}

/** Runs `work` on the database, which a running service may use. Without a service the embedded database is opened. */
export async function withStore<Result>(
  input: CommandInput,
  work: (db: Db, config: Config) => Promise<Result>,
): Promise<Result> {
  const config = loadConfig(input.env);
  requireDatabase(config);
  const options = { ...config, secretsKey: loadSecretsKey(config), log: logOf(input) };
  const store: Store = (await openSharedStore(options)) ?? (await openStore(options));
  try {
    return await work(store.db, config);
  } finally {
    await store.close();
  }
}

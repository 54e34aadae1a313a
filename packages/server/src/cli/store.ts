/** The database of the service that the environment names. */

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { type Config, loadConfig } from "../config.ts";
import { embeddedDatabaseDir, refuseIncompleteRestore } from "../store/data-dir.ts";
import { type Db, openSharedStore, openStore, type Store, type StoreLog } from "../store/db.ts";
import { loadSecretsKey } from "../store/secrets-key.ts";
import { CommandError, type CommandInput } from "./command.ts";

/** Steps of a start are not what was asked for. */
export function logOf({ note }: Pick<CommandInput, "note">): StoreLog {
  const say = (fields: object, message: string): void => note(`${message} ${JSON.stringify(fields)}`);
  return { info: () => undefined, warn: say, error: say };
}

/** A database that is not there is not made by chance, such as from another folder. */
export function requireDatabase({ dataDir, databaseUrl }: Config): void {
  if (databaseUrl !== null) return;
  refuseIncompleteRestore(dataDir);
  if (existsSync(embeddedDatabaseDir(dataDir))) return;
  throw new CommandError(
    `There is no database in ${resolve(dataDir)}; set DATA_DIR or DATABASE_URL as the service has it, or start it once.`,
  );
}

/** Works on the database beside a service that may run; without one the embedded database is opened and closed again. */
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

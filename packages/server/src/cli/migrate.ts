import { loadConfig } from "../config.ts";
import { openStore } from "../store/db.ts";
import { loadSecretsKey } from "../store/secrets-key.ts";
import type { Command } from "./command.ts";
import { logOf } from "./store.ts";

const migrate: Command = {
  words: ["migrate"],
  summary: "Brings the database to the form that this version needs",
  arguments: [],
  options: {},
  details: [
    "Every start of the service does the same; alone it is for seeing it done before. A database that is not there yet " +
      "is made. Each step is done whole or not at all, and none is ever taken back: make a backup before.",
    "With the embedded database the service must not run. With DATABASE_URL several may wait for one another.",
  ],
  run: async (input) => {
    const config = loadConfig(input.env);
    let applied: readonly string[] = [];
    const log = {
      ...logOf(input),
      info: (fields: object) => {
        if ("migrations" in fields && Array.isArray(fields.migrations))
          applied = fields.migrations as string[];
      },
    };
    const beside = config.databaseUrl !== null;
    const store = await openStore({ ...config, secretsKey: loadSecretsKey(config), log, beside });
    await store.close();
    for (const name of applied) input.print(name);
    if (applied.length === 0) input.print("There is nothing to do.");
  },
};

export const migrateCommands: readonly Command[] = [migrate];

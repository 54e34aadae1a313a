import { loadConfig } from "../config/config.ts";
import { openStore } from "../store/opening/open-store.ts";
import { loadSecretsKey } from "../store/secrets/secrets-key.ts";
import type { Command } from "./command.ts";
import { logOf } from "./store.ts";

const migrate: Command = {
  words: ["migrate"],
  summary: "Migrates the database to this version",
  arguments: [],
  options: {},
  details: [
    "Every start of the service does the same; use this command to migrate before a start. A missing database is created. " +
      "Each migration is applied completely or not at all, and cannot be undone: make a backup before.",
    "With the embedded database the service must not run. With DATABASE_URL, concurrent migrations wait for each other.",
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
    if (applied.length === 0) input.print("The database is up to date.");
  },
};

export const migrateCommands: readonly Command[] = [migrate];

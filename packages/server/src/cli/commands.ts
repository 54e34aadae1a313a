/** Every command, in the order in which the help lists them. */

import { accountCommands } from "./accounts.ts";
import { backupCommands } from "./backup.ts";
import { callCommands } from "./calls.ts";
import type { Command } from "./command.ts";
import { healthCommands } from "./health.ts";
import { keyCommands } from "./keys.ts";
import { migrateCommands } from "./migrate.ts";
import { modelCommands } from "./models.ts";
import { secretsCommands } from "./secrets.ts";

export const commands: readonly Command[] = [
  ...healthCommands,
  ...accountCommands,
  ...keyCommands,
  ...callCommands,
  ...migrateCommands,
  ...backupCommands,
  ...secretsCommands,
  ...modelCommands,
];

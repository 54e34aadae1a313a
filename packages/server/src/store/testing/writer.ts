/** A process that writes agents as fast as it can and prints each one that the store has acknowledged. */

import { ensureDefaultAccount } from "../accounts/accounts.ts";
import { createAgent } from "../agents/agents.ts";
import { openStore } from "../opening/open-store.ts";

/** Ends a writer that was not killed. */
const MAXIMUM_AGENTS = 100_000;
const CALLERS = 4;

const [, , dataDir = "", secretsKey = ""] = process.argv;
const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const key = new Uint8Array(Buffer.from(secretsKey, "base64"));
const { db } = await openStore({ dataDir, databaseUrl: null, secretsKey: key, log });
const { accountId } = await ensureDefaultAccount(db);
process.stdout.write("ready\n");
await Promise.all(
  Array.from({ length: CALLERS }, async () => {
    for (let count = 0; count < MAXIMUM_AGENTS / CALLERS; count += 1) {
      const { agentId } = await createAgent(db, accountId, {
        name: "a",
        callTemplate: { systemPrompt: "hi" },
      });
      process.stdout.write(`${agentId}\n`);
    }
  }),
);

/** A process that stores a large batch, reports when a part of it is stored, and then waits to be killed. */

import { ensureDefaultAccount } from "../accounts/accounts.ts";
import { createAgent } from "../agents/agents.ts";
import { createBatch } from "../batches/batches.ts";
import { openStore } from "../opening/open-store.ts";

/** In the third portion: two are stored when it is prepared. */
const STANDS_STILL_AT = 2_100;
const CALLS = 2_500;
/** Ends a writer that was not killed. */
const LIMIT_MS = 60_000;

const [, , dataDir = "", secretsKey = "", databaseUrl = ""] = process.argv;
const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const key = new Uint8Array(Buffer.from(secretsKey, "base64"));
const { db } = await openStore({ dataDir, databaseUrl: databaseUrl || null, secretsKey: key, log });
const { accountId } = await ensureDefaultAccount(db);
const { agentId } = await createAgent(db, accountId, { name: "a", callTemplate: null });
process.stdout.write(`${agentId}\n`);
const standStill = (): object => {
  process.stdout.write("half\n");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LIMIT_MS);
  process.exit(1);
};
const calls = Array.from({ length: CALLS }, (_, n) => ({
  metadata: n === STANDS_STILL_AT ? { toJSON: standStill } : { n: String(n) },
}));
await createBatch(db, accountId, agentId, {
  windowStart: null,
  windowEnd: null,
  throttle: null,
  webhookUrl: "https://hooks.example/join",
  paused: false,
  extensions: {},
  webhookSecret: null,
  needsWebhook: true,
  calls,
});

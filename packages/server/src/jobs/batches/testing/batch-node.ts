/**
 * A process that makes the calls of batches until its input ends or it is killed. Calls are written as the service
 * writes them, limits included, and are not run.
 */

import { callRenderer } from "../../../lifecycle/resource.ts";
import { readAllowedTargets } from "../../../net/address-filter.ts";
import { openGuardedClient } from "../../../net/guarded-fetch.ts";
import { openStore } from "../../../store/opening/open-store.ts";
import { storedCallCreator } from "../../testing/stored-calls.ts";
import { openDialledCalls } from "../dialled-calls.ts";
import { openBatchDispatcher } from "../dispatcher.ts";

/** Ends a process that was left running. */
const LIMIT_MS = 120_000;

const [, , dataDir = "", secretsKey = "", databaseUrl = ""] = process.argv;
const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const key = new Uint8Array(Buffer.from(secretsKey, "base64"));
const store = await openStore({ dataDir, databaseUrl, secretsKey: key, log });
const { db } = store;

const createCall = storedCallCreator(db);
const dispatcher = openBatchDispatcher({
  db,
  createCall,
  outgoing: openDialledCalls({ db, createCall, dialsSip: false }),
  endUnjoined: () => undefined,
  client: openGuardedClient({ allowed: readAllowedTargets("127.0.0.1") }),
  renderCall: callRenderer({ apiNames: "neutral" }, () => "https://voice.example"),
  prefixes: ["X-Service-"],
  metrics: { ended: () => undefined, expired: () => undefined, underWay: () => undefined },
  log,
  nowMs: Date.now,
});
dispatcher.start();
process.stdout.write("ready\n");
const limit = setTimeout(() => process.exit(1), LIMIT_MS);
process.stdin.resume();
process.stdin.on("end", () => {
  clearTimeout(limit);
  void dispatcher.close().then(() => store.close());
});

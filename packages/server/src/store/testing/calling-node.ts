/** A process with one call, which gives signs of life until somebody kills it. */

import { setTimeout as wait } from "node:timers/promises";
import { insertCall, markJoined } from "../calls.ts";
import { openStore } from "../db.ts";
import { beat } from "../nodes.ts";
import { newCall } from "./calls.ts";

/** Ends a node that nobody kills. */
const LIMIT_BEATS = 600;
const BEAT_MS = 100;

const [, , dataDir = "", secretsKey = "", databaseUrl = "", accountId = "", nodeId = ""] = process.argv;
const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const key = new Uint8Array(Buffer.from(secretsKey, "base64"));
const { db } = await openStore({ dataDir, databaseUrl, secretsKey: key, log });
await beat(db, nodeId);
const call = newCall({ nodeId });
await insertCall(db, accountId, call);
await markJoined(db, accountId, call.callId, { joinedAtMs: Date.now(), clientVersion: null });
process.stdout.write(`${call.callId}\n`);
for (let beats = 0; beats < LIMIT_BEATS; beats += 1) {
  await wait(BEAT_MS);
  await beat(db, nodeId);
}
process.exit(1);

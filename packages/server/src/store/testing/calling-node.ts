/** A process with one call, which renews its lease until it is killed. */

import { setTimeout as wait } from "node:timers/promises";
import { insertCall, markJoined } from "../calls/calls.ts";
import { openStore } from "../opening/open-store.ts";
import { renewLease } from "../nodes/announcements.ts";
import { newCall } from "./calls.ts";
import { ANNOUNCEMENT, startNode } from "./leases.ts";

/** Ends a node that was not killed. */
const LIMIT_BEATS = 600;
const BEAT_MS = 100;

const [, , dataDir = "", secretsKey = "", databaseUrl = "", accountId = "", nodeId = ""] = process.argv;
const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const key = new Uint8Array(Buffer.from(secretsKey, "base64"));
const { db } = await openStore({ dataDir, databaseUrl, secretsKey: key, log });
const node = { nodeId, bootId: nodeId };
await startNode(db, node);
const call = newCall({ nodeId });
await insertCall(db, accountId, call);
await markJoined(db, accountId, call.callId, { joinedAtMs: Date.now(), clientVersion: null, by: node });
process.stdout.write(`${call.callId}\n`);
for (let beats = 0; beats < LIMIT_BEATS; beats += 1) {
  await wait(BEAT_MS);
  await renewLease(db, node, ANNOUNCEMENT);
}
process.exit(1);

/** A process that is stopped while it announces itself, as by the suspension of its machine, until it is killed. */

import { openStore } from "../opening/open-store.ts";
import { announceNode } from "../nodes/announcements.ts";
import { claimNode } from "../nodes/node-claims.ts";
import { ANNOUNCEMENT } from "./leases.ts";

const [, , dataDir = "", secretsKey = "", databaseUrl = "", nodeId = ""] = process.argv;
const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const key = new Uint8Array(Buffer.from(secretsKey, "base64"));
const { leaseDb } = await openStore({ dataDir, databaseUrl, secretsKey: key, log });
const node = { nodeId, bootId: nodeId };
await claimNode(leaseDb, node, { endedBootIds: [], lock: "exclusive" });
await announceNode(leaseDb, node, ANNOUNCEMENT, () => {
  process.stdout.write("stopped\n");
  process.kill(process.pid, "SIGSTOP");
  return true;
});

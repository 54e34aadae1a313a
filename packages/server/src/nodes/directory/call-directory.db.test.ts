import { randomBytes, randomUUID } from "node:crypto";
import { sql } from "kysely";
import { afterEach } from "vitest";
import type { CallOperation } from "../../ports/nodes/call-directory.ts";
import { describeCallDirectory, type DirectoryNode } from "../../ports/testing/call-directory-conformance.ts";
import { insertCall, markJoined } from "../../store/calls/calls.ts";
import { announceNode } from "../../store/nodes/announcements.ts";
import { claimNode } from "../../store/nodes/node-claims.ts";
import { markEnded, newCall } from "../../store/testing/calls.ts";
import { describeOnBothDatabases, newAccount } from "../../store/testing/databases.ts";
import { createCallDirectory } from "./call-directory.ts";
import { openInternalClient } from "./internal-client.ts";
import { openInternalListener } from "./internal-listener.ts";
import { nodeKey } from "./signatures.ts";

describeOnBothDatabases("the call directory over the database", (current) => {
  const key = nodeKey(randomBytes(32));
  const accounts = new Map<string, string>();
  const closing: (() => Promise<void>)[] = [];
  const ids = new Map<DirectoryNode, string>();
  afterEach(async () => {
    await Promise.all(closing.splice(0).map((close) => close()));
  });

  const openNode = async (name: string): Promise<DirectoryNode> => {
    const { db } = current();
    const node = { nodeId: `${name} ${randomUUID()}`, bootId: randomUUID() };
    await claimNode(db, node, { endedBootIds: [], lock: "exclusive" });
    const performed: [string, CallOperation][] = [];
    const logger = { warn: () => undefined, error: () => undefined };
    const perform = async (callId: string, operation: CallOperation) => {
      performed.push([callId, operation]);
      return { by: name };
    };
    const at = { host: "127.0.0.1", port: 0 };
    const listener = await openInternalListener(
      { key, bootId: node.bootId, nowMs: Date.now, perform, logger },
      at,
    );
    const client = openInternalClient({ key, nowMs: Date.now, limitMs: 30_000 });
    closing.push(async () => {
      client.close();
      await listener.close();
    });
    const address = `http://127.0.0.1:${String(listener.port)}`;
    await announceNode(db, node, { address, version: "1", isDraining: false, liveCalls: 0 });
    // No test may depend on how fast the machine is: the lease lapses where a test says so.
    await sql`update nodes set lease_until = clock_timestamp() + interval '1 hour' where id = ${node.nodeId}`.execute(
      db.query,
    );
    const opened: DirectoryNode = {
      directory: createCallDirectory({ db, node, client, logger }),
      performed,
      async kill() {
        await sql`update nodes set lease_until = clock_timestamp() where id = ${node.nodeId}`.execute(
          db.query,
        );
      },
    };
    ids.set(opened, node.nodeId);
    return opened;
  };
  const accountOf = (callId: string): string => accounts.get(callId) ?? "";

  describeCallDirectory(() => ({
    openNode,
    async makeCall(node) {
      const { db } = current();
      const accountId = await newAccount(db);
      const createdAtMs = Date.now();
      const call = newCall({
        nodeId: ids.get(node) ?? "",
        createdAtMs,
        joinDeadlineMs: createdAtMs + 3_600_000,
      });
      await insertCall(db, accountId, call);
      accounts.set(call.callId, accountId);
      return call.callId;
    },
    async join(callId) {
      const join = { joinedAtMs: Date.now(), clientVersion: null };
      await markJoined(current().db, accountOf(callId), callId, join);
    },
    async end(callId) {
      const end = { endReason: "hangup", endedAtMs: Date.now() } as const;
      await markEnded(current().db, accountOf(callId), callId, end);
    },
  }));
});

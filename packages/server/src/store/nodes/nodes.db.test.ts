import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { expect, it } from "vitest";
import { describeOnBothDatabases } from "../testing/databases.ts";
import { otherNodeRuns, recordHeartbeat } from "./nodes.ts";
import { releaseNode } from "./node-claims.ts";

describeOnBothDatabases("another node", (current) => {
  it("runs while it has a boot and sends heartbeats", async () => {
    const { db } = current();
    const [own, other] = [0, 1].map(() => ({ nodeId: randomUUID(), bootId: randomUUID() }));
    if (own === undefined || other === undefined) throw new Error("a node is missing");
    await recordHeartbeat(db, own);
    expect(await otherNodeRuns(db, own.nodeId)).toBe(false);
    await recordHeartbeat(db, other);
    expect(await otherNodeRuns(db, own.nodeId)).toBe(true);
    await sql`update nodes set seen_at = clock_timestamp() - interval '2 minutes' where id = ${other.nodeId}`.execute(
      db.query,
    );
    expect(await otherNodeRuns(db, own.nodeId)).toBe(false);
    await recordHeartbeat(db, other);
    await releaseNode(db, other);
    expect(await otherNodeRuns(db, own.nodeId)).toBe(false);
  });
});

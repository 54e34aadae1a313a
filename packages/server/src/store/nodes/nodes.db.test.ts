import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { describeOnBothDatabases } from "../testing/databases.ts";
import { lapse, startNode } from "../testing/leases.ts";
import { otherNodeRuns } from "./nodes.ts";
import { releaseNode } from "./node-claims.ts";

describeOnBothDatabases("another node", (current) => {
  it("runs while it has a boot and renews its lease", async () => {
    const { db } = current();
    const [own, other] = [0, 1].map(() => ({ nodeId: randomUUID(), bootId: randomUUID() }));
    if (own === undefined || other === undefined) throw new Error("a node is missing");
    await startNode(db, own);
    expect(await otherNodeRuns(db, own.nodeId)).toBe(false);
    await startNode(db, other);
    expect(await otherNodeRuns(db, own.nodeId)).toBe(true);
    await lapse(db, other.nodeId, 120_000);
    expect(await otherNodeRuns(db, own.nodeId)).toBe(false);
    await startNode(db, other);
    await releaseNode(db, other);
    expect(await otherNodeRuns(db, own.nodeId)).toBe(false);
  });
});

import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { beforeEach, expect, it } from "vitest";
import { renewLease } from "../store/nodes/announcements.ts";
import { claimNode } from "../store/nodes/node-claims.ts";
import { describeOnBothDatabases } from "../store/testing/databases.ts";
import { ANNOUNCEMENT, LONG_LEASE_MS } from "../store/testing/leases.ts";
import { enterNodes, type EnteringNode } from "./enter-nodes.ts";

describeOnBothDatabases("a process that starts beside others", (current) => {
  beforeEach(async () => {
    await sql`delete from nodes`.execute(current().db.query);
  });

  const enter = async (place: Pick<EnteringNode, "address" | "loopbackId">) => {
    const { db } = current();
    const node = { nodeId: randomUUID(), bootId: randomUUID() };
    await claimNode(db, node, { endedBootIds: [], lock: "exclusive" });
    const isLoopback = (address: string): boolean => address.includes("127.0.0.1");
    const logger = { info: () => undefined, warn: () => undefined, error: () => undefined };
    const rest = { leaseDb: db, node, isLoopback, version: "1", leaseMs: LONG_LEASE_MS, logger };
    return { node, entered: await enterNodes({ ...place, ...rest }) };
  };
  /** The other process runs on, and renews its lease until the one that starts is refused. */
  const refusalBeside = async (
    first: Pick<EnteringNode, "address" | "loopbackId">,
    second: Pick<EnteringNode, "address" | "loopbackId">,
  ): Promise<string> => {
    const { node } = await enter(first);
    const renewing = setInterval(
      () => void renewLease(current().db, node, { ...ANNOUNCEMENT, ...first }).catch(() => undefined),
      100,
    );
    try {
      return await enter(second).then(
        () => "entered",
        (error: unknown) => String(error),
      );
    } finally {
      clearInterval(renewing);
    }
  };
  const HERE = { address: "http://127.0.0.1:8090", loopbackId: "machine one" };

  it("runs beside workers of the same machine, which it reaches at a loopback address", async () => {
    await enter(HERE);
    const { entered } = await enter({ ...HERE, address: "http://127.0.0.1:8091" });
    expect(entered.others).toMatchObject([HERE]);
    await enter({ ...HERE, address: "http://10.0.0.5:8090" });
  });

  it("is refused beside a process at a loopback address of another machine, with what to set", async () => {
    const refused = await refusalBeside(HERE, {
      address: "http://127.0.0.1:9000",
      loopbackId: "machine two",
    });
    expect(refused).toContain("on another machine or in another container");
    expect(refused).toContain("Set NODE_ADDRESS for each of them");
  });

  it("is refused at a loopback address itself where the other one is on a network", async () => {
    const network = { address: "http://10.0.0.5:8090", loopbackId: "machine two" };
    expect(await refusalBeside(network, HERE)).toContain("on another machine or in another container");
  });

  it("runs beside processes of other machines where both have addresses of a network", async () => {
    await enter({ address: "http://10.0.0.5:8090", loopbackId: "machine one" });
    const { entered } = await enter({ address: "http://10.0.0.6:8090", loopbackId: "machine two" });
    expect(entered.others).toHaveLength(1);
  });

  it("is refused beside one without an address", async () => {
    const nowhere = { address: null, loopbackId: "machine one" };
    expect(await refusalBeside(nowhere, HERE)).toContain("without NODE_ADDRESS");
  });
});

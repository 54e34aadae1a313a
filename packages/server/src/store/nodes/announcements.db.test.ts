import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { beforeEach, expect, it } from "vitest";
import { startChild } from "../testing/child.ts";
import { describeOnBothDatabases } from "../testing/databases.ts";
import {
  ALL_SHARES,
  announceNode,
  renewLease,
  takeShare,
  type Announced,
  type Announcement,
} from "./announcements.ts";
import { claimNode, releaseNode, type NodeBoot } from "./node-claims.ts";

/** No test may depend on how fast the machine is: a lease lapses where a test says so. */
const LEASE_MS = 3_600_000;

describeOnBothDatabases("announcements", (current) => {
  beforeEach(async () => {
    await sql`delete from nodes`.execute(current().db.query);
  });

  const open = async (): Promise<NodeBoot> => {
    const node = { nodeId: randomUUID(), bootId: randomUUID() };
    await claimNode(current().db, node, { endedBootIds: [], lock: "exclusive" });
    return node;
  };
  const announce = (node: NodeBoot, changes: Partial<Announcement> = {}): Promise<Announced> => {
    const announcement = { address: null, version: "1", isDraining: false, liveCalls: 0, leaseMs: LEASE_MS };
    return announceNode(current().db, node, { ...announcement, ...changes });
  };
  const shareOf = async (node: NodeBoot): Promise<number> => {
    const announced = await announce(node);
    return announced.kind === "announced" ? announced.share / ALL_SHARES : -1;
  };
  const sumOfShares = async (): Promise<number> => {
    const read = await sql<{ sum: number }>`
      select coalesce(sum(rate_share), 0)::int as sum from nodes where boot_id is not null
        and lease_until > clock_timestamp()`.execute(current().db.query);
    return read.rows[0]?.sum ?? -1;
  };
  const lapse = async ({ nodeId }: NodeBoot): Promise<void> => {
    await sql`update nodes set lease_until = clock_timestamp() where id = ${nodeId}`.execute(
      current().db.query,
    );
  };

  it("tell each process of the others that run", async () => {
    const [a, b] = [await open(), await open()];
    const address = "http://10.0.0.5:8090";
    expect(await announce(a, { address, version: "7", liveCalls: 3, isDraining: true })).toMatchObject({
      kind: "announced",
      others: [],
    });
    expect(await announce(b)).toMatchObject({
      others: [{ ...a, address, version: "7", liveCalls: 3, isDraining: true }],
    });
    await lapse(a);
    expect(await announce(b)).toMatchObject({ others: [] });
    await announce(a);
    await releaseNode(current().db, a);
    expect(await announce(b)).toMatchObject({ others: [] });
  });

  it("give one process all of the rates, and others only what it leaves", async () => {
    const [a, b] = [await open(), await open()];
    expect([await shareOf(a), await shareOf(b)]).toEqual([1, 0]);
    expect([await shareOf(a), await shareOf(b)]).toEqual([0.5, 0.5]);
    await lapse(a);
    expect(await shareOf(b)).toBe(1);
    // One that was silent has lost its share.
    expect(await shareOf(a)).toBe(0);
  });

  it("never share out more than there is, also when many come and go at once", async () => {
    const nodes = await Promise.all(Array.from({ length: 5 }, open));
    for (let round = 0; round < 6; round += 1) {
      const gone = round % nodes.length;
      await Promise.all(nodes.map((node, at) => (at === gone ? lapse(node) : announce(node))));
      expect(await sumOfShares()).toBeLessThanOrEqual(ALL_SHARES);
    }
    for (const _round of [1, 2]) for (const node of nodes) await announce(node);
    expect(await sumOfShares()).toBe(ALL_SHARES);
  });

  it("are refused where the process may not run beside the others, which then do not see it", async () => {
    const [a, b] = [await open(), await open()];
    await announce(a);
    const { db } = current();
    const announcement = { address: null, version: "1", isDraining: false, liveCalls: 0, leaseMs: LEASE_MS };
    const refused = await announceNode(db, b, announcement, (others) => others.length === 0);
    expect(refused).toMatchObject({ kind: "refused", others: [{ nodeId: a.nodeId }] });
    expect(await announce(a)).toMatchObject({ others: [] });
  });

  it("admit one of two processes that start at once and may not run beside another", async () => {
    const { db } = current();
    const nodes = [await open(), await open()];
    const announcement = { address: null, version: "1", isDraining: false, liveCalls: 0, leaseMs: LEASE_MS };
    const announced = await Promise.all(
      nodes.map((node) => announceNode(db, node, announcement, (others) => others.length === 0)),
    );
    expect(announced.map(({ kind }) => kind).toSorted()).toEqual(["announced", "refused"]);
  });

  it("are not those of a process whose node another one has taken", async () => {
    const a = await open();
    await announce(a);
    expect(await announce({ ...a, bootId: "another" })).toEqual({ kind: "taken" });
  });

  const renew = (node: NodeBoot) =>
    renewLease(current().db, node, {
      address: null,
      version: "1",
      isDraining: false,
      liveCalls: 0,
      leaseMs: LEASE_MS,
    });

  it("are renewed while another process is stopped as it announces itself", async () => {
    const { db, kind } = current();
    const [a, b] = [await open(), await open()];
    await announce(a);
    const [stopped, resume] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    // It has the lock, and does not go on. The embedded database has one process, whose transactions wait for each other.
    const stopping =
      kind === "embedded"
        ? Promise.resolve(stopped.resolve())
        : db.query.transaction().execute(async (tx) => {
            await sql`select pg_advisory_xact_lock(1634627439, 1970168677)`.execute(tx);
            stopped.resolve();
            await resume.promise;
          });
    await stopped.promise;
    expect(await renew(a)).toMatchObject({ kind: "renewed", hasLapsed: false });
    resume.resolve();
    await stopping;
    expect(await announce(b)).toMatchObject({ kind: "announced", others: [{ nodeId: a.nodeId }] });
  });

  it("of a process that starts wait for one that is stopped as it starts no longer than the server allows", async ({
    skip,
  }) => {
    const { databaseUrl, secretsKey } = current();
    if (databaseUrl === null) {
      skip();
      return;
    }
    const dataDir = mkdtempSync(join(tmpdir(), "parley-node-"));
    const key = Buffer.from(secretsKey).toString("base64");
    const child = startChild("./stopping-node.ts", [dataDir, key, databaseUrl, randomUUID()]);
    expect(await child.line()).toBe("stopped");
    // Without the limit of its own it would wait for the limit of every transaction, and fail by that of a lock.
    expect(await announce(await open())).toMatchObject({ kind: "announced", others: [] });
    await child.kill();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it("say after a lapse that others may have taken the calls and the share", async () => {
    const [a, b] = [await open(), await open()];
    await announce(a);
    expect(await renew(a)).toMatchObject({ hasLapsed: false, share: ALL_SHARES, others: [] });
    await lapse(a);
    await announce(b);
    expect(await renew(a)).toMatchObject({ hasLapsed: true, share: 0, others: [{ nodeId: b.nodeId }] });
    expect(await renew(a)).toMatchObject({ hasLapsed: false, fairShare: 0 });
    expect(await takeShare(current().db, b)).toBe(ALL_SHARES / 2);
    expect(await renew(a)).toMatchObject({ share: 0, fairShare: ALL_SHARES / 2 });
    expect(await takeShare(current().db, a)).toBe(ALL_SHARES / 2);
    expect(await renew({ ...a, bootId: "another" })).toEqual({ kind: "taken" });
  });
});

/** Processes that share a database crash: no call is made twice, and none is lost. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { expect, it } from "vitest";
import { getBatch } from "../../store/batches/batches.ts";
import { listScheduledCalls } from "../../store/batches/scheduled-calls.ts";
import { callsOf, expireClaims, newBatch, statusesOf } from "../../store/testing/batches.ts";
import { startChild, type Child } from "../../store/testing/child.ts";
import { describeOnBothDatabases } from "../../store/testing/databases.ts";
import { openReceiver, deliveryOf } from "../testing/receiver.ts";

const LIMIT = { timeout: 60_000, interval: 20 };
const CALLS = 400;

describeOnBothDatabases("batches of several processes", (current) => {
  it(
    "make each call once, also when one of them is killed in the middle",
    { timeout: 240_000 },
    async ({ skip }) => {
      const { db, databaseUrl, secretsKey } = current();
      // The embedded database belongs to one process.
      if (databaseUrl === null) {
        skip();
        return;
      }
      const dirs: string[] = [];
      const children: Child[] = [];
      const start = async (): Promise<Child> => {
        const dir = mkdtempSync(join(tmpdir(), "parley-batch-"));
        dirs.push(dir);
        const child = startChild("../../jobs/batches/testing/batch-node.ts", [
          dir,
          Buffer.from(secretsKey).toString("base64"),
          databaseUrl,
        ]);
        children.push(child);
        expect(await child.line()).toBe("ready");
        return child;
      };
      // Some are always under way when a process dies.
      const receiver = await openReceiver(async () => {
        await new Promise((resolve) => setTimeout(resolve, 30));
        return 204;
      });
      try {
        const batch = await newBatch(db, callsOf(CALLS), { webhookUrl: receiver.url });
        const [dying] = await Promise.all([start(), start()]);
        await expect.poll(() => receiver.received.length, LIMIT).toBeGreaterThan(CALLS / 4);
        await dying.kill();
        const isOver = async (): Promise<boolean> => {
          // Moves the leases of what was cut off back by half a minute, and no others.
          const statuses = await statusesOf(db, batch.batchId);
          if (!statuses.includes("FUTURE")) await expireClaims(db);
          const { accountId, agentId, batchId } = batch;
          return (await getBatch(db, accountId, agentId, batchId))?.endedAt !== null;
        };
        await expect.poll(isOver, LIMIT).toBe(true);
        const made = await sql<{ n: string; calls: number }>`
        select metadata ->> 'n' as n, count(*) as calls from calls where agent_id = ${batch.agentId} group by 1`.execute(
          db.query,
        );
        expect(made.rows.filter(({ calls }) => calls > 1)).toEqual([]);
        const notified = receiver.received.map(({ body }) => deliveryOf(body).call.callId);
        expect(new Set(notified).size).toBe(notified.length);
        const statuses = await statusesOf(db, batch.batchId);
        const successes = statuses.filter((status) => status === "SUCCESS").length;
        expect(statuses.filter((status) => status === "ERROR")).toHaveLength(CALLS - successes);
        expect(successes).toBeGreaterThan(CALLS / 2);
        const page = { limit: 100, after: null, direction: "forward" } as const;
        const errors = await listScheduledCalls(
          db,
          batch.accountId,
          batch.batchId,
          { status: "ERROR" },
          page,
        );
        for (const { error } of errors.rows) expect(error).toContain("outcome unknown");
      } finally {
        for (const child of children) await child.kill();
        await receiver.close();
        for (const dir of dirs) rmSync(dir, { recursive: true, force: true });
      }
    },
  );
});

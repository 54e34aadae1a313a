/**
 * A small simulated cluster on PostgreSQL: nodes die, stand still, are slow or cut off, and have wrong clocks, on virtual
 * time. `npm run sim -- --cluster` runs greater ones.
 */

import { expect, inject, it } from "vitest";
import { runCluster } from "../../sim/cluster/cluster.ts";
import { openServerTestStore } from "../../src/store/testing/databases.ts";

const server = inject("testServer");
if (server === null) process.stderr.write("skipped: a simulated cluster, for there is no PostgreSQL here\n");

it.skipIf(server === null)("has one owner of each call at a time, and no call with two ends", async () => {
  if (server === null) throw new Error("A skipped test must not open its database.");
  const place = await openServerTestStore(server);
  try {
    const { faults, ...figures } = await runCluster({
      databaseUrl: place.databaseUrl ?? "",
      seed: 30,
      nodes: 4,
      calls: 12,
      faultsMs: 120_000,
    });
    expect(faults).toEqual([]);
    // The faults of this seed had an effect.
    expect(figures.deaths).toBeGreaterThan(0);
    expect(figures.adoptions).toBeGreaterThan(0);
    expect(figures.toolCalls).toBeGreaterThan(0);
  } finally {
    await place.remove();
  }
});

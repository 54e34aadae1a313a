/**
 * `npm run sim -- --cluster`: simulated clusters on PostgreSQL, one for each seed. Options: `--runs 10`, `--seed 1` (the
 * first seed), `--nodes 6`, `--calls 40`, `--minutes 4` (with faults), `--log` (the lines of the nodes).
 * TEST_DATABASE_URL names the server. Exits with 1 when a cluster fails, and prints its seed.
 */

import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createDatabase } from "../../bench/jobs-store.ts";
import { openStore } from "../../src/store/opening/open-store.ts";
import { runCluster, type ClusterResult } from "./cluster.ts";

/** Faults of one seed that are shown. */
const FAULTS_SHOWN = 10;

/** Returns the exit code. */
export async function simulateClusters(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      cluster: { type: "boolean" },
      runs: { type: "string", default: "10" },
      seed: { type: "string", default: "1" },
      nodes: { type: "string", default: "6" },
      calls: { type: "string", default: "40" },
      minutes: { type: "string", default: "4" },
      log: { type: "boolean", default: false },
    },
  });
  let failed = 0;
  const first = Number(values.seed);
  for (let seed = first; seed < first + Number(values.runs); seed += 1) {
    const result = await onNewDatabase((databaseUrl) =>
      runCluster({
        databaseUrl,
        seed,
        nodes: Number(values.nodes),
        calls: Number(values.calls),
        faultsMs: Number(values.minutes) * 60_000,
        ...(values.log ? { log: (line: string) => console.log(line) } : {}),
      }),
    );
    report(seed, result);
    if (result.faults.length > 0) failed += 1;
  }
  return failed === 0 ? 0 : 1;
}

async function onNewDatabase<Result>(work: (databaseUrl: string) => Promise<Result>): Promise<Result> {
  const database = await createDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), "parley-cluster-"));
  try {
    const log = { info: () => undefined, warn: console.error, error: console.error };
    const secretsKey = new Uint8Array(randomBytes(32));
    const store = await openStore({ dataDir, databaseUrl: database.url, secretsKey, log });
    await store.close();
    return await work(database.url);
  } finally {
    await database.drop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

function report(seed: number, result: ClusterResult): void {
  const { deaths, otherFaults, adoptions, toolCalls, statements, lastedMs, faults } = result;
  console.log(
    `seed ${String(seed)}: ${(lastedMs / 60_000).toFixed(0)} minutes, ${String(deaths)} deaths, ${String(otherFaults)} other faults, ` +
      `${String(adoptions)} adoptions, ${String(toolCalls)} tool calls, ${String(statements)} statements; ${String(faults.length)} wrong`,
  );
  for (const fault of faults.slice(0, FAULTS_SHOWN)) console.error(`  ${fault}`);
}

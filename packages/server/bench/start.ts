/** `npm run bench:start`: from the start of the process to ready, with a new and with an existing embedded database. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startChildService } from "../demo/child-service.ts";
import { percentile, publish } from "./report.ts";

const ROUNDS = 3;
const RESTARTS = 3;

const fresh: number[] = [];
const existing: number[] = [];
for (let round = 0; round < ROUNDS; round++) {
  const dataDir = await mkdtemp(join(tmpdir(), "parley-start-"));
  try {
    for (let restart = 0; restart <= RESTARTS; restart++) {
      const service = await startChildService({ dataDir, env: { CONSOLE: "true" } });
      (restart === 0 ? fresh : existing).push(service.readyMs);
      await service.stop();
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

const row = (name: string, values: readonly number[], limit: string): string =>
  `| ${name} | ${String(values.length)} | ${(percentile(values, 0.5) / 1000).toFixed(2)} | ` +
  `${(Math.max(...values) / 1000).toFixed(2)} | ${limit} |`;

await publish(
  "bench:start",
  `| start to ready | starts | median, s | slowest, s | aim |
|---|---|---|---|---|
${row("new embedded database", fresh, "≤ 10 s")}
${row("existing embedded database", existing, "≤ 2 s")}`,
);

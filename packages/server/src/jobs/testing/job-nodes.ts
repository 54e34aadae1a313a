/** Starts and stops processes that run the jobs of one database. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startChild, type Child } from "../../store/testing/child.ts";
import type { TestStore } from "../../store/testing/databases.ts";

export interface JobNodes {
  /** `live`: calls are joined and ended at once; otherwise they are not joined. Resolves when it works. */
  start(calls: "live" | "unjoined"): Promise<Child>;
  close(): Promise<void>;
}

export function openJobNodes({ databaseUrl, secretsKey }: TestStore): JobNodes {
  const dirs: string[] = [];
  const children: Child[] = [];
  return {
    async start(calls) {
      const dir = mkdtempSync(join(tmpdir(), "parley-node-"));
      dirs.push(dir);
      const key = Buffer.from(secretsKey).toString("base64");
      const child = startChild("../../jobs/testing/jobs-node.ts", [dir, key, databaseUrl ?? "", calls]);
      children.push(child);
      const line = await child.line();
      if (line !== "ready") throw new Error(`The process said ${String(line)} instead of being ready.`);
      return child;
    },
    async close() {
      for (const child of children) await child.kill();
      for (const dir of dirs) rmSync(dir, { recursive: true, force: true });
    },
  };
}

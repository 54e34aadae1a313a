/** Records that workers have left behind which are no longer started, because WORKERS is smaller now. */

import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { nodeDirOf, WORKERS_FOLDER } from "../../config/workers/worker-config.ts";
import { listJournalFiles } from "../../store/journal/journal-files.ts";

/** Numbers of the workers whose folders have a journal, the first worker left out. */
export async function journalsOfWorkers(dataDir: string): Promise<readonly number[]> {
  const names = await readdir(join(dataDir, WORKERS_FOLDER)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const numbers: number[] = [];
  for (const number of names.map(Number).filter((one) => Number.isInteger(one) && one > 1)) {
    if ((await listJournalFiles(nodeDirOf(dataDir, number))).length > 0) numbers.push(number);
  }
  return numbers.toSorted((a, b) => a - b);
}

export async function warnOfLeftJournals(
  dataDir: string,
  count: number,
  logger: Pick<Logger, "warn">,
): Promise<void> {
  const left = (await journalsOfWorkers(dataDir)).filter((number) => number > count);
  if (left.length === 0) return;
  logger.warn(
    { workers: left, setting: "WORKERS" },
    "workers that no longer run have records of calls that are not in the database yet; start with more workers once",
  );
}

import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterEach, expect, it } from "vitest";
import { nodeDirOf } from "../../config/workers/worker-config.ts";
import { journalDir } from "../../store/journal/journal-files.ts";
import { journalsOfWorkers, warnOfLeftJournals } from "./left-journals.ts";

let dataDir = "";
afterEach(() => rm(dataDir, { recursive: true, force: true }));

async function newDataDir(journals: Readonly<Record<number, readonly string[]>>): Promise<void> {
  dataDir = await mkdtemp(join(tmpdir(), "parley-test-"));
  for (const [number, files] of Object.entries(journals)) {
    const dir = journalDir(nodeDirOf(dataDir, Number(number)));
    await mkdir(dir, { recursive: true });
    for (const file of files) await writeFile(join(dir, file), "");
  }
}

const FILE = "0b9dcb4c-5b3e-4b4e-9c49-0f7f0c9a7a11.journal";

it("names the workers beyond WORKERS that have records to write", async () => {
  await newDataDir({ 2: [], 3: [FILE], 10: [FILE] });
  expect(await journalsOfWorkers(dataDir)).toEqual([3, 10]);
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(line) });
  await warnOfLeftJournals(dataDir, 4, logger);
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { workers: [10], setting: "WORKERS" },
  ]);
  await warnOfLeftJournals(dataDir, 10, logger);
  expect(lines.length).toBe(1);
});

it("has nothing to name where there were never workers", async () => {
  await newDataDir({});
  expect(await journalsOfWorkers(dataDir)).toEqual([]);
});

import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { lockDataDir } from "./lock-file.ts";
import { processStart, processTable } from "./process-start.ts";
import { StoreStartError } from "./store-errors.ts";
import { startChild } from "../testing/child.ts";

/** Watched files are polled every 250 ms. */
const WATCH_MS = 500;

let dataDir = "";
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "parley-lock-"));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

function lockFiles(): string[] {
  return readdirSync(dataDir).toSorted();
}

async function writeLock(number: number, changes: object): Promise<string> {
  const path = join(dataDir, `lock.${number}`);
  const table = await processTable();
  const record = { pid: process.pid, startTime: await processStart(process.pid), processTable: table };
  writeFileSync(path, JSON.stringify({ ...record, released: false, ...changes }));
  return path;
}

it("refuses a second process in one sentence that names the first and the folder", async () => {
  const owner = startChild("./lock-holder.ts", [dataDir]);
  expect(await owner.line()).toBe("locked");
  const refused = lockDataDir(dataDir);
  await expect(refused).rejects.toThrow(StoreStartError);
  await expect(refused).rejects.toThrow(
    `Process ${owner.pid} is using the data folder ${dataDir}; stop it or choose another DATA_DIR.`,
  );
  await owner.finish();
  await (await lockDataDir(dataDir)).release();
});

it("refuses the same process as well, until the lock is released", async () => {
  const lock = await lockDataDir(dataDir);
  await expect(lockDataDir(dataDir)).rejects.toThrow(`Process ${process.pid} is using`);
  await lock.release();
  await lock.release();
  const next = await lockDataDir(dataDir);
  expect(lockFiles()).toEqual(["lock.2"]);
  await next.release();
});

it("takes the lock of a process that was killed, at once", async () => {
  const owner = startChild("./lock-holder.ts", [dataDir]);
  expect(await owner.line()).toBe("locked");
  await owner.kill();
  // A watch of an hour would be noticed.
  const lock = await lockDataDir(dataDir, 3_600_000);
  expect(lockFiles()).toEqual(["lock.2"]);
  await lock.release();
});

it("tells the processes that have certainly ended from those that may run elsewhere", async () => {
  const first = await lockDataDir(dataDir);
  expect(first.endedBootIds).toEqual([]);
  await first.release();
  const second = await lockDataDir(dataDir);
  expect(second.endedBootIds).toEqual([first.bootId]);
  await second.release();
  // Killed, with its record as it was; then a folder that was copied to another machine.
  await writeLock(2, { startTime: "1", bootIds: ["killed", "before"] });
  const third = await lockDataDir(dataDir);
  expect(third.endedBootIds).toEqual(["killed", "before"]);
  await third.release();
  await writeLock(3, { processTable: "another machine", bootIds: ["may run there", "before"] });
  const copy = await lockDataDir(dataDir, WATCH_MS);
  expect(copy.endedBootIds).toEqual(["before"]);
  await copy.release();
});

it("is not deceived by a process id that is used again", async () => {
  await writeLock(7, { startTime: "1" });
  const lock = await lockDataDir(dataDir, 3_600_000);
  expect(lockFiles()).toEqual(["lock.8"]);
  await lock.release();
});

it("lets one of many starters take over from a dead owner", async () => {
  for (let round = 0; round < 3; round += 1) {
    const dead = startChild("./lock-holder.ts", [dataDir]);
    expect(await dead.line()).toBe("locked");
    await dead.kill();
    const starters = Array.from({ length: 6 }, () => startChild("./lock-holder.ts", [dataDir]));
    const said = await Promise.all(starters.map(async (starter) => starter.line()));
    expect(said.filter((line) => line === "locked")).toHaveLength(1);
    const owner = starters[said.indexOf("locked")];
    for (const line of said.filter((each) => each !== "locked")) {
      expect(line).toContain(`Process ${owner?.pid} is using the data folder ${dataDir}`);
    }
    await Promise.all(starters.map(async (starter) => starter.finish()));
  }
});

it("lets one of many starters into a new folder, within one process too", async () => {
  const outcomes = await Promise.allSettled(Array.from({ length: 8 }, async () => lockDataDir(dataDir)));
  const taken = outcomes.filter((outcome) => outcome.status === "fulfilled");
  expect(taken).toHaveLength(1);
  for (const outcome of taken) await outcome.value.release();
  expect(lockFiles().filter((name) => name.endsWith(".tmp"))).toEqual([]);
});

it("watches for a sign of an owner out of sight: refused while it touches the file", async () => {
  const path = await writeLock(1, { processTable: "another container", pid: 1 });
  const refused = lockDataDir(dataDir, 3_600_000);
  const heartbeat = setInterval(() => utimesSync(path, new Date(), new Date()), 20);
  try {
    await expect(refused).rejects.toThrow(`Process 1 is using the data folder ${dataDir}`);
  } finally {
    clearInterval(heartbeat);
  }
});

it("takes over from an owner out of sight that gives no sign", async () => {
  await writeLock(1, { processTable: "another container" });
  const lock = await lockDataDir(dataDir, WATCH_MS);
  expect(lockFiles()).toEqual(["lock.2"]);
  await lock.release();
});

it("takes over from a file that a crash left empty", async () => {
  writeFileSync(join(dataDir, "lock.3"), "");
  const lock = await lockDataDir(dataDir, WATCH_MS);
  expect(lockFiles()).toEqual(["lock.4"]);
  await lock.release();
});

it("gives a sign while it holds the lock", async () => {
  const owner = startChild("./lock-holder.ts", [dataDir]);
  expect(await owner.line()).toBe("locked");
  const path = join(dataDir, "lock.1");
  const record = JSON.parse(readFileSync(path, "utf8")) as object;
  // In another process table only the heartbeat shows that the owner runs, and this record keeps getting one.
  writeFileSync(path, JSON.stringify({ ...record, processTable: "another container" }));
  await expect(lockDataDir(dataDir, 10_000)).rejects.toThrow(`Process ${owner.pid} is using`);
  await owner.finish();
});

it("knows running processes by their start, and no others", async () => {
  const child = startChild("./lock-holder.ts", [dataDir]);
  await child.line();
  const start = await processStart(child.pid);
  expect(start).not.toBeNull();
  expect(await processStart(child.pid)).toBe(start);
  await child.kill();
  expect(await processStart(child.pid)).toBeNull();
});

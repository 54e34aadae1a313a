import { fork } from "node:child_process";
import { appendFile, chmod, mkdtemp, open, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeRecordingsConformance, readWav } from "../../ports/testing/recordings-conformance.ts";
import { openFileRecordings, type RecordedFile } from "./file-recordings.ts";

describeRecordingsConformance("files", async () => {
  const dir = await mkdtemp(path.join(tmpdir(), "recordings-"));
  return {
    recordings: await openFileRecordings(path.join(dir, "made")),
    close: () => rm(dir, { recursive: true }),
  };
});

let dir = "";

beforeAll(async () => {
  dir = await mkdtemp(path.join(tmpdir(), "recordings-"));
});

afterAll(async () => {
  await rm(dir, { recursive: true });
});

async function read(callId: string) {
  const recordings = await openFileRecordings(dir);
  const opened = await recordings.open(callId);
  if (opened === null) return null;
  const blocks: Uint8Array[] = [];
  for await (const block of opened.stream) blocks.push(block);
  return readWav(Buffer.concat(blocks));
}

test("other users of the machine are kept out", async () => {
  await chmod(dir, 0o755);
  await openFileRecordings(dir);
  expect((await stat(dir)).mode & 0o777).toBe(0o700);
});

test("a process that is killed leaves a file that plays", async () => {
  const script = path.join(import.meta.dirname, "testing", "write-for-ever.ts");
  const child = fork(script, [dir, "killed"], { stdio: "ignore" });
  try {
    await new Promise((resolve) => {
      child.once("message", resolve);
    });
    await new Promise((resolve) => {
      setTimeout(resolve, 300);
    });
  } finally {
    child.kill("SIGKILL");
  }
  await new Promise((resolve) => {
    child.once("exit", resolve);
  });
  const wav = await read("killed");
  expect(wav).toMatchObject({ riff: "RIFF", channels: 2, sampleRateHz: 16_000 });
  expect(wav?.samples.length).toBeGreaterThan(16_000);
  expect(wav?.dataBytes).toBe((wav?.samples.length ?? 0) * 2);
  expect(wav?.samples.every((sample, i) => sample === (i % 2 === 0 ? 1 : -1))).toBe(true);
});

test("a pair that was cut in two is left out, a file without a whole header is none", async () => {
  const recordings = await openFileRecordings(dir);
  const writer = await recordings.create("cut", 16_000);
  writer.write(Int16Array.of(1, 2, 3, 4));
  await writer.close();
  await appendFile(path.join(dir, "cut.wav"), Uint8Array.of(9, 9, 9));
  expect((await read("cut"))?.samples).toEqual(Int16Array.of(1, 2, 3, 4));
  await writeFile(path.join(dir, "short.wav"), "RIFF");
  expect(await read("short")).toBeNull();
});

test("a disk that cannot be written is reported when the file is closed", async () => {
  const recordings = await openFileRecordings(dir);
  const writer = await recordings.create("lost", 16_000);
  // More at once than may wait.
  for (let i = 0; i < 40; i += 1) writer.write(new Int16Array(32_000));
  await expect(writer.close()).rejects.toThrow(/too slow/);
  expect((await read("lost"))?.samples.length).toBeGreaterThan(0);
});

test("a recording is complete once all of it is on the disk, and not before", async () => {
  const done: string[] = [];
  const syncing = Promise.withResolvers<void>();
  const synced = Promise.withResolvers<void>();
  const create = async (name: string): Promise<RecordedFile> => {
    const file = await open(name, "w");
    return {
      write: async (...written: Parameters<RecordedFile["write"]>) => {
        const outcome = await file.write(...written);
        done.push("write");
        return outcome;
      },
      sync: async () => {
        syncing.resolve();
        await synced.promise;
        await file.sync();
        done.push("sync");
      },
      close: async () => {
        await file.close();
        done.push("close");
      },
    };
  };
  const writer = await (await openFileRecordings(dir, create)).create("synced", 16_000);
  for (let block = 0; block < 3; block += 1) writer.write(new Int16Array(640));
  const closed = writer.close().then(() => done.push("complete"));
  await syncing.promise;
  // Everything is written before the sync, and nothing counts as complete during it.
  const written = done.length;
  expect(new Set(done)).toEqual(new Set(["write"]));
  expect((await read("synced"))?.samples.length).toBe(3 * 640);
  expect(done).toHaveLength(written);
  synced.resolve();
  await closed;
  expect(done.slice(written)).toEqual(["sync", "close", "complete"]);
});

test("a disk that does not take the sync is reported when the file is closed", async () => {
  const create = async (name: string): Promise<RecordedFile> => {
    const file = await open(name, "w");
    const sync = async (): Promise<void> => Promise.reject(new Error("no space left"));
    return {
      write: async (...written) => file.write(...written),
      sync,
      close: async () => file.close(),
    };
  };
  const writer = await (await openFileRecordings(dir, create)).create("unsynced", 16_000);
  writer.write(new Int16Array(640));
  await expect(writer.close()).rejects.toThrow("no space left");
});

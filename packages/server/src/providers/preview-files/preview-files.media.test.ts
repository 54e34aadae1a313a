import { chmod, mkdtemp, readdir, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openPreviewFiles } from "./preview-files.ts";

let dir = "";
beforeEach(async () => {
  dir = await mkdtemp(path.join(tmpdir(), "previews-"));
});
afterEach(async () => {
  await rm(dir, { recursive: true });
});

const bytes = (length: number) => new Uint8Array(length).fill(1);

test("keeps what it is given over a restart, and makes its directory", async () => {
  const inside = path.join(dir, "deep", "down");
  const files = await openPreviewFiles(inside);
  expect(await files.read("a")).toBeNull();
  await files.keep("a", bytes(3));
  await files.keep("a", bytes(5));
  expect(await files.read("a")).toHaveLength(5);
  expect(await readdir(inside)).toHaveLength(1);
  const again = await openPreviewFiles(inside);
  expect(await again.read("a")).toHaveLength(5);
  expect(await again.read("b")).toBeNull();
});

test("keeps other users of the machine out", async () => {
  await chmod(dir, 0o755);
  await openPreviewFiles(dir);
  expect((await stat(dir)).mode & 0o777).toBe(0o700);
});

test("holds no more files and bytes than it may, and drops the least used first", async () => {
  const files = await openPreviewFiles(dir, { files: 3, bytes: 100 });
  for (const about of ["a", "b", "c"]) await files.keep(about, bytes(10));
  await files.read("a");
  await files.keep("d", bytes(10));
  expect(await Promise.all(["a", "b", "c", "d"].map((about) => files.read(about)))).toEqual([
    expect.anything(),
    null,
    expect.anything(),
    expect.anything(),
  ]);
  await files.keep("e", bytes(85));
  expect(await Promise.all(["c", "d", "e"].map((about) => files.read(about)))).toEqual([
    null,
    expect.anything(),
    expect.anything(),
  ]);
  expect(await readdir(dir)).toHaveLength(2);
  await files.keep("f", bytes(101));
  expect(await files.read("f")).toBeNull();
});

test("counts what is there at the start, oldest first, and clears what a crash left", async () => {
  const files = await openPreviewFiles(dir);
  for (const about of ["a", "b"]) await files.keep(about, bytes(10));
  const names = await readdir(dir);
  await writeFile(path.join(dir, `${names[0] ?? ""}.x.part`), "half");
  await writeFile(path.join(dir, "notes.txt"), "not ours");
  await files.keep("old", bytes(10));
  const old = (await readdir(dir)).find((name) => name.endsWith(".wav") && !names.includes(name)) ?? "";
  await utimes(path.join(dir, old), 1, 1);
  const again = await openPreviewFiles(dir, { files: 2, bytes: 1000 });
  expect(await again.read("old")).toBeNull();
  expect(await again.read("b")).toHaveLength(10);
  expect((await readdir(dir)).toSorted()).toEqual([...names, "notes.txt"].toSorted());
});

test("a file that somebody removed was never kept", async () => {
  const files = await openPreviewFiles(dir);
  await files.keep("a", bytes(10));
  for (const name of await readdir(dir)) await rm(path.join(dir, name));
  expect(await files.read("a")).toBeNull();
  await files.keep("a", bytes(4));
  expect(await files.read("a")).toHaveLength(4);
});

import { mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { CorpusFiles } from "../../ports/corpora/corpus-files.ts";
import { describeCorpusFilesConformance } from "../../ports/corpora/testing/corpus-files-conformance.ts";
import { openS3Peer, type S3Peer } from "../s3/testing/s3-peer.ts";
import { openLocalCorpusFiles } from "./local-corpus-files.ts";
import { openS3CorpusFiles } from "./s3-corpus-files.ts";

let dir: string;
let local: CorpusFiles;
let peer: S3Peer;
const credentials = { accessKeyId: "KEYID", secretAccessKey: "sec/ret+key", region: "eu-test-1" };
const bucket = (prefix: string) => ({
  ...credentials,
  endpoint: peer.endpoint,
  bucket: "documents",
  pathStyle: true,
  prefix,
});
const never = new AbortController().signal;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "parley-corpora-"));
  local = await openLocalCorpusFiles(join(dir, "corpora"));
  peer = await openS3Peer("documents", credentials);
});
afterAll(async () => {
  await peer.close();
  await rm(dir, { recursive: true, force: true });
});

describeCorpusFilesConformance("a folder", () => local);
describeCorpusFilesConformance("a bucket", () => openS3CorpusFiles(local, bucket("parley/")));

it("keep other users of the machine out, and leave no parts of files", async () => {
  const folder = join(dir, "corpora");
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
  await local.write("0b6f0c0e-3f6f-4b2e-9a55-0d9c1f6f6a11", Uint8Array.of(1), never);
  const aborted = AbortSignal.abort(new Error("too late"));
  await expect(
    local.write("1b6f0c0e-3f6f-4b2e-9a55-0d9c1f6f6a11", Uint8Array.of(1), aborted),
  ).rejects.toThrow("too late");
  expect(await readdir(folder)).toEqual(["0b6f0c0e-3f6f-4b2e-9a55-0d9c1f6f6a11"]);
});

it("have no other names than ids", async () => {
  for (const name of ["../key", "", "0B6F0C0E", "a/b"]) {
    await expect(local.read(name, 1, never)).rejects.toBeInstanceOf(RangeError);
    await expect(local.remove(name, never)).rejects.toBeInstanceOf(RangeError);
  }
});

it("are still found in the folder after a bucket was set", async () => {
  const id = "2b6f0c0e-3f6f-4b2e-9a55-0d9c1f6f6a11";
  await local.write(id, Uint8Array.of(7), never);
  const both = openS3CorpusFiles(local, bucket(""));
  expect([...((await both.read(id, 9, never)) ?? [])]).toEqual([7]);
  await both.remove(id, never);
  expect(await local.read(id, 9, never)).toBeNull();
});

it("remove what a killed process has left of a file, and nothing that is being written", async () => {
  const folder = join(dir, "killed");
  await mkdir(folder);
  await writeFile(join(folder, "old.part"), "a");
  await writeFile(join(folder, "new.part"), "a");
  const yesterday = Date.now() / 1_000 - 86_400;
  await utimes(join(folder, "old.part"), yesterday, yesterday);
  await openLocalCorpusFiles(folder);
  expect(await readdir(folder)).toEqual(["new.part"]);
});

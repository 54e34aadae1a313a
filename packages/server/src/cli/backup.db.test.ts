import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { type RawBuilder, sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openStore } from "../store/opening/open-store.ts";
import { newDataDir } from "../store/testing/databases.ts";
import { writeBackup } from "./backup-file.ts";
import { parley, rowsOf } from "./testing/run.ts";

const recording = randomBytes(300_000);

describe("a backup of the embedded database", () => {
  let folder = "";
  let dataDir = "";
  let whole = "";
  let accountId = "";
  /** The restored folder has no database, so that each case takes milliseconds. */
  let tiny = "";

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "parley-backup-"));
    dataDir = await newDataDir();
    const env = { DATA_DIR: dataDir };
    // A database without its own key is taken for one whose key was lost.
    writeFileSync(join(dataDir, "secrets.key"), `${randomBytes(32).toString("base64")}\n`);
    assert.equal((await parley(env, "migrate")).exitCode, 0);
    accountId = String(rowsOf(await parley(env, "accounts", "create", "Hotel", "--json"))[0]?.["accountId"]);
    mkdirSync(join(dataDir, "recordings"));
    writeFileSync(join(dataDir, "recordings", "call.wav"), recording);
    writeFileSync(join(dataDir, "recordings", "empty.wav"), "");
    mkdirSync(join(dataDir, "corpora"));
    writeFileSync(join(dataDir, "corpora", "document"), "Breakfast is served from seven.");
    writeFileSync(join(dataDir, "stray"), "is no part of it");
    whole = join(folder, "whole.tar.gz");
    const made = await parley(env, "backup", whole, "--recordings");
    assert.deepEqual([made.exitCode, made.err], [0, ""]);
    const tinyDir = join(folder, "tiny");
    for (const name of ["database", "recordings"]) mkdirSync(join(tinyDir, name), { recursive: true });
    writeFileSync(join(tinyDir, "database", "PG_VERSION"), "18\n");
    writeFileSync(join(tinyDir, "secrets.key"), "key");
    writeFileSync(join(tinyDir, "recordings", "call.wav"), recording);
    tiny = join(folder, "tiny.tar.gz");
    await writeBackup(tiny, tinyDir, ["database", "secrets.key", "recordings"], "0");
  });
  afterAll(() => {
    for (const each of [folder, dataDir]) rmSync(each, { recursive: true, force: true });
  });

  const emptyDir = (): string => mkdtempSync(join(folder, "empty-"));

  it("holds everything, for its owner only, and is restored into an empty folder", async () => {
    expect(statSync(whole).mode & 0o777).toBe(0o600);
    const to = join(emptyDir(), "data");
    const restored = await parley({ DATA_DIR: to }, "restore", whole);
    expect([restored.exitCode, restored.err]).toEqual([0, ""]);
    expect(readFileSync(join(to, "recordings", "call.wav")).equals(recording)).toBe(true);
    expect(statSync(join(to, "recordings", "empty.wav")).size).toBe(0);
    expect(readFileSync(join(to, "corpora", "document"), "utf8")).toBe("Breakfast is served from seven.");
    expect(readFileSync(join(to, "secrets.key"), "utf8")).toBe(
      readFileSync(join(dataDir, "secrets.key"), "utf8"),
    );
    expect(readdirSync(to).filter((name) => name === "stray" || name.endsWith(".tmp"))).toEqual([]);
    const listed = await parley({ DATA_DIR: to }, "accounts", "list", "--json");
    expect(rowsOf(listed).map((row) => row["accountId"])).toContain(accountId);
  });

  it("may leave recordings and key out", async () => {
    const path = join(folder, "small.tar.gz");
    const made = await parley({ DATA_DIR: dataDir }, "backup", path, "--without-key");
    expect([made.exitCode, made.err]).toEqual([
      0,
      expect.stringContaining("The backup does not contain the key"),
    ]);
    const to = emptyDir();
    const restored = await parley({ DATA_DIR: to }, "restore", path);
    expect([restored.exitCode, restored.err]).toEqual([0, expect.stringContaining("The backup has no key")]);
    const names = ["secrets.key", "recordings", "corpora"];
    expect(names.filter((name) => existsSync(join(to, name)))).toEqual([]);
    const early = await parley({ DATA_DIR: to }, "accounts", "list");
    expect([early.exitCode, early.err]).toEqual([1, expect.stringContaining("is missing: restore it")]);
    const key = readFileSync(join(dataDir, "secrets.key"), "utf8").trim();
    expect((await parley({ DATA_DIR: to, SECRETS_KEY: key }, "accounts", "list")).exitCode).toBe(0);
  });

  it("is not written over another file", async () => {
    const before = readFileSync(whole);
    const again = await parley({ DATA_DIR: dataDir }, "backup", whole);
    expect([again.exitCode, again.err]).toEqual([1, expect.stringContaining("the file exists already")]);
    expect(readFileSync(whole).equals(before)).toBe(true);
    const nowhere = await parley({ DATA_DIR: dataDir }, "backup", join(folder, "no", "such", "folder"));
    expect([nowhere.exitCode, nowhere.err]).toEqual([1, expect.stringContaining("cannot be written")]);
    expect(readdirSync(folder).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  it("is not made while a change of the key is unfinished", async () => {
    const path = join(folder, "between-keys.tar.gz");
    const expectRefusal = async (): Promise<void> => {
      const { exitCode, err } = await parley({ DATA_DIR: dataDir }, "backup", path);
      expect([exitCode, err]).toEqual([1, expect.stringContaining("run parley secrets rotate again")]);
      expect(existsSync(path)).toBe(false);
    };
    const newKey = join(dataDir, "secrets.key.new");
    writeFileSync(newKey, randomBytes(32).toString("base64"));
    await expectRefusal();
    rmSync(newKey);
    const key = Buffer.from(readFileSync(join(dataDir, "secrets.key"), "utf8").trim(), "base64");
    const mark = async (statement: RawBuilder<unknown>): Promise<void> => {
      const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
      const secretsKey = new Uint8Array(key);
      const store = await openStore({ dataDir, databaseUrl: null, secretsKey, log, betweenKeys: true });
      await statement.execute(store.db.query);
      await store.close();
    };
    await mark(sql`insert into store_settings (name, value) values ('secrets_rotation', '01234567')`);
    await expectRefusal();
    await mark(sql`delete from store_settings where name = 'secrets_rotation'`);
    expect((await parley({ DATA_DIR: dataDir }, "backup", path)).exitCode).toBe(0);
  });

  it("is restored again after an interruption, and no service starts before", async () => {
    const to = emptyDir();
    // The state after a crash that follows the move of the key and the node's name.
    writeFileSync(join(to, "restore.incomplete"), "node-id\nrecordings\nsecrets.key\n../stray\ndatabase\n");
    writeFileSync(join(to, "secrets.key"), `${randomBytes(32).toString("base64")}\n`);
    mkdirSync(join(to, "recordings"));
    writeFileSync(join(to, "recordings", "old.wav"), "of the first attempt");
    mkdirSync(join(to, "restore-1.tmp", "database"), { recursive: true });
    writeFileSync(join(folder, "stray"), "is not touched");
    const key = randomBytes(32).toString("base64");
    for (const words of [["migrate"], ["accounts", "list"], ["backup", join(folder, "none")]]) {
      for (const env of [{}, { SECRETS_KEY: key }]) {
        const { exitCode, err } = await parley({ DATA_DIR: to, ...env }, ...words);
        expect([exitCode, err]).toEqual([1, expect.stringContaining("run parley restore again")]);
      }
    }
    expect(existsSync(join(to, "database"))).toBe(false);
    const damaged = join(folder, "damaged.tar.gz");
    writeFileSync(damaged, readFileSync(whole).subarray(0, -1000));
    expect((await parley({ DATA_DIR: to }, "restore", damaged)).exitCode).toBe(1);
    expect(existsSync(join(to, "restore.incomplete"))).toBe(true);
    const restored = await parley({ DATA_DIR: to }, "restore", whole);
    expect([restored.exitCode, restored.err]).toEqual([0, ""]);
    expect(readdirSync(join(to, "recordings"))).toEqual(["call.wav", "empty.wav"]);
    expect(readdirSync(to).filter((name) => name.startsWith("restore"))).toEqual([]);
    expect(existsSync(join(folder, "stray"))).toBe(true);
    const listed = await parley({ DATA_DIR: to }, "accounts", "list", "--json");
    expect(rowsOf(listed).map((row) => row["accountId"])).toContain(accountId);
  });

  it("does not clear away what the interrupted attempt had not moved", async () => {
    const to = emptyDir();
    writeFileSync(join(to, "restore.incomplete"), "");
    writeFileSync(join(to, "secrets.key"), "put here by hand");
    const refused = await parley({ DATA_DIR: to }, "restore", whole);
    expect([refused.exitCode, refused.err]).toEqual([
      1,
      expect.stringContaining("is not empty (secrets.key)"),
    ]);
    expect(readFileSync(join(to, "secrets.key"), "utf8")).toBe("put here by hand");
  });

  it("is not restored over anything", async () => {
    const to = emptyDir();
    writeFileSync(join(to, "secrets.key"), "precious");
    const refused = await parley({ DATA_DIR: to }, "restore", whole);
    expect([refused.exitCode, refused.err]).toEqual([
      1,
      expect.stringContaining("is not empty (secrets.key)"),
    ]);
    expect(readdirSync(to)).toEqual(["secrets.key"]);
  });

  it("is checked without being restored", async () => {
    const { exitCode, out } = await parley({}, "restore", whole, "--check");
    expect([exitCode, out]).toEqual([0, expect.stringContaining("is complete: ")]);
  });

  const packed = (change: (bytes: Buffer) => Buffer): string => {
    const path = join(folder, `damaged-${randomBytes(4).toString("hex")}.tar.gz`);
    writeFileSync(path, gzipSync(change(gunzipSync(readFileSync(tiny)))));
    return path;
  };

  it.each([
    [
      "cut off",
      () => {
        const path = join(folder, "cut.tar.gz");
        writeFileSync(path, readFileSync(tiny).subarray(0, -1000));
        return path;
      },
      "unexpected end of file",
    ],
    ["cut off before it was packed", () => packed((bytes) => bytes.subarray(0, 10_000)), "ends too early"],
    [
      "without its list",
      () =>
        packed((bytes) => {
          const end = bytes.lastIndexOf("manifest.json");
          return Buffer.concat([bytes.subarray(0, end), Buffer.alloc(1024)]);
        }),
      "it is not a backup of this program",
    ],
    [
      "with another byte in a file",
      () =>
        packed((bytes) => {
          const copy = Buffer.from(bytes);
          const at = copy.indexOf(recording.subarray(0, 64));
          copy[at] = (copy[at] ?? 0) ^ 1;
          return copy;
        }),
      "the file recordings/call.wav in it is missing or damaged",
    ],
    [
      "no backup at all",
      () => {
        const path = join(folder, "text");
        writeFileSync(path, "Dear diary");
        return path;
      },
      "incorrect header check",
    ],
    ["not a tar file", () => packed(() => Buffer.alloc(2048, 65)), "it is not a tar file"],
  ] as const)("is refused when it is %s", async (_, make, reason) => {
    const to = emptyDir();
    const path = make();
    for (const more of [["--check"], []]) {
      const { exitCode, err } = await parley({ DATA_DIR: to }, "restore", path, ...more);
      expect([exitCode, err]).toEqual([
        1,
        `The backup ${path} cannot be used: ${err.split(": ").slice(1).join(": ")}`,
      ]);
      expect(err).toContain(reason);
    }
    expect(readdirSync(to).filter((name) => !name.startsWith("lock."))).toEqual([]);
  });

  it("never leads out of the folder", async () => {
    const path = packed((bytes) => {
      const copy = Buffer.from(bytes);
      const at = copy.indexOf("secrets.key");
      copy.write("../evil.key", at);
      // The sum over the header, with spaces in the place of the sum itself.
      const header = copy.subarray(at, at + 512);
      header.write("        ", 148);
      const sum = header.reduce((total, byte) => total + byte, 0);
      header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
      return copy;
    });
    const to = emptyDir();
    const { exitCode, err } = await parley({ DATA_DIR: to }, "restore", path);
    expect([exitCode, err]).toEqual([1, expect.stringContaining("points to another folder")]);
    expect(existsSync(join(to, "..", "evil.key"))).toBe(false);
  });

  it("says that a file is not there", async () => {
    const { exitCode, err } = await parley({}, "restore", join(folder, "nothing"), "--check");
    expect([exitCode, err]).toEqual([1, `There is no file ${join(folder, "nothing")}.`]);
  });
});

import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ConfigError } from "../../config/config-error.ts";
import { loadOperatorKey } from "./operator-key.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "parley-operator-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const fromFile = (name: string) =>
  loadOperatorKey({ operatorKey: null, operatorKeyFile: join(folder, name) });

it("is the one of the environment, or there is none", async () => {
  expect(await loadOperatorKey({ operatorKey: "key", operatorKeyFile: null })).toBe("key");
  expect(await loadOperatorKey({ operatorKey: null, operatorKeyFile: null })).toBeNull();
});

it("is made once where the file does not exist, for its owner only, and read from then on", async () => {
  const key = await fromFile("made");
  expect(key).toMatch(/^[\w-]{43}$/);
  expect(await readFile(join(folder, "made"), "utf8")).toBe(`${key ?? ""}\n`);
  expect((await stat(join(folder, "made"))).mode & 0o777).toBe(0o600);
  expect(await fromFile("made")).toBe(key);
});

it("is refused where the file has something else, or cannot be used", async () => {
  await writeFile(join(folder, "short"), "short\n");
  await expect(fromFile("short")).rejects.toThrow(/short, whose content must be 24 to 200 printable/);
  await expect(fromFile("no-folder/key")).rejects.toThrow(/which cannot be written \(ENOENT/);
  await expect(fromFile("")).rejects.toBeInstanceOf(ConfigError);
});

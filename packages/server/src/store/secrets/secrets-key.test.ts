import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { loadSecretsKey } from "./secrets-key.ts";

let dataDir = "";
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "parley-key-"));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const embedded = (): Parameters<typeof loadSecretsKey>[0] => ({
  dataDir,
  databaseUrl: null,
  secretsKey: null,
});

it("makes a key for its owner only, and finds it again", () => {
  const made = loadSecretsKey(embedded());
  expect(made).toHaveLength(32);
  expect(loadSecretsKey(embedded())).toEqual(made);
  expect(statSync(join(dataDir, "secrets.key")).mode & 0o777).toBe(0o600);
  expect(readdirSync(dataDir)).toEqual(["secrets.key"]);
});

it("makes the data folder where it is missing", () => {
  const missing = join(dataDir, "a", "b");
  expect(loadSecretsKey({ ...embedded(), dataDir: missing })).toHaveLength(32);
});

it("takes the variable first", () => {
  loadSecretsKey(embedded());
  const bytes = Buffer.alloc(32, 9);
  const secretsKey = ` ${bytes.toString("base64")}\n`;
  expect(loadSecretsKey({ ...embedded(), secretsKey })).toEqual(new Uint8Array(bytes));
});

it.each([
  "",
  "short",
  Buffer.alloc(31).toString("base64"),
  Buffer.alloc(33).toString("base64"),
  "!".repeat(44),
])("names the variable when it holds %j", (secretsKey) => {
  expect(() => loadSecretsKey({ ...embedded(), secretsKey })).toThrow(
    "SECRETS_KEY must hold 32 bytes in base64.",
  );
});

it("demands the variable with DATABASE_URL, and makes no file then", () => {
  const input = { dataDir, databaseUrl: "postgresql://localhost/x", secretsKey: null };
  expect(() => loadSecretsKey(input)).toThrow(/^SECRETS_KEY must be set/);
  expect(readdirSync(dataDir)).toEqual([]);
});

it("makes no new key for a database whose key is lost", () => {
  mkdirSync(join(dataDir, "database"));
  expect(() => loadSecretsKey(embedded())).toThrow(
    /secrets\.key of an existing database is missing.*SECRETS_KEY/,
  );
  expect(readdirSync(dataDir)).toEqual(["database"]);
});

it("names a file that holds something else", () => {
  writeFileSync(join(dataDir, "secrets.key"), "not a key");
  expect(() => loadSecretsKey(embedded())).toThrow(/key file .*secrets\.key must hold 32 bytes/);
  expect(readFileSync(join(dataDir, "secrets.key"), "utf8")).toBe("not a key");
});

import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createSealer } from "../store/secrets/secrets.ts";
import { chooseNewKey, storeNewKey, type NewKeyWanted, putNewKeyInPlace } from "./new-key.ts";

const newKey = (): Uint8Array => new Uint8Array(randomBytes(32));
const inBase64 = (key: Uint8Array): string => Buffer.from(key).toString("base64");
const idOf = (key: Uint8Array): string => createSealer(key).keyId;

const present = newKey();
const next = newKey();
let dataDir = "";
let file = "";
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "parley-new-key-"));
  file = join(dataDir, "secrets.key.new");
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const choose = (
  given: Uint8Array | null,
  goal: Uint8Array | null,
  more?: Partial<NewKeyWanted>,
): Uint8Array =>
  chooseNewKey({
    env: { NEW_SECRETS_KEY: given === null ? undefined : inBase64(given) },
    dataDir,
    place: "file",
    presentId: idOf(present),
    goal: goal === null ? null : idOf(goal),
    ...more,
  });

describe("the new key of a change of SECRETS_KEY", () => {
  it("is the given one, or is made, whatever an earlier attempt left", () => {
    expect(choose(next, null)).toEqual(next);
    expect(choose(null, null)).toHaveLength(32);
    writeFileSync(file, inBase64(newKey()));
    expect(choose(next, null)).toEqual(next);
    expect(inBase64(choose(null, null))).not.toBe(readFileSync(file, "utf8"));
  });

  it("is the one of the change that is under way", () => {
    expect(choose(next, next)).toEqual(next);
    writeFileSync(file, inBase64(next));
    expect(choose(next, next)).toEqual(next);
    expect(choose(null, next)).toEqual(next);
  });

  it("is not the present one", () => {
    for (const goal of [null, next]) {
      expect(() => choose(present, goal)).toThrow("NEW_SECRETS_KEY is the present key.");
    }
  });

  it("is no other one than that of the change that is under way", () => {
    expect(() => choose(newKey(), next)).toThrow(
      "to another key than this one was interrupted: run the command with that key",
    );
    expect(() => choose(null, next)).toThrow("set NEW_SECRETS_KEY to it");
    writeFileSync(file, inBase64(next));
    expect(() => choose(newKey(), next)).toThrow("so unset NEW_SECRETS_KEY");
    writeFileSync(file, inBase64(newKey()));
    expect(() => choose(next, next)).toThrow("contains another key than that of the interrupted change");
    expect(() => choose(null, next)).toThrow("set NEW_SECRETS_KEY to it");
  });

  it("must be given where SECRETS_KEY is", () => {
    expect(() => choose(null, null, { place: "environment" })).toThrow(
      "NEW_SECRETS_KEY must hold the new key",
    );
    writeFileSync(file, inBase64(newKey()));
    expect(choose(next, next, { place: "environment" })).toEqual(next);
  });

  it("writes nothing while it is chosen", () => {
    choose(next, null);
    choose(null, null);
    expect(readdirSync(dataDir)).toEqual([]);
  });
});

describe("the file of the new key", () => {
  it("holds the key that is used, for its owner only, and takes its place", () => {
    writeFileSync(file, inBase64(newKey()));
    for (let time = 0; time < 2; time += 1) {
      storeNewKey(dataDir, next);
      expect(readFileSync(file, "utf8").trim()).toBe(inBase64(next));
    }
    expect(statSync(file).mode & 0o777).toBe(0o600);
    putNewKeyInPlace(dataDir, next);
    expect(readdirSync(dataDir)).toEqual(["secrets.key"]);
    expect(readFileSync(join(dataDir, "secrets.key"), "utf8").trim()).toBe(inBase64(next));
  });

  it.each([
    ["holds another key", () => writeFileSync(file, inBase64(newKey()))],
    ["holds no key", () => writeFileSync(file, "no key")],
    ["is gone", () => rmSync(file)],
  ])("does not take the place when it %s, and the key is not lost", (_, meddle) => {
    writeFileSync(join(dataDir, "secrets.key"), inBase64(present));
    storeNewKey(dataDir, next);
    meddle();
    const beside = join(dataDir, `secrets.key.${idOf(next)}`);
    expect(() => putNewKeyInPlace(dataDir, next)).toThrow(beside);
    expect(readFileSync(beside, "utf8").trim()).toBe(inBase64(next));
    expect(readFileSync(join(dataDir, "secrets.key"), "utf8")).toBe(inBase64(present));
    expect(existsSync(`${beside}.tmp`)).toBe(false);
  });
});

import { expect, it } from "vitest";
import { createSealer, deriveKey, hashToken, isHashOf, SealError } from "./secrets.ts";

const key = new Uint8Array(32).fill(7);

it("opens what it sealed, whatever the text", () => {
  const sealer = createSealer(key);
  for (const text of ["", "a", "Ä\u0000😀".repeat(10_000)]) {
    expect(sealer.open(sealer.seal(text, "here"), "here")).toBe(text);
  }
});

it("names version and key, and seals no text alike twice", () => {
  const sealer = createSealer(key);
  const sealed = sealer.seal("a", "here");
  expect(sealed).toMatch(new RegExp(`^v1\\.${sealer.keyId}\\.[\\w-]+$`));
  expect(sealer.keyId).toMatch(/^[0-9a-f]{8}$/);
  expect(sealer.seal("a", "here")).not.toBe(sealed);
  expect(createSealer(key).keyId).toBe(sealer.keyId);
});

it("opens nothing in another place, with another key, or changed", () => {
  const sealer = createSealer(key);
  const sealed = sealer.seal("secret", "here");
  expect(() => sealer.open(sealed, "there")).toThrow(SealError);
  const other = createSealer(key.map((byte) => byte + 1));
  expect(() => other.open(sealed, "here")).toThrow(/another SECRETS_KEY/);
  const body = sealed.split(".")[2] ?? "";
  for (let index = 0; index < body.length - 1; index += 1) {
    const changed = `${body.slice(0, index)}${body[index] === "A" ? "B" : "A"}${body.slice(index + 1)}`;
    expect(() => sealer.open(`v1.${sealer.keyId}.${changed}`, "here")).toThrow(SealError);
  }
  for (const bad of ["", "v1", "v2.x.y", `v1.${sealer.keyId}.`, `v1.${sealer.keyId}.AAAA`]) {
    expect(() => sealer.open(bad, "here")).toThrow(SealError);
  }
});

it("derives a key for each purpose", () => {
  expect(deriveKey(key, "a")).toEqual(deriveKey(key, "a"));
  expect(deriveKey(key, "a")).not.toEqual(deriveKey(key, "b"));
  expect(deriveKey(key, "a")).toHaveLength(32);
});

it("knows a token by its hash", () => {
  expect(hashToken("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  expect(isHashOf(hashToken("abc"), "abc")).toBe(true);
  expect(isHashOf(hashToken("abc"), "abd")).toBe(false);
  expect(isHashOf("", "abc")).toBe(false);
});

import { expect, test } from "vitest";
import { uploadTokens } from "./upload-token.ts";

test("a token is genuine for the key that has made it, unchanged", () => {
  const tokens = uploadTokens(new Uint8Array(32).fill(1));
  const token = tokens.make();
  expect(token).toMatch(/^[\w-]{54}$/);
  expect(tokens.make()).not.toBe(token);
  expect(tokens.isGenuine(token)).toBe(true);
  expect(uploadTokens(new Uint8Array(32).fill(2)).isGenuine(token)).toBe(false);
  const flipped = token.startsWith("A") ? `B${token.slice(1)}` : `A${token.slice(1)}`;
  for (const other of [flipped, `${token}x`, token.slice(1), "", "=".repeat(54)]) {
    expect(tokens.isGenuine(other)).toBe(false);
  }
});

import { describe, expect, test } from "vitest";
import { roomTokens } from "./room-token.ts";

const KEY = new Uint8Array(32).fill(1);
const NOW_MS = 1_800_000_000_000;
const DAY_MS = 24 * 3_600_000;

describe("the token of a room", () => {
  const tokens = roomTokens(KEY);
  const token = tokens.write("call", NOW_MS);

  test("is valid for its call, for a day, in each process with the same key", () => {
    expect(roomTokens(KEY).isValid(token, "call", NOW_MS)).toBe(true);
    expect(tokens.isValid(token, "call", NOW_MS + DAY_MS - 1_000)).toBe(true);
    expect(tokens.isValid(token, "call", NOW_MS + DAY_MS)).toBe(false);
    expect(tokens.isValid(token, "other", NOW_MS)).toBe(false);
    expect(roomTokens(new Uint8Array(32)).isValid(token, "call", NOW_MS)).toBe(false);
  });

  test("has the claims that clients read", () => {
    const [, claims = ""] = token.split(".");
    expect(JSON.parse(Buffer.from(claims, "base64url").toString())).toMatchObject({
      sub: "user",
      exp: (NOW_MS + DAY_MS) / 1_000,
      video: { roomJoin: true, room: "call" },
    });
  });

  test("is refused after any change", () => {
    const [header = "", claims = "", signature = ""] = token.split(".");
    const none = Buffer.from('{"alg":"none"}').toString("base64url");
    const other = Buffer.from('{"exp":9999999999,"video":{"room":"call"}}').toString("base64url");
    for (const changed of [
      "",
      "x.y.z",
      token.slice(0, -1),
      `${token}A`,
      `${token}.`,
      `${header}.${other}.${signature}`,
      `${none}.${claims}.`,
      `${none}.${claims}.${signature}`,
      "A".repeat(2_000),
    ]) {
      expect(tokens.isValid(changed, "call", NOW_MS)).toBe(false);
    }
  });
});

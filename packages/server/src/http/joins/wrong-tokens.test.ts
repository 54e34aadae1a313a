import { describe, expect, it } from "vitest";
import type { FindJoinInput, JoinLookup } from "../../joins/api.ts";
import {
  limitWrongTokens,
  WRONG_TOKENS_PER_CALL_PER_SECOND,
  WRONG_TOKENS_PER_SECOND,
} from "./wrong-tokens.ts";

const RIGHT = "right";

function joins() {
  let atMs = 0;
  const asked: FindJoinInput[] = [];
  const find = limitWrongTokens(
    (join): Promise<JoinLookup> => {
      asked.push(join);
      return Promise.resolve(join.token === RIGHT ? "ok" : "not_found");
    },
    () => atMs,
  );
  return {
    asked,
    pass: (ms: number) => (atMs += ms),
    join: (callId: string, token: string, address = "192.0.2.1") =>
      find({ callId, medium: "web_rtc", token }, address).catch((error: unknown) => error),
  };
}

const refused = expect.objectContaining({ code: "rate_limited", retryAfterSeconds: 1 });

describe("wrong tokens", () => {
  it("are refused for a call before the database is asked, and allowed again after the wait", async () => {
    const { join, asked, pass } = joins();
    for (let n = 0; n < WRONG_TOKENS_PER_CALL_PER_SECOND; n += 1)
      expect(await join("a", "x")).toBe("not_found");
    expect(await join("a", "x")).toEqual(refused);
    expect(asked).toHaveLength(WRONG_TOKENS_PER_CALL_PER_SECOND);
    pass(1_000);
    expect(await join("a", "x")).toBe("not_found");
  });

  it("of one client do not prevent another from joining the call", async () => {
    const { join } = joins();
    for (let n = 0; n < 2 * WRONG_TOKENS_PER_CALL_PER_SECOND; n += 1) await join("a", "x");
    expect(await join("a", RIGHT, "192.0.2.2")).toBe("ok");
    expect(await join("b", RIGHT)).toBe("ok");
  });

  it("are counted over all calls of a client, and of its whole IPv6 network", async () => {
    const { join, asked } = joins();
    const from = (n: number) => `2001:db8::${n.toString(16)}`;
    for (let n = 0; n < WRONG_TOKENS_PER_SECOND; n += 1) await join(`call ${String(n)}`, "x", from(n));
    expect(await join("another", "x", from(99))).toEqual(refused);
    expect(asked).toHaveLength(WRONG_TOKENS_PER_SECOND);
    expect(await join("another", RIGHT, "2001:db8:0:1::1")).toBe("ok");
  });

  it("are the only ones that count", async () => {
    const { join } = joins();
    for (let n = 0; n < 50; n += 1) expect(await join("a", RIGHT)).toBe("ok");
  });
});

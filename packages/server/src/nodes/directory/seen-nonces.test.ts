import { describe, expect, it } from "vitest";
import { isTimely, SeenNonces, WINDOW_MS } from "./seen-nonces.ts";

describe("SeenNonces", () => {
  it("takes each nonce once while its time is accepted", () => {
    const nonces = new SeenNonces();
    expect(nonces.take("a", 0, 0)).toBe("new");
    expect(nonces.take("a", 0, WINDOW_MS)).toBe("seen");
    expect(nonces.take("b", 0, 0)).toBe("new");
  });

  it("remembers a request from the future for as long as it is accepted", () => {
    const nonces = new SeenNonces();
    const atMs = WINDOW_MS;
    expect(nonces.take("a", atMs, 0)).toBe("new");
    for (let nowMs = 0; isTimely(atMs, nowMs); nowMs += 1_000)
      expect(nonces.take("a", atMs, nowMs)).toBe("seen");
  });

  it("forgets what is not accepted any more, and refuses what it cannot remember", () => {
    const nonces = new SeenNonces(2);
    expect([nonces.take("a", 0, 0), nonces.take("b", 0, 0)]).toEqual(["new", "new"]);
    expect(nonces.take("c", 0, 0)).toBe("full");
    const laterMs = WINDOW_MS + 1;
    expect(isTimely(0, laterMs)).toBe(false);
    expect(nonces.take("c", laterMs, laterMs)).toBe("new");
    expect(nonces.size).toBe(1);
  });
});

import { expect, it } from "vitest";
import { describeOnBothDatabases } from "../../store/testing/databases.ts";
import { FAILED_AUTHENTICATIONS_PER_SECOND } from "./auth.ts";
import { buildServer } from "../server.ts";
import { send, testDeps } from "../testing/http-fixture.ts";

describeOnBothDatabases("behind a proxy", (current) => {
  /** The answer to a client after another one, distinguished by X-Forwarded-For, has failed too often. */
  async function stranger(
    trustedProxies: readonly string[],
    forwarded: { readonly first: string; readonly second: string },
  ): Promise<number> {
    const base = testDeps(current());
    const settings = { ...base.settings, trustedProxies };
    const server = await buildServer({ ...base, settings, nowMs: () => 5_000_000 });
    const attempt = async (forwardedFor: string): Promise<number> => {
      const headers = { "x-api-key": "wrong", "x-forwarded-for": forwardedFor };
      return (await send(server, "GET", "/api/accounts/me", { headers, from: "10.0.0.9" })).status;
    };
    for (let i = 0; i < FAILED_AUTHENTICATIONS_PER_SECOND; i += 1) {
      expect(await attempt(forwarded.first)).toBe(401);
    }
    expect(await attempt(forwarded.first)).toBe(429);
    const status = await attempt(forwarded.second);
    await server.close();
    return status;
  }

  it("strangers are told apart by what a trusted proxy says of them", async () => {
    const forwarded = { first: "192.0.2.1", second: "192.0.2.2" };
    expect(await stranger(["10.0.0.0/8"], forwarded)).toBe(401);
  });

  it("what they claim themselves, before the proxy's word, changes nothing", async () => {
    const forwarded = { first: "198.51.100.1, 192.0.2.1", second: "198.51.100.2, 192.0.2.1" };
    expect(await stranger(["10.0.0.0/8"], forwarded)).toBe(429);
  });

  it("from any other peer the header says nothing", async () => {
    const forwarded = { first: "192.0.2.1", second: "192.0.2.2" };
    expect(await stranger([], forwarded)).toBe(429);
    expect(await stranger(["10.0.0.8"], forwarded)).toBe(429);
  });
});

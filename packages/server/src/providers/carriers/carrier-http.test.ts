/** Answers of carriers that are not in their form, or do not come. The client is a stand-in: nothing is sent. */

import { CONFIGURED_CARRIERS, type ConfiguredCarrier } from "@parley/schema";
import { describe, expect, test } from "vitest";
import { RequestTimedOut, type GuardedRequest, type GuardedResponse } from "../../net/guarded-fetch.ts";
import type { CarrierAccount } from "../../ports/carriers.ts";
import { INTENT } from "../../ports/testing/carriers-conformance.ts";
import { openCarriers } from "./carriers.ts";

const PAGE = "<html><body><h1>Sorry</h1> token-0123456789</body></html>";
const PLACE = { publicUrl: "https://voice.example" };
const { signal } = new AbortController();

const ACCOUNTS: Readonly<Record<ConfiguredCarrier, CarrierAccount>> = {
  telephony1: { settings: { accountSid: "AC1" }, secrets: { authToken: "token-0123456789" } },
  telephony2: {
    settings: { accountSid: "f5", applicationSid: "17" },
    secrets: { apiKey: "token-0123456789", publicKey: Buffer.alloc(32, 1).toString("base64") },
  },
  telephony3: { settings: { authId: "MA1" }, secrets: { authToken: "token-0123456789" } },
};

function open(kind: ConfiguredCarrier, answer: Partial<GuardedResponse> | Error) {
  const requests: GuardedRequest[] = [];
  const client = {
    request: (request: GuardedRequest): Promise<GuardedResponse> => {
      requests.push(request);
      if (answer instanceof Error) return Promise.reject(answer);
      return Promise.resolve({
        status: 200,
        headers: {},
        body: Buffer.from(PAGE),
        truncated: false,
        ...answer,
      });
    },
  };
  const addresses = { telephony1: null, telephony2: null, telephony3: null };
  return { carrier: openCarriers(client, addresses)[kind], account: ACCOUNTS[kind], requests };
}

describe.each(CONFIGURED_CARRIERS)("%s", (kind) => {
  test.each([
    [400, { kind: "refused", isPermanent: true, isRateLimit: false }],
    [404, { kind: "refused", isPermanent: true, isRateLimit: false }],
    [408, { kind: "refused", isPermanent: false, isRateLimit: false }],
    [429, { kind: "refused", isPermanent: false, isRateLimit: true, waitMs: 9_000 }],
    [500, { kind: "refused", isPermanent: false, isRateLimit: false }],
    [502, { kind: "unknown" }],
    [504, { kind: "unknown" }],
    [302, { kind: "unknown" }],
    [200, { kind: "unknown" }],
  ] as const)(
    "a page with the status %i is judged by its status, and not repeated",
    async (status, expected) => {
      const { carrier, account, requests } = open(kind, { status, headers: { "retry-after": "9" } });
      const outcome = await carrier.dial(account, INTENT, signal);
      expect(outcome).toMatchObject(expected);
      expect(outcome).toHaveProperty("reason", expect.stringContaining(`HTTP ${String(status)}`));
      expect(JSON.stringify(outcome)).not.toMatch(/<|Sorry|token-0123456789/);
      expect(requests).toHaveLength(1);
    },
  );

  test("a carrier that hangs is given up after a limit, and may have dialled", async () => {
    const { carrier, account, requests } = open(kind, new RequestTimedOut(15_000));
    const outcome = await carrier.dial(account, INTENT, signal);
    expect(outcome).toMatchObject({ kind: "unknown" });
    expect(outcome).toHaveProperty("reason", expect.stringContaining("timeout after 15s"));
    expect(requests.map(({ timeoutMs }) => timeoutMs)).toEqual([15_000]);
  });

  test.each([
    ["soon", undefined],
    ["-1", undefined],
    ["Wed, 21 Oct 2026 07:28:00 GMT", undefined],
    ["0", 1_000],
    ["999999", 3_600_000],
  ])("waits as long as the carrier wants, within bounds: %s", async (header, waitMs) => {
    const { carrier, account } = open(kind, { status: 429, headers: { "retry-after": header } });
    expect(await carrier.dial(account, INTENT, signal)).toHaveProperty("waitMs", waitMs ?? null);
  });

  test.each([200, 403, 404])(
    "a page with the status %i in place of the account is an error of the check",
    async (status) => {
      const { carrier, account } = open(kind, { status });
      const findings = await carrier.check(account, PLACE, signal);
      expect(findings).toMatchObject([{ severity: "error", field: null }]);
      expect(findings[0]?.message).toContain("does not answer like");
    },
  );

  test("a page that says that there is nothing ends no call", async () => {
    const { carrier, account } = open(kind, { status: 404 });
    expect(await carrier.hangUp(account, "call-1", signal)).toMatchObject({
      kind: "failed",
      isPermanent: false,
    });
  });

  test("so is an answer that is too long to be one", async () => {
    const { carrier, account } = open(kind, { body: Buffer.from("{}"), truncated: true });
    expect(await carrier.check(account, PLACE, signal)).toMatchObject([{ severity: "error", field: null }]);
  });
});

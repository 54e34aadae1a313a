import { describe, expect, it } from "vitest";
import type { CreateCallInput, CreateCallOutcome } from "../../lifecycle/api.ts";
import { BusyError } from "../../pacing/busy.ts";
import { StoreBusyError } from "../../store/database/store-errors.ts";
import { createScheduledCall, type CreationResult } from "./creation.ts";

const input: CreateCallInput = { accountId: "a", agentId: "b", request: {}, query: {} };
const reason = "There is no such agent.";
const refused: CreationResult = { kind: "refused", reason };

const RESULTS: {
  readonly [K in CreateCallOutcome["kind"]]: readonly [
    Extract<CreateCallOutcome, { readonly kind: K }>,
    CreationResult,
  ];
} = {
  created: [
    { kind: "created", callId: "c" },
    { kind: "created", callId: "c" },
  ],
  refused: [
    { kind: "refused", errors: [{ field: "voice", message: "is wrong" }] },
    { kind: "refused", reason: "voice is wrong" },
  ],
  not_found: [{ kind: "not_found", reason }, refused],
  prior_call_running: [{ kind: "prior_call_running", reason }, refused],
  not_available: [{ kind: "not_available", reason }, refused],
  not_configured: [
    { kind: "not_configured", errors: [{ field: "medium.telephony1", message: "is missing" }] },
    { kind: "impossible", reason: "medium.telephony1 is missing" },
  ],
  carrier_failed: [{ kind: "carrier_failed", reason, waitMs: 1, isRateLimit: false }, refused],
  not_enabled: [
    { kind: "not_enabled", reason },
    { kind: "impossible", reason },
  ],
  account_removed: [{ kind: "account_removed", reason }, refused],
  later: [
    { kind: "later", limit: "throttle", waitMs: 1_234 },
    { kind: "later", waitMs: 1_234, of: "batch" },
  ],
  full: [
    { kind: "full", reason, waitMs: 5_000 },
    { kind: "later", waitMs: 5_000, of: "node" },
  ],
  exists: [
    { kind: "exists", reason },
    { kind: "refused", reason },
  ],
  lost: [{ kind: "lost", reason }, { kind: "lost" }],
};

describe("what a batch does about an outcome", () => {
  it.each(Object.values(RESULTS))("%o", async (outcome, result) => {
    expect(await createScheduledCall(() => Promise.resolve(outcome), input)).toEqual(result);
  });

  it("waits while a carrier takes no more calls", async () => {
    const busy = { kind: "carrier_failed", reason, waitMs: 9_000, isRateLimit: true } as const;
    const result = await createScheduledCall(() => Promise.resolve(busy), input);
    expect(result).toEqual({ kind: "later", waitMs: 9_000, of: "batch" });
  });

  it("waits for a busy database and for checks, and passes on other faults", async () => {
    const busy = () => Promise.reject(new StoreBusyError("busy"));
    expect(await createScheduledCall(busy, input)).toEqual({ kind: "later", waitMs: 1_000, of: "node" });
    const checking = () => Promise.reject(new BusyError("busy", 2_000));
    expect(await createScheduledCall(checking, input)).toEqual({ kind: "later", waitMs: 2_000, of: "batch" });
    const broken = new Error("broken");
    await expect(createScheduledCall(() => Promise.reject(broken), input)).rejects.toBe(broken);
  });
});

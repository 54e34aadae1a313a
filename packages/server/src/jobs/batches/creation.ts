/** Creates the call of a scheduled call, and returns what its batch does about the outcome. */

import { describeProblems } from "@parley/schema";
import type { CreateCall, CreateCallInput, CreateCallOutcome } from "../../lifecycle/api.ts";
import { BusyError } from "../../pacing/busy.ts";
import { StoreBusyError } from "../../store/database/store-errors.ts";

export type CreationResult =
  | { readonly kind: "created"; readonly callId: string }
  /** A retry would not help. `reason` is a sentence. */
  | { readonly kind: "refused"; readonly reason: string }
  /** The calls of the batch cannot be dialled until somebody changes a setting. `reason` is a sentence. */
  | { readonly kind: "impossible"; readonly reason: string }
  /** A limit is reached: of this node, of the account or throttle, or of the carrier. */
  | { readonly kind: "later"; readonly waitMs: number; readonly of: "node" | "batch" }
  /** Another process may have claimed it. */
  | { readonly kind: "lost" };

/** An overloaded database recovers within a second or two. */
const BUSY_WAIT_MS = 1_000;

/** Rejects, with no call left behind, for faults of the service. */
export async function createScheduledCall(
  createCall: CreateCall,
  input: CreateCallInput,
): Promise<CreationResult> {
  try {
    return resultOf(await createCall(input));
  } catch (error) {
    if (error instanceof StoreBusyError) return { kind: "later", waitMs: BUSY_WAIT_MS, of: "node" };
    // Checks of the account of this batch.
    if (error instanceof BusyError) return { kind: "later", waitMs: error.retryAfterMs, of: "batch" };
    throw error;
  }
}

export function resultOf(outcome: CreateCallOutcome): CreationResult {
  if (outcome.kind === "created") return outcome;
  if (outcome.kind === "lost") return { kind: "lost" };
  if (outcome.kind === "later") return { kind: "later", waitMs: outcome.waitMs, of: "batch" };
  if (outcome.kind === "not_configured") {
    return { kind: "impossible", reason: describeProblems(outcome.errors) };
  }
  if (outcome.kind === "not_enabled") return { kind: "impossible", reason: outcome.reason };
  if (outcome.kind === "carrier_failed" && outcome.isRateLimit) {
    return { kind: "later", waitMs: outcome.waitMs, of: "batch" };
  }
  if (outcome.kind === "full") return { kind: "later", waitMs: outcome.waitMs, of: "node" };
  const reason = outcome.kind === "refused" ? describeProblems(outcome.errors) : outcome.reason;
  return { kind: "refused", reason };
}

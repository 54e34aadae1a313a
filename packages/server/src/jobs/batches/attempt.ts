/** Creates one claimed scheduled call, and returns the outcome. */

import {
  dialledBy,
  parseDurationMs,
  type CallMedium,
  type CallTemplate,
  type StartAgentCallRequest,
} from "@parley/schema";
import type { CreateCall } from "../../lifecycle/api.ts";
import type { OutgoingMedia, OutgoingOutcome } from "../../ports/outgoing-media.ts";
import { getAgentForCall } from "../../store/agents/agents.ts";
import {
  intendCall,
  readDocument,
  type ClaimedBatch,
  type ClaimedCall,
  type ScheduledPlace,
} from "../../store/batches/batch-claims.ts";
import { OUTCOME_UNKNOWN, type CallOutcome } from "../../store/batches/batch-outcomes.ts";
import { inTransaction } from "../../store/database/db.ts";
import { countDialAttempt } from "../../store/batches/dial-attempts.ts";
import { ClaimLostError } from "../../store/database/store-errors.ts";
import { FAILED_RECEIVER_WAIT_MS, tellOfCall, type TellDeps } from "./batch-webhook.ts";
import { createScheduledCall } from "./creation.ts";
import { batchWaitMs, diallingPermission, spellingsOf } from "./dialling-rules.ts";

export interface CallAttemptDeps extends TellDeps {
  readonly createCall: CreateCall;
  readonly outgoing: OutgoingMedia;
  /** Ends a call that was not joined. */
  readonly endUnjoined: (callId: string) => void;
  readonly log: { readonly error: (fields: object, message: string) => void };
}

type Outcome = Omit<CallOutcome, keyof ScheduledPlace>;

export type AttemptEnd =
  | { readonly kind: "ended"; readonly outcome: Outcome; readonly batchWaitMs?: number }
  /** Nothing has happened: it is created later, and so are the others of its batch or of this node. */
  | { readonly kind: "later"; readonly waitMs: number; readonly of: "node" | "batch" }
  | { readonly kind: "lost" };

const CUT_OFF = Symbol("cut off");
/** Wait after a fault of the service. */
const FAULT_WAIT_MS = 30_000;

/** Never rejects. */
export async function attemptCall(
  batch: ClaimedBatch,
  call: ClaimedCall,
  deps: CallAttemptDeps,
  signal: AbortSignal,
): Promise<AttemptEnd> {
  try {
    return await attempt(batch, call, deps, signal);
  } catch (error) {
    if (error instanceof ClaimLostError) return { kind: "lost" };
    const fields = { batchId: batch.batchId, position: call.position, error: String(error) };
    deps.log.error(fields, "a scheduled call could not be created");
    return ended({
      status: "FUTURE",
      error: "the call could not be created: an internal error of this server",
      callId: call.callId,
      dueInMs: FAULT_WAIT_MS,
      lapsed: true,
    });
  }
}

async function attempt(
  batch: ClaimedBatch,
  call: ClaimedCall,
  deps: CallAttemptDeps,
  signal: AbortSignal,
): Promise<AttemptEnd> {
  const waitMs = batchWaitMs(batch.extensions, deps.nowMs());
  if (waitMs > 0) return { kind: "later", waitMs, of: "batch" };
  const document = call.document ?? (await readDocument(deps.db, call));
  if (document === null) return { kind: "lost" };
  if (isUnreadable(document)) return failed(call, "the scheduled call cannot be read");
  // Stored values have passed the schema.
  const request = document as StartAgentCallRequest;
  const medium = request.medium ?? (await mediumOfAgent(batch, deps));
  const dialled = dialledBy(medium);
  if (medium === undefined || dialled === null) return createAndTell(batch, call, request, deps, signal);
  return placeCall(batch, call, { request, medium, to: dialled.to }, deps, signal);
}

function isUnreadable(document: object): document is { readonly problem: string } {
  return "problem" in document;
}

async function mediumOfAgent(
  { accountId, agentId }: ClaimedBatch,
  { db }: CallAttemptDeps,
): Promise<CallMedium | undefined> {
  const agent = await getAgentForCall(db, accountId, agentId);
  return ((agent?.callTemplate ?? {}) as CallTemplate).medium;
}

function ended(outcome: Pick<Outcome, "status"> & Partial<Outcome>, batchWaitMs = 0): AttemptEnd {
  const nothing = { error: null, callId: null, dueInMs: 0, attempted: false, lapsed: false, counts: null };
  return { kind: "ended", outcome: { ...nothing, ...outcome }, batchWaitMs };
}

function failed(call: ClaimedCall, error: string, callId: string | null = call.callId): AttemptEnd {
  return ended({ status: "ERROR", error, callId, counts: "failure" });
}

/** Creates a call that the receiver of the webhook connects to a person. */
async function createAndTell(
  batch: ClaimedBatch,
  call: ClaimedCall,
  request: StartAgentCallRequest,
  deps: CallAttemptDeps,
  signal: AbortSignal,
): Promise<AttemptEnd> {
  const { accountId, agentId, throttle, webhookUrl } = batch;
  if (webhookUrl === null) {
    // The medium was that of the agent, which has changed since.
    return failed(
      call,
      "webhookUrl is missing: the call has no outgoing medium, so its join URL would reach nobody",
    );
  }
  const query = throttle === null ? {} : { throttle };
  const input = { accountId, agentId, request, query, scheduled: placeOf(call) };
  const created = await createScheduledCall(deps.createCall, input);
  if (created.kind === "refused") return failed(call, created.reason);
  if (created.kind === "impossible") return pausing(call, created.reason);
  if (created.kind !== "created") return created;
  const { callId } = created;
  const failure = await tellOfCall(batch, call, callId, deps, signal).catch((error: unknown) => {
    if (signal.aborted) return CUT_OFF;
    deps.log.error({ callId, error: String(error) }, "the webhook of a batch could not be called");
    return "an internal error of this server";
  });
  // The receiver may have been notified, and a person may be about to join.
  if (failure === CUT_OFF) return failed(call, OUTCOME_UNKNOWN, callId);
  if (failure === null) return ended({ status: "SUCCESS", callId, counts: "success" });
  deps.endUnjoined(callId);
  const error = `webhook: ${failure}`;
  return ended({ status: "ERROR", error, callId, counts: "failure" }, FAILED_RECEIVER_WAIT_MS);
}

function placeOf({ batchId, position, claimId }: ScheduledPlace): ScheduledPlace {
  return { batchId, position, claimId };
}

interface Dialled {
  readonly request: StartAgentCallRequest;
  readonly medium: CallMedium;
  readonly to: string;
}

/** Creates a call that the service dials. */
async function placeCall(
  batch: ClaimedBatch,
  call: ClaimedCall,
  { request, medium, to }: Dialled,
  deps: CallAttemptDeps,
  signal: AbortSignal,
): Promise<AttemptEnd> {
  const { accountId, agentId, throttle, extensions } = batch;
  const permission = await diallingPermission(deps.db, accountId, to, extensions, deps.nowMs());
  if (permission.kind === "never") {
    return ended({ status: "ERROR", error: permission.reason, callId: call.callId });
  }
  if (permission.kind === "later") return putOff(call, permission.waitMs);
  const [number = to] = spellingsOf(to).toReversed();
  const waitMs = await inTransaction(deps.db, async (tx) => {
    const most = extensions.maxAttemptsPerNumberPerDay ?? null;
    const wait = await countDialAttempt(tx, accountId, number, most);
    if (wait === 0) await intendCall(tx, call, null);
    return wait;
  });
  if (waitMs > 0) return putOff(call, waitMs);
  const requested = { accountId, agentId, medium, request: { ...request, medium }, throttle };
  const { retryPolicy } = extensions;
  const answered = retryPolicy?.on.includes("machine") === true ? "person" : "answered";
  const until = retryPolicy === undefined ? "accepted" : answered;
  try {
    const outcome = await deps.outgoing.place({ ...requested, scheduled: placeOf(call), until }, signal);
    return placed(batch, call, outcome);
  } catch (error) {
    const fields = { batchId: batch.batchId, position: call.position, error: String(error) };
    deps.log.error(fields, "it is unknown whether a scheduled call was dialled");
    return failed(call, OUTCOME_UNKNOWN);
  }
}

/** The call stays FUTURE, and the batch is paused until somebody has changed what is missing. */
function pausing(call: ClaimedCall, pauseReason: string): AttemptEnd {
  return ended({ status: "FUTURE", callId: call.callId, pauseReason });
}

function putOff(call: ClaimedCall, dueInMs: number): AttemptEnd {
  return ended({ status: "FUTURE", callId: call.callId, dueInMs });
}

function placed(batch: ClaimedBatch, call: ClaimedCall, outcome: OutgoingOutcome): AttemptEnd {
  if (outcome.kind === "placed") {
    return ended({ status: "SUCCESS", callId: outcome.callId, attempted: true, counts: "success" });
  }
  if (outcome.kind === "later" || outcome.kind === "lost") return outcome;
  if (outcome.kind === "impossible") return pausing(call, outcome.reason);
  const { kind, reason } = outcome;
  const callId = outcome.callId ?? call.callId;
  // A person who does not answer is no sign of a fault in the batch.
  const counts = kind === "failed" ? "failure" : null;
  const { retryPolicy } = batch.extensions;
  const isTriedAgain = retryPolicy?.on.includes(kind) === true && call.attempts + 1 < retryPolicy.maxAttempts;
  // The call was answered, even if by a machine.
  if (!isTriedAgain && outcome.kind === "machine") {
    return ended({ status: "SUCCESS", callId: outcome.callId, attempted: true, counts: "success" });
  }
  if (!isTriedAgain) return ended({ status: "ERROR", error: reason, callId, attempted: true, counts });
  const dueInMs = parseDurationMs(retryPolicy.wait);
  return ended({ status: "FUTURE", callId, dueInMs, attempted: true, counts });
}

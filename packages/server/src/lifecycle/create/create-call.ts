/**
 * Creates a call: merges the agent's template and the request, checks everything that can be checked, compiles the
 * plan, stores the record and starts the call. On every outcome other than `created` no record of the call is left.
 */

import type { FieldError } from "@parley/schema";
import { missingThings, resolveNames, unavailableParts } from "../../plan/availability.ts";
import type { Available, Resolved } from "../../plan/availability.ts";
import { settingsErrors } from "../../plan/call-settings.ts";
import type { CallPlan } from "../../plan/plan.ts";
import type { RequestedSettings } from "../../plan/requested-settings.ts";
import type { StartOutcome } from "../../runner/live-calls.ts";
import type { ScheduledPlace } from "../../store/batches/batch-claims.ts";
import type { NewCall } from "../../store/calls/calls.ts";
import type { CreateCall, CreateCallInput, CreateCallOutcome, NotCreated } from "../api.ts";
import type { Dial, PrepareDial } from "./dialling.ts";
import { compileCall, type CompileDeps, type CompiledCall } from "./new-call.ts";
import { refusedAddresses } from "./requested-addresses.ts";
import { requestedCall, type RequestSources } from "./requested-call.ts";
import { throttleOf, type FindThrottle } from "./requested-throttle.ts";
import { prepareTools } from "./requested-tools.ts";
import type { PreparedTools } from "./requested-tools.ts";
import { availableFor } from "./requested-voices.ts";

export interface CallLimits {
  /** Calls of this process from creation to end; beyond it 503. */
  readonly concurrentCalls: number;
  /** The same for calls of batches, which leave the rest to callers and to calls created by a request. */
  readonly scheduledCalls: number;
  /** Upper bounds that the deployment may lower. */
  readonly joinTimeoutMs: number;
  readonly maxDurationMs: number;
}

export interface CreateCallDeps extends RequestSources, CompileDeps {
  readonly findThrottle: FindThrottle;
  /**
   * Counts the call against the limits of its account and against the throttle, and writes it. On every outcome other
   * than `inserted` nothing was written or counted.
   */
  readonly insertCall: (
    accountId: string,
    call: NewCall,
    throttleId: string | null,
    scheduled: ScheduledPlace | null,
  ) => Promise<"inserted" | NotCreated>;
  /** Removes a call that never ran, and what throttles counted for it. Does nothing when there is no such record. */
  readonly removeUnstartedCall: (accountId: string, callId: string) => Promise<unknown>;
  /** The same for a call that its carrier did not dial. */
  readonly removeUndialledCall: CreateCallDeps["removeUnstartedCall"];
  /** Takes a started call out of this process, unless it was joined: then false. Its record stays. */
  readonly releaseCall: (callId: string) => Promise<boolean>;
  /** Calls over SIP can be made and dialled. */
  readonly servesSip: boolean;
  /** For calls that the service dials. */
  readonly prepareDial: PrepareDial;
  /** For the operator: a record could not be removed. */
  readonly warn: (message: string, error: unknown) => void;
  /** After `started` the call waits for its join. */
  readonly startCall: (
    plan: CallPlan,
    start: { readonly createdAt: Date },
  ) => StartOutcome | Promise<StartOutcome>;
  /** Calls of this process that were started and have not ended. */
  readonly liveCalls: () => number;
  readonly limits: CallLimits;
}

/** After this a full process may have capacity again: calls end every few seconds when there are many. */
const FULL_WAIT_MS = 5_000;

export function createCallCreator(deps: CreateCallDeps): CreateCall {
  // Calls between the check of capacity and their start, so that many at once do not pass the check together.
  let starting = 0;
  const isFull = ({ scheduled }: CreateCallInput): boolean =>
    deps.liveCalls() + starting >=
    deps.limits[scheduled === undefined ? "concurrentCalls" : "scheduledCalls"];
  return async (input) => {
    // Checked before any query to the store or to servers, and again once the request is known to be valid.
    if (isFull(input)) return full("This server has reached its limit of concurrent calls.");
    const callToken = deps.randomToken();
    const call = await requestedCall(input, callToken, deps);
    if ("kind" in call) return call;
    const { requested, inheritedTools } = call;
    const prepared = await prepareTools(input.accountId, requested.tools, callToken, deps);
    const throttle = await throttleOf(input.accountId, input.query.throttle, deps.findThrottle);
    const available = await availableFor(input.accountId, requested.values, deps);
    const checked = checkRequest(requested, prepared, available, throttle.errors, deps);
    if ("kind" in checked) return checked;
    const { medium = {} } = requested.values;
    const dial = await deps.prepareDial(input.accountId, medium, requested.fieldOf("medium"));
    if (dial !== null && "kind" in dial) return dial;
    if (isFull(input)) return full("This server has reached its limit of concurrent calls.");
    starting += 1;
    try {
      const tools = inheritedTools ?? prepared.tools;
      const compiled = compileCall({ ...call, ...checked, tools, callToken }, input, deps);
      const stored = { ...compiled, dial, throttleId: throttle.throttleId };
      return await storeAndDial(stored, input, deps);
    } finally {
      starting -= 1;
    }
  };
}

function full(reason: string): NotCreated {
  return { kind: "full", reason, waitMs: FULL_WAIT_MS };
}

/** All problems at once. `not_available` only when nothing else is wrong. */
function checkRequest(
  requested: RequestedSettings,
  tools: PreparedTools,
  available: Available,
  throttleErrors: readonly FieldError[],
  deps: CreateCallDeps,
): Pick<Resolved, "names" | "voiceId" | "warnings"> | NotCreated {
  const { names, voiceId, warnings, ...found } = resolveNames(requested, available);
  const errors: FieldError[] = [
    ...settingsErrors(requested, deps.limits),
    ...found.errors,
    ...missingThings(requested, available),
    ...tools.errors,
    ...refusedAddresses(requested, deps),
    ...throttleErrors,
  ];
  if (errors.length > 0) return { kind: "refused", errors };
  const unavailable = [...unavailableParts(requested, deps), ...found.unavailable, ...tools.unavailable];
  if (unavailable.length > 0) return { kind: "not_available", reason: unavailable.join("; ") };
  return { names, voiceId, warnings };
}

/** The outcome when a record was written and the call did not start. */
const NOT_STARTED: Readonly<Record<Exclude<StartOutcome, "started">, NotCreated>> = {
  full: full("This server has reached its limit of concurrent calls."),
  draining: full("The service is shutting down and accepts no new calls; try again shortly."),
};

interface CallToStore extends CompiledCall {
  /** Null: the service does not dial. */
  readonly dial: Dial | null;
  readonly throttleId: string | null;
}

type Input = Pick<CreateCallInput, "accountId" | "scheduled" | "consultation">;

/** The intent to dial is stored before the call, so that no crash leaves a dialled call without it. */
async function storeAndDial(
  call: CallToStore,
  input: Input,
  deps: CreateCallDeps,
): Promise<CreateCallOutcome> {
  const { dial, record, plan } = call;
  if (dial === null) return storeAndStart(call, input, deps);
  const { callId, joinToken } = record;
  const refused = await dial.admit(callId);
  if (refused !== null) return refused;
  let isStarted = false;
  try {
    const outcome = await storeAndStart(call, input, deps);
    isStarted = outcome.kind === "created";
    if (!isStarted || joinToken === null) return outcome;
    const { joinTimeoutMs, maxDurationMs } = plan;
    const { consultation } = input;
    const undialled = await dial.place({ callId, joinToken, joinTimeoutMs, maxDurationMs, consultation });
    if (undialled === null) return outcome;
    // Somebody has joined, so the carrier has dialled after all.
    if (!(await deps.releaseCall(callId))) return outcome;
    await removeRecord(callId, input, deps, deps.removeUndialledCall);
    return undialled;
  } finally {
    if (!isStarted) await dial.abandon(callId);
  }
}

/** Never rejects. */
async function removeRecord(
  callId: string,
  { accountId }: Input,
  deps: CreateCallDeps,
  remove = deps.removeUnstartedCall,
): Promise<void> {
  await remove(accountId, callId).catch((error: unknown) => {
    deps.warn(`call ${callId} did not start, and its record could not be removed`, error);
  });
}

async function storeAndStart(
  { plan, record, throttleId }: CallToStore,
  input: Input,
  deps: CreateCallDeps,
): Promise<CreateCallOutcome> {
  const { callId, createdAtMs } = record;
  try {
    const inserted = await deps.insertCall(input.accountId, record, throttleId, input.scheduled ?? null);
    // Nothing was written, so nothing has to be removed.
    if (inserted !== "inserted") return inserted;
    const outcome = await deps.startCall(plan, { createdAt: new Date(createdAtMs) });
    if (outcome === "started") return { kind: "created", callId };
    await removeRecord(callId, input, deps);
    return NOT_STARTED[outcome];
  } catch (error) {
    // Also after a failed insert: a connection may break after the record was written.
    await removeRecord(callId, input, deps);
    throw error;
  }
}

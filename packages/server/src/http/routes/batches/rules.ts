/** Validates a batch beyond the form of its fields. */

import { setImmediate } from "node:timers/promises";
import { type CallTemplate, dialledBy, type FieldError, type ScheduledCallWrite } from "@parley/schema";
import type { BatchSettingsRow } from "../../../store/batches/batches.ts";
import type { Db } from "../../../store/database/db.ts";
import { inSlices } from "../../../pacing/in-slices.ts";
import { roughBytes } from "../../api/rough-bytes.ts";
import { findThrottle } from "../../../store/accounts/throttles.ts";
import { windowProblems } from "./window.ts";
import type { ContextChecker } from "../../../lifecycle/create/schema-checks.ts";
import type { HandlerDeps } from "../../api/endpoint.ts";

/** Limit of the listed problems of calls; more of them are one problem of the whole batch. */
const MAX_CALL_PROBLEMS = 100;
/** Time for the contexts of all calls. Those of 100,000 usual ones take less than a second. */
const CHECK_LIMIT_MS = 60_000;

export interface CheckedCalls {
  readonly errors: readonly FieldError[];
  /** At least one call is not dialled by the service. */
  readonly needsWebhook: boolean;
}

/** Problems of calls of the account's agent that has this template. */
export async function checkCalls(
  accountId: string,
  calls: readonly ScheduledCallWrite[],
  template: CallTemplate,
  { http }: HandlerDeps,
): Promise<CheckedCalls> {
  let needsWebhook = false;
  await inSlices(calls, ({ medium }) => {
    needsWebhook ||= dialledBy(medium ?? template.medium) === null;
    return !needsWebhook;
  });
  const errors: FieldError[] = [];
  const endsAt = performance.now() + CHECK_LIMIT_MS;
  for await (const found of contextProblems(calls, await http.contextChecker(accountId, template))) {
    errors.push(...found);
    if (performance.now() > endsAt) {
      const message = "take too long to check against the context schema of the agent";
      errors.push({ field: "calls", message });
      break;
    }
    if (errors.length > MAX_CALL_PROBLEMS) break;
    // A portion takes some 2 ms of the main thread: frames of audio get their turn after each.
    await setImmediate();
  }
  if (errors.length <= MAX_CALL_PROBLEMS) return { errors, needsWebhook };
  const more = { field: "calls", message: "have more problems than are listed here" };
  return { errors: [...errors.slice(0, MAX_CALL_PROBLEMS), more], needsWebhook };
}

/** Calls whose contexts are checked in one step, with one reading of the clock. */
const CALLS_PER_LOOK = 50;
/** Limit of the size of their contexts together: some 2 ms. */
const CONTEXT_BYTES_PER_LOOK = 65_536;

interface Portion {
  /** Position of the first call. */
  readonly from: number;
  readonly contexts: readonly Readonly<Record<string, unknown>>[];
}

/** The contexts of all calls, in portions of one step each, with at least one call. */
function* portionsOf(calls: readonly ScheduledCallWrite[]): Generator<Portion> {
  let contexts: Readonly<Record<string, unknown>>[] = [];
  let bytes = 0;
  for (const [index, { templateContext = {} }] of calls.entries()) {
    const more = roughBytes(templateContext, CONTEXT_BYTES_PER_LOOK);
    const isFull = contexts.length === CALLS_PER_LOOK || bytes + more > CONTEXT_BYTES_PER_LOOK;
    if (isFull && contexts.length > 0) {
      yield { from: index - contexts.length, contexts };
      contexts = [];
      bytes = 0;
    }
    contexts.push(templateContext);
    bytes += more;
  }
  if (contexts.length > 0) yield { from: calls.length - contexts.length, contexts };
}

/** Step by step, the problems of the contexts: first many at once, then each of them where there is a problem. */
async function* contextProblems(
  calls: readonly ScheduledCallWrite[],
  { allGood, problemsOf }: ContextChecker,
): AsyncGenerator<readonly FieldError[]> {
  for (const { from, contexts } of portionsOf(calls)) {
    const good = await allGood(contexts);
    yield [];
    if (good) continue;
    for (const [index, context] of contexts.entries()) {
      const problems = await problemsOf(context);
      yield problems.map(({ field, message }) => ({
        field: `calls.${from + index}.${field}`,
        message,
      }));
    }
  }
}

export interface CheckedSettings extends Pick<
  BatchSettingsRow,
  "windowStart" | "windowEnd" | "throttle" | "webhookUrl"
> {
  readonly needsWebhook: boolean;
  /** Calls that are not created yet. */
  readonly openCalls: number;
}

/** Problems of the settings of a batch, without its calls; `changed` are the fields that are checked. */
export async function settingsProblems(
  settings: CheckedSettings,
  changed: (field: keyof BatchSettingsRow) => boolean,
  accountId: string,
  db: Db,
  { http }: HandlerDeps,
): Promise<FieldError[]> {
  const { throttle, webhookUrl, needsWebhook, openCalls } = settings;
  const errors: FieldError[] = [];
  const found = throttle === null ? null : await findThrottle(db, accountId, throttle);
  if (changed("throttle")) {
    if (found === "unknown")
      errors.push({ field: "throttle", message: "is not a call throttle of this account" });
    if (found === "ambiguous") {
      errors.push({
        field: "throttle",
        message: "is the name of several call throttles; give the id of one",
      });
    }
  }
  if (changed("webhookUrl")) errors.push(...webhookProblems(webhookUrl, needsWebhook, http.refusedTarget));
  if (changed("windowStart") || changed("windowEnd") || changed("throttle")) {
    const own = found === null || typeof found === "string" ? [] : found.rules;
    const rules = [...http.accountRates, ...own];
    errors.push(...windowProblems(settings, { calls: openCalls, rules, nowMs: http.nowMs() }));
  }
  return errors;
}

function webhookProblems(
  url: string | null,
  needed: boolean,
  refusedTarget: HandlerDeps["http"]["refusedTarget"],
): FieldError[] {
  const field = "webhookUrl";
  if (url === null) {
    return needed ? [{ field, message: "is required, because not every call has an outgoing medium" }] : [];
  }
  if (!needed) return [{ field, message: "must not be given, because every call has an outgoing medium" }];
  const reason = refusedTarget(url);
  return reason === null ? [] : [{ field, message: `is not allowed: ${reason}` }];
}

/** Dials the calls that requests and batches create: the account's rules, the intent, the carrier, the outcome. */

import {
  CONFIGURED_CARRIERS,
  type CallMedium,
  type ConfiguredCarrier,
  type FieldError,
} from "@parley/schema";
import type { Logger } from "pino";
import type { NotCreated } from "../lifecycle/api.ts";
import type { CallToDial, Dial, PrepareDial } from "../lifecycle/create/dialling.ts";
import { messageOf } from "../pacing/error-text.ts";
import type { CarrierAccount, Carriers, DialIntent, DialOutcome } from "../ports/carriers.ts";
import type { Db } from "../store/database/db.ts";
import { noteDialled, noteRefused } from "../store/telephony/carrier-dials.ts";
import { admitDial, readDiallingRules, type DiallingRules } from "../store/telephony/dialling-rules.ts";
import { readTelephonyConfigs } from "../store/telephony/telephony-configs.ts";
import { instructionsUrlOf, statusUrlOf } from "./carrier-urls.ts";
import { numberProblem } from "./number-rules.ts";
import { streamOf } from "./stream-returns.ts";

export interface DialDeps {
  readonly db: Db;
  readonly carriers: Carriers;
  /** With a free port it is known once the server listens. */
  readonly publicUrl: () => string;
  /** Queues the end of a call at its carrier. */
  readonly hangUp: (accountId: string, callId: string) => Promise<void>;
  /** Writes a warning into the events of a call. */
  readonly warnCall: (accountId: string, callId: string, text: string) => Promise<void>;
  /** Wall clock in ms since 1970. */
  readonly nowMs: () => number;
  /** Aborted when the service stops. */
  readonly closing: AbortSignal;
  readonly logger: Pick<Logger, "warn" | "error">;
}

/** A carrier that does not say when to try again recovers within seconds. */
const RETRY_WAIT_MS = 5_000;

interface DialledMedium {
  readonly carrier: ConfiguredCarrier;
  readonly to: string;
  readonly from: string;
  readonly additionalParams: Readonly<Record<string, unknown>>;
}

/** Null: the service dials nobody, or not through a carrier. */
function dialledMedium(medium: CallMedium): DialledMedium | null {
  for (const carrier of CONFIGURED_CARRIERS) {
    const outgoing = medium[carrier]?.outgoing;
    if (outgoing === undefined) continue;
    const { to, from, additionalParams = {} } = outgoing;
    return { carrier, to, from, additionalParams };
  }
  return null;
}

export function createDialling(deps: DialDeps): PrepareDial {
  return async (accountId, medium, field) => {
    const dialled = dialledMedium(medium);
    if (dialled === null) return null;
    const { carrier, to } = dialled;
    const place = `${field}.${carrier}`;
    const account = (await readTelephonyConfigs(deps.db, accountId))[carrier];
    if (account === undefined) {
      const message = `needs the account's configuration of this carrier: create it with POST /api/telephony_configs/${carrier}`;
      return { kind: "not_configured", errors: [{ field: place, message }] };
    }
    const rules = await readDiallingRules(deps.db, accountId);
    const problem = numberProblem(to, rules.allowedPrefixes);
    if (problem !== null) return refusedAt(`${place}.outgoing.to`, problem);
    return openDial(deps, { accountId, account, rules, field: place, ...dialled });
  };
}

function refusedAt(field: string, message: string): NotCreated {
  const errors: FieldError[] = [{ field, message }];
  return { kind: "refused", errors };
}

interface CheckedDial extends DialledMedium {
  readonly accountId: string;
  readonly account: CarrierAccount;
  readonly rules: DiallingRules;
  readonly field: string;
}

function openDial(deps: DialDeps, checked: CheckedDial): Dial {
  const { accountId, carrier, to, rules } = checked;
  return {
    async admit(callId) {
      const admission = await admitDial(deps.db, accountId, { callId, carrier, number: to }, rules);
      if (admission.kind === "admitted") return null;
      const limit = admission.kind === "calls" ? "dialled calls" : "dialled minutes";
      return { kind: "later", limit, waitMs: admission.waitMs };
    },
    abandon: (callId) => noteSafely(deps, checked, callId, "the call was not created"),
    place: (call) => place(deps, checked, call),
  };
}

async function place(deps: DialDeps, checked: CheckedDial, call: CallToDial): Promise<NotCreated | null> {
  const { accountId, account, carrier, field } = checked;
  const { callId } = call;
  const outcome = await deps.carriers[carrier].dial(account, intentOf(deps, checked, call), deps.closing);
  if (outcome.kind !== "refused") {
    await noteOutcome(deps, accountId, callId, outcome);
    return null;
  }
  await noteSafely(deps, checked, callId, outcome.reason);
  if (outcome.isPermanent)
    return refusedAt(`${field}.outgoing`, `was refused by the carrier: ${outcome.reason}`);
  const { reason, waitMs } = outcome;
  return {
    kind: "carrier_failed",
    reason,
    waitMs: waitMs ?? RETRY_WAIT_MS,
    isRateLimit: outcome.isRateLimit,
  };
}

function intentOf(deps: DialDeps, checked: CheckedDial, call: CallToDial): DialIntent {
  const publicUrl = deps.publicUrl();
  const { carrier, to, from, additionalParams } = checked;
  const { callId, joinTimeoutMs, maxDurationMs } = call;
  return {
    to,
    from,
    additionalParams,
    stream: streamOf(publicUrl, carrier, call, { brokenStreams: 0, issuedAtMs: deps.nowMs() }),
    statusUrl: statusUrlOf(publicUrl, callId),
    instructionsUrl: instructionsUrlOf(publicUrl, callId),
    ringTimeoutMs: joinTimeoutMs,
    maxDurationMs,
  };
}

/** Never rejects: the carrier has dialled, whatever the database says. Its callbacks bring the id again. */
async function noteOutcome(
  deps: DialDeps,
  accountId: string,
  callId: string,
  outcome: Exclude<DialOutcome, { readonly kind: "refused" }>,
): Promise<void> {
  try {
    if (outcome.kind === "unknown") {
      deps.logger.warn({ callId, reason: outcome.reason }, "it is unknown whether a carrier has dialled");
      const text = `it is not known whether the number was dialled, and it is not dialled again: ${outcome.reason}`;
      await deps.warnCall(accountId, callId, text);
    } else if (await noteDialled(deps.db, accountId, callId, outcome.carrierCallId)) {
      await deps.hangUp(accountId, callId);
    }
  } catch (error) {
    deps.logger.error({ callId, error: messageOf(error) }, "the outcome of a dial could not be stored");
  }
}

async function noteSafely(
  { db, logger }: DialDeps,
  { accountId }: CheckedDial,
  callId: string,
  reason: string,
): Promise<void> {
  try {
    await noteRefused(db, accountId, callId, reason);
  } catch (error) {
    // It then counts for the limits of the day.
    logger.error({ callId, error: messageOf(error) }, "a refused dial could not be stored");
  }
}

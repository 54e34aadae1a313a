/** Dials over SIP: the account's permission and rules, the intent, the INVITE. */

import type { CallMedium, FieldError } from "@parley/schema";
import type { Logger } from "pino";
import type { NotCreated } from "../../lifecycle/api.ts";
import type { CallToDial, Dial, PrepareDial } from "../../lifecycle/create/dialling.ts";
import { messageOf } from "../../pacing/error-text.ts";
import type { SipDestination, SipDialler } from "../../ports/sip-calls.ts";
import type { LiveCalls } from "../../runner/live-calls.ts";
import type { Db } from "../../store/database/db.ts";
import { noteRefused } from "../../store/telephony/carrier-dials.ts";
import { admitDial, readDiallingRules, type DiallingRules } from "../../store/telephony/dialling-rules.ts";
import { isSipEnabled } from "../../store/telephony/sip-accounts.ts";
import { readSipRules, type SipRules } from "../../store/telephony/sip-rules.ts";
import { numberProblem } from "../number-rules.ts";

export interface SipDialDeps {
  readonly db: Db;
  readonly sipHost: string;
  readonly dialler: SipDialler;
  readonly liveCalls: Pick<LiveCalls, "joinState">;
  readonly logger: Pick<Logger, "error">;
}

const NOT_ENABLED = "SIP is not enabled for this account; the operator enables it.";
/** Ports and threads are free again when calls end. */
const RETRY_WAIT_MS = 5_000;

type Outgoing = Extract<NonNullable<CallMedium["sip"]>, { outgoing?: unknown }>["outgoing"];

/** Calls over SIP are asked about here; others are passed on. */
export function withSipDialling(deps: SipDialDeps, others: PrepareDial): PrepareDial {
  return async (accountId, medium, field) => {
    const { sip } = medium;
    if (sip === undefined) return others(accountId, medium, field);
    if (!(await isSipEnabled(deps.db, accountId))) return { kind: "not_enabled", reason: NOT_ENABLED };
    const { outgoing } = sip;
    if (outgoing === undefined) return null;
    const place = `${field}.sip.outgoing`;
    const rules = await readDiallingRules(deps.db, accountId);
    const problem = addressProblem(outgoing.to) ?? numberProblem(outgoing.to, rules.allowedPrefixes);
    if (problem !== null) return refusedAt(`${place}.to`, problem);
    const { dialledSrtp } = await readSipRules(deps.db, accountId);
    return openDial(deps, { accountId, outgoing, rules, srtp: dialledSrtp, place });
  };
}

function addressProblem(to: string): string | null {
  return /^sips?:[^\s<>"]+$/i.test(to)
    ? null
    : "must be a SIP URI, such as sip:+4930123456@trunk.example or sip:ann@pbx.example;transport=tcp";
}

function refusedAt(field: string, message: string): NotCreated {
  const errors: FieldError[] = [{ field, message }];
  return { kind: "refused", errors };
}

interface CheckedDial {
  readonly accountId: string;
  readonly outgoing: NonNullable<Outgoing>;
  readonly rules: DiallingRules;
  readonly srtp: SipRules["dialledSrtp"];
  readonly place: string;
}

function openDial(deps: SipDialDeps, checked: CheckedDial): Dial {
  const { accountId, outgoing, rules, place } = checked;
  const refuse = (callId: string, reason: string): Promise<void> =>
    noteRefused(deps.db, accountId, callId, reason).catch((error: unknown) => {
      // It then counts for the limits of the day.
      deps.logger.error({ callId, error: messageOf(error) }, "a refused dial could not be stored");
    });
  return {
    async admit(callId) {
      const dial = { callId, carrier: "sip", number: outgoing.to } as const;
      const admission = await admitDial(deps.db, accountId, dial, rules);
      if (admission.kind === "admitted") return null;
      const limit = admission.kind === "calls" ? "dialled calls" : "dialled minutes";
      return { kind: "later", limit, waitMs: admission.waitMs };
    },
    abandon: (callId) => refuse(callId, "the call was not created"),
    async place({ callId, joinTimeoutMs, consultation }: CallToDial) {
      const isWanted = (): boolean => deps.liveCalls.joinState(callId) !== "not_live";
      try {
        const destination = destinationOf(deps, checked, joinTimeoutMs, consultation);
        consultation?.dialling(callId);
        const problem = await deps.dialler.dial({ callId, accountId }, destination, isWanted);
        if (problem === null) return null;
        await refuse(callId, problem);
        return refusedAt(place, `cannot be called: ${problem}`);
      } catch (error) {
        const reason = messageOf(error);
        await refuse(callId, reason);
        const failed = { kind: "carrier_failed", reason, waitMs: RETRY_WAIT_MS } as const;
        return { ...failed, isRateLimit: false };
      }
    },
  };
}

/** A number as `from` becomes an address of the account's domain. */
function destinationOf(
  { sipHost }: SipDialDeps,
  { accountId, outgoing, rules, srtp }: CheckedDial,
  ringLimitMs: number,
  consultation: CallToDial["consultation"],
): SipDestination {
  const { to, from, username, password } = outgoing;
  const isAddress = /sips?:/i.test(from);
  return {
    to,
    from: isAddress ? from : `sip:${encodeURIComponent(from).replaceAll("%2B", "+")}@${accountId}.${sipHost}`,
    credentials: username === undefined ? null : { username, password: password ?? "" },
    ringLimitMs,
    headers: consultation?.headers ?? [],
    besideCallId: consultation?.callId ?? null,
    srtp,
    // Whoever is called must not choose a number that the account does not allow.
    mayRedirectTo: (uri) => numberProblem(uri, rules.allowedPrefixes) === null,
  };
}

/** Decides about calls that come in over SIP: the account, the source, the agent, the call. */

import type { Logger } from "pino";
import type { CreateCall, CreateCallInput, NotCreated } from "../../lifecycle/api.ts";
import { messageOf } from "../../pacing/error-text.ts";
import type { OfferDecision, OfferedSipCall } from "../../ports/sip-calls.ts";
import type { LiveCalls } from "../../runner/live-calls.ts";
import { getCall } from "../../store/calls/calls.ts";
import type { Db } from "../../store/database/db.ts";
import { isSipEnabled } from "../../store/telephony/sip-accounts.ts";
import { readSipConfig, type SipConfigRow } from "../../store/telephony/sip-configs.ts";
import { accountOfHost, calledParty } from "./called-party.ts";
import { isInRanges, rangesOf, type KnownSources } from "./known-sources.ts";
import { allowedContext, contextParts } from "./sip-context.ts";

/** Counts what is wrong with a template context for an agent; null: there is no such agent. */
export type CountContextProblems = (
  accountId: string,
  agentId: string,
) => Promise<((context: Readonly<Record<string, unknown>>) => Promise<number>) | null>;

export interface SipIncomingDeps {
  readonly db: Db;
  /** The SIP domains of the accounts are names below it. */
  readonly sipHost: string;
  readonly sources: Pick<KnownSources, "hasNow">;
  readonly createCall: CreateCall;
  readonly liveCalls: Pick<LiveCalls, "joinState">;
  readonly contextProblems: CountContextProblems;
  readonly logger: Pick<Logger, "warn" | "error">;
}

/** The same for all who may not call, so that nobody learns which accounts and agents there are. */
const FORBIDDEN: OfferDecision = { kind: "refused", status: 403 };
const NOBODY: OfferDecision = { kind: "refused", status: 404 };
const UNAVAILABLE: OfferDecision = { kind: "refused", status: 480 };
const BUSY_HERE: OfferDecision = { kind: "refused", status: 503 };

export function createSipIncoming(deps: SipIncomingDeps): (call: OfferedSipCall) => Promise<OfferDecision> {
  return async (call) => {
    try {
      const accountId = accountOfHost(call.host, deps.sipHost);
      // Before the database is asked about the account: strangers must not cause queries.
      if (accountId === null || !(await deps.sources.hasNow(call.sourceAddress))) return FORBIDDEN;
      if (!(await isSipEnabled(deps.db, accountId))) return FORBIDDEN;
      const config = await readSipConfig(deps.db, accountId);
      if (!isInRanges(rangesOf(config.allowedCidrRanges), call.sourceAddress)) return FORBIDDEN;
      return await decide(deps, accountId, config, call);
    } catch (error) {
      deps.logger.error({ error: messageOf(error) }, "an incoming SIP call could not be taken");
      return { kind: "refused", status: 500 };
    }
  };
}

async function decide(
  deps: SipIncomingDeps,
  accountId: string,
  config: SipConfigRow,
  call: OfferedSipCall,
): Promise<OfferDecision> {
  const called = calledParty(call.user, config);
  switch (called.kind) {
    case "agent":
      return agentCall(deps, accountId, called.agentId, call);
    case "call":
      return waitingCall(deps, accountId, called.callId);
    case "nobody":
    default:
      return NOBODY;
  }
}

/** A call over SIP that was created by a request, and that nobody has joined. */
async function waitingCall(
  { db, liveCalls }: SipIncomingDeps,
  accountId: string,
  callId: string,
): Promise<OfferDecision> {
  const call = await getCall(db, accountId, callId);
  if (call === null || call.mediumKind !== "sip" || call.joinedAt !== null) return NOBODY;
  const medium = call.settings["medium"] as { readonly sip?: { readonly incoming?: object } } | undefined;
  if (medium?.sip?.incoming === undefined || liveCalls.joinState(callId) !== "joinable") return NOBODY;
  return { kind: "accepted", accountId, callId };
}

async function agentCall(
  deps: SipIncomingDeps,
  accountId: string,
  agentId: string,
  call: OfferedSipCall,
): Promise<OfferDecision> {
  const problems = await deps.contextProblems(accountId, agentId);
  if (problems === null) return NOBODY;
  const request: CreateCallInput["request"] = {
    medium: { sip: { incoming: {} } },
    templateContext: await allowedContext(contextParts(call), problems),
  };
  const outcome = await deps.createCall({
    accountId,
    agentId,
    request,
    query: {},
    requestContext: requestContextOf(call),
  });
  if (outcome.kind === "created") return { kind: "accepted", accountId, callId: outcome.callId };
  deps.logger.warn({ accountId, agentId, reason: reasonOf(outcome) }, "an incoming SIP call was refused");
  return outcome.kind === "full" || outcome.kind === "later" ? BUSY_HERE : UNAVAILABLE;
}

/** What the request brought, for the record of the call. */
function requestContextOf(call: OfferedSipCall): object {
  const { callerId, fromDisplayName, fromUri, toUri } = call;
  const headers = Object.fromEntries(call.headers.map(({ name, value }) => [name, value]));
  return { sip: { callerId, fromDisplayName, fromUri, toUri, headers } };
}

export function reasonOf(outcome: NotCreated): string {
  if ("reason" in outcome) return outcome.reason;
  if ("errors" in outcome) {
    return outcome.errors.map(({ field, message }) => `${field} ${message}`).join("; ");
  }
  return outcome.limit;
}

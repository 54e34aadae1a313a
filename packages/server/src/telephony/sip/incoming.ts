/** Decides about calls that come in over SIP: the account, the source, the agent, the call. */

import type { Logger } from "pino";
import type { SipFallbackHandlerResponse } from "@parley/schema";
import type { CreateCall, CreateCallInput } from "../../lifecycle/api.ts";
import { messageOf } from "../../pacing/error-text.ts";
import type { OfferDecision, OfferedSipCall } from "../../ports/sip-calls.ts";
import { getCall } from "../../store/calls/calls.ts";
import type { Db } from "../../store/database/db.ts";
import { isSipEnabled } from "../../store/telephony/sip-accounts.ts";
import { readSipConfig, type SipConfigRow } from "../../store/telephony/sip-configs.ts";
import { accountOfHost, calledParty, type SipCalledParty } from "./called-party.ts";
import { isInRanges, rangesOf, type KnownSources } from "./known-sources.ts";
import { allowedContext, contextParts } from "./sip-context.ts";
import { reasonOf } from "../not-created.ts";

/** Counts what is wrong with a template context for an agent; null: there is no such agent. */
export type CountContextProblems = (
  accountId: string,
  agentId: string,
) => Promise<((context: Readonly<Record<string, unknown>>) => Promise<number>) | null>;

/** Asks the handler of an account, once. Null: no answer that can be used. Never rejects. */
export type AskFallback = (
  accountId: string,
  handler: NonNullable<SipConfigRow["fallbackHandler"]>,
  body: object,
) => Promise<SipFallbackHandlerResponse | null>;

export interface SipIncomingDeps {
  readonly db: Db;
  /** The SIP domains of the accounts are names below it. */
  readonly sipHost: string;
  /** The account of a registration that is kept; null: there is none. */
  readonly accountOfRegistration: (registrationId: string) => string | null;
  readonly askFallback: AskFallback;
  readonly sources: Pick<KnownSources, "hasNow">;
  readonly createCall: CreateCall;
  /** Claims a call that nobody has joined for this process. False: it is not to be had. */
  readonly claim: (callId: string) => Promise<boolean>;
  readonly contextProblems: CountContextProblems;
  readonly logger: Pick<Logger, "warn" | "error">;
}

/** The same for all who may not call, so that nobody learns which accounts and agents there are. */
const FORBIDDEN: OfferDecision = { kind: "refused", status: 403 };
const NOBODY: OfferDecision = { kind: "refused", status: 404 };
const UNAVAILABLE: OfferDecision = { kind: "refused", status: 480 };
const DECLINED = { kind: "refused", status: 603 } as const;
const BUSY_HERE: OfferDecision = { kind: "refused", status: 503 };

export function createSipIncoming(deps: SipIncomingDeps): (call: OfferedSipCall) => Promise<OfferDecision> {
  return async (call) => {
    try {
      const { registrationId } = call;
      const accountId =
        registrationId === null
          ? accountOfHost(call.host, deps.sipHost)
          : deps.accountOfRegistration(registrationId);
      if (accountId === null) return FORBIDDEN;
      // Before the database is asked about the account: strangers must not cause queries.
      if (registrationId === null && !(await deps.sources.hasNow(call.sourceAddress))) return FORBIDDEN;
      // At the same time: the caller waits for the answer.
      const [isEnabled, config] = await Promise.all([
        isSipEnabled(deps.db, accountId),
        readSipConfig(deps.db, accountId),
      ]);
      if (!isEnabled) return FORBIDDEN;
      const isAllowed =
        registrationId !== null || isInRanges(rangesOf(config.allowedCidrRanges), call.sourceAddress);
      return isAllowed ? await decide(deps, accountId, config, call) : FORBIDDEN;
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
  const called = calledIn(call, config);
  switch (called.kind) {
    case "agent":
      return agentCall(deps, accountId, called.agentId, call);
    case "call":
      return waitingCall(deps, accountId, called.callId);
    case "nobody":
    default:
      return fallback(deps, accountId, config, call);
  }
}

/** A registrar calls the registered name; the number that was dialled is in the address of To. */
function calledIn(call: OfferedSipCall, config: SipConfigRow): SipCalledParty {
  const called = calledParty(call.user, config);
  if (called.kind !== "nobody" || call.registrationId === null) return called;
  return calledParty(userOf(call.toUri), config);
}

function userOf(uri: string): string {
  const user = /^sips?:([^@;?]+)@/i.exec(uri)?.[1] ?? "";
  try {
    return decodeURIComponent(user);
  } catch {
    return user;
  }
}

/** What the handler of the account says about a call that names no agent. */
async function fallback(
  deps: SipIncomingDeps,
  accountId: string,
  { fallbackHandler: handler }: SipConfigRow,
  call: OfferedSipCall,
): Promise<OfferDecision> {
  if (handler === null) return NOBODY;
  const answer = await deps.askFallback(accountId, handler, fieldsOf(call));
  if (answer === null) return DECLINED;
  if ("reject" in answer && answer.reject !== undefined) {
    const { sipRejectCode: status = DECLINED.status, message } = answer.reject;
    return { kind: "refused", status, ...(message === undefined ? {} : { reason: message }) };
  }
  const { startAgentCall, startCall } = answer;
  const request = startAgentCall ?? startCall;
  if (request === undefined) return DECLINED;
  return create(deps, call, {
    accountId,
    agentId: startAgentCall?.agentId ?? null,
    request: { ...request, medium: { sip: { incoming: {} } } },
  });
}

/** A call over SIP that was created by a request, and that nobody has joined. */
async function waitingCall(
  { db, claim }: SipIncomingDeps,
  accountId: string,
  callId: string,
): Promise<OfferDecision> {
  const call = await getCall(db, accountId, callId);
  if (call === null || call.mediumKind !== "sip" || call.joinedAt !== null) return NOBODY;
  const medium = call.settings["medium"] as { readonly sip?: { readonly incoming?: object } } | undefined;
  if (medium?.sip?.incoming === undefined || !(await claim(callId))) return NOBODY;
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
  return create(deps, call, { accountId, agentId, request });
}

async function create(
  deps: SipIncomingDeps,
  call: OfferedSipCall,
  wanted: Pick<CreateCallInput, "accountId" | "agentId" | "request">,
): Promise<OfferDecision> {
  const { accountId, agentId } = wanted;
  const outcome = await deps.createCall({ ...wanted, query: {}, requestContext: { sip: fieldsOf(call) } });
  if (outcome.kind === "created") return { kind: "accepted", accountId, callId: outcome.callId };
  deps.logger.warn({ accountId, agentId, reason: reasonOf(outcome) }, "an incoming SIP call was refused");
  return outcome.kind === "full" || outcome.kind === "later" ? BUSY_HERE : UNAVAILABLE;
}

/** What the request brought, for the record of the call and for the handler. */
function fieldsOf(call: OfferedSipCall): object {
  const { callerId, fromDisplayName, fromUri, toUri } = call;
  const headers = Object.fromEntries(call.headers.map(({ name, value }) => [name, value]));
  return { callerId, fromDisplayName, fromUri, toUri, headers };
}

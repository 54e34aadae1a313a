/** Calls that come in through a carrier's webhook: its signature, the agent, the call, the instructions. */

import { randomUUID } from "node:crypto";
import {
  CONFIGURED_CARRIERS,
  dialledAddress,
  type CallTemplate,
  type ConfiguredCarrier,
} from "@parley/schema";
import type { Logger } from "pino";
import type { CreateCall, CreateCallInput } from "../lifecycle/api.ts";
import { messageOf } from "../pacing/error-text.ts";
import type { CarrierRequest, Carriers } from "../ports/carriers.ts";
import type { LiveCalls } from "../runner/live-calls.ts";
import { accountOfAgent, getAgentForCall } from "../store/agents/agents.ts";
import { getCall, type CallRow } from "../store/calls/calls.ts";
import { createdAtOfDeleted } from "../store/calls/deleted-calls.ts";
import type { Db } from "../store/database/db.ts";
import { agentOfNumber } from "../store/telephony/phone-numbers.ts";
import { readTelephonyConfigs, type TelephonyConfig } from "../store/telephony/telephony-configs.ts";
import { FORBIDDEN, type CalledParty, type CarrierReply, type CarrierRequests } from "./api.ts";
import { incomingCallId, LONGEST_CARRIER_CALL_MS, MAX_CALLS_OF_ONE } from "./incoming-ids.ts";
import { mappedContext } from "./request-context.ts";
import { streamOf } from "./stream-returns.ts";
import { reasonOf } from "./not-created.ts";

export interface IncomingDeps {
  readonly db: Db;
  readonly carriers: Carriers;
  readonly publicUrl: () => string;
  readonly createCall: CreateCall;
  readonly liveCalls: Pick<LiveCalls, "endCall" | "endUnjoined">;
  readonly nowMs: () => number;
  readonly logger: Pick<Logger, "warn" | "error">;
}

/** Carriers read errors aloud badly, so a caller hears this instead. */
export const APOLOGY = "Sorry, this call cannot be answered at the moment. Please try again later. Goodbye.";
export const UNASSIGNED = "Sorry, nobody answers calls to this number. Goodbye.";
/** Fields of webhooks that allow somebody to do something. */
const CREDENTIALS: ReadonlySet<string> = new Set(["CallToken"]);

interface Verified {
  readonly carrier: ConfiguredCarrier;
  readonly accountId: string;
  readonly config: TelephonyConfig;
  readonly fields: ReadonlyMap<string, string>;
}

export function createIncoming(deps: IncomingDeps): Pick<CarrierRequests, "answerCall"> {
  return {
    async answerCall(called, request) {
      const verified = await verify(deps, called, request);
      if (verified === null) return FORBIDDEN;
      const { accountId, carrier, config, fields } = verified;
      const number = dialledAddress(fields.get("To") ?? "") ?? "";
      const agentId = "agentId" in called ? called.agentId : await agentOfNumber(deps.db, accountId, number);
      const say = (text: string): CarrierReply => {
        return { kind: "xml", xml: deps.carriers[carrier].sayAndHangUp(text) };
      };
      if (agentId === null) return say(UNASSIGNED);
      if (!config.allowAllAgents && !config.allowedAgentIds.includes(agentId)) {
        return { kind: "agent_not_allowed" };
      }
      const status = deps.carriers[carrier].readStatus(fields);
      if (status?.state === "ended") return noteEnd(deps, verified, agentId);
      const call = await answeringCall(deps, verified, agentId);
      if (call === null || call.joinToken === null) return say(APOLOGY);
      const { callId, joinToken } = call;
      const first = { brokenStreams: 0, issuedAtMs: deps.nowMs() };
      const stream = streamOf(deps.publicUrl(), carrier, { callId, joinToken }, first);
      return { kind: "xml", xml: deps.carriers[carrier].connectTo(stream) };
    },
  };
}

/** Null: the signature is missing or wrong, or the account or its configuration does not exist. */
async function verify(
  { db, carriers, nowMs }: IncomingDeps,
  called: CalledParty,
  request: CarrierRequest,
): Promise<Verified | null> {
  const carrier = CONFIGURED_CARRIERS.find((name) => carriers[name].claims(request.headers));
  if (carrier === undefined) return null;
  const accountId = "accountId" in called ? called.accountId : await accountOfAgent(db, called.agentId);
  if (accountId === null) return null;
  const config = (await readTelephonyConfigs(db, accountId))[carrier];
  if (config === undefined || !carriers[carrier].isSigned(config, request, nowMs())) return null;
  const fields = carriers[carrier].readFields(request);
  return fields === null ? null : { carrier, accountId, config, fields };
}

/** The id that the next call of the agent has, and the call that runs now; null: none runs. */
interface Announced {
  readonly callId: string;
  readonly running: CallRow | null;
}

/** Null: the carrier's call has had as many calls of the agent as it may have, or is longer over than any call lasts. */
async function announcedCall(
  { db, carriers, nowMs }: IncomingDeps,
  { accountId, carrier, fields }: Verified,
  agentId: string,
): Promise<Announced | null> {
  const carrierCallId = carriers[carrier].readCallId(fields);
  // Without an id, a repeated webhook cannot be recognised.
  if (carrierCallId === null) return { callId: randomUUID(), running: null };
  const announced = { accountId, agentId, carrier, carrierCallId };
  for (let nth = 0; nth < MAX_CALLS_OF_ONE; nth += 1) {
    const callId = incomingCallId(announced, nth);
    const call = await getCall(db, accountId, callId);
    if (call !== null && call.endedAt === null) return { callId, running: call };
    const createdAt = call?.createdAt ?? (await createdAtOfDeleted(db, accountId, callId));
    if (createdAt === null) return { callId, running: null };
    if (nowMs() - Date.parse(createdAt) > LONGEST_CARRIER_CALL_MS) return null;
  }
  return null;
}

/** The call that answers: the one that an earlier webhook has created, or a new one. Null: there is none. */
async function answeringCall(
  deps: IncomingDeps,
  verified: Verified,
  agentId: string,
): Promise<CallRow | null> {
  const { db, logger } = deps;
  const { accountId } = verified;
  try {
    const announced = await announcedCall(deps, verified, agentId);
    if (announced === null) {
      logger.warn({ accountId, agentId }, "a carrier announces one call too often, or long after it");
      return null;
    }
    const { callId, running } = announced;
    if (running !== null) return running;
    const outcome = await deps.createCall(await inputOf(deps, verified, agentId, callId));
    // Another webhook of the call was faster, perhaps at another process.
    if (outcome.kind === "created" || outcome.kind === "exists") return await getCall(db, accountId, callId);
    logger.warn({ accountId, agentId, reason: reasonOf(outcome) }, "an incoming call could not be created");
  } catch (error) {
    logger.error({ accountId, agentId, error: messageOf(error) }, "an incoming call could not be created");
  }
  return null;
}

async function inputOf(
  { db }: IncomingDeps,
  { accountId, carrier, config, fields }: Verified,
  agentId: string,
  callId: string,
): Promise<CreateCallInput> {
  const agent = await getAgentForCall(db, accountId, agentId);
  // Stored templates have passed the schema.
  const { medium } = (agent?.callTemplate ?? {}) as CallTemplate;
  const digits = medium?.[carrier]?.dtmfHandling;
  const shown = [...fields].filter(([name]) => !CREDENTIALS.has(name));
  return {
    accountId,
    agentId,
    request: {
      medium: { [carrier]: digits === undefined ? {} : { dtmfHandling: digits } },
      templateContext: mappedContext(new Map(shown), config.requestContextMapping),
    },
    query: {},
    requestContext: { [carrier]: Object.fromEntries(shown) },
    incoming: { callId },
  };
}

/** One carrier reports the end of a call to the URL that answered it. Such a request never creates a call. */
async function noteEnd(deps: IncomingDeps, verified: Verified, agentId: string): Promise<CarrierReply> {
  const announced = await announcedCall(deps, verified, agentId);
  const running = announced?.running ?? null;
  if (running !== null) {
    const { callId } = running;
    if (!deps.liveCalls.endUnjoined(callId)) deps.liveCalls.endCall(callId);
  }
  return { kind: "xml", xml: deps.carriers[verified.carrier].hangUpXml };
}

/** Calls that come in through a carrier's webhook: its signature, the agent, the call, the instructions. */

import {
  CONFIGURED_CARRIERS,
  dialledAddress,
  type CallTemplate,
  type ConfiguredCarrier,
} from "@parley/schema";
import type { Logger } from "pino";
import type { CreateCall, NotCreated } from "../lifecycle/api.ts";
import { messageOf } from "../pacing/error-text.ts";
import type { CarrierRequest, Carriers } from "../ports/carriers.ts";
import { accountOfAgent, getAgentForCall } from "../store/agents/agents.ts";
import { getCall } from "../store/calls/calls.ts";
import type { Db } from "../store/database/db.ts";
import { agentOfNumber } from "../store/telephony/phone-numbers.ts";
import { readTelephonyConfigs, type TelephonyConfig } from "../store/telephony/telephony-configs.ts";
import type { CalledParty, CarrierRequests, CarrierReply } from "./api.ts";
import { streamUrlOf } from "./carrier-urls.ts";
import { mappedContext } from "./request-context.ts";

export interface IncomingDeps {
  readonly db: Db;
  readonly carriers: Carriers;
  readonly publicUrl: () => string;
  readonly createCall: CreateCall;
  readonly nowMs: () => number;
  readonly logger: Pick<Logger, "warn" | "error">;
}

const FORBIDDEN: CarrierReply = { kind: "forbidden" };
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
      const streamUrl = await createdCall(deps, verified, agentId);
      return streamUrl === null
        ? say(APOLOGY)
        : { kind: "xml", xml: deps.carriers[carrier].connectTo(streamUrl) };
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

/** The URL of the call's stream; null: there is no call. */
async function createdCall(
  deps: IncomingDeps,
  { accountId, carrier, config, fields }: Verified,
  agentId: string,
): Promise<string | null> {
  const { db, logger } = deps;
  try {
    const agent = await getAgentForCall(db, accountId, agentId);
    // Stored templates have passed the schema.
    const { medium } = (agent?.callTemplate ?? {}) as CallTemplate;
    const digits = medium?.[carrier]?.dtmfHandling;
    const shown = [...fields].filter(([name]) => !CREDENTIALS.has(name));
    const outcome = await deps.createCall({
      accountId,
      agentId,
      request: {
        medium: { [carrier]: digits === undefined ? {} : { dtmfHandling: digits } },
        templateContext: mappedContext(new Map(shown), config.requestContextMapping),
      },
      query: {},
      requestContext: { [carrier]: Object.fromEntries(shown) },
    });
    if (outcome.kind !== "created") {
      logger.warn({ accountId, agentId, reason: reasonOf(outcome) }, "an incoming call could not be created");
      return null;
    }
    const call = await getCall(db, accountId, outcome.callId);
    if (call === null || call.joinToken === null) return null;
    const { callId, joinToken } = call;
    return streamUrlOf(deps.publicUrl(), carrier, { callId, joinToken });
  } catch (error) {
    logger.error({ accountId, agentId, error: messageOf(error) }, "an incoming call could not be created");
    return null;
  }
}

function reasonOf(outcome: NotCreated): string {
  if ("reason" in outcome) return outcome.reason;
  if ("errors" in outcome)
    return outcome.errors.map(({ field, message }) => `${field} ${message}`).join("; ");
  return outcome.limit;
}

/** Callbacks about the progress of calls that the service has dialled. */

import { CONFIGURED_CARRIERS, type ConfiguredCarrier } from "@parley/schema";
import type { Logger } from "pino";
import { messageOf } from "../pacing/error-text.ts";
import type { Carrier, CarrierRequest, CarrierResult, CarrierStatus, Carriers } from "../ports/carriers.ts";
import type { Answerer, LiveCalls } from "../runner/live-calls.ts";
import type { Db } from "../store/database/db.ts";
import { getCall } from "../store/calls/calls.ts";
import { getDial, noteAnsweredBy, noteProgress, type DialRow } from "../store/telephony/carrier-dials.ts";
import { noteRinging } from "../store/telephony/dial-progress.ts";
import { readTelephonyConfigs } from "../store/telephony/telephony-configs.ts";
import { FORBIDDEN, WRONG_SIGNATURE, type CarrierReply, type CarrierRequests } from "./api.ts";
import { noteInCall, type CallNote } from "./call-notes.ts";

export interface CallbackDeps {
  readonly db: Db;
  readonly carriers: Carriers;
  readonly liveCalls: Pick<LiveCalls, "endCall" | "endUnjoined" | "noteAnswerer">;
  /** Called once for each result of a call, for the metrics. */
  readonly machineDetected: (carrier: ConfiguredCarrier) => void;
  /** Queues the end of a call at its carrier. */
  readonly hangUp: (accountId: string, callId: string) => Promise<void>;
  readonly nowMs: () => number;
  readonly logger: Pick<Logger, "warn" | "info">;
}

const DONE: CarrierReply = { kind: "done" };

/** How a failed call is named in its events. */
const SENTENCES: Readonly<Record<Exclude<CarrierResult, "completed">, string>> = {
  busy: "the line was busy",
  no_answer: "nobody answered",
  failed: "the carrier could not connect the call",
  canceled: "the call was canceled before anybody answered",
  machine: "a machine answered, and the carrier has ended the call",
};

export function createCallbacks(deps: CallbackDeps): Pick<CarrierRequests, "noteStatus"> {
  return {
    async noteStatus(callId, request) {
      const taken = await takeStatus(deps, callId, request);
      return "kind" in taken ? taken : DONE;
    },
  };
}

/** Notes what the request says of the call, or says as `verify` why it does not. */
export async function takeStatus(
  deps: CallbackDeps,
  callId: string,
  request: CarrierRequest,
): ReturnType<typeof verify> {
  const verified = await verify(deps, callId, request);
  if ("kind" in verified) return verified;
  const { dial, carrier } = verified;
  const fields = carrier.readFields(request);
  const status = fields === null ? null : carrier.readStatus(fields);
  // Carriers send other callbacks to the same address, such as those of recordings.
  if (status !== null) await noteStatus(deps, dial, status);
  return verified;
}

/** Whether the request has the signature of some carrier, right or wrong. */
export function isClaimed(carriers: Carriers, { headers }: Pick<CarrierRequest, "headers">): boolean {
  return CONFIGURED_CARRIERS.some((name) => carriers[name].claims(headers));
}

/** The dial that the request is about. `forbidden`: the signature is wrong, or there is no such dial. */
async function verify(
  { db, carriers, nowMs }: CallbackDeps,
  callId: string,
  request: CarrierRequest,
): Promise<{ readonly dial: DialRow; readonly carrier: Carrier } | CarrierReply> {
  // Without a signature of any carrier, the database is not asked.
  if (!isClaimed(carriers, request)) return FORBIDDEN;
  const dial = await getDial(db, callId);
  if (dial === null) return FORBIDDEN;
  const account = (await readTelephonyConfigs(db, dial.accountId))[dial.carrier];
  const carrier = carriers[dial.carrier];
  if (account === undefined || !carrier.isSigned(account, request, nowMs())) return WRONG_SIGNATURE;
  return { dial, carrier };
}

async function noteStatus(deps: CallbackDeps, dial: DialRow, status: CarrierStatus): Promise<void> {
  const { db, logger } = deps;
  const { accountId, callId } = dial;
  const { carrierCallId, state, result, detail, talkedMs, answeredBy } = status;
  const isAnswered = state === "answered" || result === "completed";
  const progress = { carrierCallId, isAnswered, result, detail, talkedMs };
  const noted = await noteProgress(db, accountId, callId, progress);
  if (noted === "other") {
    logger.warn({ callId }, "a carrier's callback is about another call than the one that was dialled");
    return;
  }
  if (state === "ringing") await noteRinging(db, accountId, callId);
  if (answeredBy !== null) await noteAnswerer(deps, dial, answeredBy);
  if (noted !== "noted") return;
  if (result === null) await hangUpIfOver(deps, dial);
  else await end(deps, dial, result, detail);
}

/** A call that runs in another process learns of it there, see `ended-dials.ts`. */
async function noteAnswerer(deps: CallbackDeps, dial: DialRow, answeredBy: string): Promise<void> {
  const { db, liveCalls, machineDetected } = deps;
  const { accountId, callId, carrier } = dial;
  const answerer = answererOf(answeredBy);
  const isNew = await noteAnsweredBy(db, accountId, callId, answeredBy);
  liveCalls.noteAnswerer(callId, answerer);
  if (!answerer.isMachine) return;
  if (isNew) machineDetected(carrier);
  await noteMachine(deps, dial, answeredBy);
}

/** What the carrier's word says. */
export function answererOf(answeredBy: string): Answerer {
  const isMachine = /machine|fax/i.test(answeredBy);
  return { answeredBy, isMachine, greetingEnded: /^machine_end/i.test(answeredBy) };
}

async function noteMachine({ db }: CallbackDeps, dial: DialRow, answeredBy: string): Promise<void> {
  const note: CallNote = {
    severity: "info",
    type: "telephony.machine_detected",
    text: /^machine_end/i.test(answeredBy)
      ? "the greeting of the answering machine has ended"
      : "the carrier has detected a machine",
    extras: { answeredBy },
  };
  await noteInCall(db, dial.accountId, dial.callId, note);
}

/** The call has ended here while the carrier was asked, so nobody would stop the ringing. */
async function hangUpIfOver({ db, hangUp, logger }: CallbackDeps, dial: DialRow): Promise<void> {
  const { accountId, callId } = dial;
  const call = await getCall(db, accountId, callId);
  if (call !== null && (call.endedAt === null || call.joinedAt !== null)) return;
  try {
    await hangUp(accountId, callId);
  } catch (error) {
    logger.warn({ callId, error: messageOf(error) }, "the end of a dialled call could not be queued");
  }
}

/** A call that runs in another process ends there, see `ended-dials.ts`. */
async function end(
  deps: CallbackDeps,
  { accountId, callId, carrier }: DialRow,
  result: CarrierResult,
  detail: string | null,
): Promise<void> {
  if (result !== "completed") {
    const words = detail === null ? "" : ` (${detail})`;
    const text = `the dialled call has failed: ${SENTENCES[result]}${words}`;
    const extras = { carrier, result, detail };
    await noteInCall(deps.db, accountId, callId, {
      severity: "warning",
      type: "telephony.failed",
      text,
      extras,
    });
  }
  if (!deps.liveCalls.endUnjoined(callId)) deps.liveCalls.endCall(callId);
}

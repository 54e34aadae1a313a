/**
 * Ends a call at its carrier: one that the service has dialled and that has ended here before anybody joined it, or one
 * that would go on there though the service has closed its stream.
 */

import { CONFIGURED_CARRIERS, type ConfiguredCarrier } from "@parley/schema";
import type { Carriers } from "../../ports/carriers.ts";
import type { Db } from "../../store/database/db.ts";
import { getDial } from "../../store/telephony/carrier-dials.ts";
import { readTelephonyConfigs } from "../../store/telephony/telephony-configs.ts";
import { readEndedCall, type EndedCall } from "./finish-call.ts";
import type { JobDefinition, JobHandler } from "./job.ts";
import type { Jobs } from "../jobs.ts";

export interface CallToHangUp extends EndedCall {
  /** Unset: a dialled call, whose dial is stored. */
  readonly at?: { readonly carrier: ConfiguredCarrier; readonly carrierCallId: string };
}

/** @throws when it is not such data */
function readCallToHangUp(data: unknown): CallToHangUp {
  const call = readEndedCall(data);
  if (typeof data !== "object" || data === null || !("at" in data)) return call;
  const { at } = data;
  if (typeof at === "object" && at !== null && "carrier" in at && "carrierCallId" in at) {
    const carrier = CONFIGURED_CARRIERS.find((name) => name === at.carrier);
    const { carrierCallId } = at;
    if (carrier !== undefined && typeof carrierCallId === "string")
      return { ...call, at: { carrier, carrierCallId } };
  }
  throw new Error("The job names no call of a carrier.");
}

export const hangUpJob: JobDefinition<CallToHangUp> = {
  name: "hang-up",
  read: readCallToHangUp,
  atOnce: 4,
  // A carrier has 15 s for its answer, and one of them is asked twice.
  limitSeconds: 40,
  // After some minutes the carrier has given up the ringing by itself.
  retries: { limit: 5, delaySeconds: 5, maxDelaySeconds: 60 },
};

/**
 * Queues the job, within the transaction that ends an unjoined call, where its carrier may still be dialling. True: a job
 * was queued, so wake the queue.
 */
export async function leaveHangUp(tx: Db, jobs: Pick<Jobs, "send">, call: EndedCall): Promise<boolean> {
  const { accountId, callId } = call;
  const dial = await getDial(tx, callId);
  if (dial === null || dial.result !== null) return false;
  await jobs.send(tx, hangUpJob, { accountId, callId });
  return true;
}

export interface HangUpDeps {
  readonly db: Db;
  readonly carriers: Carriers;
  readonly log: { readonly warn: (fields: object, message: string) => void };
}

export function hangUpHandler({ db, carriers, log }: HangUpDeps): JobHandler<CallToHangUp> {
  return async ({ data, signal }) => {
    const { accountId, callId } = data;
    const at = data.at ?? (await dialledAt(db, callId));
    if (at === null) return;
    const { carrier, carrierCallId } = at;
    const account = (await readTelephonyConfigs(db, accountId))[carrier];
    if (account === undefined) {
      log.warn(
        { callId, carrier },
        "a call cannot be ended at its carrier: the account has no configuration of it",
      );
      return;
    }
    const outcome = await carriers[carrier].hangUp(account, carrierCallId, signal);
    if (outcome.kind === "ended") return;
    if (!outcome.isPermanent) throw new Error(outcome.reason);
    log.warn({ callId, carrier, reason: outcome.reason }, "a call could not be ended at its carrier");
  };
}

/**
 * Null: nothing is to be ended. Without an id the carrier has not answered yet, or its answer was lost: its first
 * callback queues the job again.
 */
async function dialledAt(db: Db, callId: string): Promise<NonNullable<CallToHangUp["at"]> | null> {
  const dial = await getDial(db, callId);
  if (dial === null || dial.result !== null || dial.carrierCallId === null) return null;
  return { carrier: dial.carrier, carrierCallId: dial.carrierCallId };
}

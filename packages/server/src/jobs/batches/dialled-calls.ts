/** Calls of batches that the service dials: created as any call, and awaited where the batch retries. */

import { setTimeout as wait } from "node:timers/promises";
import { CONFIGURED_CARRIERS, mediumKindOf, type CallMedium, type MediumKind } from "@parley/schema";
import type { CreateCall } from "../../lifecycle/api.ts";
import type { OutgoingMedia, OutgoingOutcome } from "../../ports/outgoing-media.ts";
import type { Db } from "../../store/database/db.ts";
import { readDialledCalls, type DialledCall } from "../../store/telephony/carrier-dials.ts";
import { createScheduledCall } from "./creation.ts";

export interface DialledCallDeps {
  readonly db: Db;
  readonly createCall: CreateCall;
  /** The service dials over SIP. */
  readonly dialsSip: boolean;
  /** For tests; absent: a second. */
  readonly pollMs?: number;
}

/** Whoever answers waits no longer for it; the next try of the batch may come this much later. */
const POLL_MS = 1_000;
/** Carriers say within about 30 s who has answered; then the call counts as answered by a person. */
const DETECTION_MS = 60_000;
/** Longer than the longest join timeout, after which the call has ended. */
const MAX_WAIT_MS = 3_900_000;

export function openDialledCalls({
  db,
  createCall,
  dialsSip,
  pollMs = POLL_MS,
}: DialledCallDeps): OutgoingMedia {
  return {
    async place({ accountId, agentId, medium, request, throttle, scheduled, until }, signal) {
      signal.throwIfAborted();
      const kind = mediumKindOf(medium);
      const reason = undialledReason(kind, dialsSip);
      if (reason !== null) return { kind: "impossible", reason };
      const query = throttle === null ? {} : { throttle };
      const input = { accountId, agentId, request, query, scheduled };
      const created = await createScheduledCall(createCall, input);
      if (created.kind === "refused") return { kind: "failed", callId: null, reason: created.reason };
      if (created.kind !== "created") return created;
      const { callId } = created;
      if (until === "accepted") return { kind: "placed", callId };
      const forPerson = until === "person" && detectsMachines(medium);
      let joinedMs = 0;
      for (let waitedMs = 0; waitedMs < MAX_WAIT_MS; waitedMs += pollMs) {
        const [call] = await readDialledCalls(db, [callId]);
        const outcome = call === undefined ? null : outcomeOf(call, forPerson && joinedMs < DETECTION_MS);
        if (outcome !== null) return outcome;
        if (call?.isJoined === true) joinedMs += pollMs;
        await wait(pollMs, undefined, { signal });
      }
      throw new Error(`the call ${callId} was neither answered nor ended`);
    },
  };
}

function undialledReason(kind: MediumKind, dialsSip: boolean): string | null {
  if (kind === "sip") {
    return dialsSip ? null : "medium.sip: the service dials over SIP only when its setting SIP_HOST is set";
  }
  if (CONFIGURED_CARRIERS.some((carrier) => carrier === kind)) return null;
  return `medium.${kind}: the service cannot dial over ${kind} in this version`;
}

/** The parameter by which the carriers look for machines, in their spellings. */
function detectsMachines(medium: CallMedium): boolean {
  return CONFIGURED_CARRIERS.some((carrier) =>
    Object.keys(medium[carrier]?.outgoing?.additionalParams ?? {}).some(
      (name) => name.toLowerCase().replaceAll("_", "") === "machinedetection",
    ),
  );
}

/** Null: it still rings, or it is not yet known who has answered. `forPerson`: that is waited for. */
export function outcomeOf(
  { callId, isJoined, isOver, result, detail, answeredBy }: DialledCall,
  forPerson = false,
): OutgoingOutcome | null {
  const isMachine = result === "machine" || (answeredBy !== null && /machine|fax/i.test(answeredBy));
  if (isMachine && forPerson) return { kind: "machine", callId, reason: "a machine answered" };
  if (isJoined && forPerson && answeredBy === null && !isOver) return null;
  if (isJoined) return { kind: "placed", callId };
  const words = detail === null ? "" : ` (${detail})`;
  switch (result) {
    case "busy":
      return { kind: "busy", callId, reason: `the line was busy${words}` };
    case "no_answer":
    case "canceled":
      return { kind: "no_answer", callId, reason: `nobody answered${words}` };
    case "machine":
      return { kind: "no_answer", callId, reason: "a machine answered" };
    case "failed":
    case "refused":
      return { kind: "failed", callId, reason: `the carrier could not connect the call${words}` };
    case "completed":
      return { kind: "failed", callId, reason: "the call was answered, but its audio was not connected" };
    case null:
      break;
  }
  return isOver ? { kind: "no_answer", callId, reason: "nobody answered in time" } : null;
}

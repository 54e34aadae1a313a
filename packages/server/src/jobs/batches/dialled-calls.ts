/** Calls of batches that the service dials: created as any call, and awaited where the batch retries. */

import { setTimeout as wait } from "node:timers/promises";
import { CONFIGURED_CARRIERS, mediumKindOf } from "@parley/schema";
import type { CreateCall } from "../../lifecycle/api.ts";
import type { OutgoingMedia, OutgoingOutcome } from "../../ports/outgoing-media.ts";
import type { Db } from "../../store/database/db.ts";
import { readDialledCalls, type DialledCall } from "../../store/telephony/carrier-dials.ts";
import { createScheduledCall } from "./creation.ts";

export interface DialledCallDeps {
  readonly db: Db;
  readonly createCall: CreateCall;
  /** For tests; absent: a second. */
  readonly pollMs?: number;
}

/** Whoever answers waits no longer for it; the next try of the batch may come this much later. */
const POLL_MS = 1_000;
/** Longer than the longest join timeout, after which the call has ended. */
const MAX_WAIT_MS = 3_900_000;

export function openDialledCalls({ db, createCall, pollMs = POLL_MS }: DialledCallDeps): OutgoingMedia {
  return {
    async place({ accountId, agentId, medium, request, throttle, scheduled, until }, signal) {
      signal.throwIfAborted();
      const kind = mediumKindOf(medium);
      if (!CONFIGURED_CARRIERS.some((carrier) => carrier === kind)) {
        const reason = `medium.${kind}: the service cannot dial over ${kind} in this version`;
        return { kind: "impossible", reason };
      }
      const query = throttle === null ? {} : { throttle };
      const input = { accountId, agentId, request, query, scheduled };
      const created = await createScheduledCall(createCall, input);
      if (created.kind === "refused") return { kind: "failed", callId: null, reason: created.reason };
      if (created.kind !== "created") return created;
      const { callId } = created;
      if (until === "accepted") return { kind: "placed", callId };
      for (let waitedMs = 0; waitedMs < MAX_WAIT_MS; waitedMs += pollMs) {
        const [call] = await readDialledCalls(db, [callId]);
        const outcome = call === undefined ? null : outcomeOf(call);
        if (outcome !== null) return outcome;
        await wait(pollMs, undefined, { signal });
      }
      throw new Error(`the call ${callId} was neither answered nor ended`);
    },
  };
}

/** Null: it still rings. */
export function outcomeOf({ callId, isJoined, isOver, result, detail }: DialledCall): OutgoingOutcome | null {
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

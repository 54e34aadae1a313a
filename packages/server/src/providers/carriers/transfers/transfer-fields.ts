/** What the requests of carriers about transfers say. */

import type { RedirectOutcome, TransferEnd } from "../../../ports/carrier-transfers.ts";
import { statusOf } from "../call-status.ts";
import { dialBy, type AnswerReading, type CarrierAnswer } from "../carrier-http.ts";

type Fields = ReadonlyMap<string, string>;

/** `status`: how the call to the target has ended. `own`: the status of the transferred one. */
export function endOf(
  status: string | undefined,
  own: string | undefined,
  seconds: string | undefined,
): TransferEnd | null {
  const word = status?.toLowerCase() === "answered" ? "completed" : status;
  const fields = { id: undefined, answeredBy: undefined, detail: [] };
  const read = statusOf({ ...fields, status: word, seconds });
  if (read?.result === undefined || read.result === null) return null;
  const isCallerGone = isOver(own);
  return {
    result: read.result === "machine" ? "completed" : read.result,
    isCallerGone,
    talkedMs: read.talkedMs,
  };
}

/** `own`: the status of the call that the request is about. */
export function isOver(own: string | undefined): boolean {
  const fields = { id: undefined, answeredBy: undefined, seconds: undefined, detail: [] };
  return statusOf({ ...fields, status: own })?.state === "ended";
}

/** Twilio's fields, which Telnyx has as well. */
export function twilioEnd(fields: Fields): TransferEnd | null {
  return endOf(fields.get("DialCallStatus"), fields.get("CallStatus"), fields.get("DialCallDuration"));
}

export function twilioProgress(fields: Fields): "answered" | null {
  const state = statusOf({
    id: undefined,
    status: fields.get("CallStatus"),
    answeredBy: undefined,
    seconds: undefined,
    detail: [],
  })?.state;
  return state === "answered" ? "answered" : null;
}

/** A redirected call has the outcomes of a dial: an answer that was lost may have had an effect. */
export async function redirectBy(
  ask: () => Promise<CarrierAnswer>,
  reading: AnswerReading,
): Promise<RedirectOutcome> {
  const callIdOf = (json: unknown): string | null => (json === undefined ? null : "redirected");
  const outcome = await dialBy(ask, { ...reading, callIdOf });
  return outcome.kind === "placed" ? { kind: "redirected" } : { kind: outcome.kind, reason: outcome.reason };
}

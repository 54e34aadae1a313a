/** Fake outgoing media: dials no one and returns the outcome that the test sets. */

import { randomUUID } from "node:crypto";
import type { OutgoingCall, OutgoingMedia, OutgoingOutcome } from "../outgoing-media.ts";

/** How a call ends: with an outcome, with a failure, or not until it is aborted. */
export type FakeOutcome = OutgoingOutcome | Error | "hangs";

export class FakeOutgoingMedia implements OutgoingMedia {
  readonly placed: OutgoingCall[] = [];
  outcomeOf: (call: OutgoingCall) => FakeOutcome | Promise<FakeOutcome> = () => ({
    kind: "placed",
    callId: randomUUID(),
  });

  readonly place = async (call: OutgoingCall, signal: AbortSignal): Promise<OutgoingOutcome> => {
    signal.throwIfAborted();
    this.placed.push(call);
    const outcome = await this.outcomeOf(call);
    if (outcome instanceof Error) throw outcome;
    if (outcome !== "hangs") return outcome;
    return new Promise((_, reject) => {
      if (signal.aborted) reject(signal.reason as Error);
      signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
    });
  };
}

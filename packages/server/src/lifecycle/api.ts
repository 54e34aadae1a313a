/** The types by which the HTTP API and batches create calls and send them messages. */

import type { FieldError, StartAgentCallRequest, StartCallRequest } from "@parley/schema";
import type { ScheduledPlace } from "../store/batches/batch-claims.ts";
import type { SendOutcome } from "../runner/live-calls.ts";
import type { AdmissionLimit } from "../store/database/store-errors.ts";

export type { SendOutcome };

export interface CreateCallInput {
  readonly accountId: string;
  /** Set for a call of an agent; `request` is then a StartAgentCallRequest. */
  readonly agentId: string | null;
  readonly request: StartCallRequest | StartAgentCallRequest;
  readonly query: {
    readonly enableGreetingPrompt?: boolean | undefined;
    readonly priorCallId?: string | undefined;
    readonly throttle?: string | undefined;
    readonly madeInConsole?: boolean | undefined;
  };
  /** Set for a call of a batch: its creation is recorded there in the transaction that writes the call. */
  readonly scheduled?: ScheduledPlace | undefined;
  /** A valid header `traceparent`: the call becomes a part of that trace. */
  readonly traceParent?: string | undefined;
  /** What the webhook of a carrier brought. */
  readonly requestContext?: object | undefined;
  /** The call is one that a carrier has announced, whose id is made from the carrier's. */
  readonly incoming?: { readonly callId: string } | undefined;
  /** The call is a conversation with the person who is to take over the caller of another call. */
  readonly consultation?: Consultation | undefined;
}

/** `request` then has the instructions, the medium and the limits; the rest is that of the caller's call. */
export interface Consultation {
  /** The caller's call, of the same account. */
  readonly callId: string;
  /** Header fields of the request that dials, whose names begin with `X-`. */
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  /** Called with the id of the new call before anybody is dialled. */
  readonly dialling: (callId: string) => void;
}

/** `reason` is a sentence for the person who sent the request. Only `created` leaves a call behind. */
export type CreateCallOutcome =
  | { readonly kind: "created"; readonly callId: string }
  /** Every problem of the request, at least one. */
  | { readonly kind: "refused"; readonly errors: readonly FieldError[] }
  /** The agent or the prior call does not exist, or belongs to another account. */
  | { readonly kind: "not_found"; readonly reason: string }
  | { readonly kind: "prior_call_running"; readonly reason: string }
  /** The request is valid, but this version cannot do all of it. */
  | { readonly kind: "not_available"; readonly reason: string }
  | { readonly kind: "account_removed"; readonly reason: string }
  /** The operator has not enabled this for the account. */
  | { readonly kind: "not_enabled"; readonly reason: string }
  /** A limit of the account or a throttle is reached; `waitMs`, at least 1, says when to retry. */
  | { readonly kind: "later"; readonly limit: PassingLimit; readonly waitMs: number }
  /** The account has not configured the carrier that is to dial; `errors` name what is missing. */
  | { readonly kind: "not_configured"; readonly errors: readonly FieldError[] }
  /** The carrier cannot be reached, or fails; nobody was dialled. `isRateLimit`: it takes no more calls for now. */
  | {
      readonly kind: "carrier_failed";
      readonly reason: string;
      readonly waitMs: number;
      readonly isRateLimit: boolean;
    }
  /** This process takes no more calls for now. */
  | { readonly kind: "full"; readonly reason: string; readonly waitMs: number }
  /** The call that a carrier has announced was created before, perhaps by another process. */
  | { readonly kind: "exists"; readonly reason: string }
  /** The claim on the scheduled call has expired: another process may create it. */
  | { readonly kind: "lost"; readonly reason: string };

/** Limits that allow the call after a wait. */
export type PassingLimit = Exclude<AdmissionLimit, "account removed"> | "dialled calls" | "dialled minutes";

export type NotCreated = Exclude<CreateCallOutcome, { readonly kind: "created" }>;

/**
 * Rejects, with no call left behind, only for faults of the service, such as a database that does not answer, and with
 * `BusyError` when too many checks of the account are waiting.
 */
export type CreateCall = (input: CreateCallInput) => Promise<CreateCallOutcome>;

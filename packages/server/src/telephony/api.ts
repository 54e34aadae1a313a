/** The types by which the HTTP API answers carriers and checks configurations. */

import type { ConfiguredCarrier } from "@parley/schema";
import type { CarrierFinding, CarrierRequest } from "../ports/carriers.ts";

/** `xml`: instructions for the carrier. `done`: a callback that needs no answer. */
export type CarrierReply =
  /** `isUnsigned`: nothing is known by which the signature could be checked. */
  | { readonly kind: "xml"; readonly xml: string; readonly isUnsigned?: true }
  | { readonly kind: "done" }
  /**
   * The signature is missing or wrong, or what it is about is unknown: the client gets the same answer. `isKnown`: it is
   * about something of an account, and the signature is wrong.
   */
  | { readonly kind: "forbidden"; readonly isKnown?: true }
  /** The account does not let the carrier call this agent. */
  | { readonly kind: "agent_not_allowed" };

/** Nothing of an account was named, or nothing that is known. */
export const FORBIDDEN: CarrierReply = { kind: "forbidden" };
/** A signature of the account was needed, and this is none. */
export const WRONG_SIGNATURE: CarrierReply = { kind: "forbidden", isKnown: true };

/** Who answers: an agent, or, of an account, the agent of the number that was called. */
export type CalledParty = { readonly agentId: string } | { readonly accountId: string };

export interface CarrierRequests {
  /** Creates the call of an incoming one, once however often it is announced, and says where its audio goes. */
  readonly answerCall: (called: CalledParty, request: CarrierRequest) => Promise<CarrierReply>;
  /** Notes the progress of a call that the service has dialled. */
  readonly noteStatus: (callId: string, request: CarrierRequest) => Promise<CarrierReply>;
  /** Where the audio of a call goes: when it is answered, and when a stream is over. */
  readonly instruct: (callId: string, request: CarrierRequest) => Promise<CarrierReply>;
  /** A request about a transfer; `step`: the end of its path. */
  readonly transfer: (transferId: string, step: string, request: CarrierRequest) => Promise<CarrierReply>;
  /** What prevents calls over the carrier; null: it is not configured. */
  readonly check: (
    accountId: string,
    carrier: ConfiguredCarrier,
  ) => Promise<readonly CarrierFinding[] | null>;
}

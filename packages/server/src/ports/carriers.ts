/**
 * Port for the carriers that dial phone numbers and that bring calls: their REST interface, the instructions that they
 * fetch, and the callbacks that they send. Answers and callbacks are checked before they are believed.
 */

import type { ConfiguredCarrier } from "@parley/schema";
import type { CarrierAccount, CarrierTransfers } from "./carrier-transfers.ts";

export type { CarrierAccount };

/** A stream, and what follows it. */
export interface StreamIntent {
  /** The websocket that the carrier connects the call to. */
  readonly streamUrl: string;
  /** The carrier fetches its next instructions there when the stream is over and the call is not. */
  readonly returnUrl: string;
  /** Silence before the stream, in whole seconds. */
  readonly pauseSeconds: number;
}

/** A number to dial, and what the carrier does when it is answered. */
export interface DialIntent {
  readonly to: string;
  readonly from: string;
  /** Parameters of the carrier's own request, in its spelling. They never replace what this intent sets. */
  readonly additionalParams: Readonly<Record<string, unknown>>;
  /** Where the audio of the answered call goes. */
  readonly stream: StreamIntent;
  /** The carrier posts the call's progress there. */
  readonly statusUrl: string;
  /** The carrier fetches its instructions there, where the request cannot hold them. */
  readonly instructionsUrl: string;
  /** The carrier gives up an unanswered call after this time. */
  readonly ringTimeoutMs: number;
  /** The carrier ends an answered call after this time. */
  readonly maxDurationMs: number;
}

export type DialOutcome =
  | { readonly kind: "placed"; readonly carrierCallId: string }
  /**
   * Nobody was dialled. `reason` is a sentence with the carrier's own words and without secrets. `isPermanent`: the same
   * request would be refused again. `isRateLimit`: the carrier takes no more calls for now. `waitMs`: when to try again;
   * null where the carrier did not say.
   */
  | {
      readonly kind: "refused";
      readonly reason: string;
      readonly isPermanent: boolean;
      readonly isRateLimit: boolean;
      readonly waitMs: number | null;
    }
  /** The request may have reached the carrier, which may dial. It must not be repeated. */
  | { readonly kind: "unknown"; readonly reason: string };

export type HangUpOutcome =
  /** The carrier ends the call, or it was over before. */
  | { readonly kind: "ended" }
  /** `isPermanent`: another attempt would fail in the same way. */
  | { readonly kind: "failed"; readonly reason: string; readonly isPermanent: boolean };

/** One thing that the check of a configuration has found. */
export interface CarrierFinding {
  /** `error`: calls fail. `warning`: some calls fail, or only those in one direction. */
  readonly severity: "error" | "warning";
  /** The field of the configuration; null: none is the cause. */
  readonly field: string | null;
  /** A sentence that says what is wrong and what to do. Without secrets. */
  readonly message: string;
}

/** What the carrier is to be asked about. */
export interface CheckedPlace {
  /** The base URL of this service, as carriers see it. */
  readonly publicUrl: string;
}

/** A request that a carrier has sent, as it was signed. */
export interface CarrierRequest {
  /** The public URL with the query, as the carrier knows it. */
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Uint8Array;
}

/** How a dialled call ended. `machine`: the carrier ended it because a machine answered. */
export type CarrierResult = "completed" | "busy" | "no_answer" | "failed" | "canceled" | "machine";

/** The progress of a call, from one callback. */
export interface CarrierStatus {
  readonly carrierCallId: string | null;
  readonly state: "initiated" | "ringing" | "answered" | "ended";
  /** Set where the state is `ended`. */
  readonly result: CarrierResult | null;
  /** The carrier's word for who answered, such as `machine_start`; null: it said nothing. */
  readonly answeredBy: string | null;
  /** Null: the carrier does not say. */
  readonly talkedMs: number | null;
  /** The carrier's words about a failure; null: it has none. At most 200 characters. */
  readonly detail: string | null;
}

export interface Carrier {
  /** Asks the carrier once. Never rejects; after an abort the outcome is `unknown`, or `refused` where nothing was sent. */
  readonly dial: (account: CarrierAccount, intent: DialIntent, signal: AbortSignal) => Promise<DialOutcome>;
  /** Ends a queued, ringing or answered call. Never rejects. */
  readonly hangUp: (
    account: CarrierAccount,
    carrierCallId: string,
    signal: AbortSignal,
  ) => Promise<HangUpOutcome>;
  /** What prevents calls; empty: nothing was found. Never rejects. */
  readonly check: (
    account: CarrierAccount,
    place: CheckedPlace,
    signal: AbortSignal,
  ) => Promise<readonly CarrierFinding[]>;
  /** Whether the request has a header with this carrier's signature. */
  readonly claims: (headers: CarrierRequest["headers"]) => boolean;
  /** Whether the signature is one of this account. False also for a missing signature or a key that is none. */
  readonly isSigned: (account: CarrierAccount, request: CarrierRequest, nowMs: number) => boolean;
  /** The fields of a verified request; of those with one name the first counts. Null: it cannot be read. */
  readonly readFields: (request: Pick<CarrierRequest, "body">) => ReadonlyMap<string, string> | null;
  /** The carrier's id of the call; null: the fields have none. */
  readonly readCallId: (fields: ReadonlyMap<string, string>) => string | null;
  /** Null: the fields say nothing about the progress of a call. */
  readonly readStatus: (fields: ReadonlyMap<string, string>) => CarrierStatus | null;
  /** XML that connects the call to a websocket, and that asks for further instructions after it. */
  readonly connectTo: (stream: StreamIntent) => string;
  /** XML that ends the call. */
  readonly hangUpXml: string;
  /** XML that speaks a sentence and ends the call. */
  readonly sayAndHangUp: (sentence: string) => string;
  readonly transfers: CarrierTransfers;
}

export type Carriers = Readonly<Record<ConfiguredCarrier, Carrier>>;

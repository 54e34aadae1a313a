/**
 * The part of a carrier that transfers a call: its REST interface ends the stream to the agent, and the carrier then
 * fetches instructions that dial another person and connect the two.
 */

/** An account at a carrier, as `TelephonyConfig` stores it. */
export interface CarrierAccount {
  /** What identifies it, such as `accountSid`. */
  readonly settings: Readonly<Record<string, string>>;
  /** Such as `authToken`. Never in a message. */
  readonly secrets: Readonly<Record<string, string>>;
}

/** Whom the caller is connected to. */
export interface TransferTarget {
  /** A number in E.164 form, or a SIP URI. */
  readonly address: string;
  /** The number that the called person sees; null: the carrier chooses. */
  readonly callerId: string | null;
  /** Of SIP alone; null: none. */
  readonly username: string | null;
  readonly password: string | null;
  /** Headers of the request over SIP, whose names begin with `X-`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Played to the caller until the call is answered, in place of ringing; null: ringing. */
  readonly holdMusicUrl: string | null;
}

/** The addresses of this service that the carrier requests, and its limits. */
export interface TransferCallbacks {
  /** Requested when the attempt, or the conversation, is over; answered by further instructions for the caller. */
  readonly endUrl: string;
  /** Notified of the progress of the call to the target. */
  readonly progressUrl: string;
  /** Where the called person is asked first: instructions for that; null: the two are connected at once. */
  readonly questionUrl: string | null;
  /** Instructions that play the hold music; null: none is wanted. */
  readonly musicUrl: string | null;
  readonly ringTimeoutMs: number;
  readonly maxDurationMs: number;
}

export type RedirectOutcome =
  | { readonly kind: "redirected" }
  /** The caller stays with the agent. `reason` is a sentence with the carrier's words and without secrets. */
  | { readonly kind: "refused"; readonly reason: string }
  /** The carrier may have begun the transfer. */
  | { readonly kind: "unknown"; readonly reason: string };

/** How an attempt to reach the target, or the conversation after it, has ended. */
export interface TransferEnd {
  readonly result: "completed" | "busy" | "no_answer" | "failed" | "canceled";
  /** The caller has hung up. */
  readonly isCallerGone: boolean;
  /** Null: the carrier does not say. */
  readonly talkedMs: number | null;
}

/** What is said to the called person, who presses the key 1 to take the call. */
export interface Question {
  readonly text: string;
  /** Such as `de-DE`; null: the carrier's own. */
  readonly language: string | null;
  /** The key is sent there, unless the carrier checks it by itself. */
  readonly answerUrl: string;
}

/** A conference of the carrier for two: the caller, who waits in it, and the called person, whose arrival begins it. */
export interface Conference {
  /** Of this conference alone. */
  readonly name: string;
  /** Requested by POST when the participant has left it; answered by further instructions. */
  readonly endUrl: string;
  /** Played to the caller until the called person comes; null: what the carrier plays by itself. */
  readonly holdMusicUrl: string | null;
  /** Instructions that play this music; used by carriers that take no file. */
  readonly musicUrl: string;
  readonly maxDurationMs: number;
}

/** Instructions are XML. Fields are those of a verified request. */
export interface CarrierTransfers {
  /** Why the carrier cannot do this, as the end of a sentence that begins with a parameter; null: it can. */
  readonly problemWith: (target: TransferTarget) => string | null;
  /** Whether the caller can hear hold music in place of ringing. */
  readonly playsMusic: boolean;
  /** Makes a live call fetch other instructions, by POST. Never rejects. */
  readonly redirect: (
    account: CarrierAccount,
    carrierCallId: string,
    url: string,
    signal: AbortSignal,
  ) => Promise<RedirectOutcome>;
  readonly dial: (target: TransferTarget, callbacks: TransferCallbacks) => string;
  /** Of a request to `endUrl`; null: it cannot be read. */
  readonly readEnd: (fields: ReadonlyMap<string, string>) => TransferEnd | null;
  /** Of a request to `progressUrl`. `accepted`: the two are connected. Null: nothing that matters. */
  readonly readProgress: (fields: ReadonlyMap<string, string>) => "answered" | "accepted" | null;
  readonly question: (question: Question) => string;
  /** Whether the key of a request to `answerUrl` takes the call. */
  readonly isAccepted: (fields: ReadonlyMap<string, string>) => boolean;
  /** Answer to an accepted question: the two are connected. */
  readonly accepted: string;
  /** The caller waits for the other one. The conference ends when either of the two leaves it. */
  readonly hold: (conference: Conference) => string;
  /** The called person comes to the caller. */
  readonly enter: (conference: Conference) => string;
  /** Of a request to a conference's `endUrl`: the call of the participant is over, and not only the conference. */
  readonly hasHungUp: (fields: ReadonlyMap<string, string>) => boolean;
  /** `repeats`: until something else happens to the call. */
  readonly music: (url: string, repeats?: boolean) => string;
}

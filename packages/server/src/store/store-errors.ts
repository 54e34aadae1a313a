/** Failures that a caller of the store can do something about. Everything else is a fault of the database. */

/** The store cannot be opened as it is configured. The message is one sentence for the person who starts it. */
export class StoreStartError extends Error {
  override readonly name = "StoreStartError";
}

/** Another process has the data folder. */
export class DataDirInUseError extends StoreStartError {}

/** More work is waiting for the database than `MAXIMUM_WAITING_QUERIES`; try again later (503). */
export class StoreBusyError extends Error {
  override readonly name = "StoreBusyError";
}

/** The last valid key of an account cannot be revoked or deleted (409). */
export class LastApiKeyError extends Error {
  override readonly name = "LastApiKeyError";
}

/** The agent of a new call does not exist, or has been deleted since it was read (404). */
export class AgentGoneError extends Error {
  override readonly name = "AgentGoneError";
}

/** A record names an agent in its `agentId` that the account does not have (400). */
export class UnknownAgentError extends Error {
  override readonly name = "UnknownAgentError";

  constructor() {
    super("The account has no such agent.");
  }
}

/** A corpus has as many sources as it may have (400). */
export class TooManySourcesError extends Error {
  override readonly name = "TooManySourcesError";
}

/** An account has as many webhooks as it may have (400). */
export class TooManyWebhooksError extends Error {
  override readonly name = "TooManyWebhooksError";
}

/** A source names documents that its corpus does not have, or that belong to another source (400). */
export class UnknownDocumentsError extends Error {
  override readonly name = "UnknownDocumentsError";
  /** Of the documents in the list of the source. */
  readonly positions: readonly number[];

  constructor(positions: readonly number[]) {
    super("A source names documents that it cannot have.");
    this.positions = positions;
  }
}

/** Values that are shown masked came back masked, with no stored value that they could stand for (400). */
export class MaskedValueError extends Error {
  override readonly name = "MaskedValueError";
  /** Dotted paths inside the body, such as `callTemplate.dataConnection.headers.Authorization`. */
  readonly fields: readonly string[];

  constructor(fields: readonly string[]) {
    super(`Masked values must be sent in full: ${fields.join(", ")}.`);
    this.fields = fields;
  }
}

/** An account with calls that have not ended cannot be removed. */
export class AccountInUseError extends Error {
  override readonly name = "AccountInUseError";
}

/** The account of the deployment's own key cannot be removed: the next start would make it again. */
export class DefaultAccountError extends Error {
  override readonly name = "DefaultAccountError";
}

/** What keeps a call from being created. */
export type AdmissionLimit = "calls at a time" | "account rate" | "throttle" | "account removed";

/** A limit on the creation of calls is reached (429). */
export class CallNotAdmittedError extends Error {
  override readonly name = "CallNotAdmittedError";
  readonly limit: AdmissionLimit;
  /** Until it is worth trying again; at least 1 where that ever is. */
  readonly waitMs: number;

  constructor(limit: AdmissionLimit, waitMs: number) {
    super(`A call was not admitted: ${limit}.`);
    this.limit = limit;
    this.waitMs = waitMs;
  }
}

/** The throttle of a new call does not exist, or has been deleted since it was found (400). */
export class ThrottleGoneError extends Error {
  override readonly name = "ThrottleGoneError";
}

/** A scheduled call must not be made any more by who has claimed it: its lease or window is over, or its batch is gone. */
export class ClaimLostError extends Error {
  override readonly name = "ClaimLostError";
}

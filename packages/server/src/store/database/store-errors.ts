/** Errors that callers of the store handle. Everything else is a fault of the database. */

/** The store cannot be opened as it is configured. The message is one sentence for the person who starts it. */
export class StoreStartError extends Error {
  override readonly name = "StoreStartError";
}

/** Another process uses the data folder. */
export class DataDirInUseError extends StoreStartError {}

/** More work is waiting for the database than `MAXIMUM_WAITING_QUERIES`; try again later (503). */
export class StoreBusyError extends Error {
  override readonly name = "StoreBusyError";
}

/** An API key would create a key that is allowed more, or for longer, than itself (403). */
export class MoreRightsError extends Error {
  override readonly name = "MoreRightsError";
}

/** The end of a new API key has passed, or is too far ahead (400). The message is the rest of a sentence about it. */
export class ExpiryOutOfBoundsError extends Error {
  override readonly name = "ExpiryOutOfBoundsError";
}

/** The last valid key of an account that may do everything cannot be revoked or deleted (409). */
export class LastApiKeyError extends Error {
  override readonly name = "LastApiKeyError";
}

/** The agent of a new call does not exist, or has been deleted since it was read (404). */
export class AgentGoneError extends Error {
  override readonly name = "AgentGoneError";
}

/** A call with this id exists already: its webhook came twice, perhaps at two processes. */
export class CallExistsError extends Error {
  override readonly name = "CallExistsError";
}

/** The `agentId` of a record is not an agent of the account (400). */
export class UnknownAgentError extends Error {
  override readonly name = "UnknownAgentError";

  constructor() {
    super("The account has no such agent.");
  }
}

/** A corpus has the maximum number of sources (400). */
export class TooManySourcesError extends Error {
  override readonly name = "TooManySourcesError";
}

/** An account has the maximum number of webhooks (400). */
export class TooManyWebhooksError extends Error {
  override readonly name = "TooManyWebhooksError";
}

/** A source refers to documents that its corpus does not have, or that belong to another source (400). */
export class UnknownDocumentsError extends Error {
  override readonly name = "UnknownDocumentsError";
  /** Of the documents in the list of the source. */
  readonly positions: readonly number[];

  constructor(positions: readonly number[]) {
    super("A source refers to documents that it cannot use.");
    this.positions = positions;
  }
}

/** A request contains masked values for which there are no stored values (400). */
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

/** The default account cannot be removed: the next start would create it again. */
export class DefaultAccountError extends Error {
  override readonly name = "DefaultAccountError";
}

/** Why a call was not admitted. */
export type AdmissionLimit = "calls at a time" | "account rate" | "throttle" | "account removed";

/** A limit on the creation of calls is reached (429). */
export class CallNotAdmittedError extends Error {
  override readonly name = "CallNotAdmittedError";
  readonly limit: AdmissionLimit;
  /** Until a retry can succeed; at least 1. 0: never. */
  readonly waitMs: number;

  constructor(limit: AdmissionLimit, waitMs: number) {
    super(`A call was not admitted: ${limit}.`);
    this.limit = limit;
    this.waitMs = waitMs;
  }
}

/** The throttle of a new call does not exist, or was deleted since it was read (400). */
export class ThrottleGoneError extends Error {
  override readonly name = "ThrottleGoneError";
}

/** The claim on a scheduled call is no longer valid: its lease or window has ended, or its batch was deleted. */
export class ClaimLostError extends Error {
  override readonly name = "ClaimLostError";
}

/** The load of a source has ended without this job: the source was changed or deleted, or another job has taken over. */
export class LoadLostError extends Error {
  override readonly name = "LoadLostError";

  constructor() {
    super("The source was changed or deleted, or another job loads it.");
  }
}

/** What an account may store in its corpora. */
export type CorpusLimit = "documents" | "storage";

/** A limit of the corpora of an account is reached (409). */
export class CorpusLimitError extends Error {
  override readonly name = "CorpusLimitError";
  readonly limit: CorpusLimit;

  constructor(limit: CorpusLimit) {
    super(`A limit of the corpora of the account is reached: ${limit}.`);
    this.limit = limit;
  }
}

/** Failures that a caller of the store can do something about. Everything else is a fault of the database. */

/** The store cannot be opened as it is configured. The message is one sentence for the person who starts it. */
export class StoreStartError extends Error {
  override readonly name = "StoreStartError";
}

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

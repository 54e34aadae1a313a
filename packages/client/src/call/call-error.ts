/** The errors of a call in a page, with a code to branch on and a message for people. */

/**
 * - `bad_join_url`: the text is not a join URL.
 * - `unsupported`: this browser lacks what the call needs, or the page is not from https or localhost.
 * - `microphone_denied`: the user or a policy of the page denied the microphone.
 * - `no_microphone`: there is no microphone, or not the requested one.
 * - `microphone_failed`: another program uses it, or the system cannot open it.
 * - `output_failed`: the device for the agent's voice cannot be used.
 * - `not_found`: there is no call at this URL. `gone`: it has ended, or was not joined in time.
 * - `already_joined`: the call has another connection.
 * - `refused`: the service refused the join for another reason; `problem` says which.
 * - `network`: the service or its media could not be reached, or the connection was lost permanently.
 * - `over`: the call has ended, so nothing can be sent.
 * - `message_refused`: too long, or too much is waiting.
 */
export type CallErrorCode =
  | "bad_join_url"
  | "unsupported"
  | "microphone_denied"
  | "no_microphone"
  | "microphone_failed"
  | "output_failed"
  | "not_found"
  | "gone"
  | "already_joined"
  | "refused"
  | "network"
  | "over"
  | "message_refused";

export interface CallErrorDetails {
  readonly cause?: unknown;
  readonly problem?: CallProblem | null;
  readonly retryAfterSeconds?: number | null;
}

/** The problem document of the service (RFC 9457). */
export interface CallProblem {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
}

export class CallError extends Error {
  override readonly name = "CallError";
  readonly code: CallErrorCode;
  readonly problem: CallProblem | null;
  /** Seconds to wait before a retry, if the service sends them. */
  readonly retryAfterSeconds: number | null;

  constructor(code: CallErrorCode, message: string, details: CallErrorDetails = {}) {
    super(message, "cause" in details ? { cause: details.cause } : {});
    this.code = code;
    this.problem = details.problem ?? null;
    this.retryAfterSeconds = details.retryAfterSeconds ?? null;
  }
}

/** The error as a CallError; other errors get this code. */
export function asCallError(error: unknown, code: CallErrorCode, message: string): CallError {
  return error instanceof CallError ? error : new CallError(code, message, { cause: error });
}

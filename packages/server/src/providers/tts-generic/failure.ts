/** Failures of a generic voice as ends of a sentence that begins with "the voice server". */

import { AnswerTooLarge } from "../../net/guarded-fetch.ts";
import { REFUSAL_ADVICE, TargetRefused } from "../../net/target-url.ts";
import { messageOf } from "../../pacing/error-text.ts";
import { EngineFailure, networkErrorCode } from "../../ports/engine-failure.ts";
import { asMessage } from "../voice-failure.ts";

/** After a semicolon: what a generic voice may answer. */
export const ADVICE = "a generic voice must answer WAV or 16-bit samples, as they are or in JSON";

export interface FailureFields {
  readonly type: string;
  readonly isPermanent?: boolean;
}

/** `what` follows "the voice server". */
export function failed(what: string, { type, isPermanent = false }: FailureFields): EngineFailure {
  return new EngineFailure(`the voice server ${what}`, { type, isPermanent });
}

export interface FailureContext {
  /** The answer has begun. */
  readonly isAnswered: boolean;
  /** Values of headers, which may be keys. */
  readonly secrets: readonly string[];
}

export function failureOf(error: unknown, { isAnswered, secrets }: FailureContext): EngineFailure {
  if (error instanceof EngineFailure) {
    const { isPermanent, type } = error;
    return new EngineFailure(asMessage(error.message, secrets), { isPermanent, type });
  }
  if (error instanceof TargetRefused)
    return failed(`cannot be used: ${error.message}; ${REFUSAL_ADVICE}`, {
      type: "target_refused",
      isPermanent: true,
    });
  if (error instanceof AnswerTooLarge)
    return failed(`answered too much: ${error.message}`, { type: "too_long" });
  const code = networkErrorCode(error);
  if (code !== null)
    return failed(`${isAnswered ? "broke off its answer" : "cannot be reached"} (${code})`, { type: code });
  const message = asMessage(messageOf(error), secrets);
  // The readers of answers say what was answered.
  if (/^(?:answered|returned) /.test(message)) return failed(message, { type: "garbage" });
  return failed(`${isAnswered ? "broke off its answer" : "failed"}: ${message}`, { type: "unknown" });
}

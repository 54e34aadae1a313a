/** Failures of a gRPC call as failures of an engine. */

import { EngineFailure } from "../../ports/engine-failure.ts";
import { messageOf } from "../../pacing/error-text.ts";
import { asMessage } from "../voice-failure.ts";

/** Statuses of gRPC by their number ("Status codes and their use in gRPC"). */
const STATUS_NAMES = [
  "OK",
  "CANCELLED",
  "UNKNOWN",
  "INVALID_ARGUMENT",
  "DEADLINE_EXCEEDED",
  "NOT_FOUND",
  "ALREADY_EXISTS",
  "PERMISSION_DENIED",
  "RESOURCE_EXHAUSTED",
  "FAILED_PRECONDITION",
  "ABORTED",
  "OUT_OF_RANGE",
  "UNIMPLEMENTED",
  "INTERNAL",
  "UNAVAILABLE",
  "DATA_LOSS",
  "UNAUTHENTICATED",
] as const;

/** Google refuses the key, the voice or a setting, and will refuse the next sentence in the same way. */
const PERMANENT: ReadonlySet<string> = new Set([
  "UNAUTHENTICATED",
  "PERMISSION_DENIED",
  "INVALID_ARGUMENT",
  "NOT_FOUND",
]);

/** Null: it is no failure of a call. */
export function statusOf(error: unknown): string | null {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "number") return null;
  return STATUS_NAMES[error.code] ?? null;
}

export function failureOf(error: unknown, secrets: readonly string[]): EngineFailure {
  if (error instanceof EngineFailure) return error;
  const status = statusOf(error);
  if (status === null)
    return new EngineFailure(asMessage(`Google ${messageOf(error)}`, secrets), { type: "unknown" });
  if (status === "DEADLINE_EXCEEDED") return stopped();
  const said = error instanceof Error && "details" in error ? String(error.details) : "";
  // The library adds a note on its own resolver.
  const details = said.replace(/ ?Resolution note:.*$/s, "");
  const what = status === "UNAVAILABLE" ? "Google cannot be reached" : `Google answered ${status}`;
  return new EngineFailure(asMessage(details === "" ? what : `${what}: ${details}`, secrets), {
    isPermanent: PERMANENT.has(status),
    type: status,
  });
}

export function stopped(): EngineFailure {
  return new EngineFailure("Google stopped answering", { type: "timeout" });
}

/** Why an attempt failed, in one line that never holds what the other side sent (D161). */

import { ADDRESS_NOT_ALLOWED, TargetRefused } from "../../net/target-url.ts";
import { RequestTimedOut } from "../../net/guarded-fetch.ts";

const LINES: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection closed",
  EPIPE: "connection closed",
  UND_ERR_SOCKET: "connection closed",
  EHOSTUNREACH: "host unreachable",
  ENETUNREACH: "host unreachable",
  ETIMEDOUT: "no connection",
  ENOTFOUND: "name not found",
  EAI_AGAIN: "name not found",
  ENODATA: "name not found",
  ETIMEOUT: "name not resolved in time",
  ESERVFAIL: "name not resolved",
  CERT_HAS_EXPIRED: "certificate has expired",
  CERT_NOT_YET_VALID: "certificate is not valid yet",
  DEPTH_ZERO_SELF_SIGNED_CERT: "certificate not trusted",
  SELF_SIGNED_CERT_IN_CHAIN: "certificate not trusted",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "certificate not trusted",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "certificate not trusted",
  ERR_TLS_CERT_ALTNAME_INVALID: "certificate is for another name",
};

const MAX_CODE_CHARS = 40;

export function failureLine(error: unknown): string {
  if (error instanceof RequestTimedOut) return error.message;
  if (error instanceof TargetRefused) return error.message === "" ? ADDRESS_NOT_ALLOWED : error.message;
  for (let cause: unknown = error, depth = 0; cause instanceof Error && depth < 4; depth += 1) {
    const { code } = cause as NodeJS.ErrnoException;
    if (typeof code === "string") {
      const known = LINES[code];
      if (known !== undefined) return known;
      if (/^[A-Z][A-Z0-9_]*$/.test(code) && cause.cause === undefined) {
        return `no answer (${code.slice(0, MAX_CODE_CHARS)})`;
      }
    }
    cause = cause.cause;
  }
  return "no answer";
}

export function statusLine(status: number): string {
  return `HTTP ${String(status)}`;
}

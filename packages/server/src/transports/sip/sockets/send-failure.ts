/** Why a message could not be sent, in words for people. */

/** A reason of our own. */
export class NotSent extends Error {
  override readonly name = "NotSent";
}

const UNKNOWN_AUTHORITY = "The certificate of the peer is not signed by an authority that is trusted here";

/** The errors of certificates that operators meet most. */
const CERTIFICATE_REASONS: Readonly<Record<string, string>> = {
  ERR_TLS_CERT_ALTNAME_INVALID: "The certificate of the peer is not valid for the name that is called",
  CERT_HAS_EXPIRED: "The certificate of the peer has expired",
  CERT_NOT_YET_VALID: "The certificate of the peer is not valid yet",
  DEPTH_ZERO_SELF_SIGNED_CERT: UNKNOWN_AUTHORITY,
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_AUTHORITY,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_AUTHORITY,
};

/** Longest code of an error that is shown; those of the runtime have at most 40 characters. */
const MAX_CODE_CHARS = 60;

/** The message of an error of a socket can quote the peer's certificate, so only its code is used. */
export function failureText(error: Error): string {
  if (error instanceof NotSent) return error.message;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return CERTIFICATE_REASONS[code] ?? `The message could not be sent${codeText(code)}`;
}

function codeText(code: string): string {
  return /^[A-Z0-9_]+$/.test(code) ? ` (${code.slice(0, MAX_CODE_CHARS)})` : "";
}

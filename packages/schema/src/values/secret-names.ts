/** Names of headers and parameters that indicate a secret value. */

/** Matches `X-Key`, `Api-Key-2` and `apikey`, but not `X-Keyword`. */
const SECRET_NAME =
  /authori[sz]ation|authenticate|cookie|token|secret|credential|password|api-?key|(?:^|[-_])auth(?:$|[-_])|key(?:$|[-_\d])/i;

/**
 * Whether the name of a header or parameter indicates a secret value. Others contain tenants and languages, which are
 * words of successful results.
 */
export function namesSecret(name: string): boolean {
  return SECRET_NAME.test(name);
}

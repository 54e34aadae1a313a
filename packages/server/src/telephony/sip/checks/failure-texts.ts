/** Why a request of a check got no answer, in a sentence that says what to do. Pure. */

import type { SipPlace, SipProbeOutcome } from "../../../ports/sip-calls.ts";

export type FailedProbe = Extract<SipProbeOutcome, { kind: "failed" }>;

const NO_ADDRESS: ReadonlySet<string> = new Set(["ENOTFOUND", "ENODATA", "ENONAME", "EBADNAME", "EAI_AGAIN"]);
/** The certificate comes from no authority that is known, or the chain is not complete. */
const UNKNOWN_AUTHORITY: ReadonlySet<string> = new Set([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
]);
const NO_ROUTE: ReadonlySet<string> = new Set(["EHOSTUNREACH", "ENETUNREACH", "EADDRNOTAVAIL"]);
const CLOSED: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE", "ECONNABORTED"]);

const TRANSPORT_NAMES = { udp: "UDP", tcp: "TCP", tls: "TLS" } as const;

export function transportName({ transport }: Pick<SipPlace, "transport">): string {
  return TRANSPORT_NAMES[transport];
}

/** The host of `host:port`, or of a URI with its parameters. */
export function hostOf(to: string): string {
  const place = to.replace(/^sips?:/i, "").replace(/^[^@]*@/, "");
  return /^(\[[^\]]*\]|[^:;?]*)/.exec(place)?.[1] ?? place;
}

export function failureText(to: string, failed: FailedProbe, limitMs: number): string {
  const host = hostOf(to);
  switch (failed.cause) {
    case "not_allowed":
      return (
        `The service may not send to ${host}: it has a private address, or a port that is not allowed. The operator ` +
        "lists private addresses that may be reached in ALLOW_PRIVATE_TARGETS."
      );
    case "not_found":
      return NO_ADDRESS.has(failed.code ?? "ENOTFOUND")
        ? `There is no address for ${host} in the DNS. Check the spelling of the name. (${failed.reason})`
        : `The DNS did not answer the question for ${host} (${failed.reason}). Try again; if it stays, check the DNS of this machine.`;
    case "invalid":
      return `${to} is not an address that can be asked: ${failed.reason}.`;
    case "timeout":
    case "unreachable":
    default:
      if (failed.tried === null && failed.cause === "timeout") {
        return `The DNS did not answer the questions for ${host} in time. Try again; if it stays, check the DNS of this machine.`;
      }
      return failed.tried === null
        ? `No request could be sent to ${host}: ${failed.reason}.`
        : sentText(host, failed, failed.tried, limitMs);
  }
}

function sentText(host: string, failed: FailedProbe, tried: SipPlace, limitMs: number): string {
  const { code } = failed;
  const place = `${tried.address} (${transportName(tried)})`;
  const seconds = String(Math.round(limitMs / 1_000));
  if (failed.cause === "timeout" && tried.transport === "udp") {
    return (
      `Nothing came back from ${place} within ${seconds} s. Check the address, the port and the transport, and that ` +
      "firewalls let UDP pass in both directions. Some trunks do not answer addresses that they do not know."
    );
  }
  if (failed.cause === "timeout" || code === "ETIMEDOUT") {
    return (
      `No answer from ${place} within ${seconds} s. Check the address and the port, and that firewalls let the ` +
      "connection pass."
    );
  }
  if (code === "ECONNREFUSED") {
    return `${place} refuses connections: nothing listens there. Check the port and the transport.`;
  }
  if (code !== null && NO_ROUTE.has(code)) return `This machine has no route to ${place} (${code}).`;
  if (code !== null && CLOSED.has(code)) {
    return `${place} closed the connection without an answer. It may take another transport at this port, or refuse this address.`;
  }
  return tlsText(host, code, place) ?? `The request could not be sent to ${place}: ${failed.reason}.`;
}

function tlsText(host: string, code: string | null, place: string): string | null {
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") {
    return `The TLS certificate of ${place} is for another name than ${host}. Use the name that it is for, or another certificate.`;
  }
  if (code === "CERT_HAS_EXPIRED") return `The TLS certificate of ${place} has expired.`;
  if (code === "CERT_NOT_YET_VALID") return `The TLS certificate of ${place} is not valid yet.`;
  if (code !== null && UNKNOWN_AUTHORITY.has(code)) {
    return (
      `The TLS certificate of ${place} is not signed by an authority that this machine knows, or its chain is not ` +
      `complete (${code}).`
    );
  }
  if (code === "ERR_SSL_WRONG_VERSION_NUMBER" || code === "EPROTO") {
    return `${place} does not speak TLS at this port. TLS is usually at port 5061.`;
  }
  return code?.startsWith("ERR_SSL_") === true || code?.startsWith("ERR_TLS_") === true
    ? `The TLS connection to ${place} failed (${code}).`
    : null;
}

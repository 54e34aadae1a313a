/** What the answers to the requests of a check mean. Pure. */

import type { TelephonyFinding } from "@parley/schema";
import type { SipProbeOutcome } from "../../../ports/sip-calls.ts";

export type AnsweredProbe = Extract<SipProbeOutcome, { kind: "answered" }>;

/** A trunk answers OPTIONS with many statuses; most of them show that it can be reached. */
export function optionsFinding({ status, reason }: AnsweredProbe): TelephonyFinding | null {
  const said = `${String(status)} ${reason}`.trim();
  if (status === 403) {
    const message =
      `The trunk answers, but refuses requests of this service (${said}). Add the address of this service to the ` +
      "addresses that the trunk permits, or use a registration.";
    return { severity: "warning", field: null, message };
  }
  if (status === 408 || status === 503 || status === 500 || status === 502 || status === 504) {
    const message = `The trunk answers that it cannot serve requests now (${said}). Try again later, or ask its operator.`;
    return { severity: "warning", field: null, message };
  }
  if (status >= 300 && status < 400) {
    const message = `The trunk answers that it is at another address (${said}). Use that address.`;
    return { severity: "warning", field: null, message };
  }
  return null;
}

export interface AskedRegistrar {
  readonly username: string;
  readonly proxy: string;
  /** What the last attempt of the registration itself got, such as `200 OK`; null: none has ended yet. */
  readonly lastSaid: string | null;
}

export function registerFinding(
  { status, reason, realm }: AnsweredProbe,
  { username, proxy, lastSaid }: AskedRegistrar,
): TelephonyFinding | null {
  const said = `${String(status)} ${reason}`.trim();
  const error = (field: string, message: string): TelephonyFinding => ({ severity: "error", field, message });
  if (status >= 200 && status < 300) return null;
  if (status === 401 || status === 407) {
    return realm === null
      ? error(
          "proxy",
          `The registrar asks for the password in a way that is not supported (${said}). Digest with MD5 or SHA-256 is.`,
        )
      : error(
          "password",
          `The registrar does not accept the username or the password for the realm "${realm}" (${said}).`,
        );
  }
  if (status === 403) {
    return error(
      "username",
      `The registrar forbids ${username} to register (${said}): the password is wrong, the user is blocked, or the address of this service may not register.`,
    );
  }
  if (status === 404 || status === 604) {
    return error("username", `The registrar does not know the user ${username} at ${proxy} (${said}).`);
  }
  if (status === 405 || status === 501) {
    return error("proxy", `${proxy} takes no registrations (${said}). It may be a trunk that needs none.`);
  }
  if (status >= 300 && status < 400) {
    return error("proxy", `The registrar is at another address (${said}). Enter that one.`);
  }
  const last = lastSaid === null ? "no attempt has ended yet" : `the last attempt got ${lastSaid}`;
  const message = `The registrar does not say what is registered (${said}). The registration itself counts: ${last}.`;
  return { severity: "warning", field: null, message };
}

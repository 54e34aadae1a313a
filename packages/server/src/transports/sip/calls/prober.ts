/** Requests for the check of a trunk, as the application asks for them. */

import { randomUUID } from "node:crypto";
import type { SipPlace, SipProbe, SipProbeOutcome, SipProber } from "../../../ports/sip-calls.ts";
import type { PingOutcome, SipFailure, SipSource, SipUserAgent } from "../user-agent.ts";

export function sipProber(agent: () => Pick<SipUserAgent, "ping">): SipProber {
  return {
    async probe({ to, outboundProxy, register, limitMs }: SipProbe): Promise<SipProbeOutcome> {
      const uri = /^sips?:/i.test(to) ? to : `sip:${to}`;
      const asked =
        register === null
          ? {}
          : {
              register: { username: register.username },
              credentials: {
                username: register.authUser ?? register.username,
                password: register.password,
              },
            };
      try {
        return outcomeOf(await agent().ping({ id: randomUUID(), to: uri, outboundProxy, limitMs, ...asked }));
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        return { kind: "failed", cause: "invalid", code: null, reason, tried: null };
      }
    },
  };
}

function outcomeOf(outcome: PingOutcome): SipProbeOutcome {
  if (outcome.kind === "response") {
    const { status, reason, realm, software, peer } = outcome;
    return { kind: "answered", status, reason, realm, software, ...placeOf(peer) };
  }
  const { failure } = outcome;
  const { reason, code = null, tried } = failure;
  return {
    kind: "failed",
    cause: causeOf(failure),
    code,
    reason,
    tried: tried === undefined ? null : placeOf(tried),
  };
}

function causeOf({ cause, tried }: SipFailure): Extract<SipProbeOutcome, { kind: "failed" }>["cause"] {
  switch (cause) {
    case "refused_target":
      return "not_allowed";
    case "timeout":
      return "timeout";
    case "unreachable":
      return tried === undefined ? "not_found" : "unreachable";
    case "response":
    case "canceled":
    case "protocol":
    default:
      return "invalid";
  }
}

function placeOf({ transport, address, port }: SipSource): SipPlace {
  return { transport, address: `${address.includes(":") ? `[${address}]` : address}:${String(port)}` };
}

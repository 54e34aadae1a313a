/** One request that changes nothing at its peer, for the check of a trunk: OPTIONS, or REGISTER without a Contact. */

import { Authorizer } from "../digest/authorizer.ts";
import { challengesOf } from "../digest/digest.ts";
import { headerOf } from "../message/headers.ts";
import { NO_BODY, type SipResponse } from "../message/message.ts";
import { parseNameAddr } from "../message/name-addr.ts";
import { escapedUser, hostPortText, parseUri, uriText, type SipUri } from "../message/uri.ts";
import type { Hop } from "../transactions/wire.ts";
import type { PingOptions, PingOutcome, SipHeader } from "../user-agent.ts";
import { contactFor, newCallId, type AgentContext } from "./context.ts";
import { Exchange } from "./exchange.ts";
import { proxyRoute } from "./outgoing-call.ts";

/** A datagram is repeated six times within this time. */
export const PING_LIMIT_MS = 10_000;
/** Of what a peer says about itself. */
const MAX_SOFTWARE_CHARS = 100;

/** @throws when `to` or the proxy is no SIP URI */
export function ping(context: AgentContext, options: PingOptions): Promise<PingOutcome> {
  const { id, to, credentials = null, register = null, limitMs = PING_LIMIT_MS } = options;
  const uri = parseUri(to);
  if (uri === null) throw new Error("`to` is not a SIP URI");
  const method = register === null ? "OPTIONS" : "REGISTER";
  const target = uriText(register === null ? uri : { ...uri, user: null });
  const proxy = proxyRoute(options.outboundProxy ?? null);
  const callId = newCallId(context);
  const tag = context.random.token();
  const own =
    register === null
      ? `sip:${hostPortText(context.announcedAddress, null)}`
      : addressOfRecord(uri, register.username);
  let cseq = 0;
  const build = (authorization: readonly SipHeader[], hop: Hop) => ({
    kind: "request" as const,
    method,
    uri: target,
    headers: [
      ...(proxy === null ? [] : [{ name: "route", value: proxy }]),
      { name: "max-forwards", value: "70" },
      { name: "from", value: `<${own}>;tag=${tag}` },
      { name: "to", value: `<${register === null ? target : own}>` },
      { name: "call-id", value: callId },
      { name: "cseq", value: `${String((cseq += 1))} ${method}` },
      // A REGISTER without Contact asks what is registered, and registers nothing (RFC 3261, 10.2.3).
      ...(register === null
        ? [
            contactFor(context, hop, null, uri.scheme === "sips"),
            { name: "accept", value: "application/sdp" },
          ]
        : []),
      ...authorization,
    ],
    body: NO_BODY,
  });
  context.log.begin({ callId, tag }, { id, kind: "ping" });
  return new Promise((resolve) => {
    const settle = (outcome: PingOutcome) => {
      stop();
      context.log.end({ callId, tag }, id);
      resolve(outcome);
    };
    const exchange = new Exchange(context, {
      build,
      target: (proxy === null ? null : parseNameAddr(proxy)?.uri) ?? target,
      method,
      uri: target,
      authorizer: new Authorizer(credentials, () => context.random.token()),
      listener: {
        final: (response, { source: { transport, address, port } }) => {
          settle({ ...answerOf(response), peer: { transport, address, port } });
        },
        failed: (failure) => {
          settle({ kind: "failed", failure });
        },
      },
    });
    const stop = context.clock.after(limitMs, () => {
      const tried = exchange.tried === null ? {} : { tried: exchange.tried };
      exchange.abandon();
      const reason = "No response in time";
      settle({
        kind: "failed",
        failure: { cause: "timeout", status: 408, reason, retryAfterMs: null, ...tried },
      });
    });
    exchange.begin();
  });
}

function addressOfRecord(registrar: SipUri, username: string): string {
  return uriText({ ...registrar, user: escapedUser(username), port: null, parameters: new Map() });
}

function answerOf(response: SipResponse) {
  const { status, reason } = response;
  const [challenge] = status === 401 || status === 407 ? challengesOf(response) : [];
  const software = headerOf(response, "server") ?? headerOf(response, "user-agent");
  return {
    kind: "response" as const,
    status,
    reason,
    realm: challenge?.realm ?? null,
    software: software?.slice(0, MAX_SOFTWARE_CHARS) ?? null,
  };
}

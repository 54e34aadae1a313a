/** One OPTIONS request. */

import { Authorizer } from "../digest/authorizer.ts";
import { NO_BODY } from "../message/message.ts";
import { hostPortText, parseUri, uriText } from "../message/uri.ts";
import type { PingOptions, SipOutcome } from "../user-agent.ts";
import { contactFor, newCallId, type AgentContext } from "./context.ts";
import { Exchange } from "./exchange.ts";

/** @throws when `to` is no SIP URI */
export function ping(
  context: AgentContext,
  { id, to, credentials = null }: PingOptions,
): Promise<SipOutcome> {
  const uri = parseUri(to);
  if (uri === null) throw new Error("`to` is not a SIP URI");
  const text = uriText(uri);
  const callId = newCallId(context);
  const from = `<sip:${hostPortText(context.announcedAddress, null)}>;tag=${context.random.token()}`;
  let cseq = 0;
  const authorizer = new Authorizer(credentials, () => context.random.token());
  context.log.begin(callId, id);
  return new Promise((resolve) => {
    const settle = (outcome: SipOutcome) => {
      context.log.end(callId);
      resolve(outcome);
    };
    new Exchange(context, {
      build: (authorization, hop) => ({
        kind: "request",
        method: "OPTIONS",
        uri: text,
        headers: [
          { name: "max-forwards", value: "70" },
          { name: "from", value: from },
          { name: "to", value: `<${text}>` },
          { name: "call-id", value: callId },
          { name: "cseq", value: `${String((cseq += 1))} OPTIONS` },
          contactFor(context, hop.transport, null),
          { name: "accept", value: "application/sdp" },
          ...authorization,
        ],
        body: NO_BODY,
      }),
      target: text,
      method: "OPTIONS",
      uri: text,
      authorizer,
      listener: {
        final: ({ status, reason }) => {
          settle({ kind: "response", status, reason });
        },
        failed: (failure) => {
          settle({ kind: "failed", failure });
        },
      },
    }).begin();
  });
}

/** Asks the fallback handlers of accounts about SIP calls: a signed request, once. */

import { randomUUID } from "node:crypto";
import { checkBody, describeProblems, headerPrefixes, SipFallbackHandlerResponse } from "@parley/schema";
import { deliveryHeaders } from "../../jobs/webhooks/signature.ts";
import { messageOf } from "../../pacing/error-text.ts";
import type { AskFallback } from "../../telephony/sip/incoming.ts";
import type { Parts } from "../parts.ts";

/** The caller hears nothing meanwhile. */
const ANSWER_LIMIT_MS = 5_000;
/** A request for a call with tools may be long. */
const MAX_ANSWER_BYTES = 1_048_576;

export function fallbackAsker({ config, client, logger }: Pick<Parts, "config" | "client" | "logger">): {
  readonly ask: AskFallback;
  readonly close: () => void;
} {
  const closing = new AbortController();
  const ask: AskFallback = async (accountId, { url, secrets }, fields) => {
    const body = JSON.stringify(fields);
    const signed = { deliveryId: randomUUID(), body, secrets, atMs: Date.now() };
    try {
      const answer = await client.request(
        {
          url,
          method: "POST",
          headers: {
            "content-type": "application/json",
            "user-agent": "Parley-Webhooks/1",
            ...deliveryHeaders(signed, headerPrefixes(config.apiNames)),
          },
          body,
          timeoutMs: ANSWER_LIMIT_MS,
          maxBodyBytes: MAX_ANSWER_BYTES,
        },
        closing.signal,
      );
      if (answer.status !== 200) throw new Error(`status ${String(answer.status)}`);
      if (answer.truncated) throw new Error(`more than ${String(MAX_ANSWER_BYTES)} bytes`);
      const checked = checkBody(SipFallbackHandlerResponse, JSON.parse(answer.body.toString("utf8")), {
        lenient: config.ignoreUnknownFields,
      });
      if ("errors" in checked) throw new Error(describeProblems(checked.errors));
      return checked.value;
    } catch (error) {
      logger.warn({ accountId, error: messageOf(error) }, "the fallback handler of a SIP call has failed");
      return null;
    }
  };
  return { ask, close: () => closing.abort(new Error("the service is stopping")) };
}

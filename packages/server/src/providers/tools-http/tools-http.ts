/** Tools behind a URL: one request for each invocation, never a second one (D144, D146). */

import { HEADER_PREFIXES, type HeaderPrefix, type ToolOutcome } from "@parley/schema";
import { RequestTimedOut, type GuardedClient, type GuardedResponse } from "../../net/guarded-fetch.ts";
import { REFUSAL_ADVICE, TargetRefused } from "../../net/target-url.ts";
import type { ToolInvocation, ToolInvoker, ToolValue } from "../../ports/tool-invoker.ts";
import { namesSecret, sentForms, withoutSecrets, withoutScheme } from "../tool-text.ts";
import { toolAnswer } from "./answer.ts";
import { asciiJson, toolRequest, UnusableValue, type HttpTarget, type ToolRequest } from "./tool-request.ts";
import { messageOf } from "../../pacing/error-text.ts";

/**
 * Limit of bytes of a response that are read: a new stage is a document of up to a megabyte, a result shows 64 KiB of
 * it.
 */
export const MAX_ANSWER_BYTES = 1_048_576;
/**
 * Least length of a header value that counts as a secret: shorter ones are languages, numbers and switches, which occur
 * in any response.
 */
const MIN_HEADER_SECRET_CHARS = 8;
/** The headers of the service that a redirect to another origin may receive. */
const HARMLESS_HEADERS = [
  "accept",
  ...HEADER_PREFIXES.map((prefix) => `${prefix.toLowerCase()}invocation-id`),
];

export function openHttpTools(client: GuardedClient, prefix: HeaderPrefix = "X-Service-"): ToolInvoker {
  const closing = new AbortController();
  return {
    async invoke(call, outer) {
      const { implementation } = call;
      if (implementation.kind !== "http") throw new Error("not an http tool");
      const signal = AbortSignal.any([outer, closing.signal]);
      let secrets: readonly string[] = [];
      try {
        // In a failure every header is masked, except the id, which belongs in the record.
        secrets = secretsOf(implementation, call, ({ value }) => value !== call.callId);
        const request = toolRequest(implementation, call.values, call.invocationId, prefix);
        const answer = await send(client, request, call.timeoutMs, signal);
        return toolAnswer(answer, secrets, secretsInResults(implementation, call));
      } catch (error) {
        signal.throwIfAborted();
        return failureOf(error, call, secrets);
      }
    },
    close: () => {
      closing.abort();
      return Promise.resolve();
    },
  };
}

export function send(
  client: GuardedClient,
  request: ToolRequest,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<GuardedResponse> {
  const limits = { timeoutMs, maxBodyBytes: MAX_ANSWER_BYTES, harmlessHeaders: HARMLESS_HEADERS };
  return client.request({ ...request, ...limits }, signal);
}

/**
 * A header value from the model or the service is not a secret, nor is a fixed one whose name does not indicate it,
 * because a response may be about it.
 */
function secretsInResults(target: HttpTarget, call: ToolInvocation): readonly string[] {
  return secretsOf(target, call, ({ name, fixed }) => fixed === true && namesSecret(name));
}

/** @throws UnusableValue */
function secretsOf(
  { credentials, callToken }: HttpTarget,
  { values }: ToolInvocation,
  isSecret: (header: ToolValue) => boolean,
): readonly string[] {
  const written = credentials.flatMap(({ place, value }) =>
    place === "header" ? withoutScheme(value) : [value],
  );
  // Half a surrogate pair cannot be written in a URL; the message must not show which value it was.
  if (!written.every((secret) => secret.isWellFormed()))
    throw new UnusableValue("a credential is not a text");
  const inHeaders = values
    .filter((one) => one.location === "header" && one.value !== null && isSecret(one))
    .flatMap(({ value }) => withoutScheme(typeof value === "string" ? value : asciiJson(value)))
    .filter((text) => text.length >= MIN_HEADER_SECRET_CHARS && text.isWellFormed());
  return sentForms([...written, ...inHeaders, ...(callToken === null ? [] : [callToken])]);
}

function failureOf(error: unknown, { timeoutMs }: ToolInvocation, secrets: readonly string[]): ToolOutcome {
  const reason = reasonOf(error);
  const message = messageOf(error);
  const details = error instanceof TargetRefused ? REFUSAL_ADVICE : message;
  return {
    kind: "failed",
    cause: error instanceof RequestTimedOut ? "timeout" : "error",
    text: `The tool failed: ${reason}`,
    errorDetails: withoutSecrets(`${reason} (limit ${String(timeoutMs)} ms): ${details}`, secrets),
  };
}

/** Short, and without anything that reveals the network behind it. */
export function reasonOf(error: unknown): string {
  if (error instanceof RequestTimedOut || error instanceof TargetRefused || error instanceof UnusableValue) {
    return error.message;
  }
  return "connection failed";
}

/** Tools behind a URL: one request for each invocation, never a second one (D144, D146). */

import { RequestTimedOut, type GuardedClient, type GuardedResponse } from "../../net/guarded-fetch.ts";
import { REFUSAL_ADVICE, TargetRefused } from "../../net/target-url.ts";
import type { ToolAnswer, ToolCall, ToolInvoker, ToolValue } from "../../ports/tool-invoker.ts";
import { namesSecret, sentForms, withoutSecrets, withoutScheme } from "../tool-text.ts";
import { toolAnswer } from "./answer.ts";
import {
  asciiJson,
  toolRequest,
  UnusableValue,
  type HeaderPrefix,
  type HttpTarget,
  type ToolRequest,
} from "./tool-request.ts";

/** Bytes of an answer that are read: a new stage is a document of up to a megabyte, a result shows 64 KiB of it. */
export const MAX_ANSWER_BYTES = 1_048_576;
/** Of a header that is no credential: shorter ones are languages, numbers and switches, and words of any answer. */
const MIN_HEADER_SECRET_CHARS = 8;
/** Of our own headers, what may go on to another origin by a redirect. */
const HARMLESS_HEADERS = ["accept", "x-service-invocation-id", "x-ultravox-invocation-id"];

export function openHttpTools(client: GuardedClient, prefix: HeaderPrefix = "X-Service-"): ToolInvoker {
  const closing = new AbortController();
  return {
    async invoke(call, outer) {
      const { implementation } = call;
      if (implementation.kind !== "http") throw new Error("not an http tool");
      const signal = AbortSignal.any([outer, closing.signal]);
      let secrets: readonly string[] = [];
      try {
        // Of a failure every header counts, but for the id that belongs in a record.
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
 * What the model or the service gave for a header is no secret, nor is a fixed one whose name does not say so: an answer
 * may well be about it.
 */
function secretsInResults(target: HttpTarget, call: ToolCall): readonly string[] {
  return secretsOf(target, call, ({ name, fixed }) => fixed === true && namesSecret(name));
}

/** @throws UnusableValue */
function secretsOf(
  { credentials, callToken }: HttpTarget,
  { values }: ToolCall,
  isSecret: (header: ToolValue) => boolean,
): readonly string[] {
  const written = credentials.flatMap(({ place, value }) =>
    place === "header" ? withoutScheme(value) : [value],
  );
  // Half a surrogate pair cannot be written in a URL; the text of the failure must not say which.
  if (!written.every((secret) => secret.isWellFormed()))
    throw new UnusableValue("a credential is not a text");
  const inHeaders = values
    .filter((one) => one.location === "header" && one.value !== null && isSecret(one))
    .flatMap(({ value }) => withoutScheme(typeof value === "string" ? value : asciiJson(value)))
    .filter((text) => text.length >= MIN_HEADER_SECRET_CHARS && text.isWellFormed());
  return sentForms([...written, ...inHeaders, ...(callToken === null ? [] : [callToken])]);
}

function failureOf(error: unknown, { timeoutMs }: ToolCall, secrets: readonly string[]): ToolAnswer {
  const reason = reasonOf(error);
  const message = error instanceof Error ? error.message : String(error);
  const details = error instanceof TargetRefused ? REFUSAL_ADVICE : message;
  return {
    kind: "failed",
    cause: error instanceof RequestTimedOut ? "timeout" : "error",
    text: `The tool failed: ${reason}`,
    errorDetails: withoutSecrets(`${reason} (limit ${String(timeoutMs)} ms): ${details}`, secrets),
  };
}

/** Short, and without anything that tells of the network behind. */
export function reasonOf(error: unknown): string {
  if (error instanceof RequestTimedOut || error instanceof TargetRefused || error instanceof UnusableValue) {
    return error.message;
  }
  return "connection failed";
}

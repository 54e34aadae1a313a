/** Tools behind a URL: one request for each invocation, never a second one (D144, D146). */

import { RequestTimedOut, type GuardedClient, type GuardedResponse } from "../../net/guarded-fetch.ts";
import { REFUSAL_ADVICE, TargetRefused } from "../../net/target-url.ts";
import type { ToolAnswer, ToolCall, ToolInvoker } from "../../ports/tool-invoker.ts";
import { withoutSecrets } from "../tool-text.ts";
import { toolAnswer } from "./answer.ts";
import {
  toolRequest,
  UnusableValue,
  type HeaderPrefix,
  type HttpTarget,
  type ToolRequest,
} from "./tool-request.ts";

/** Bytes of an answer that are read: a new stage is a document of up to a megabyte, a result shows 64 KiB of it. */
export const MAX_ANSWER_BYTES = 1_048_576;
/** Of our own headers, what may go on to another origin by a redirect. */
const HARMLESS_HEADERS = ["accept", "x-service-invocation-id", "x-ultravox-invocation-id"];

export function openHttpTools(client: GuardedClient, prefix: HeaderPrefix = "X-Service-"): ToolInvoker {
  const closing = new AbortController();
  return {
    async invoke(call, outer) {
      const { implementation } = call;
      if (implementation.kind !== "http") throw new Error("not an http tool");
      const secrets = secretsOf(implementation);
      const signal = AbortSignal.any([outer, closing.signal]);
      try {
        const request = toolRequest(implementation, call.values, call.invocationId, prefix);
        return toolAnswer(await send(client, request, call.timeoutMs, signal), secrets);
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

/** As they are sent in each place, with and without a scheme; longest first, so that no part of one is left. */
function secretsOf({ credentials, callToken }: HttpTarget): string[] {
  const written = credentials.flatMap(({ place, value }) =>
    place === "header" ? [value, value.slice(value.indexOf(" ") + 1)] : [value],
  );
  const all = [...written, ...(callToken === null ? [] : [callToken])];
  return all
    .flatMap((secret) => [secret, encodeURIComponent(secret), formEncoded(secret)])
    .toSorted((a, b) => b.length - a.length);
}

function formEncoded(text: string): string {
  return new URLSearchParams([["", text]]).toString().slice(1);
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

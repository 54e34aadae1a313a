/** Runs an http tool once outside of any call, for the author of the tool (D67). */

import type { HeaderPrefix } from "@parley/schema";
import type { GuardedClient } from "../../net/guarded-fetch.ts";
import type { RunToolTest } from "../../ports/tool-test.ts";
import { toolRequest } from "./tool-request.ts";
import { reasonOf, send } from "./tools-http.ts";

/** @param randomId for `X-Service-Invocation-Id` */
export function createToolTester(
  client: GuardedClient,
  randomId: () => string,
  prefix: HeaderPrefix = "X-Service-",
): RunToolTest {
  return async ({ target, values, timeoutMs }, signal = new AbortController().signal) => {
    try {
      const request = toolRequest(target, values, randomId(), prefix);
      const { status, headers, body, truncated } = await send(client, request, timeoutMs, signal);
      return { kind: "answered", status, contentType: headers["content-type"] ?? null, body, truncated };
    } catch (error) {
      signal.throwIfAborted();
      return { kind: "failed", reason: reasonOf(error) };
    }
  };
}

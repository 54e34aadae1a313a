/** Runs an http tool once outside of any call, for the author of the tool (D67). */

import {
  DEFAULT_TOOL_TIMEOUT,
  parseDurationMs,
  type BaseToolDefinition,
  type KnownParameter,
  type HeaderPrefix,
} from "@parley/schema";
import type { GuardedClient } from "../../net/guarded-fetch.ts";
import type { ToolValue } from "../../ports/tool-invoker.ts";
import type { RunToolTest } from "../../ports/tool-test.ts";
import { toolRequest, type HttpTarget } from "./tool-request.ts";
import { reasonOf, send } from "./tools-http.ts";

type WireLocation = NonNullable<NonNullable<BaseToolDefinition["staticParameters"]>[number]["location"]>;

const SAMPLE_ID = "00000000-0000-4000-8000-000000000000";

/** Automatic values, as in a call without a history. */
const SAMPLES: Readonly<Record<KnownParameter, unknown>> = {
  KNOWN_PARAM_CALL_ID: SAMPLE_ID,
  KNOWN_PARAM_CONVERSATION_HISTORY: [],
  KNOWN_PARAM_OUTPUT_SAMPLE_RATE: 48_000,
  KNOWN_PARAM_CALL_STATE: {},
  KNOWN_PARAM_CALL_STAGE_ID: SAMPLE_ID,
  KNOWN_PARAM_THREAD_ID: "main",
  KNOWN_PARAM_THREAD_STATES: {},
  KNOWN_PARAM_CALL_METADATA: {},
};

const LOCATIONS: Readonly<Record<WireLocation, ToolValue["location"]>> = {
  PARAMETER_LOCATION_QUERY: "query",
  PARAMETER_LOCATION_PATH: "path",
  PARAMETER_LOCATION_HEADER: "header",
  PARAMETER_LOCATION_BODY: "body",
};

/** @param randomId for `X-Service-Invocation-Id` */
export function createToolTester(
  client: GuardedClient,
  randomId: () => string,
  prefix: HeaderPrefix = "X-Service-",
): RunToolTest {
  return async (definition, values, signal = new AbortController().signal) => {
    const target = targetOf(definition);
    if (target === null) return { kind: "failed", reason: "only an http tool can be tested" };
    const placed = placedValues(definition, values, target.method);
    if (typeof placed === "string") return { kind: "failed", reason: placed };
    try {
      const request = toolRequest(target, placed, randomId(), prefix);
      const timeoutMs = parseDurationMs(definition.timeout ?? DEFAULT_TOOL_TIMEOUT);
      const { status, headers, body, truncated } = await send(client, request, timeoutMs, signal);
      return { kind: "answered", status, contentType: headers["content-type"] ?? null, body, truncated };
    } catch (error) {
      signal.throwIfAborted();
      return { kind: "failed", reason: reasonOf(error) };
    }
  };
}

function targetOf(definition: BaseToolDefinition): HttpTarget | null {
  const { http } = definition;
  if (http === undefined) return null;
  const lists = [definition.dynamicParameters, definition.staticParameters, definition.automaticParameters];
  // Parameters without a location go into the body, unless the method has none.
  const inBody = lists.some((list) =>
    list?.some(({ location }) => location === undefined || location === "PARAMETER_LOCATION_BODY"),
  );
  const method = http.httpMethod ?? (inBody ? "POST" : "GET");
  return { kind: "http", method, urlPattern: http.baseUrlPattern, credentials: [], callToken: null };
}

/**
 * Every parameter with its value, where given values take precedence over those of the tool; or what is wrong with the
 * given ones.
 */
function placedValues(
  definition: BaseToolDefinition,
  values: Readonly<Record<string, unknown>>,
  method: string,
): ToolValue[] | string {
  const unplaced = method === "GET" || method === "HEAD" ? "query" : "body";
  const { dynamicParameters = [], staticParameters = [], automaticParameters = [] } = definition;
  const own = new Map<string, unknown>([
    ...staticParameters.map(({ name, value }): [string, unknown] => [name, value ?? null]),
    ...automaticParameters.map(({ name, knownValue }): [string, unknown] => [name, SAMPLES[knownValue]]),
  ]);
  const parameters = [...dynamicParameters, ...staticParameters, ...automaticParameters];
  const unknown = Object.keys(values).find((given) => !parameters.some(({ name }) => name === given));
  if (unknown !== undefined) return `the tool has no parameter ${unknown.slice(0, 128)}`;
  const missing = dynamicParameters.find(
    ({ name, required }) => required === true && !Object.hasOwn(values, name),
  );
  if (missing !== undefined) return `the parameter ${missing.name} is required`;
  return parameters
    .filter(({ name }) => Object.hasOwn(values, name) || own.has(name))
    .map(({ name, location }) => ({
      name,
      location: location === undefined ? unplaced : LOCATIONS[location],
      value: Object.hasOwn(values, name) ? values[name] : own.get(name),
    }));
}

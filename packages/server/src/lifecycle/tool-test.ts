/**
 * Tests of stored tools outside calls (D67). The tool is compiled, and its values are read, by the code that does so for
 * a call, so that a test sends the request that a call would send.
 */

import { randomUUID } from "node:crypto";
import type { BaseToolDefinition, FieldError } from "@parley/schema";
import { valuesFor, type KnownState } from "../call/tools/values.ts";
import { compileTool } from "../plan/compile-tools.ts";
import { parametersOf, unknownOverrides } from "../plan/tool-parameters.ts";
import type { ToolImplementation } from "../plan/tool-plan.ts";

export interface PreparedToolTest {
  readonly target: Extract<ToolImplementation, { readonly kind: "http" }>;
  readonly values: ReturnType<typeof valuesFor>;
  readonly timeoutMs: number;
}

/** The request cannot be made from this body; the fields are members of it. */
export interface RefusedToolTest {
  readonly kind: "refused";
  readonly errors: readonly FieldError[];
}

/** @param body values by the names of parameters, and `authTokens` */
export type TestTool<Outcome> = (
  definition: BaseToolDefinition,
  body: Readonly<Record<string, unknown>>,
) => Promise<Outcome | RefusedToolTest>;

/** @param send makes the request once */
export function createToolTest<Outcome>(
  send: (test: PreparedToolTest) => Promise<Outcome>,
): TestTool<Outcome> {
  return async (definition, body) => {
    const prepared = prepareToolTest(definition, body, randomUUID());
    return "errors" in prepared ? { kind: "refused", errors: prepared.errors } : send(prepared);
  };
}

const SAMPLE_ID = "00000000-0000-4000-8000-000000000000";

/** A call over WebRTC in which nothing was said yet. */
const SAMPLE_CALL: KnownState = {
  plan: { callId: SAMPLE_ID, metadata: {}, medium: { kind: "webRtc", outputSampleRateHz: 16_000 } },
  stage: { stageId: SAMPLE_ID },
  callState: {},
  history: { entries: [] },
  toolRound: null,
};

/**
 * Given values of dynamic parameters stand for the model's arguments, the others for overrides of the selection.
 *
 * @param callToken sent where the tool requires the token of the call
 */
export function prepareToolTest(
  definition: BaseToolDefinition,
  body: Readonly<Record<string, unknown>>,
  callToken: string,
): PreparedToolTest | { readonly errors: readonly FieldError[] } {
  const read = readBody(definition, body);
  if ("errors" in read) return read;
  const { args, overrides, authTokens } = read;
  const result = compileTool(
    {
      // The name is for the model only.
      selection: {
        temporaryTool: definition,
        nameOverride: "tool",
        parameterOverrides: overrides,
        authTokens,
      },
      field: "",
      definition,
      toolId: null,
      recordName: null,
      builtIn: null,
      mcpTool: null,
    },
    // The arguments of a test are not checked: its author may want to see what the server says of wrong ones.
    { callToken, newId: () => SAMPLE_ID, schemaFaults: () => [] },
  );
  if ("errors" in result) {
    return { errors: result.errors.map((error) => ({ ...error, field: error.field.replace(/^\./, "") })) };
  }
  const { plan } = result.compiled;
  if (plan.implementation.kind !== "http") throw new Error("only an http tool can be tested");
  return {
    target: plan.implementation,
    values: valuesFor(SAMPLE_CALL, plan, args),
    timeoutMs: plan.timeoutMs,
  };
}

interface ReadBody {
  readonly args: Record<string, unknown>;
  readonly overrides: Record<string, unknown>;
  readonly authTokens: Record<string, string>;
}

function readBody(
  definition: BaseToolDefinition,
  body: Readonly<Record<string, unknown>>,
): ReadBody | { readonly errors: readonly FieldError[] } {
  const parameters = parametersOf(definition, null);
  const dynamic = new Set(parameters.flatMap(({ kind, name }) => (kind === "dynamic" ? [name] : [])));
  const isParameter = parameters.some(({ name }) => name === "authTokens");
  const { authTokens, ...others } = body;
  const values = isParameter ? body : others;
  const tokens = isParameter ? {} : (authTokens ?? {});
  const errors: FieldError[] = unknownOverrides(parameters, definition, values).map((field) => ({
    field,
    message: "is not a parameter of the tool",
  }));
  const demanded = [
    ...parameters.flatMap((one) => (one.kind === "dynamic" && one.required ? [one.name] : [])),
    ...(definition.requirements?.requiredParameterOverrides ?? []),
  ];
  for (const field of new Set(demanded)) {
    if (!Object.hasOwn(values, field)) errors.push({ field, message: "is required" });
  }
  if (!isTexts(tokens)) errors.push({ field: "authTokens", message: "must be an object of texts" });
  if (errors.length > 0 || !isTexts(tokens)) return { errors };
  const given = Object.entries(values);
  return {
    args: Object.fromEntries(given.filter(([name]) => dynamic.has(name))),
    overrides: Object.fromEntries(given.filter(([name]) => !dynamic.has(name))),
    authTokens: tokens,
  };
}

function isTexts(value: unknown): value is Record<string, string> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((member) => typeof member === "string");
}

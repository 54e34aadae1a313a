import { ClientDataMessage } from "@parley/schema";
import { expect, test } from "vitest";
import { initialState } from "../../call/call.ts";
import type { CallEngineEvent, EventOf } from "../../call/events.ts";
import { testTool } from "../../call/testing/fake-tools.ts";
import { testPlan } from "../testing/plan.ts";
import { withProblems } from "./forced-calls.ts";

const PARAMETERS = { type: "object", properties: { amount: { type: "number", maximum: 10 } } };

function forced(toolCalls: readonly object[], source: EventOf<"dataMessageReceived">["source"] = "client") {
  const message = ClientDataMessage.parse({ type: "forced_agent_message", toolCalls });
  return { type: "dataMessageReceived", message, source, atMs: 5 } as const;
}

function problemsOf(event: CallEngineEvent, clientMessages?: "trusted" | "standard" | "media") {
  const checked: unknown[] = [];
  const tools = [testTool("refund", { parameters: PARAMETERS })];
  const levels = clientMessages === undefined ? {} : { clientMessages };
  const state = initialState(testPlan({ stage: { tools }, ...levels }));
  const result = withProblems(event, state, (schema, value) => {
    checked.push([schema, value]);
    return "amount is too large";
  });
  return { result, checked };
}

test.each([undefined, "trusted", "standard", "media"] as const)(
  "arguments are checked against the schema of the tool, at %s and from REST as well",
  (level) => {
    const event = forced([{ name: "refund", arguments: { amount: 99_999 } }, { name: "gone" }], "api");
    const { result, checked } = problemsOf(event, level);
    expect(checked).toEqual([[PARAMETERS, { amount: 99_999 }]]);
    expect(result).toEqual({ ...event, problems: ["amount is too large", "there is no tool of this name"] });
  },
);

test("a client that may not make calls costs no check", () => {
  const event = forced([{ name: "refund", arguments: { amount: 99_999 } }]);
  expect(problemsOf(event, "standard")).toEqual({ result: event, checked: [] });
  expect(problemsOf(event, "media")).toEqual({ result: event, checked: [] });
  expect(problemsOf(event, "trusted").checked).toHaveLength(1);
});

test("arguments that are too long are a problem", () => {
  const { result, checked } = problemsOf(
    forced([{ name: "refund", arguments: { note: "x".repeat(70_000) } }]),
  );
  expect(checked).toEqual([]);
  expect(result).toMatchObject({ problems: [expect.stringContaining("longer than 65536")] });
});

test("other events stay as they are", () => {
  const ping = {
    type: "dataMessageReceived",
    message: { type: "ping", timestamp: 1 },
    source: "client",
    atMs: 5,
  } as const;
  for (const event of [ping, forced([]), { type: "started", atMs: 0 } as const]) {
    expect(problemsOf(event).result).toBe(event);
  }
});

import { ClientDataMessage } from "@parley/schema";
import { expect, test } from "vitest";
import { initialState } from "../../call/call.ts";
import type { CallEngineEventBody, EventOf } from "../../call/events.ts";
import { testTool } from "../../call/testing/fake-tools.ts";
import { testPlan } from "../testing/plan.ts";
import { ForcedChecks, withProblems } from "./forced-calls.ts";

const PARAMETERS = { type: "object", properties: { amount: { type: "number", maximum: 10 } } };

function forced(toolCalls: readonly object[], source: EventOf<"dataMessageReceived">["source"] = "client") {
  const message = ClientDataMessage.parse({ type: "forced_agent_message", toolCalls });
  return { type: "dataMessageReceived", message, source } as const;
}

async function problemsOf(event: CallEngineEventBody, clientMessages?: "trusted" | "standard" | "media") {
  const checked: unknown[] = [];
  const tools = [testTool("refund", { parameters: PARAMETERS })];
  const levels = clientMessages === undefined ? {} : { clientMessages };
  const state = initialState(testPlan({ stage: { tools }, ...levels }));
  const result = await withProblems(event, state, async (schema, value) => {
    checked.push([schema, value]);
    return "amount is too large";
  });
  return { result, checked };
}

test.each([undefined, "trusted", "standard", "media"] as const)(
  "arguments are checked against the schema of the tool, at %s and from REST as well",
  async (level) => {
    const event = forced([{ name: "refund", arguments: { amount: 99_999 } }, { name: "gone" }], "api");
    const { result, checked } = await problemsOf(event, level);
    expect(checked).toEqual([[PARAMETERS, { amount: 99_999 }]]);
    expect(result).toEqual({ ...event, problems: ["amount is too large", "there is no tool of this name"] });
  },
);

test("a client that may not make calls costs no check", async () => {
  const event = forced([{ name: "refund", arguments: { amount: 99_999 } }]);
  expect(await problemsOf(event, "standard")).toEqual({ result: event, checked: [] });
  expect(await problemsOf(event, "media")).toEqual({ result: event, checked: [] });
  expect((await problemsOf(event, "trusted")).checked).toHaveLength(1);
});

test("arguments that are too long are a problem", async () => {
  const { result, checked } = await problemsOf(
    forced([{ name: "refund", arguments: { note: "x".repeat(70_000) } }]),
  );
  expect(checked).toEqual([]);
  expect(result).toMatchObject({ problems: [expect.stringContaining("longer than 65536")] });
});

test("calls at the end of a thread's messages, and of what tools send to threads, are checked as well", async () => {
  const made = { role: "MESSAGE_ROLE_TOOL_CALL", toolName: "refund", text: '{"amount":99999}' };
  const spawn = { type: "spawn_thread", newThreadId: "a", additionalMessages: [made] };
  const sent = ClientDataMessage.parse(spawn);
  const problems = ["amount is too large"];
  const checked = [[PARAMETERS, { amount: 99_999 }]];
  const spawned = { type: "dataMessageReceived", message: sent, source: "api" } as const;
  expect(await problemsOf(spawned)).toEqual({ result: { ...spawned, problems }, checked });
  const document = JSON.stringify({ dataMessage: spawn });
  const outcome = {
    kind: "completed",
    result: document,
    responseType: "send-to-thread",
    reaction: null,
    updateCallState: null,
  } as const;
  const finished = { type: "toolFinished", invocationId: "i", outcome } as const;
  expect(await problemsOf(finished)).toEqual({ result: { ...finished, problems }, checked });
  const message = ClientDataMessage.parse({
    type: "client_tool_result",
    invocationId: "i",
    responseType: "send-to-thread",
    result: document,
  });
  const byClient = { type: "dataMessageReceived", message, source: "client" } as const;
  expect(await problemsOf(byClient)).toEqual({ result: { ...byClient, problems }, checked });
  expect(await problemsOf(byClient, "standard")).toEqual({ result: byClient, checked: [] });
  const unreadable = { ...finished, outcome: { ...outcome, result: "oops" } };
  expect((await problemsOf(unreadable)).result).toBe(unreadable);
});

test("of a thread's messages no more calls are checked than it may make", async () => {
  const made = { role: "MESSAGE_ROLE_TOOL_CALL", toolName: "refund", text: "{}" };
  const additionalMessages = Array.from({ length: 100 }, () => made);
  const message = ClientDataMessage.parse({ type: "spawn_thread", newThreadId: "a", additionalMessages });
  const { checked } = await problemsOf({ type: "dataMessageReceived", message, source: "client" });
  expect(checked).toHaveLength(16);
});

test("other events stay as they are", async () => {
  const ping = {
    type: "dataMessageReceived",
    message: { type: "ping", timestamp: 1 },
    source: "client",
  } as const;
  for (const event of [ping, forced([]), { type: "started" } as const]) {
    expect((await problemsOf(event)).result).toBe(event);
  }
});

test("no message overtakes one whose calls are checked", async () => {
  const posted: string[] = [];
  const checks: PromiseWithResolvers<string | null>[] = [];
  const state = initialState(
    testPlan({ stage: { tools: [testTool("refund", { parameters: PARAMETERS })] } }),
  );
  const forcedChecks = new ForcedChecks({
    state: () => state,
    checkArguments: () => {
      const check = Promise.withResolvers<string | null>();
      checks.push(check);
      return check.promise;
    },
    post: (event) => posted.push(event.type === "dataMessageReceived" ? event.message.type : event.type),
    faulted: (error) => posted.push(String(error)),
  });
  const text = (words: string) => {
    const message = ClientDataMessage.parse({ type: "user_text_message", text: words });
    return { type: "dataMessageReceived", message, source: "client" } as const;
  };
  expect(forcedChecks.take(text("before"))).toBe(false);
  expect(forcedChecks.take(forced([{ name: "refund", arguments: { amount: 1 } }]))).toBe(true);
  expect(forcedChecks.take(text("after"))).toBe(true);
  expect(forcedChecks.take({ type: "started" })).toBe(false);
  await expect.poll(() => checks).toHaveLength(1);
  expect(posted).toEqual([]);
  checks[0]?.resolve(null);
  await expect.poll(() => posted).toEqual(["forced_agent_message", "user_text_message"]);
  expect(forcedChecks.take(text("now"))).toBe(false);
});

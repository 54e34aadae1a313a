/** The assembled service: the event log of a call that was held, downloaded and run through the engine again. */

import { afterAll, beforeAll, expect, test } from "vitest";
import type { MessageRecord as EngineMessage } from "../src/call/effects.ts";
import { openScriptedLlm } from "../src/providers/llm-scripted/llm-scripted.ts";
import { until, wait, type CallClient } from "../src/runner/testing/call-client.ts";
import { readLog } from "../replay/read-log.ts";
import { replayLog, type ReplayedStep } from "../replay/run.ts";
import { openFaultyEngines } from "./faulty-engines.ts";
import { openRunningService, type RunningService } from "./running-service.ts";

let service: RunningService;

beforeAll(async () => {
  service = await openRunningService({}, { ...openFaultyEngines(), llm: await openScriptedLlm() });
});

afterAll(async () => {
  await service.close();
});

const LONG = "Good evening and welcome to the hotel, what is it that we can do for you this evening.";
const TOOL = {
  temporaryTool: { modelToolName: "look", description: "Looks.", client: {} },
};
const finals = (client: CallClient, role: "agent" | "user") =>
  client.of("transcript").filter((message) => message.final && message.role === role);

/**
 * A greeting that is interrupted, a tool of the client, an answer, a reminder, and a connection that is lost and comes
 * back.
 */
async function held() {
  const settings = {
    firstSpeakerSettings: { agent: { text: LONG } },
    selectedTools: [TOOL],
    inactivityMessages: [{ duration: "1s", message: "Are you there?" }],
  };
  const call = await service.call(settings);
  const { client } = call;
  await until(() => client.of("transcript").length > 3, "the greeting");
  client.send({ type: "user_text_message", text: "look", urgency: "immediate" });
  await until(() => client.of("client_tool_invocation").length === 1, "the tool");
  const [{ invocationId } = { invocationId: "" }] = client.of("client_tool_invocation");
  client.send({ type: "client_tool_result", invocationId, result: "A wall." });
  await until(() => finals(client, "agent").some(({ text }) => text === "A wall."), "the result");
  const answered = finals(client, "agent").length;
  await client.say(900);
  await until(() => finals(client, "agent").length > answered, "the answer to words");
  await until(() => finals(client, "agent").some(({ text }) => text === "Are you there?"), "the reminder");
  client.socket.terminate();
  await wait(200);
  const again = service.connect(call.joinUrl);
  await again.opened();
  again.start();
  await again.say(600);
  await until(() => finals(again, "agent").length > 0, "an answer after the return");
  again.socket.close(1000);
  await service.ended(call.callId);
  return call.callId;
}

test("a call is replayed from its log to the same messages, events and end, and every invariant holds", async () => {
  const callId = await held();
  const answer = await service.ask("GET", `/api/calls/${callId}/event_log`);
  expect(answer.status).toBe(200);
  const log = readLog(answer.bytes.toString("utf8"));
  expect(log.notes).toEqual([]);
  expect(log.events.length).toBeGreaterThan(100);

  const steps: ReplayedStep[] = [];
  const { broken, last } = replayLog(log, (step) => steps.push(step));
  expect(steps.flatMap((step) => step.broken)).toEqual([]);
  expect(broken).toBe(0);
  expect(last?.phase).toEqual({ kind: "ended", reason: "hangup" });

  const effects = steps.flatMap((step) => step.effects);
  const messages = new Map<number, EngineMessage>();
  for (const effect of effects)
    if (effect.type === "recordMessage") messages.set(effect.message.index, effect.message);
  const onRecord = await service.messages(callId);
  const inOrder = [...messages.values()].toSorted((a, b) => a.index - b.index);
  expect(inOrder.map(({ text }) => text)).toEqual(onRecord.map(({ text }) => text));
  expect(onRecord[0]?.metadata).toEqual({ interrupted: "true" });
  const events = effects.flatMap((effect) => (effect.type === "recordCallEvent" ? [effect.event.type] : []));
  expect(events).toEqual((await service.events(callId)).map(({ type }) => type));
  expect(events).toContain("turn.interrupted");
});

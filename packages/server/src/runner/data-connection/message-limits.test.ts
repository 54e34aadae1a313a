/** The limits of data messages in a live call, whatever they come over. */

import nodeProcess from "node:process";
import { beforeAll, expect, test } from "vitest";
import { testTool } from "../../call/testing/fake-tools.ts";
import type { DataConnectionPlan } from "../../plan/data-connection-plan.ts";
import { initResampler } from "../../media/resample.ts";
import { openCallWorld } from "../testing/call-world.ts";
import { testPlan } from "../testing/plan.ts";
import { MESSAGES_PER_SECOND } from "./message-gate.ts";

beforeAll(async () => {
  await initResampler(nodeProcess);
});

const DATA_CONNECTION: DataConnectionPlan = {
  websocketUrl: "wss://data.example/live",
  headers: {},
  sharedSecrets: [],
  audio: null,
  dataMessages: testPlan().dataMessages,
};

const TOOLS = [testTool("ask", { implementation: { kind: "client" }, timeoutMs: 20_000 })];

const PINGS = Array.from({ length: 500 }, (_, timestamp) => JSON.stringify({ type: "ping", timestamp }));

async function joined() {
  const world = openCallWorld();
  const call = await world.joined({
    firstSpeaker: { kind: "user", fallback: null },
    dataConnection: DATA_CONNECTION,
    stage: { tools: TOOLS },
  });
  const [connection] = world.dataConnections.connections;
  if (connection === undefined) throw new Error("nothing was dialled");
  connection.accept();
  await world.clock.advance(20);
  const pongs = (of: typeof connection | typeof call.transport): number =>
    of.messages.filter(({ type }) => type === "pong").length;
  return { ...world, ...call, connection, pongs };
}

test("a flood of the client is slowed down, and that of the data connection for itself", async () => {
  const { transport, connection, pongs, clock, records } = await joined();
  for (const ping of PINGS) transport.read(ping);
  expect(pongs(transport)).toBe(MESSAGES_PER_SECOND);
  connection.read(PINGS[0] ?? "");
  expect(pongs(connection)).toBe(1);
  for (const ping of PINGS) connection.read(ping);
  expect(pongs(connection)).toBe(MESSAGES_PER_SECOND);
  await clock.advance(1_000);
  expect(pongs(transport)).toBe(2 * MESSAGES_PER_SECOND);
  const limited = records.events.filter(({ event }) => event.type === "data_message.limited");
  expect(limited.length).toBeGreaterThan(0);
});

test("a client that comes back finds its limit as it left it", async () => {
  const { transport, join, plan, clock, pongs } = await joined();
  for (const ping of PINGS) transport.read(ping);
  transport.lose(false, 1006);
  const again = (await join(plan.callId)).transport;
  if (again === null) throw new Error("not connected");
  again.read(PINGS[0] ?? "");
  expect(pongs(again)).toBe(0);
  await clock.advance(1_000);
  expect(pongs(again)).toBe(MESSAGES_PER_SECOND);
});

test("the result of a client tool passes beside a flood", async () => {
  const { transport, calls, plan, clock, records } = await joined();
  calls.sendToCall(plan.callId, {
    type: "forced_agent_message",
    content: "",
    toolCalls: [{ name: "ask", arguments: {} }],
    knownToolResults: [],
    uninterruptible: false,
    urgency: "soon",
    threadId: "UI",
  });
  await clock.advance(20);
  const invocation = transport.messages.find(({ type }) => type === "client_tool_invocation");
  if (invocation?.type !== "client_tool_invocation") throw new Error("the tool was not invoked");
  for (const ping of PINGS) transport.read(ping);
  const { invocationId } = invocation;
  transport.read(JSON.stringify({ type: "client_tool_result", invocationId, result: "3 rooms" }));
  await clock.advance(20);
  const results = records.messages.filter(({ message }) => message.role === "tool_result");
  expect(results.map(({ message }) => message.text)).toEqual(["3 rooms"]);
});

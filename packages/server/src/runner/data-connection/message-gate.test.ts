import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { CallEngineEventBody } from "../../call/events.ts";
import type { AwaitedResult } from "../../call/tools/awaited.ts";
import { openManualClock } from "../testing/manual-clock.ts";
import { MESSAGES_PER_SECOND, MessageGate, WAITING_MAX, WAITING_MAX_CHARS } from "./message-gate.ts";

function openGate(awaited: AwaitedResult[] = []) {
  const clock = openManualClock();
  const posted: { readonly atMs: number; readonly event: CallEngineEventBody }[] = [];
  const gate = new MessageGate({
    source: "client",
    clock,
    awaited: () => awaited,
    post: (event) => {
      posted.push({ atMs: clock.nowMs(), event });
      // As the engine: a tool is answered by its first result.
      if (event.type !== "dataMessageReceived" || !("invocationId" in event.message)) return;
      const { invocationId } = event.message;
      const index = awaited.findIndex((result) => result.invocationId === invocationId);
      if (index >= 0) awaited.splice(index, 1);
    },
  });
  const send = (message: object) => gate.take(JSON.stringify(message), false);
  const pings = () =>
    posted.flatMap(({ atMs, event }) =>
      event.type === "dataMessageReceived" && event.message.type === "ping"
        ? [{ atMs, timestamp: event.message.timestamp }]
        : [],
    );
  const results = () =>
    posted.flatMap(({ atMs, event }) =>
      event.type === "dataMessageReceived" && "invocationId" in event.message
        ? [{ atMs, invocationId: event.message.invocationId }]
        : [],
    );
  const warnings = () =>
    posted.flatMap(({ atMs, event }) => (event.type === "dataMessageRejected" ? [{ atMs, ...event }] : []));
  return { clock, gate, send, posted, pings, results, warnings };
}

const ping = (timestamp: number) => ({ type: "ping", timestamp });
const resultFor = (invocationId: string) => ({ type: "client_tool_result", invocationId, result: "OK" });
const clientCall = (invocationId: string): AwaitedResult => ({ invocationId, type: "client_tool_result" });
const count = (length: number) => Array.from({ length }, (_, i) => i);

describe("messages", () => {
  test("of a second pass at once", () => {
    const { send, pings } = openGate();
    for (const i of count(MESSAGES_PER_SECOND)) send(ping(i));
    expect(pings()).toHaveLength(MESSAGES_PER_SECOND);
  });

  test("beyond that wait in order, and none is lost", async () => {
    const { send, pings, clock, warnings } = openGate();
    for (const i of count(MESSAGES_PER_SECOND + WAITING_MAX)) send(ping(i));
    expect(pings()).toHaveLength(MESSAGES_PER_SECOND);
    await clock.advance(999);
    expect(pings()).toHaveLength(MESSAGES_PER_SECOND);
    await clock.advance(1);
    expect(pings()).toHaveLength(2 * MESSAGES_PER_SECOND);
    await clock.advance(10_000);
    expect(pings().map(({ timestamp }) => timestamp)).toEqual(count(MESSAGES_PER_SECOND + WAITING_MAX));
    expect(warnings()).toEqual([]);
    expect(clock.pending()).toBe(0);
  });

  test("of a flood are dropped, which is told once a second with their number", async () => {
    const { send, pings, clock, warnings } = openGate();
    const passed = MESSAGES_PER_SECOND + WAITING_MAX;
    for (const i of count(passed + 500)) send(ping(i));
    expect(warnings()).toMatchObject([{ atMs: 0, cause: "limited" }]);
    await clock.advance(20_000);
    expect(pings()).toHaveLength(passed);
    expect(warnings()).toMatchObject([{ detail: expect.stringContaining("(1 dropped") }, { atMs: 1_000 }]);
    expect(warnings()[1]?.detail).toContain("(499 dropped");
  });

  test("that wait are bounded in length", async () => {
    const { gate, posted, clock } = openGate();
    for (const i of count(MESSAGES_PER_SECOND)) gate.take(JSON.stringify(ping(i)), false);
    const long = JSON.stringify({ type: "user_text_message", text: "x".repeat(200_000) });
    const fit = Math.floor(WAITING_MAX_CHARS / long.length);
    for (const _ of count(fit + 2)) gate.take(long, false);
    await clock.advance(5_000);
    const texts = posted.filter(
      ({ event }) => event.type === "dataMessageReceived" && event.message.type === "user_text_message",
    );
    expect(texts).toHaveLength(fit);
  });

  test("that are invalid count like any others", () => {
    const { gate, warnings } = openGate();
    for (const _ of count(MESSAGES_PER_SECOND)) gate.take("no JSON", false);
    gate.take("x".repeat(1_024), true);
    expect(warnings()).toHaveLength(MESSAGES_PER_SECOND);
  });

  test("that wait are dropped with the call", async () => {
    const { gate, send, pings, clock } = openGate();
    for (const i of count(100)) send(ping(i));
    gate.close();
    send(ping(100));
    await clock.advance(10_000);
    expect(pings()).toHaveLength(MESSAGES_PER_SECOND);
    expect(clock.pending()).toBe(0);
  });
});

describe("results of tools", () => {
  test("that the call waits for pass at once, however full the gate is, each once", () => {
    const { send, results } = openGate([clientCall("call_1"), clientCall("call_2")]);
    for (const i of count(1_000)) send(ping(i));
    for (const id of ["call_1", "call_1", "call_2"]) send(resultFor(id));
    expect(results().map(({ invocationId }) => invocationId)).toEqual(["call_1", "call_2"]);
  });

  test("that nothing waits for, of another kind or malformed ones are like other messages", () => {
    const { gate, send, results } = openGate([clientCall("call_1")]);
    for (const i of count(1_000)) send(ping(i));
    send(resultFor("call_9"));
    send({ ...resultFor("call_1"), type: "data_connection_tool_result" });
    send({ ...resultFor("call_1"), responseType: "none" });
    gate.take('{"type":"client_tool_result","invocationId":"call_1"', false);
    send({ type: "user_text_message", text: "call_1" });
    expect(results()).toEqual([]);
    send(resultFor("call_1"));
    expect(results()).toHaveLength(1);
  });
});

/** What a client does: some time passes, and then it sends. */
const actions = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ pings: fc.integer({ min: 1, max: 400 }), waitMs: fc.nat(1_500) }) },
    { weight: 1, arbitrary: fc.record({ result: fc.nat(9), waitMs: fc.nat(1_500) }) },
  ),
  { maxLength: 12 },
);

test("whatever comes: no awaited result is lost or late, others keep their order and at most 20 pass in any second", async () => {
  await fc.assert(
    fc.asyncProperty(actions, async (all) => {
      const ids = count(10).map((i) => `call_${String(i)}x`);
      const { clock, send, pings, results } = openGate(ids.map(clientCall));
      const expected = new Map<string, number>();
      let sent = 0;
      for (const action of all) {
        await clock.advance(action.waitMs);
        if ("result" in action) {
          const id = ids[action.result] ?? "";
          if (!expected.has(id)) expected.set(id, clock.nowMs());
          else continue;
          send(resultFor(id));
        } else for (const _ of count(action.pings)) send(ping((sent += 1)));
      }
      await clock.advance(12_000);
      expect(results()).toEqual([...expected].map(([invocationId, atMs]) => ({ invocationId, atMs })));
      const passed = pings();
      const numbers = passed.map(({ timestamp }) => timestamp);
      expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
      const gaps = passed
        .slice(MESSAGES_PER_SECOND)
        .map(({ atMs }, index) => atMs - (passed[index]?.atMs ?? Number.NaN));
      expect(gaps.filter((ms) => ms < 1_000)).toEqual([]);
      expect(passed.length).toBeGreaterThanOrEqual(Math.min(sent, MESSAGES_PER_SECOND + WAITING_MAX));
      expect(clock.pending()).toBe(0);
    }),
    { numRuns: 40 },
  );
});

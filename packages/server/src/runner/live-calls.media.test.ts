import { afterEach, describe, expect, test } from "vitest";
import { until, wait } from "./testing/call-client.ts";
import { openCallServer, type CallServer, type CallServerOptions } from "./testing/call-server.ts";
import { openFakeEngines } from "./testing/fakes.ts";
import { testPlan, type PlanChanges } from "./testing/plan.ts";

let server: CallServer | null = null;

afterEach(async () => {
  const stopped = server;
  server = null;
  await stopped?.close();
  expect(stopped?.calls.count() ?? 0).toBe(0);
});

async function call(changes: PlanChanges = {}, options: CallServerOptions = {}) {
  const opened = await openCallServer(options);
  server = opened;
  const plan = testPlan(changes);
  opened.start(plan);
  const client = opened.connect(plan.callId, plan.medium.inputSampleRateHz);
  await client.opened();
  return { server: opened, plan, client };
}

const userFirst: PlanChanges = { firstSpeaker: { kind: "user", fallback: null } };

describe("a call from join to hang-up", () => {
  test("the greeting comes in 20 ms frames at the pace of the clock", async () => {
    const { client, server: running, plan } = await call();
    client.start();
    await until(() => client.of("transcript").some((message) => message.final), "the whole greeting");
    // 7 words of 300 ms.
    expect(client.frames.length).toBe(105);
    expect(client.frames.every(({ samples }) => samples.length === 320)).toBe(true);
    const first = client.frames[0]!.atMs;
    for (const [i, { atMs }] of client.frames.entries()) {
      expect(atMs - first).toBeGreaterThan(i * 20 - 60 - 15);
    }
    expect(client.frames.at(-1)!.atMs - first).toBeLessThan(105 * 20 + 100);
    expect(client.messages[0]?.message).toEqual({ type: "call_started", callId: plan.callId });
    expect(client.messages[1]?.message.type).toBe("state");
    const final = client.of("transcript").find((message) => message.final);
    expect(final).toMatchObject({ role: "agent", medium: "voice", text: "Welcome, how can I help you today?" });
    client.socket.close(1000);
    await until(() => running.calls.count() === 0, "the end");
    expect(running.records.ends).toMatchObject([{ callId: plan.callId, record: { reason: "hangup" } }]);
    expect(running.records.joins).toMatchObject([{ record: { clientVersion: "test" } }]);
    expect(running.sockets()).toBe(0);
  });

  test("a spoken turn is answered", async () => {
    const { client, server: running } = await call(userFirst);
    client.start();
    await wait(300);
    await client.say(900);
    await until(() => client.frames.length > 20, "the reply");
    expect(client.of("transcript").find((message) => message.role === "user")).toMatchObject({
      final: true,
      text: "Hello there.",
    });
    await until(
      () => client.of("transcript").some((message) => message.role === "agent" && message.final),
      "the whole reply",
    );
    expect(client.of("state").map(({ state }) => state)).toEqual(
      expect.arrayContaining(["listening", "thinking", "speaking"]),
    );
    expect(running.records.latencies.length).toBe(1);
    expect(running.records.messages.map(({ message }) => message.role)).toContain("user");
  });
});

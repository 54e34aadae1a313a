import nodeProcess from "node:process";
import { beforeAll, describe, expect, it } from "vitest";
import type { DataConnectionPlan } from "../../plan/data-connection-plan.ts";
import { initResampler } from "../../media/resample.ts";
import { concat, tonePower } from "../../media/testing/signals.ts";
import { openCallWorld } from "../testing/call-world.ts";
import { testPlan } from "../testing/plan.ts";

beforeAll(async () => {
  await initResampler(nodeProcess);
});

const DATA_CONNECTION: DataConnectionPlan = {
  websocketUrl: "wss://data.example/live",
  headers: { Authorization: "Bearer t" },
  sharedSecrets: ["s"],
  audio: null,
  dataMessages: { ...testPlan().dataMessages, callEvent: true },
};

async function joined(changes: Partial<DataConnectionPlan> = {}) {
  const world = openCallWorld();
  const call = await world.joined({ dataConnection: { ...DATA_CONNECTION, ...changes } });
  const [connection] = world.dataConnections.connections;
  if (connection === undefined) throw new Error("nothing was dialled");
  await world.clock.advance(20);
  const types = () => connection.messages.map(({ type }) => type);
  const eventTypes = () => world.records.events.map(({ event }) => event.type);
  return { ...world, ...call, connection, types, eventTypes };
}

describe("the data connection of a live call", () => {
  it("is dialled at the join, not before, and only where the plan has one", async () => {
    const world = openCallWorld();
    world.create({ dataConnection: DATA_CONNECTION });
    await world.clock.advance(1_000);
    expect(world.dataConnections.connections).toEqual([]);
    const { plan } = await world.joined({ dataConnection: DATA_CONNECTION });
    await world.joined({ dataConnection: null });
    expect(world.dataConnections.connections.map(({ request }) => request)).toEqual([
      {
        callId: plan.callId,
        websocketUrl: "wss://data.example/live",
        headers: { Authorization: "Bearer t" },
        sharedSecrets: ["s"],
      },
    ]);
  });

  it("gets the messages of the call from its opening on, and its own are used", async () => {
    const { clock, connection, types, plan, calls } = await joined();
    expect(connection.messages).toEqual([]);
    connection.accept();
    await clock.advance(20);
    expect(types().slice(0, 3)).toEqual(["call_started", "state", "call_event"]);
    connection.read('{"type":"ping","timestamp":3}');
    await clock.advance(20);
    expect(connection.messages.at(-1)).toEqual({ type: "pong", timestamp: 3 });
    connection.read('{"type":"hang_up"}');
    await clock.advance(20);
    expect(calls.joinState(plan.callId)).toBe("not_live");
    expect(connection.closed).toBe(true);
  });

  it("may send nonsense, be lost, come back and fail: each is a warning, and the call continues", async () => {
    const { clock, connection, eventTypes, plan, calls, transport } = await joined();
    connection.accept();
    connection.read("nonsense");
    connection.readBinary();
    connection.notice("data_connection_congested");
    await clock.advance(1_100);
    connection.read("x", true);
    connection.lose("closed with 1006", true);
    await clock.advance(20);
    connection.accept();
    await clock.advance(20);
    connection.lose("closed with 1006", false);
    connection.fail("no more attempts");
    await clock.advance(20);
    expect(eventTypes().filter((type) => /^data|^media\.problem/.test(type))).toEqual([
      "data_connection.connected",
      "data_message.invalid",
      "media.problem",
      "media.problem",
      "data_message.invalid",
      "data_connection.lost",
      "data_connection.connected",
      "data_connection.lost",
      "data_connection.failed",
    ]);
    expect(calls.joinState(plan.callId)).toBe("connected");
    expect(transport.messages.some(({ type }) => type === "transcript")).toBe(true);
  });

  it("gets the audio: the caller left, the agent as heard right", async () => {
    const { connection, hear, clock } = await joined({
      audio: { sampleRateHz: 8_000, channels: "separated" },
    });
    await clock.advance(500);
    expect(connection.frames).toEqual([]);
    connection.accept();
    await hear(3_000, true);
    expect(connection.frames.length).toBeGreaterThan(120);
    expect(connection.frames.every(({ length }) => length === 320)).toBe(true);
    const pairs = concat(connection.frames);
    const left = pairs.filter((_, i) => i % 2 === 0);
    const right = pairs.filter((_, i) => i % 2 === 1);
    // The caller's hum restarts in every frame: harmonics of 50 Hz. The agent's tone is another.
    const hum = (samples: Int16Array) => tonePower(samples.subarray(8_000, 16_000), 450, 8_000).tone;
    expect(hum(left)).toBeGreaterThan(0.05);
    expect(hum(right) / hum(left)).toBeLessThan(0.01);
    expect(right.some((sample) => Math.abs(sample) > 1_000)).toBe(true);
  });

  it("gets no audio where the plan asks for none", async () => {
    const { connection, hear } = await joined();
    connection.accept();
    await hear(1_000, true);
    expect(connection.frames).toEqual([]);
  });
});

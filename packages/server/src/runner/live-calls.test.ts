/** Live calls on a manual clock and without a network: minutes in milliseconds. */

import nodeProcess from "node:process";
import { beforeAll, expect, test } from "vitest";
import { initialState, step } from "../call/call.ts";
import { initResampler } from "../media/resample.ts";
import type { Recordings } from "../ports/recordings.ts";
import type { CallEngines } from "./call-deps.ts";
import { openBrokenTts, openFakeEngines } from "./testing/fakes.ts";
import { openMemoryRecordings } from "./testing/memory-recordings.ts";
import { openCallWorld, WORLD_CREATED_MS } from "./testing/call-world.ts";
import { testPlan, type PlanChanges } from "./testing/plan.ts";

const userFirst: PlanChanges = { firstSpeaker: { kind: "user", fallback: null } };

beforeAll(async () => {
  await initResampler(nodeProcess);
});

test("times on record count from the creation, by the call's own clock", async () => {
  const { clock, records, create, join } = openCallWorld();
  const plan = create(userFirst);
  await clock.advance(2_500);
  const { transport } = await join(plan.callId);
  await clock.advance(60_000);
  transport?.lose(true, 1000);
  await clock.advance(1_000);
  expect(records.joins[0]?.record).toEqual({
    joinedAt: new Date(WORLD_CREATED_MS + 2_500),
    clientVersion: "test 1",
  });
  expect(records.ends[0]?.record).toMatchObject({
    reason: "hangup",
    joinedAt: new Date(WORLD_CREATED_MS + 2_500),
    endedAt: new Date(WORLD_CREATED_MS + 62_500),
  });
});

test("a call that a restart took up again is older than its runner", async () => {
  const { clock, records, calls } = openCallWorld();
  const plan = testPlan({ joinTimeoutMs: 1_000 });
  calls.startCall(plan, { createdAt: new Date(WORLD_CREATED_MS - 20_000) });
  await clock.advance(2_000);
  expect(records.ends[0]?.record.endedAt).toEqual(new Date(WORLD_CREATED_MS + 1_000));
});

test("a call keeps the engines that it was created with, and later calls have the new ones", async () => {
  const engines = openFakeEngines();
  const asked: string[] = [];
  const named = (name: string): CallEngines => ({
    ...openFakeEngines(),
    tts: {
      ...engines.tts,
      synthesize: (request, signal) => {
        asked.push(name);
        return engines.tts.synthesize(request, signal);
      },
    },
  });
  const [before, after] = [named("before"), named("after")];
  let current = before;
  const { create, join, clock } = openCallWorld({
    vad: engines.vad,
    get stt() {
      return current.stt;
    },
    get llm() {
      return current.llm;
    },
    get tts() {
      return current.tts;
    },
  });
  const old = create();
  current = after;
  const fresh = create();
  for (const [plan, name] of [
    [old, "before"],
    [fresh, "after"],
  ] as const) {
    await join(plan.callId);
    await clock.advance(5_000);
    expect(new Set(asked.splice(0))).toEqual(new Set([name]));
  }
});

test("a conversation of ten minutes leaves nothing behind", async () => {
  const { clock, records, calls, joined } = openCallWorld();
  const { transport, hear } = await joined({ recordingEnabled: true });
  await hear(4_000, false);
  for (let turn = 0; turn < 60; turn += 1) {
    await hear(1_000, true);
    await hear(9_000, false);
  }
  const final = transport.messages.filter((message) => message.type === "transcript" && message.final);
  expect(final.length).toBe(121);
  expect(records.latencies.length).toBe(60);
  transport.lose(true, 1000);
  await clock.advance(5_000);
  expect(calls.count()).toBe(0);
  expect(clock.pending()).toBe(0);
  expect(records.ends.length).toBe(1);
}, 30_000);

test("two thousand calls of every fate leave nothing behind", async () => {
  const { clock, records, calls, create, joined } = openCallWorld();
  for (let i = 0; i < 2_000; i += 1) {
    if (i % 5 === 0) {
      create({ joinTimeoutMs: 1_000 });
      continue;
    }
    const { plan, transport } = await joined({ turnTaking: { reconnectGraceMs: 500 } });
    if (i % 50 === 1) await clock.advance(100);
    if (i % 5 === 1) transport.lose(true, 1000);
    else if (i % 5 === 2) transport.lose(false, 1006);
    else if (i % 5 === 3) calls.endCall(plan.callId);
    else transport.read('{"type":"hang_up"}');
  }
  await clock.advance(10_000);
  expect(calls.count()).toBe(0);
  expect(clock.pending()).toBe(0);
  expect(records.ends.length).toBe(2_000);
  expect(new Set(records.ends.map(({ callId }) => callId)).size).toBe(2_000);
}, 60_000);

test("a join is refused while joined, while another is under way, and after the end", async () => {
  const { clock, calls, create, join } = openCallWorld();
  expect((await join("nobody")).outcome).toBe("gone");
  const plan = create(userFirst);
  expect(calls.joinState(plan.callId)).toBe("joinable");
  const both = await Promise.all([join(plan.callId), join(plan.callId)]);
  expect(both.map(({ outcome }) => outcome)).toEqual(["connected", "joined"]);
  expect(calls.joinState(plan.callId)).toBe("connected");
  calls.endCall(plan.callId);
  expect(calls.endCall(plan.callId)).toBe(false);
  await clock.advance(1_000);
  expect((await join(plan.callId)).outcome).toBe("gone");
  expect(calls.joinState(plan.callId)).toBe("not_live");
});

test("a dead connection gives way to a living one, and its late words are not heard", async () => {
  const { clock, records, calls, joined, join } = openCallWorld();
  const { plan, transport } = await joined(userFirst);
  transport.alive = false;
  const { outcome, transport: next } = await join(plan.callId);
  expect(outcome).toBe("connected");
  transport.lose(true, 1000);
  await clock.advance(1_000);
  expect(calls.joinState(plan.callId)).toBe("connected");
  next?.read('{"type":"ping","timestamp":3}');
  expect(next?.messages).toContainEqual({ type: "pong", timestamp: 3 });
  expect(records.ends).toEqual([]);
});

test("a store that is down for a while loses nothing", async () => {
  const { clock, records, joined } = openCallWorld();
  const { transport, hear } = await joined();
  records.trouble = () => Promise.reject(new Error("down"));
  await hear(3_000, false);
  await hear(900, true);
  await hear(4_000, false);
  expect(records.messages).toEqual([]);
  records.trouble = null;
  await hear(3_000, false);
  transport.lose(true, 1000);
  await clock.advance(2_000);
  const roles = new Map(records.messages.map(({ message }) => [message.index, message.role]));
  expect([...roles.values()]).toEqual(["agent", "user", "agent"]);
  expect(records.joins.length).toBe(1);
  expect(records.ends.length).toBe(1);
});

test("a recording that cannot be made does not touch the call", async () => {
  const recordings: Recordings = {
    ...openMemoryRecordings(),
    create: () => Promise.reject(new Error("no disk")),
  };
  const { clock, records, joined, logged } = openCallWorld(openFakeEngines(), recordings);
  const { transport, hear } = await joined({ recordingEnabled: true });
  await hear(3_000, false);
  expect(transport.frames.length).toBe(105);
  transport.lose(true, 1000);
  await clock.advance(1_000);
  expect(records.ends.map(({ record }) => record.reason)).toEqual(["hangup"]);
  expect(logged).toContain("the recording is not complete");
});

test("the end of a call is on record after its recording is complete", async () => {
  const complete = Promise.withResolvers<void>();
  const memory = openMemoryRecordings();
  const recordings: Recordings = {
    ...memory,
    create: async (callId, sampleRateHz) => {
      const writer = await memory.create(callId, sampleRateHz);
      const close = async (): Promise<void> => {
        await complete.promise;
        await writer.close();
      };
      return { write: (samples) => writer.write(samples), close };
    },
  };
  const { clock, records, joined } = openCallWorld(openFakeEngines(), recordings);
  const { transport, hear } = await joined({ recordingEnabled: true });
  await hear(1_000, false);
  transport.lose(true, 1000);
  await clock.advance(1_000);
  expect([records.ends.length, memory.openFiles()]).toEqual([0, 1]);
  complete.resolve();
  await clock.advance(100);
  expect([records.ends.length, memory.openFiles()]).toEqual([1, 0]);
});

test("the greeting comes at the pace of the clock, 60 ms ahead at most", async () => {
  const { transport, hear } = await openCallWorld().joined();
  while (transport.frames.length === 0) await hear(20, false);
  // 7 words of 300 ms.
  for (let atMs = 0; transport.frames.length < 105; atMs += 20) {
    expect(transport.frames.length * 20).toBeLessThanOrEqual(atMs + 20 + 60);
    expect(transport.frames.length * 20).toBeGreaterThanOrEqual(Math.min(atMs, 2_100));
    await hear(20, false);
  }
});

test("after an interruption nothing is sent until the next reply, which waits for the end of the turn", async () => {
  const { transport, hear } = await openCallWorld().joined();
  while (transport.frames.length < 30) await hear(20, false);
  const isCleared = () => transport.messages.some(({ type }) => type === "playback_clear_buffer");
  let saidMs = 0;
  for (; !isCleared(); saidMs += 20) await hear(20, true);
  const before = transport.frames.length;
  await hear(900 - saidMs, true);
  expect(transport.frames.length).toBe(before);
  await hear(380, false);
  expect(transport.frames.length).toBe(before);
  await hear(2_000, false);
  expect(transport.frames.length).toBeGreaterThan(before);
});

test("a recording holds the caller left and the agent right, each where it was", async () => {
  const recordings = openMemoryRecordings();
  const engines = openFakeEngines({ llm: { reply: "One two three four." } });
  const { clock, joined } = openCallWorld(engines, recordings);
  const { plan, transport, hear } = await joined({ ...userFirst, recordingEnabled: true });
  const joinedAtMs = clock.nowMs();
  await hear(500, false);
  await hear(800, true);
  while (transport.frames.length === 0) await hear(20, false);
  const answeredAtMs = clock.nowMs() - joinedAtMs;
  await hear(2_000, false);
  transport.lose(true, 1000);
  await clock.advance(5_000);
  const { left, right, sampleRateHz } = recordings.read(plan.callId);
  expect(sampleRateHz).toBe(16_000);
  const span = (channel: Int16Array) => {
    const loud = (sample: number) => Math.abs(sample) > 500;
    return [channel.findIndex(loud) / 16, channel.findLastIndex(loud) / 16] as const;
  };
  const [leftFrom, leftTo] = span(left);
  const [rightFrom, rightTo] = span(right);
  expect(Math.abs(leftFrom - 500)).toBeLessThan(1);
  expect(Math.abs(leftTo - 1_300)).toBeLessThan(1);
  expect(Math.abs(rightFrom - answeredAtMs)).toBeLessThan(1);
  // Four words of 300 ms, of which the last 60 are silent.
  expect(Math.abs(rightTo - rightFrom - 1_140)).toBeLessThan(1);
});

test("nothing is recorded where recording is off", async () => {
  const recordings = openMemoryRecordings();
  const { joined } = openCallWorld(openFakeEngines(), recordings);
  const { plan, hear } = await joined(userFirst);
  await hear(1_000, true);
  expect(() => recordings.read(plan.callId)).toThrow("no such recording");
});

test("what is sent while the connection is away is dropped, and the clock continues", async () => {
  const { clock, joined, join } = openCallWorld();
  const { plan, transport } = await joined();
  await clock.advance(200);
  transport.lose(false, 1006);
  const before = transport.frames.length;
  await clock.advance(5_000);
  expect(transport.frames.length).toBe(before);
  const { transport: next } = await join(plan.callId);
  await clock.advance(1_000);
  expect(next?.messages.map(({ type }) => type)).toContain("state");
});

test("the log of a failed call replays to its last state", async () => {
  const engines = openFakeEngines();
  let speaks = 0;
  const tts = {
    ...engines.tts,
    speaks: () => {
      speaks += 1;
      if (speaks > 0) throw new Error("a mistake");
      return true;
    },
  };
  const { clock, records, joined } = openCallWorld({ ...engines, tts });
  const { plan } = await joined({ stage: { languageHint: "de" } });
  await clock.advance(100);
  expect(records.ends.map(({ record }) => record.reason)).toEqual(["system_error"]);
  const { log } = records.faults[0]!.record;
  let state = initialState(plan);
  expect(log.state).toEqual(state);
  const effects: string[] = [];
  for (const event of log.events) {
    const next = step(state, event);
    state = next.state;
    effects.push(...next.effects.map(({ type }) => type));
  }
  expect(effects).toContain("synthesize");
});

test("a voice that never works costs the call its voice first and then its life, within the limit", async () => {
  const { clock, records, joined, calls } = openCallWorld({ ...openFakeEngines(), tts: openBrokenTts() });
  const { hear } = await joined();
  for (let i = 0; i < 20 && calls.count() > 0; i += 1) {
    await hear(800, true);
    await hear(3_000, false);
  }
  await clock.advance(2_000);
  expect(records.events.map(({ event }) => event.type)).toContain("tts.failed");
  expect(records.ends.map(({ record }) => record.reason)).toEqual(["system_error"]);
});

test("a drain on a manual clock ends what is left after its limit", async () => {
  const { clock, records, calls, joined } = openCallWorld();
  await joined();
  await joined();
  const draining = calls.drain(20_000);
  await clock.advance(19_000);
  expect(records.ends).toEqual([]);
  await clock.advance(5_000);
  expect(await draining).toEqual({ ended: 0, cut: 2, waiting: 0, handedOver: 0 });
  expect(records.ends.map(({ record }) => record.reason)).toEqual(["system_error", "system_error"]);
  expect(clock.pending()).toBe(0);
});

test("a drain lets go of calls that nobody has joined, without an end", async () => {
  const { clock, records, calls, create, join } = openCallWorld();
  const { callId } = create();
  expect(await calls.drain(20_000)).toEqual({ ended: 0, cut: 0, waiting: 1, handedOver: 0 });
  expect(calls.count()).toBe(0);
  expect(records.ends).toEqual([]);
  expect((await join(callId)).outcome).toBe("gone");
  expect(clock.pending()).toBe(0);
});

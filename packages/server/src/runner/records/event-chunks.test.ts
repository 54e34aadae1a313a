import nodeProcess from "node:process";
import { beforeAll, describe, expect, it } from "vitest";
import { initialState, step, type CallState } from "../../call/call.ts";
import type { CallEffect } from "../../call/effects.ts";
import { formatEvents, parseLogLine } from "../../call/event-lines.ts";
import type { CallEngineEvent } from "../../call/events.ts";
import { InvariantChecker } from "../../call/testing/invariants.ts";
import { initResampler } from "../../media/resample.ts";
import { EventChunkWriter, type EventChunk } from "./event-chunks.ts";
import { openCallWorld } from "../testing/call-world.ts";

beforeAll(async () => {
  await initResampler(nodeProcess);
});

const event = (atMs: number): CallEngineEvent => ({ type: "timerFired", timerId: atMs, atMs });

function keep(limits?: ConstructorParameters<typeof EventChunkWriter>[1]) {
  const chunks: EventChunk[] = [];
  const writer = new EventChunkWriter((chunk) => chunks.push(chunk), limits);
  return { writer, chunks };
}

describe("the events of a call", () => {
  it("are handed on in chunks of bounded size, the rest at the end", () => {
    const { writer, chunks } = keep({ chunkEvents: 4, callEvents: 100 });
    for (let i = 0; i < 10; i += 1) writer.add(event(i));
    expect(chunks.map(({ events }) => events.length)).toEqual([4, 4]);
    expect(writer.finish()).toEqual({ chunks: 3, events: 10 });
    writer.add(event(99));
    expect(writer.finish()).toEqual({ chunks: 3, events: 10 });
    expect(chunks.map(({ index, note }) => [index, note])).toEqual([
      [0, null],
      [1, null],
      [2, null],
    ]);
    expect(chunks.flatMap(({ events }) => events.map(({ atMs }) => atMs))).toEqual([
      0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
    ]);
  });

  it("are kept from the beginning when there are too many, and a note says where they end", () => {
    const { writer, chunks } = keep({ chunkEvents: 4, callEvents: 6 });
    for (let i = 0; i < 20; i += 1) writer.add(event(i));
    expect(writer.finish()).toEqual({ chunks: 2, events: 6 });
    expect(chunks.map(({ events, note }) => [events.length, note])).toEqual([
      [4, null],
      [2, "the log ends here: a call keeps 6 events"],
    ]);
  });

  it("end a chunk early when their texts are long", () => {
    const { writer, chunks } = keep();
    for (let i = 0; i < 3; i += 1) {
      writer.add({ type: "replyTextReceived", replyId: 1, text: "x".repeat(600_000), atMs: i });
    }
    expect(chunks.map(({ events }) => events.length)).toEqual([1, 1]);
  });

  it("end a chunk early when results of tools are long, and the log when there are too many", () => {
    const { writer, chunks } = keep();
    const result = "x".repeat(64 * 1024);
    const outcome = { kind: "completed", responseType: "tool-response", reaction: null } as const;
    for (let i = 0; i < 1_000; i += 1) {
      const answer = { ...outcome, result, updateCallState: null };
      writer.add({ type: "toolFinished", invocationId: "i", outcome: answer, atMs: i });
    }
    for (const { events } of chunks) expect(formatEvents(events).length).toBeLessThan(1_100_000);
    const count = chunks.reduce((sum, { events }) => sum + events.length, 0);
    expect(count * result.length).toBeLessThan(20_000_000);
    expect(count).toBeGreaterThan(290);
    expect(chunks.at(-1)?.note).toBe(`the log ends here: a call keeps ${String(count)} events`);
  });
});

describe("the log of a live call", () => {
  async function liveCall() {
    const world = openCallWorld();
    const { plan, hear, transport } = await world.joined();
    await hear(2_000, false);
    await hear(1_500, true);
    await hear(6_000, false);
    transport.lose(true, 1000);
    await world.clock.advance(100);
    const chunks = world.records.eventChunks.filter(({ callId }) => callId === plan.callId);
    return { plan, world, events: chunks.flatMap(({ chunk }) => chunk.events) };
  }

  it("replays to the same records, messages and end, byte for byte, also after it was stored", async () => {
    const { plan, world, events } = await liveCall();
    const replayed = (list: readonly CallEngineEvent[]) => {
      const checker = new InvariantChecker();
      const effects: CallEffect[] = [];
      let state: CallState = initialState(plan);
      for (const one of list) {
        const before = state;
        const next = step(before, one);
        state = next.state;
        effects.push(...next.effects);
        expect(checker.observe({ before, event: one, after: state, effects: next.effects })).toEqual([]);
      }
      return { state, effects };
    };
    expect(world.records.ends.at(-1)?.record.eventLog).toEqual({ chunks: 1, events: events.length });
    const { state, effects } = replayed(events);
    expect(state.phase).toEqual({ kind: "ended", reason: "hangup" });
    const messages = effects.flatMap((effect) => (effect.type === "recordMessage" ? [effect.message] : []));
    expect(messages.length).toBeGreaterThan(1);
    const written = world.records.messages.map(({ message }) => message);
    // The queue may skip versions that a later one replaced; what is written is what was requested.
    for (const message of written) expect(messages).toContainEqual(message);
    const callEvents = effects.flatMap((effect) => (effect.type === "recordCallEvent" ? [effect.event] : []));
    expect(world.records.events.map(({ event: one }) => one)).toEqual(callEvents);
    const stored = formatEvents(events)
      .trimEnd()
      .split("\n")
      .flatMap((line) => {
        const parsed = parseLogLine(line);
        return parsed.kind === "events" ? parsed.events : [];
      });
    const again = replayed(stored);
    expect(JSON.stringify(again.effects)).toBe(JSON.stringify(effects));
    expect(JSON.stringify(again.state)).toBe(JSON.stringify(state));
  });

  it("is complete before the end is on record, from the first event to the last", async () => {
    const { world, events } = await liveCall();
    expect(events[0]?.type).toBe("started");
    expect(events.at(-1)?.type).toBe("transportHungUp");
    expect(world.records.ends).toHaveLength(1);
    const scores = events.flatMap((one) => (one.type === "voiceScored" ? [one.score] : []));
    expect(scores.length).toBeGreaterThan(200);
  });
});

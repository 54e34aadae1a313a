import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { TransportRecord } from "../../ports/testing/transport-conformance.ts";
import { AudioBatcher, eachPiece } from "./leg-protocol.ts";
import { NoLegError, NoPortError } from "./peer.ts";
import { failure, LIMIT, LIMITS, OPTIONS, OWNER, RANGE, threads } from "./testing/scripted-threads.ts";
import { LEGS_PER_THREAD } from "./thread-choice.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setImmediate", "clearImmediate"] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe("a leg in a thread", () => {
  it("is opened with the offer, connected, heard and spoken to", async () => {
    const { started, opened } = threads();
    const { leg, record, transport } = await opened(1);
    const thread = started[0]!;
    expect(leg.answer).toBe("answer");
    thread.say({ type: "connected", legId: 1, connected: true });
    expect(await leg.connected).toBe(true);
    const batcher = new AudioBatcher();
    batcher.add(1, Int16Array.of(1, 2, 3));
    batcher.add(9, Int16Array.of(4));
    batcher.add(1, Int16Array.of(5));
    thread.say({ type: "audio", batch: batcher.take() });
    thread.say({ type: "data", legId: 1, text: "hello", tooLong: false });
    expect(record.heard).toEqual([Int16Array.of(1, 2, 3), Int16Array.of(5)]);
    expect(record.texts).toEqual([{ text: "hello", tooLong: false }]);
    transport.sendData({ type: "state", state: "listening" });
    expect(thread.sent.at(-1)).toMatchObject({ type: "text", text: '{"type":"state","state":"listening"}' });
  });

  it("sends all frames of one tick in one message", async () => {
    const { started, opened } = threads();
    const [one, two] = [await opened(1), await opened(2)];
    for (let i = 0; i < 3; i += 1) {
      expect(one.transport.sendAudio(new Int16Array(320).fill(i))).toBe(true);
      expect(two.transport.sendAudio(new Int16Array(320).fill(10 + i))).toBe(true);
    }
    await Promise.resolve();
    const [message, ...others] = started[0]!.sent.filter(({ type }) => type === "audio");
    expect(others).toEqual([]);
    const frames: [number, number | undefined][] = [];
    if (message?.type === "audio") eachPiece(message.batch, (id, frame) => frames.push([id, frame[0]]));
    expect(frames).toEqual([
      [1, 0],
      [2, 10],
      [1, 1],
      [2, 11],
      [1, 2],
      [2, 12],
    ]);
  });

  it("is refused for the reason that the thread gives", async () => {
    const { pool, started } = threads();
    for (const [noPort, kind] of [
      [true, NoPortError],
      [false, Error],
    ] as const) {
      const opening = pool.open("offer", OPTIONS, OWNER);
      const refused = failure(opening);
      await vi.waitFor(() => expect(started[0]?.sent.at(-1)?.type).toBe("open"), LIMIT);
      const message = started[0]?.sent.at(-1);
      const legId = message?.type === "open" ? message.legId : -1;
      started[0]?.say({ type: "notOpened", legId, noPort, detail: "so it is" });
      expect(await refused).toBeInstanceOf(kind);
      started[0]!.sent.length = 0;
    }
  });

  it("is refused when the thread says nothing, and let go of", async () => {
    const { pool, started } = threads();
    const refused = failure(pool.open("offer", OPTIONS, OWNER));
    await vi.waitFor(() => expect(started[0]?.typesTold()).toEqual(["open"]), LIMIT);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await refused).toBeInstanceOf(NoLegError);
    expect(started[0]?.typesTold()).toEqual(["open", "drop"]);
  });

  it("tells of its end once, whoever brings it about, and is let go of", async () => {
    const { started, opened } = threads();
    const { leg, record, transport } = await opened(1);
    const thread = started[0]!;
    thread.say({ type: "closed", legId: 1, regular: true, code: 1000 });
    transport.close(1000, "");
    transport.hangUp();
    expect(record.closings).toEqual([{ regular: true, code: 1000 }]);
    expect(thread.typesTold().filter((type) => type === "drop")).toHaveLength(1);
    thread.say({ type: "gone", legId: 1 });
    await leg.close();
    expect(transport.sendAudio(new Int16Array(320))).toBe(false);
    expect(await transport.probe(50)).toBe(false);
    expect(record.closings).toHaveLength(1);
  });

  it("ends by itself when a thread that hangs says nothing of a close", async () => {
    const { opened } = threads();
    const { leg, record, transport } = await opened(1);
    transport.close(1000, "");
    expect(record.closings).toEqual([]);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(record.closings).toEqual([{ regular: true, code: 1000 }]);
    const closing = leg.close();
    await vi.advanceTimersByTimeAsync(3_000);
    await closing;
  });

  it("gives up a restart and a question that a thread does not answer", async () => {
    const { opened } = threads();
    const { leg, transport } = await opened(1);
    const restarting = failure(leg.restart("offer"));
    const alive = transport.probe(50);
    await vi.advanceTimersByTimeAsync(6_000);
    expect(await restarting).toMatchObject({ message: "the connection is gone" });
    expect(await alive).toBe(false);
  });
});

describe("threads of legs", () => {
  it("take their legs with them when they end, and are replaced", async () => {
    const { pool, started, log, lost, opened } = threads();
    const { leg, record, transport } = await opened(1);
    const waiting = failure(pool.open("offer", OPTIONS, OWNER));
    const restarting = failure(leg.restart("offer"));
    await vi.waitFor(() => expect(started[0]?.sent.at(-1)?.type).toBe("open"), LIMIT);
    started[0]?.listener.ended("it broke");
    expect(await waiting).toBeInstanceOf(NoLegError);
    expect(await restarting).toMatchObject({ message: "the connection is gone" });
    expect(record.closings).toEqual([{ regular: false, code: 1006 }]);
    expect(await leg.connected).toBe(false);
    expect(transport.sendAudio(new Int16Array(320))).toBe(false);
    expect(log).toEqual(["a media thread ended, and its connections with it: it broke"]);
    expect(lost).toEqual(["failed"]);
    void pool.open("offer", OPTIONS, OWNER).catch(() => undefined);
    expect(started).toHaveLength(2);
  });

  it("that end between the connection and the call end that call", async () => {
    const { pool, started } = threads();
    const opening = pool.open("offer", OPTIONS, OWNER);
    await vi.waitFor(() => expect(started[0]?.typesTold()).toContain("open"), LIMIT);
    started[0]?.say({ type: "opened", legId: 1, opening: { kind: "webRtc", answer: "answer" } });
    const leg = await opening;
    started[0]?.listener.ended("it broke");
    const record = new TransportRecord();
    leg.attach(LIMITS, record);
    expect(record.closings).toEqual([]);
    await vi.waitFor(() => expect(record.closings).toEqual([{ regular: false, code: 1006 }]), LIMIT);
  });

  it("are as many as the legs need, and no more than there may be", () => {
    const { pool, started } = threads({ maxThreads: 2 });
    const open = (count: number): void => {
      for (let i = 0; i < count; i += 1) void pool.open("offer", OPTIONS, OWNER).catch(() => undefined);
    };
    open(LEGS_PER_THREAD);
    expect(started).toHaveLength(1);
    open(1);
    expect(started).toHaveLength(2);
    open(2 * LEGS_PER_THREAD);
    expect(started).toHaveLength(2);
  });

  it("look for a port of a range one after the other", async () => {
    const { pool, started } = threads({ maxThreads: 2 });
    const [first, second] = [pool.open("one", RANGE, OWNER), pool.open("two", RANGE, OWNER)];
    await vi.waitFor(() => expect(started[0]?.typesTold()).toEqual(["open"]), LIMIT);
    await vi.advanceTimersByTimeAsync(100);
    expect(started[0]?.typesTold()).toEqual(["open"]);
    started[0]?.say({ type: "notOpened", legId: 1, noPort: true, detail: "" });
    await expect(first).rejects.toThrow(NoPortError);
    await vi.waitFor(() => expect(started[0]?.typesTold()).toEqual(["open", "open"]), LIMIT);
    started[0]?.say({ type: "opened", legId: 2, opening: { kind: "webRtc", answer: "answer" } });
    expect((await second).answer).toBe("answer");
  });

  it("that are not ready in time refuse what waits for them", async () => {
    const { pool, started, log, lost } = threads({ isReady: false });
    const refused = failure(pool.open("offer", OPTIONS, OWNER));
    await vi.advanceTimersByTimeAsync(30_000);
    expect(await refused).toBeInstanceOf(NoLegError);
    expect(started[0]?.isTerminated).toBe(true);
    expect(log).toEqual(["a media thread was not ready in time"]);
    expect(lost).toEqual(["not_ready"]);
    expect(started).toHaveLength(1);
  });

  it("are told of faults, finish when told to, and are ended when they do not", async () => {
    const { pool, started, log } = threads();
    await pool.warm();
    started[0]?.say({ type: "fault", count: 3, detail: "odd" });
    expect(log).toEqual(["3 faults in a media thread, the last one: odd"]);
    const closing = pool.close();
    expect(started[0]?.typesTold()).toEqual(["finish"]);
    await expect(pool.open("offer", OPTIONS, OWNER)).rejects.toThrow(NoLegError);
    await vi.advanceTimersByTimeAsync(3_000);
    await closing;
    expect(started[0]?.isTerminated).toBe(true);
    expect(log).toHaveLength(1);
  });
});

it("a batch grows with what is put in, and is empty when it was taken", () => {
  const batcher = new AudioBatcher();
  for (let round = 0; round < 2; round += 1) {
    for (let id = 0; id < 100; id += 1) batcher.add(id, new Int16Array(1_920).fill(id));
    const out: [number, number, number | undefined][] = [];
    eachPiece(batcher.take(), (id, piece) => out.push([id, piece.length, piece.at(-1)]));
    expect(out).toEqual(Array.from({ length: 100 }, (_, id) => [id, 1_920, id]));
    expect(batcher.isEmpty).toBe(true);
  }
});

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { tonePower } from "../media/testing/signals.ts";
import { fakeToneHz } from "../ports/testing/fake-tts.ts";
import { readWav } from "../ports/testing/recordings-conformance.ts";
import { openFileRecordings } from "../providers/recordings/file-recordings.ts";
import { until, wait } from "./testing/call-client.ts";
import { openCallServer, type CallServer, type CallServerOptions } from "./testing/call-server.ts";
import { openFakeEngines } from "./testing/fakes.ts";
import { testPlan, type PlanChanges } from "./testing/plan.ts";

let server: CallServer | null = null;

afterEach(async () => {
  const stopped = server;
  server = null;
  await stopped?.close();
  if ((stopped?.calls.count() ?? 0) > 0) throw new Error("calls are left over");
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
  test("the greeting comes in 20 ms frames", async () => {
    const { client, server: running, plan } = await call();
    client.start();
    await until(() => client.of("transcript").some((message) => message.final), "the whole greeting");
    // 7 words of 300 ms.
    expect(client.frames.length).toBe(105);
    expect(client.frames.every(({ samples }) => samples.length === 320)).toBe(true);
    expect(client.messages[0]?.message).toEqual({ type: "call_started", callId: plan.callId });
    expect(client.messages[1]?.message.type).toBe("state");
    const final = client.of("transcript").find((message) => message.final);
    expect(final).toMatchObject({
      role: "agent",
      medium: "voice",
      text: "Welcome, how can I help you today?",
    });
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

describe("an interruption", () => {
  test("stops the old reply at once: nothing of it follows playback_clear_buffer", async () => {
    const { client, server: running } = await call({ medium: { clientBufferSizeMs: 400 } });
    client.start();
    await until(() => client.frames.length > 30, "the greeting");
    await client.say(900);
    await until(() => client.of("playback_clear_buffer").length > 0, "playback_clear_buffer");
    const cleared = client.messages.find(({ message }) => message.type === "playback_clear_buffer")!;
    await until(
      () => client.of("transcript").some((message) => message.role === "user"),
      "the transcript of the interruption",
    );
    const interrupted = running.records.messages.findLast(({ message }) => message.role === "agent");
    expect(interrupted?.message.metadata).toMatchObject({ interrupted: "true" });
    expect("Welcome, how can I help you today?".startsWith(interrupted?.message.text ?? "?")).toBe(true);
    await until(() => client.frames.length > cleared.afterFrames, "the next reply");
    expect(running.records.events.map(({ event }) => event.type)).toContain("turn.interrupted");
  });
});

describe("a lost connection", () => {
  test("may come back within the grace: state is sent again and the call continues", async () => {
    const { client, server: running, plan } = await call(userFirst);
    client.start();
    await wait(200);
    client.socket.terminate();
    await until(() => running.calls.joinState(plan.callId) === "joinable", "the loss");
    const again = running.connect(plan.callId);
    await again.opened();
    again.start();
    await until(() => again.of("state").length > 0, "the state");
    expect(again.of("call_started").length).toBeLessThanOrEqual(1);
    await again.say(900);
    await until(() => again.frames.length > 10, "a reply on the new connection");
    expect(running.records.joins.length).toBe(1);
    expect(running.records.events.map(({ event }) => event.type)).toContain("media.reconnected");
    again.socket.close();
    await until(() => running.records.ends.length === 1, "the end");
    expect(running.records.ends[0]?.record.reason).toBe("hangup");
  });

  test("that does not come back ends the call with connection_error, and is gone then", async () => {
    const changes = { ...userFirst, turnTaking: { reconnectGraceMs: 300 } };
    const { client, server: running, plan } = await call(changes);
    client.start();
    await wait(100);
    client.socket.terminate();
    await until(() => running.records.ends.length === 1, "the end", 3_000);
    expect(running.records.ends[0]?.record.reason).toBe("connection_error");
    const late = running.connect(plan.callId);
    expect(await late.closed).toBe(4410);
  });

  test("a second client is refused while the first is there", async () => {
    const { client, server: running, plan } = await call(userFirst);
    client.start();
    await wait(100);
    const second = running.connect(plan.callId);
    expect(await second.closed).toBe(4409);
    expect(client.socket.readyState).toBe(client.socket.OPEN);
    expect(running.calls.joinState(plan.callId)).toBe("connected");
  });

  test("a client whose old connection is dead without a sign takes its place", async () => {
    const { client, server: running, plan } = await call(userFirst);
    client.start();
    await wait(100);
    client.stop();
    // Neither reads nor answers, like the connection of a phone that has changed networks.
    client.socket.pause();
    await wait(1_100);
    const second = running.connect(plan.callId);
    await second.opened();
    second.start();
    await until(() => second.of("state").length > 0, "the state", 5_000);
    expect(running.calls.joinState(plan.callId)).toBe("connected");
    client.socket.terminate();
    await wait(100);
    expect(running.calls.joinState(plan.callId)).toBe("connected");
  });
});

describe("what a client may send wrong", () => {
  test("a silent socket is silence: a turn that was under way still ends", async () => {
    const { client, server: running } = await call(userFirst);
    client.start();
    await wait(200);
    await client.say(600);
    client.stop();
    await until(() => client.frames.length > 0, "the reply", 5_000);
    expect(running.records.events.map(({ event }) => event.type)).toContain("media.underflow");
  });

  test("a connection that stays silent for longer than it may ends", async () => {
    const { server: running } = await call({ ...userFirst, medium: { mediaIdleTimeoutMs: 400 } });
    await until(() => running.records.ends.length === 1, "the end", 4_000);
    expect(running.records.ends[0]?.record.reason).toBe("connection_error");
  });

  test("ten times too much audio is reported and bounded, and the call continues", async () => {
    const { client, server: running } = await call(userFirst);
    const frame = new Uint8Array(640);
    for (let i = 0; i < 100; i += 1) {
      for (let k = 0; k < 10; k += 1) client.socket.send(frame);
      await wait(20);
    }
    expect(running.records.events.map(({ event }) => event.type)).toContain("media.overflow");
    await wait(1_100);
    client.start();
    await client.say(800);
    await until(() => client.frames.length > 0, "a reply", 8_000);
  });

  test("odd bytes, endless frames, and messages that are no messages are warnings", async () => {
    const { client, server: running, plan } = await call(userFirst);
    client.start();
    client.socket.send(new Uint8Array(641));
    client.socket.send(new Uint8Array(16_000 * 2 + 2));
    client.socket.send("not json");
    client.socket.send(JSON.stringify({ type: "dance" }));
    client.socket.send(JSON.stringify({ type: "user_text_message", text: "x".repeat(300 * 1024) }));
    await wait(200);
    client.send({ type: "ping", timestamp: 7.5 });
    await until(() => client.of("pong").length === 1, "the pong");
    expect(client.of("pong")).toEqual([{ type: "pong", timestamp: 7.5 }]);
    const events = running.records.events.map(({ event }) => event);
    expect(events.map(({ type }) => type)).toEqual(
      expect.arrayContaining(["data_message.invalid", "data_message.unknown"]),
    );
    expect(
      events.filter(({ type }) => type.startsWith("data_message.")).map(({ severity }) => severity),
    ).toEqual(expect.arrayContaining(["warning"]));
    expect(running.calls.joinState(plan.callId)).toBe("connected");
  });

  test("a frame above 1 MiB closes the socket with 1009", async () => {
    const { client } = await call({ ...userFirst, turnTaking: { reconnectGraceMs: 100 } });
    client.socket.send(new Uint8Array(10 * 1024 * 1024));
    expect(await client.closed).toBe(1009);
    await until(() => server?.records.ends.length === 1, "the end");
    expect(server?.records.ends[0]?.record.reason).toBe("connection_error");
  });

  test("a flood of messages slows its sender down and no other call", async () => {
    const { client, server: running } = await call(userFirst);
    const other = testPlan();
    running.start(other);
    const neighbour = running.connect(other.callId);
    await neighbour.opened();
    neighbour.start();
    const message = JSON.stringify({ type: "ping", timestamp: 1 });
    for (let i = 0; i < 20_000; i += 1) client.socket.send(message);
    await until(() => neighbour.frames.length >= 80, "the neighbour's greeting");
    const gaps = neighbour.frames.slice(4).map(({ atMs }, i) => atMs - neighbour.frames[i + 3]!.atMs);
    gaps.sort((a, b) => a - b);
    expect(gaps[Math.floor(gaps.length / 2)]).toBeLessThan(30);
    client.socket.terminate();
  });
});

describe("data messages", () => {
  test("a typed message is answered, also one that comes by the interface", async () => {
    const { client, server: running, plan } = await call(userFirst);
    client.start();
    client.send({ type: "user_text_message", text: "Hello" });
    await until(() => client.frames.length > 0, "the reply");
    await until(
      () => client.of("transcript").some((m) => m.role === "agent" && m.final),
      "the end of the reply",
    );
    const sent = running.calls.sendToCall(plan.callId, {
      type: "user_text_message",
      text: "Again",
      urgency: "soon",
      threadId: "UI",
    });
    expect(sent).toBe("accepted");
    await until(
      () => client.of("transcript").filter((m) => m.role === "agent" && m.final).length === 2,
      "the second reply",
    );
    expect(running.calls.sendToCall("nobody", { type: "hang_up", message: "" })).toBe("not_live");
  });

  test("debug messages are sent where the join asked for them", async () => {
    const running = await openCallServer();
    server = running;
    const plan = testPlan();
    running.start(plan);
    expect(running.calls.sendToCall(plan.callId, { type: "hang_up", message: "" })).toBe("not_joined");
    const client = running.connect(`${plan.callId}?debug`);
    await client.opened();
    client.start();
    await until(() => client.of("transcript").some((m) => m.final), "the greeting");
    await client.say(600);
    await until(() => client.of("transcript").some((m) => m.role === "user"), "a turn");
    expect(client.of("debug").length).toBeGreaterThan(0);
  });

  test("hang_up says its message to the end and closes", async () => {
    const { client, server: running } = await call(userFirst);
    client.start();
    client.send({ type: "hang_up", message: "Good bye now" });
    expect(await client.closed).toBe(1000);
    // Three words of 300 ms.
    expect(client.frames.length).toBe(45);
    await until(() => running.records.ends.length === 1, "the end");
    expect(running.records.ends[0]?.record.reason).toBe("agent_hangup");
  });
});

describe("a recording", () => {
  test("holds the caller left and the agent right, each where it was", async () => {
    const dir = await mkdtemp(path.join(tmpdir(), "recordings-"));
    onTestFinished(() => rm(dir, { recursive: true }));
    const recordings = await openFileRecordings(dir);
    const engines = openFakeEngines({ llm: { reply: "One two three four." } });
    const changes = { ...userFirst, recordingEnabled: true };
    const { client, server: running, plan } = await call(changes, { recordings, engines });
    client.start();
    await wait(500);
    await client.say(800);
    await until(() => client.frames.length > 0, "the reply");
    await until(() => client.of("transcript").some((m) => m.role === "agent" && m.final), "all of it");
    await wait(300);
    client.socket.close(1000);
    await until(() => running.records.ends.length === 1, "the end");
    const opened = await recordings.open(plan.callId);
    const blocks: Uint8Array[] = [];
    for await (const block of opened!.stream) blocks.push(block);
    const { samples, sampleRateHz } = readWav(Buffer.concat(blocks));
    expect(sampleRateHz).toBe(16_000);
    const side = (first: 0 | 1) =>
      Int16Array.from({ length: samples.length / 2 }, (_, i) => samples[2 * i + first]!);
    const span = (channel: Int16Array) => {
      const loud = (sample: number) => Math.abs(sample) > 500;
      return [channel.findIndex(loud) / 16, channel.findLastIndex(loud) / 16] as const;
    };
    // `live-calls.test.ts` checks the exact places, on a clock that a busy machine does not delay.
    const [leftFrom, leftTo] = span(side(0));
    expect(leftFrom).toBeGreaterThan(0);
    const [rightFrom, rightTo] = span(side(1));
    expect(rightFrom).toBeGreaterThan(leftTo);
    // Four words of 300 ms, of which the last 60 are silent. Where the machine was late there are gaps between them.
    expect(rightTo - rightFrom).toBeGreaterThan(1_135);
    const spoken = side(1).subarray(rightFrom * 16, rightTo * 16);
    // Pieces of 60 ms; those in a gap have no power to compare with.
    const pieces = Array.from({ length: Math.floor(spoken.length / 480) - 1 }, (_, i) =>
      spoken.subarray(i * 480, i * 480 + 960),
    ).filter((piece) => piece.some((sample) => Math.abs(sample) > 500));
    for (const word of [0, 1, 2, 3]) {
      const shares = pieces.map((piece) => tonePower(piece, fakeToneHz(word), 16_000));
      expect(Math.max(...shares.map(({ tone, all }) => tone / all))).toBeGreaterThan(0.95);
    }
  });
});

describe("capacity and stopping", () => {
  test("beyond the limit a call is not started", async () => {
    const running = await openCallServer({ maxLiveCalls: 1 });
    server = running;
    expect(running.start(testPlan())).toBe("started");
    expect(running.start(testPlan())).toBe("full");
  });

  test("a drain waits, then ends what is left, each with one record", async () => {
    const { client, server: running } = await call();
    running.start(testPlan());
    client.start();
    const summary = await running.calls.drain(200);
    expect(summary).toEqual({ ended: 0, cut: 1, waiting: 1, handedOver: 0 });
    expect(await client.closed).toBe(1011);
    expect(running.records.ends.length).toBe(1);
    expect(running.start(testPlan())).toBe("draining");
  });

  test("a drain is over as soon as the last call is", async () => {
    const { client, server: running } = await call(userFirst);
    client.start();
    const draining = running.calls.drain(30_000);
    client.socket.close(1000);
    expect(await draining).toEqual({ ended: 1, cut: 0, waiting: 0, handedOver: 0 });
  });
});

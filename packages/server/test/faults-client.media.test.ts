/** The assembled service: clients that send invalid data, too much or nothing, or that disappear. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until, wait } from "../src/runner/testing/call-client.ts";
import { HEARD, UGLY } from "./faulty-engines.ts";
import {
  NOTHING,
  openRunningService,
  refusalOf,
  USER_FIRST,
  type RunningService,
  type TestCall,
} from "./running-service.ts";

let service: RunningService;

beforeAll(async () => {
  service = await openRunningService();
});

afterAll(async () => {
  await service.close();
});

const QUICK_USER_FIRST = { ...USER_FIRST, voice: "quick" };
const FRAME_BYTES = 640;

/** Checks that the call still answers, then hangs up; returns the end's reason. */
async function goesOn({ callId, client }: TestCall): Promise<string | null> {
  const before = client.of("transcript").length;
  const answers = () => client.of("transcript").slice(before);
  client.start();
  await client.say(700);
  await until(
    () => answers().some(({ role, final }) => role === "agent" && final),
    "an answer after all that",
    15_000,
  );
  expect(answers().find(({ role, medium }) => role === "user" && medium === "voice")).toMatchObject({
    text: HEARD,
    final: true,
  });
  client.socket.close(1000);
  return (await service.endedSoon(callId)).endReason;
}

/** Recorded call events whose type begins so, as type and severity. */
async function eventsOf(callId: string, prefix: string): Promise<string[]> {
  const events = await service.events(callId);
  return events
    .filter(({ type }) => type.startsWith(prefix))
    .map(({ type, severity }) => `${type} ${severity}`);
}

/**
 * Sends this many bytes for every 20 ms of one and a half seconds, also where the timers of a busy machine are late.
 */
async function sendPaced({ client }: TestCall, bytes: number): Promise<void> {
  const fromMs = performance.now();
  for (let sent = 0; sent < 75;) {
    await wait(20);
    for (; sent < 75 && sent * 20 <= performance.now() - fromMs; sent += 1) {
      client.socket.send(new Uint8Array(bytes));
    }
  }
}

describe.concurrent("audio", () => {
  test("at three times the agreed rate is limited and reported, and the call continues", async () => {
    const call = await service.call(QUICK_USER_FIRST);
    call.client.stop();
    // 48 kHz audio in a 16 kHz call: three times the bytes.
    await sendPaced(call, 3 * FRAME_BYTES);
    await wait(1_200);
    expect(await goesOn(call)).toBe("hangup");
    expect(await eventsOf(call.callId, "media.overflow")).toEqual(["media.overflow warning"]);
  });

  test("at half the agreed rate is filled up and reported, and the call continues", async () => {
    const call = await service.call(QUICK_USER_FIRST);
    call.client.stop();
    await sendPaced(call, FRAME_BYTES / 2);
    expect(await goesOn(call)).toBe("hangup");
    // There is one for each shortage of audio; a busy machine adds some.
    const short = await eventsOf(call.callId, "media.underflow");
    expect(new Set(short)).toEqual(new Set(["media.underflow warning"]));
  });

  test("in odd byte counts is reported, loses the odd byte, and the call continues", async () => {
    const call = await service.call(QUICK_USER_FIRST);
    for (const bytes of [1, 641, 0, 3, 639]) call.client.socket.send(new Uint8Array(bytes));
    expect(await goesOn(call)).toBe("hangup");
    const events = await service.events(call.callId);
    const odd = events.filter(({ text }) => /odd/.test(text));
    expect(odd.map(({ severity }) => severity)).toEqual(["warning"]);
  });

  test("in frames of more than a second is dropped and reported, and the call continues", async () => {
    const call = await service.call(QUICK_USER_FIRST);
    for (let i = 0; i < 5; i += 1) call.client.socket.send(new Uint8Array(100_000));
    expect(await goesOn(call)).toBe("hangup");
    const events = await service.events(call.callId);
    expect(events.filter(({ severity }) => severity === "warning").length).toBeGreaterThan(0);
  });

  test("in a frame of 10 MB closes the socket with 1009; the client may come back", async () => {
    const call = await service.call(QUICK_USER_FIRST);
    call.client.socket.send(new Uint8Array(10 * 1024 * 1024));
    expect(await call.client.closed).toBe(1009);
    const again = service.connect(call.joinUrl);
    await again.opened();
    expect(await goesOn({ ...call, client: again })).toBe("hangup");
  });

  test("as a flood ends neither its own call nor disturbs another", async () => {
    const [flood, other] = await Promise.all([
      service.call(QUICK_USER_FIRST),
      service.call(QUICK_USER_FIRST),
    ]);
    flood.client.stop();
    const second = new Uint8Array(50 * FRAME_BYTES);
    for (let i = 0; i < 300; i += 1) flood.client.socket.send(second);
    expect(await goesOn(other)).toBe("hangup");
    await until(() => flood.client.socket.bufferedAmount === 0, "the flood to be taken");
    await wait(1_500);
    expect(await goesOn(flood)).toBe("hangup");
    expect(await eventsOf(flood.callId, "media.overflow")).toEqual(["media.overflow warning"]);
  });
});

describe.concurrent("messages", () => {
  test("that are malformed, unknown or too long are warnings, and the call continues", async () => {
    const call = await service.call(QUICK_USER_FIRST);
    const bad = [
      "not json",
      "",
      "null",
      "[]",
      "7",
      "{}",
      '{"type":7}',
      '{"type":"user_text_message"}',
      '{"type":"user_text_message","text":{}}',
      '{"type":"hang_up","message":[1]}',
      '{"type":"ping","timestamp":"now"}',
      '{"__proto__":{"type":"hang_up"}}',
      JSON.stringify({ type: "user_text_message", text: "x".repeat(300_000) }),
      "[".repeat(200_000),
    ];
    for (const text of bad) call.client.socket.send(text);
    call.client.send({ type: "constructor" });
    call.client.send({ type: "x".repeat(100_000) });
    await wait(1_200);
    call.client.socket.send("once more");
    expect(await goesOn(call)).toBe("hangup");
    // At most one is reported per second and cause, regardless of their number.
    const recorded = await eventsOf(call.callId, "data_message.");
    expect(new Set(recorded)).toEqual(
      new Set(["data_message.invalid warning", "data_message.unknown warning"]),
    );
    const invalid = recorded.filter((text) => text.startsWith("data_message.invalid"));
    expect(invalid.length).toBeGreaterThan(1);
    expect(invalid.length).toBeLessThan(5);
    const sent = call.client.eventTypes().filter((type) => type.startsWith("data_message."));
    expect(sent.length).toBe(recorded.length);
    // Dropped content is not repeated anywhere.
    expect(JSON.stringify(await service.events(call.callId))).not.toContain("xxxx".repeat(100));
    expect((await service.messages(call.callId)).length).toBe(2);
  });

  test("to a thread that the call does not have are warnings too", async () => {
    const call = await service.call(QUICK_USER_FIRST);
    call.client.send({ type: "set_output_medium", medium: "text" });
    call.client.send({ type: "client_tool_result", invocationId: "1", result: "x" });
    call.client.send({ type: "user_text_message", text: "hello", threadId: "other" });
    expect(await goesOn(call)).toBe("hangup");
    const warnings = await eventsOf(call.callId, "thread_comms.");
    expect(warnings).toEqual(["thread_comms.non_existent_thread warning"]);
  });

  test("as a flood slow their sender down and no one else", async () => {
    const [flood, other] = await Promise.all([
      service.call(QUICK_USER_FIRST),
      service.call(QUICK_USER_FIRST),
    ]);
    for (let i = 0; i < 3_000; i += 1) flood.client.socket.send("not json");
    expect(await goesOn(other)).toBe("hangup");
    expect(await goesOn(flood)).toBe("hangup");
    expect((await eventsOf(flood.callId, "data_message.")).length).toBeLessThan(30);
  });

  test("with text that a database does not take are kept readable", async () => {
    const call = await service.call(QUICK_USER_FIRST);
    call.client.send({ type: "user_text_message", text: UGLY, urgency: "later" });
    expect(await goesOn(call)).toBe("hangup");
    const [typed] = await service.messages(call.callId);
    expect(typed).toMatchObject({ role: "MESSAGE_ROLE_USER", medium: "MESSAGE_MEDIUM_TEXT" });
    expect(typed?.text).toBe(UGLY.replace("\u0000", "\ufffd").replace("\ud800", "\ufffd"));
  });
});

describe.concurrent("a silent socket", () => {
  test("without mediaIdleTimeout keeps its call", async () => {
    const call = await service.call({ ...QUICK_USER_FIRST, maxDuration: "60s" });
    call.client.stop();
    await wait(11_000);
    expect((await service.record(call.callId)).ended).toBeNull();
    expect(await goesOn(call)).toBe("hangup");
    const recorded = (await eventsOf(call.callId, "media.underflow")).length;
    expect(recorded).toBeGreaterThan(0);
    expect(recorded).toBeLessThan(4);
  });

  test("with mediaIdleTimeout is closed with 4408 after ten seconds at the least: connection_error", async () => {
    const call = await service.call(QUICK_USER_FIRST, { mediaIdleTimeout: "1s" });
    const fromMs = performance.now();
    call.client.stop();
    expect(await call.client.closed).toBe(4408);
    expect(performance.now() - fromMs).toBeGreaterThan(9_000);
    expect((await service.endedSoon(call.callId)).endReason).toBe("connection_error");
    expect((await eventsOf(call.callId, "media.idle")).length).toBe(1);
  });
});

describe.concurrent("a client that vanishes", () => {
  test("ends its call with connection_error once the grace is over, and its URL is 410", async () => {
    const call = await service.call(USER_FIRST);
    call.client.socket.terminate();
    expect((await service.endedSoon(call.callId)).endReason).toBe("connection_error");
    expect(await refusalOf(call.joinUrl)).toEqual({ status: 410 });
  });

  test("in the middle of the greeting may come back within the grace; the rest is said then", async () => {
    const greeting = "One two three four five six seven eight nine ten eleven twelve.";
    const call = await service.call({ firstSpeakerSettings: { agent: { text: greeting } } });
    await until(() => call.client.frames.length > 20, "the greeting");
    const stateMessages = call.client.of("state").length;
    expect(stateMessages).toBeGreaterThan(0);
    call.client.socket.terminate();
    await wait(600);
    const again = service.connect(call.joinUrl);
    await again.opened();
    again.start();
    await until(() => again.of("transcript").some(({ final }) => final), "the rest of the greeting");
    expect(again.messages[0]?.message.type).toBe("state");
    expect(again.of("call_started")).toEqual([]);
    const agent = (await service.messages(call.callId)).filter(({ role }) => role === "MESSAGE_ROLE_AGENT");
    expect(agent.map(({ text }) => text)).toEqual([greeting]);
    expect(await goesOn({ ...call, client: again })).toBe("hangup");
    expect(await eventsOf(call.callId, "media.reconnected")).toHaveLength(1);
    expect(await eventsOf(call.callId, "call.joined")).toHaveLength(1);
  });

  test("again and again, each time in time, keeps its call", async () => {
    const call = await service.call(QUICK_USER_FIRST);
    let { client } = call;
    for (let i = 0; i < 4; i += 1) {
      client.socket.terminate();
      client = service.connect(call.joinUrl);
      await client.opened();
    }
    expect(await goesOn({ ...call, client })).toBe("hangup");
  });

  test("while it speaks is answered when it is back", async () => {
    const call = await service.call(QUICK_USER_FIRST);
    await wait(200);
    await call.client.say(700);
    call.client.socket.terminate();
    await wait(700);
    const again = service.connect(call.joinUrl);
    await again.opened();
    again.start();
    await until(
      () => again.of("transcript").some(({ role, final }) => role === "agent" && final),
      "the answer",
    );
    expect(await goesOn({ ...call, client: again })).toBe("hangup");
  });

  test.each([1000, 1001, 1005])("closing with %d is a hang-up", async (code) => {
    const call = await service.call(USER_FIRST);
    if (code === 1005) call.client.socket.close();
    else call.client.socket.close(code);
    expect((await service.endedSoon(call.callId)).endReason).toBe("hangup");
  });

  test.each([1011, 1012, 1013])("closing with %d may come back", async (code) => {
    const call = await service.call(QUICK_USER_FIRST);
    call.client.socket.close(code);
    await call.client.closed;
    const again = service.connect(call.joinUrl);
    await again.opened();
    expect(await goesOn({ ...call, client: again })).toBe("hangup");
  });
});

test("nothing is left", async () => {
  expect(await service.leftovers()).toEqual(NOTHING);
});

/** The assembled service: calls without faults, from start to end, as clients and the record see them. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { tonePower } from "../src/media/testing/signals.ts";
import { fakeToneHz } from "../src/ports/testing/fake-tts.ts";
import { until, wait, type CallClient } from "../src/runner/testing/call-client.ts";
import { HEARD, REPLY } from "./faulty-engines.ts";
import { orderFaults } from "./message-order.ts";
import {
  NOTHING,
  openRunningService,
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

/** Twelve words of 200 ms in the default voice. */
const LONG = "One two three four five six seven eight nine ten eleven twelve.";
const opening = (text: string, more: object = {}) => ({ firstSpeakerSettings: { agent: { text, ...more } } });

const finals = (client: CallClient, role: "agent" | "user") =>
  client.of("transcript").filter((message) => message.final && message.role === role);

async function hangUp({ callId, client }: TestCall) {
  client.socket.close(1000);
  expect((await service.endedSoon(callId)).endReason).toBe("hangup");
  return service.messages(callId);
}

describe.concurrent("a call", () => {
  test("of several turns is reported in order, and the record is the same", async () => {
    const call = await service.call({ ...opening("Good evening."), voice: "quick" });
    const { client } = call;
    await until(() => finals(client, "agent").length === 1, "the greeting");
    for (const turn of [2, 3]) {
      await client.say(600);
      await until(() => finals(client, "agent").length === turn, "an answer");
      await wait(100);
    }
    client.send({ type: "user_text_message", text: "Typed.", urgency: "immediate" });
    await until(() => finals(client, "agent").length === 4, "an answer to typed words");
    const messages = await hangUp(call);
    expect(orderFaults(client)).toEqual([]);
    const said = client.of("transcript").filter(({ final }) => final);
    const texts = ["Good evening.", HEARD, REPLY, HEARD, REPLY, "Typed.", REPLY];
    expect(said.map(({ text }) => text)).toEqual(texts);
    expect(said.map(({ ordinal }) => ordinal)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(messages.map(({ text }) => text)).toEqual(texts);
    expect(messages.map(({ medium }) => medium)[5]).toBe("MESSAGE_MEDIUM_TEXT");
    expect(said[5]).toMatchObject({ role: "user", medium: "text" });
    const turns = (await service.events(call.callId)).filter(({ type }) => type === "turn.completed");
    expect(turns.length).toBe(2);
    // 100 ms a word in the voice "quick".
    expect(client.of("transcript").filter(({ ordinal }) => ordinal === 2).length).toBe(10 + 1);
  });

  test("has its first speaker: a user who says nothing is helped by the fallback", async () => {
    const settings = {
      firstSpeakerSettings: { user: { fallback: { delay: "3s", text: "Are you there?" } } },
    };
    const call = await service.call(settings);
    await wait(300);
    expect(call.client.frames.length).toBe(0);
    await until(() => finals(call.client, "agent").length === 1, "the fallback");
    expect(finals(call.client, "agent")[0]?.text).toBe("Are you there?");
    await call.client.say(600);
    await until(() => finals(call.client, "agent").length === 2, "an answer");
    await hangUp(call);
    expect(orderFaults(call.client)).toEqual([]);
  });

  test("has its first speaker: a user who speaks makes the fallback unnecessary", async () => {
    const settings = {
      firstSpeakerSettings: { user: { fallback: { delay: "1.5s", text: "Are you there?" } } },
      voice: "quick",
    };
    const call = await service.call(settings);
    await wait(100);
    await call.client.say(700);
    await until(() => finals(call.client, "agent").length === 1, "an answer");
    await wait(1_000);
    expect((await hangUp(call)).map(({ text }) => text)).toEqual([HEARD, REPLY]);
  });
});

describe.concurrent("an end", () => {
  test("at maxDuration says timeExceededMessage to its end, then is a timeout", async () => {
    const call = await service.call({
      ...opening(LONG),
      maxDuration: "1s",
      timeExceededMessage: "Time is up, good bye.",
    });
    expect(await call.client.closed).toBe(1000);
    const record = await service.endedSoon(call.callId);
    expect(record.endReason).toBe("timeout");
    expect(finals(call.client, "agent").at(-1)?.text).toBe("Time is up, good bye.");
    const messages = await service.messages(call.callId);
    expect(messages.at(-1)?.text).toBe("Time is up, good bye.");
    expect(LONG.startsWith(messages[0]?.text ?? "?")).toBe(true);
    expect(messages[0]?.text).not.toBe(LONG);
    const cleared = call.client.messages.find(({ message }) => message.type === "playback_clear_buffer");
    // Five words of 200 ms in frames of 20 ms.
    expect(call.client.frames.length - (cleared?.afterFrames ?? 0)).toBe(50);
    expect(orderFaults(call.client)).toEqual([]);
  });

  test("at maxDuration without a message is a timeout at once", async () => {
    const call = await service.call({ ...USER_FIRST, maxDuration: "1s" });
    expect(await call.client.closed).toBe(1000);
    expect((await service.endedSoon(call.callId)).endReason).toBe("timeout");
    expect(call.client.frames.length).toBe(0);
  });

  test("by hang_up says its message to the end, whatever the user says, then is agent_hangup", async () => {
    const call = await service.call(USER_FIRST);
    call.client.send({ type: "hang_up", message: "Good bye and thank you." });
    await until(() => call.client.frames.length > 0, "the message");
    call.client.speak(true);
    expect(await call.client.closed).toBe(1000);
    expect((await service.endedSoon(call.callId)).endReason).toBe("agent_hangup");
    expect(call.client.frames.length).toBe(50);
    expect(call.client.of("playback_clear_buffer")).toEqual([]);
    expect((await service.messages(call.callId)).map(({ text }) => text)).toEqual([
      "Good bye and thank you.",
    ]);
  });

  test("by the client in the middle of a reply keeps what was heard of it", async () => {
    const call = await service.call(opening(LONG));
    await until(() => call.client.frames.length > 40, "the greeting");
    const [message, ...more] = await hangUp(call);
    expect(more).toEqual([]);
    expect(LONG.startsWith(message?.text ?? "?")).toBe(true);
    expect(message?.text.length).toBeLessThan(LONG.length);
  });
});

describe.concurrent("an interruption", () => {
  test("stops the old audio, cuts the message at what was heard, and is answered", async () => {
    const call = await service.call(opening(LONG), { clientBufferSizeMs: 300 });
    const { client } = call;
    await until(() => client.frames.length > 60, "the greeting");
    await client.say(900);
    await until(() => finals(client, "agent").length === 2, "the answer to the interruption");
    const messages = await hangUp(call);
    expect(orderFaults(client)).toEqual([]);

    const cleared = client.messages.filter(({ message }) => message.type === "playback_clear_buffer");
    expect(cleared.length).toBeGreaterThan(0);
    const [first] = cleared;
    const after = client.frames.slice(first?.afterFrames);
    // Ten words of 200 ms and none of the old reply; the answer begins with its own first word.
    expect(after.length).toBe(100);
    expect((after[0]?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThan(500);
    const word = Int16Array.from(after.slice(1, 7).flatMap(({ samples }) => [...samples]));
    const { tone, all } = tonePower(word, fakeToneHz(0), 16_000);
    expect(tone / all).toBeGreaterThan(0.9);

    const [cut, user, answer] = messages;
    expect(cut?.metadata).toMatchObject({ interrupted: "true" });
    expect(cut?.text).toBe(finals(client, "agent")[0]?.text);
    expect(LONG.startsWith(`${cut?.text ?? "?"} `)).toBe(true);
    expect([user?.text, answer?.text, messages.length]).toEqual([HEARD, REPLY, 3]);
    expect(answer?.metadata?.["interrupted"]).toBeUndefined();
    const events = await service.events(call.callId);
    expect(events.map(({ type }) => type).filter((type) => type.startsWith("turn."))).toEqual([
      "turn.interrupted",
      "turn.completed",
    ]);
  });

  test("by a cough is none: the agent pauses, then says the rest", async () => {
    const call = await service.call({ ...opening(LONG), languageHint: "x-deaf" });
    const { client } = call;
    // Until about 1.5 s of the agent's voice has gone out, its echo is not known, and sound alone does not pause it.
    await until(() => client.frames.length > 110, "the greeting");
    await client.say(250);
    await until(() => finals(client, "agent").length === 1, "the whole greeting");
    const messages = await hangUp(call);
    expect(orderFaults(client)).toEqual([]);
    expect(client.of("playback_clear_buffer").length).toBe(1);
    expect(messages.map(({ text, metadata }) => ({ text, cut: metadata?.["interrupted"] }))).toEqual([
      { text: LONG, cut: undefined },
    ]);
  });

  test("does not touch an uninterruptible greeting, and is answered after it", async () => {
    const call = await service.call(opening(LONG, { uninterruptible: true }));
    const { client } = call;
    await until(() => client.frames.length > 20, "the greeting");
    await client.say(900);
    await until(() => finals(client, "agent").length === 2, "the answer");
    const messages = await hangUp(call);
    expect(orderFaults(client)).toEqual([]);
    expect(client.of("playback_clear_buffer")).toEqual([]);
    expect(messages.filter(({ role }) => role === "MESSAGE_ROLE_AGENT").map(({ text }) => text)).toEqual([
      LONG,
      REPLY,
    ]);
    // Twelve words and ten.
    expect(client.frames.length).toBe(120 + 100);
  });

  test("by typed words with urgency immediate cuts, with soon waits, with later asks for nothing", async () => {
    const call = await service.call(opening(LONG));
    const { client } = call;
    await until(() => client.frames.length > 20, "the greeting");
    client.send({ type: "user_text_message", text: "Later.", urgency: "later" });
    client.send({ type: "user_text_message", text: "Soon.", urgency: "soon" });
    await wait(300);
    expect(client.of("playback_clear_buffer")).toEqual([]);
    client.send({ type: "user_text_message", text: "Now.", urgency: "immediate" });
    await until(() => client.of("playback_clear_buffer").length === 1, "the cut");
    await until(() => finals(client, "agent").length === 2, "the answer");
    await wait(300);
    const messages = await hangUp(call);
    expect(orderFaults(client)).toEqual([]);
    const agent = messages.filter(({ role }) => role === "MESSAGE_ROLE_AGENT");
    expect(agent.map(({ metadata }) => metadata?.["interrupted"])).toEqual(["true", undefined]);
    expect(agent[1]?.text).toBe(REPLY);
    expect(messages.filter(({ role }) => role === "MESSAGE_ROLE_USER").map(({ text }) => text)).toEqual([
      "Later.",
      "Soon.",
      "Now.",
    ]);
  });
});

describe.concurrent("audio", () => {
  test.each([8_000, 24_000, 44_100, 48_000])(
    "audio of %d Hz in and another rate out is a conversation too",
    async (inputSampleRate) => {
      const outputSampleRate = inputSampleRate === 48_000 ? 8_000 : 48_000;
      const medium = { serverWebSocket: { inputSampleRate, outputSampleRate } };
      const { callId, joinUrl } = await service.makeCall({ medium, ...USER_FIRST, voice: "quick" });
      const client = service.connect(joinUrl, inputSampleRate);
      await client.opened();
      client.start();
      await wait(200);
      await client.say(600);
      await until(() => finals(client, "agent").length === 1, "an answer");
      expect(client.frames.every(({ samples }) => samples.length === outputSampleRate / 50)).toBe(true);
      await hangUp({ callId, joinUrl, client });
      const warnings = (await service.events(callId)).filter(({ severity }) => severity !== "info");
      expect(warnings).toEqual([]);
    },
  );
});

test("nothing is left", async () => {
  expect(await service.leftovers()).toEqual(NOTHING);
});

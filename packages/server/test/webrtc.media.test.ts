/** The assembled service, called by a real browser over WebRTC: heard, understood, answered, and ended. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fakeToneHz } from "../src/ports/testing/fake-tts.ts";
import { wait } from "../src/runner/testing/call-client.ts";
import {
  type BrowserCaller,
  type BrowserCallers,
  HAS_BROWSER,
  openBrowserCallers,
} from "./browser-caller.ts";
import { speechAfterSilence, until } from "./client/speech.ts";
import { HEARD, REPLY } from "./faulty-engines.ts";
import { openRunningService, type RunningService, USER_FIRST, withWrongToken } from "./running-service.ts";

if (!HAS_BROWSER) process.stderr.write("skipped: calls from a browser, for there is no Chromium here\n");

const opening = (text: string) => ({ firstSpeakerSettings: { agent: { text } }, voice: "quick" });

describe.skipIf(!HAS_BROWSER)("a browser", () => {
  let service: RunningService;
  let callers: BrowserCallers;

  beforeAll(async () => {
    service = await openRunningService({
      webRtc: {
        iceServers: [{ urls: ["stun:stun.example:3478"], username: null, credential: null }],
        portRange: null,
        announcedAddress: null,
      },
    });
    callers = await openBrowserCallers(await speechAfterSilence(2));
  });
  afterAll(async () => {
    await callers.close();
    await service.close();
  });

  async function call(settings: object): Promise<{ caller: BrowserCaller; callId: string; joinUrl: string }> {
    const { callId, joinUrl } = await service.makeCall(settings);
    const caller = await callers.open();
    expect(await caller.call(joinUrl)).toBe(201);
    return { caller, callId, joinUrl };
  }

  const finals = async (caller: BrowserCaller, role: string) =>
    (await caller.messages()).filter(
      ({ type, final, role: whose }) => type === "transcript" && final === true && whose === role,
    );

  test("hears the agent, is heard, reads the messages and hangs up", async () => {
    const { caller, callId, joinUrl } = await call(opening("Good evening."));
    expect(joinUrl).toMatch(/^ws:\/\/127\.0\.0\.1:\d+\/calls\/[^/]+\/web_rtc\//);
    await until(async () => (await finals(caller, "agent")).length === 1, "the greeting's transcript");
    const [first, second] = await caller.messages();
    expect(first).toMatchObject({ type: "call_started", callId });
    expect(second).toMatchObject({ type: "state" });
    await until(async () => (await caller.tone(fakeToneHz(0))) > 0.9, "the first word's tone");
    await until(async () => (await caller.tone(fakeToneHz(1))) > 0.9, "the second word's tone");
    // No word has this one.
    expect(await caller.tone(1_500)).toBeLessThan(0.1);

    await until(async () => (await finals(caller, "agent")).length === 2, "the answer to the spoken words");
    expect((await finals(caller, "user"))[0]).toMatchObject({ text: HEARD, medium: "voice" });
    // On a busy machine the browser's microphone may pause within the words; their end then interrupts the reply.
    expect(REPLY.startsWith(String((await finals(caller, "agent"))[1]?.["text"]))).toBe(true);
    await caller.run('caller.channel.send(JSON.stringify({ type: "ping", timestamp: 7 }))');
    await until(async () => (await caller.messages()).some(({ type }) => type === "pong"), "the pong");

    expect(await caller.run("caller.link")).toBe('<stun:stun.example:3478>; rel="ice-server"');
    const hangUp = 'fetch(caller.location, { method: "DELETE" }).then(({ status }) => status)';
    expect(await caller.run(hangUp)).toBe(200);
    expect((await service.endedSoon(callId)).endReason).toBe("hangup");
    expect(await caller.run(hangUp)).toBe(404);
    await until(async () => (await caller.run("caller.channelState")) === "closed", "the channel's end");
    const again = await service.ask("POST", joinUrl.replace(/^ws:\/\/[^/]+/, ""));
    expect(again.status).toBe(410);
    const warned = (await service.events(callId)).filter(({ severity }) => severity !== "info");
    // A browser that shares a busy machine with other tests is late with its audio, and gets a warning.
    expect(warned.filter(({ type }) => type !== "media.underflow")).toEqual([]);
  });

  test("restarts its network in the middle of a call", async () => {
    const { caller, callId } = await call(opening("One two three four five six seven eight nine ten."));
    await until(async () => (await finals(caller, "agent")).length === 1, "the greeting");
    expect(await caller.run("restart()")).toBe(200);
    await caller.run('caller.channel.send(JSON.stringify({ type: "ping", timestamp: 8 }))');
    await until(async () => (await caller.messages()).some(({ type }) => type === "pong"), "the pong");
    await until(async () => (await finals(caller, "agent")).length === 2, "the answer by voice");
    await wait(11_000);
    expect((await service.record(callId)).ended).toBeNull();
    await caller.run("caller.peer.close()");
    expect((await service.endedSoon(callId)).endReason).toBe("hangup");
  });

  test("runs a tool that gets the rate of the audio to the client", async () => {
    const knownValue = "KNOWN_PARAM_OUTPUT_SAMPLE_RATE";
    const automaticParameters = [{ name: "rate", knownValue }];
    const selectedTools = [{ temporaryTool: { modelToolName: "look", client: {}, automaticParameters } }];
    const { caller, callId } = await call({ ...USER_FIRST, selectedTools });
    await until(async () => (await service.record(callId)).joined !== null, "the join");
    const forced = await service.ask("POST", `/api/calls/${callId}/send_data_message`, {
      type: "forced_agent_message",
      toolCalls: [{ name: "look", arguments: {} }],
    });
    expect(forced.status).toBe(204);
    const invocation = async () =>
      (await caller.messages()).find(({ type }) => type === "client_tool_invocation");
    await until(async () => (await invocation()) !== undefined, "the invocation");
    expect((await invocation())?.["parameters"]).toEqual({ rate: 48_000 });
  });

  test("is refused while another is connected, or with a wrong token", async () => {
    const { callId, joinUrl } = await call(USER_FIRST);
    await until(async () => (await service.record(callId)).joined !== null, "the join");
    const other = await callers.open();
    expect(await other.call(joinUrl)).toBe(409);
    expect(await other.call(withWrongToken(joinUrl))).toBe(404);
  });

  test("whose page is killed leaves a call that ends in time", async () => {
    const { caller, callId } = await call(USER_FIRST);
    await until(async () => (await service.record(callId)).joined !== null, "the join");
    await wait(1_000);
    const killedMs = Date.now();
    void caller.page.goto("chrome://crash").catch(() => undefined);
    const record = await service.ended(callId, 20_000);
    expect(record.endReason).toBe("connection_error");
    expect(Date.parse(record.ended ?? "") - killedMs).toBeLessThan(30_000);
  });
});

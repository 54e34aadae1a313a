/**
 * The library in a real browser against the assembled service, where UDP is blocked and in calls created for
 * websockets.
 */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fakeToneHz } from "../../src/ports/testing/fake-tts.ts";
import { HEARD, REPLY } from "../faulty-engines.ts";
import { openRunningService, type RunningService, USER_FIRST, withWrongToken } from "../running-service.ts";
import { finals, joinByPage, LONG, opening } from "./call-parts.ts";
import { HAS_BROWSER, openPages, type Pages } from "./pages.ts";
import { openUdpRelays } from "./udp-relays.ts";
import { speechAfterSilence, until } from "./speech.ts";

if (!HAS_BROWSER) process.stderr.write("skipped: calls from pages, for there is no Chromium here\n");

/** No relay is named, so that WebRTC fails. */
const BLOCKED = '{ iceTransportPolicy: "relay", fallbackAfterMs: 500 }';

describe.skipIf(!HAS_BROWSER)("a page whose network lets no UDP through", () => {
  let service: RunningService;
  let pages: Pages;

  beforeAll(async () => {
    service = await openRunningService();
    pages = await openPages({ speech: await speechAfterSilence(4) });
  });
  afterAll(async () => {
    await pages.close();
    await service.close();
  });

  test("talks by websocket, hears every word of the agent, and leaves", async () => {
    const { caller, callId } = await joinByPage(service, pages, opening("Good evening to you."), BLOCKED);
    expect(await caller.run("call.transport")).toBe("webSocket");
    await until(async () => (await finals(caller, "agent")).length === 1, "the greeting's transcript");
    for (const word of [0, 1, 2, 3]) {
      await until(
        async () => (await caller.tone(fakeToneHz(word))) > 0.9,
        `the tone of word ${String(word)}`,
      );
    }
    expect(await caller.tone(1_500)).toBeLessThan(0.1);
    await until(async () => (await finals(caller, "agent")).length === 2, "the answer to the spoken words");
    expect((await finals(caller, "user"))[0]).toMatchObject({ text: HEARD, medium: "voice" });
    expect((await finals(caller, "agent"))[1]).toMatchObject({ text: REPLY });
    await caller.run("call.leave()");
    expect((await service.endedSoon(callId)).endReason).toBe("hangup");
    const warned = (await service.events(callId)).filter(({ severity }) => severity !== "info");
    // A browser that shares a busy machine with other tests is late with its audio, and gets a warning.
    expect(warned.filter(({ type }) => !type.startsWith("media."))).toEqual([]);
  });

  test("interrupts: what was not played is dropped, and the transcript ends at what was heard", async () => {
    const { caller } = await joinByPage(service, pages, opening(LONG), BLOCKED);
    await until(async () => (await caller.tone(fakeToneHz(0))) > 0.9, "the agent's voice");
    await until(async () => (await finals(caller, "user")).length === 1, "the interruption");
    const types = (await caller.seen<{ type: string }>("message")).map(({ type }) => type);
    expect(types).toContain("playback_clear_buffer");
    const [cut] = await finals(caller, "agent");
    expect(cut?.text.length).toBeGreaterThan(0);
    expect(LONG.startsWith(cut?.text ?? "?")).toBe(true);
    expect(cut?.text.length).toBeLessThan(LONG.length);
  });

  test("comes back by itself when its websocket is cut off", async () => {
    const script = `(() => {
      window.sockets = [];
      const Plain = WebSocket;
      window.WebSocket = class extends Plain { constructor(...all) { super(...all); sockets.push(this); } };
    })()`;
    const { callId, joinUrl } = await service.makeCall(USER_FIRST);
    const caller = await pages.open();
    await caller.run(script);
    expect(await caller.join(joinUrl, '{ transport: "webSocket", microphone: false }')).toBe("joined");
    // As in a network failure, the page learns only that the connection is lost.
    await caller.run('sockets[0].dispatchEvent(new CloseEvent("close", { code: 1006 }))');
    await until(async () => (await caller.seen("status")).includes("reconnecting"), "the loss");
    await until(async () => (await caller.run("call.status")) === "live", "the return");
    expect(await caller.run("sockets.length")).toBeGreaterThan(1);
    await caller.run('call.sendText("Still there?")');
    await until(async () => (await finals(caller, "agent")).length === 1, "the answer");
    expect((await service.record(callId)).ended).toBeNull();
    await caller.run("call.leave()");
    expect((await service.endedSoon(callId)).endReason).toBe("hangup");
  });

  test("goes from WebRTC to a websocket in the middle of a call", async () => {
    const relays = openUdpRelays();
    const options = "{ fallbackAfterMs: 3000 }";
    const { caller, callId } = await joinByPage(service, pages, opening("Good evening."), options, relays);
    await until(async () => (await finals(caller, "agent")).length === 1, "the greeting");
    expect(await caller.run("call.transport")).toBe("webRtc");
    relays.cut();
    await until(async () => (await caller.seen("transport")).includes("webSocket"), "the change", 40_000);
    expect(await caller.run("call.status")).toBe("live");
    await caller.run("windows.length = 0");
    // Each tone comes many times: one word may be too short for a whole window of what is measured.
    await caller.run(`call.forceAgentMessage(${JSON.stringify(LONG)})`);
    await until(async () => (await caller.tone(fakeToneHz(1))) > 0.9, "the agent's voice by websocket");
    expect((await service.record(callId)).ended).toBeNull();
    await caller.run("call.leave()");
    expect((await service.endedSoon(callId)).endReason).toBe("hangup");
    await relays.close();
  });

  test("joins calls that were made for websockets, at their rates", async () => {
    const medium = { serverWebSocket: { inputSampleRate: 8_000, outputSampleRate: 24_000 } };
    const { joinUrl } = await service.makeCall({ ...opening("Good evening to you."), medium });
    const caller = await pages.open();
    expect(await caller.join(joinUrl)).toMatchObject({ code: "bad_join_url" });
    const rates = "{ sampleRates: { inputSampleRateHz: 8000, outputSampleRateHz: 24000 } }";
    expect(await caller.join(joinUrl, rates)).toBe("joined");
    for (const word of [0, 3]) {
      await until(
        async () => (await caller.tone(fakeToneHz(word))) > 0.9,
        `the tone of word ${String(word)}`,
      );
    }
    await until(async () => (await finals(caller, "user")).length === 1, "what was said");
    await caller.run("call.leave()");
  });

  test("is told plainly why it cannot join", async () => {
    const { joinUrl } = await service.makeCall(USER_FIRST);
    const caller = await pages.open();
    const bySocket = '{ transport: "webSocket" }';
    expect(await caller.join(withWrongToken(joinUrl), bySocket)).toMatchObject({ code: "network" });
    expect(await caller.join(withWrongToken(joinUrl), BLOCKED)).toMatchObject({ code: "not_found" });
    expect(await caller.join(joinUrl, bySocket)).toBe("joined");
    const other = await pages.open();
    expect(await other.join(joinUrl, bySocket)).toMatchObject({ code: "already_joined" });
    expect(await other.join(joinUrl, '{ iceTransportPolicy: "relay", transport: "webRtc" }')).toMatchObject({
      code: "already_joined",
    });
    await caller.run("call.leave()");
  });
});

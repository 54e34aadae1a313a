/** The library in a real browser against the assembled service, by WebRTC. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fakeToneHz } from "../../src/ports/testing/fake-tts.ts";
import { harm, startHostileLegThread } from "../../src/transports/webrtc/testing/hostile-leg-thread.ts";
import { HEARD, REPLY } from "../faulty-engines.ts";
import { openRunningService, type RunningService, USER_FIRST, withWrongToken } from "../running-service.ts";
import { type CallerPage, HAS_BROWSER, openPages, type Pages } from "./pages.ts";
import { speechAfterSilence, until } from "./speech.ts";
import type { Transcript } from "../../../client/src/call/transcripts.ts";

if (!HAS_BROWSER) process.stderr.write("skipped: calls from pages, for there is no Chromium here\n");

const opening = (text: string) => ({ firstSpeakerSettings: { agent: { text } }, voice: "quick" });

describe.skipIf(!HAS_BROWSER)("a page with the library, by WebRTC", () => {
  let service: RunningService;
  let pages: Pages;

  beforeAll(async () => {
    // The same threads, in which the last test can cause a fault.
    service = await openRunningService({}, undefined, [], startHostileLegThread);
    pages = await openPages({ speech: await speechAfterSilence(2) });
  });
  afterAll(async () => {
    await pages.close();
    await service.close();
  });

  async function join(
    settings: object,
    options?: string,
  ): Promise<{ caller: CallerPage; callId: string; joinUrl: string }> {
    const { callId, joinUrl } = await service.makeCall(settings);
    const caller = await pages.open();
    expect(await caller.join(joinUrl, options)).toBe("joined");
    return { caller, callId, joinUrl };
  }

  const finals = async (caller: CallerPage, role: string): Promise<readonly Transcript[]> =>
    (await caller.run<Transcript[]>("call.transcripts")).filter((one) => one.final && one.role === role);

  test("hears the agent, is heard, follows the transcript and the state, and leaves", async () => {
    const { caller, callId } = await join(opening("Good evening."));
    await until(async () => (await finals(caller, "agent")).length === 1, "the greeting's transcript");
    expect(await caller.run("call.callId")).toBe(callId);
    expect(await caller.run("call.transport")).toBe("webRtc");
    await until(async () => (await caller.tone(fakeToneHz(0))) > 0.9, "the first word's tone");
    await until(async () => (await caller.tone(fakeToneHz(1))) > 0.9, "the second word's tone");
    // No word has this one.
    expect(await caller.tone(1_500)).toBeLessThan(0.1);

    await until(async () => (await finals(caller, "agent")).length === 2, "the answer to the spoken words");
    const texts = (await caller.run<Transcript[]>("call.transcripts")).map(({ role, text }) => [role, text]);
    expect(texts).toEqual([
      ["agent", "Good evening."],
      ["user", HEARD],
      ["agent", REPLY],
    ]);
    const growing = (await caller.seen<Transcript>("transcript")).filter(({ ordinal }) => ordinal === 0);
    expect(growing.map(({ text }) => text)).toEqual(["Good", "Good evening.", "Good evening."]);
    expect(await caller.seen("state")).toEqual(expect.arrayContaining(["speaking", "listening", "thinking"]));
    expect(await caller.run<number>("call.ping()")).toBeGreaterThan(0);

    await caller.run("call.leave()");
    expect((await service.endedSoon(callId)).endReason).toBe("hangup");
    expect(await caller.run("call.end")).toEqual({ reason: "left", error: null });
    expect(await caller.seen("over")).toHaveLength(1);
    expect(await caller.run("call.outputAnalyser.context.state")).toBe("closed");
    expect(await caller.run("(() => { try { call.sendText('x'); } catch (e) { return e.code; } })()")).toBe(
      "over",
    );
  });

  test("types, and reads answers that are written", async () => {
    const { caller, callId } = await join(USER_FIRST, "{ microphone: false }");
    await caller.run("call.setOutputMedium('text')");
    await caller.run("call.sendText('Are you there?')");
    await until(async () => (await finals(caller, "agent")).length === 1, "the written answer");
    expect((await finals(caller, "user"))[0]).toMatchObject({ text: "Are you there?", medium: "text" });
    expect((await finals(caller, "agent"))[0]).toMatchObject({ text: REPLY, medium: "text" });
    await caller.run("call.hangUp('')");
    expect((await service.endedSoon(callId)).endReason).toBe("agent_hangup");
    await until(async () => (await caller.seen("over")).length === 1, "the end");
    expect(await caller.seen("over")).toEqual([{ reason: "ended", error: null }]);
  });

  test("is told plainly why it cannot join", async () => {
    const { joinUrl } = await service.makeCall(USER_FIRST);
    const caller = await pages.open();
    expect(await caller.join("https://voice.example/")).toMatchObject({
      name: "CallError",
      code: "bad_join_url",
    });
    expect(await caller.join(withWrongToken(joinUrl))).toMatchObject({ code: "not_found" });
    expect(await caller.join(joinUrl.replace(/:\d+/, ":9"))).toMatchObject({ code: "network" });
    expect(await caller.join(joinUrl)).toBe("joined");
    const other = await pages.open();
    expect(await other.join(joinUrl)).toMatchObject({ code: "already_joined", problem: { status: 409 } });
    await caller.run("call.leave()");
    await until(async () => JSON.stringify(await other.join(joinUrl)).includes('"gone"'), "the call's end");
  });

  test("comes back by itself after the thread of its connection was stuck", async () => {
    const { caller, callId } = await join(USER_FIRST, "{ transport: 'webRtc' }");
    expect(await caller.run<number>("call.ping()")).toBeGreaterThan(0);
    harm("hang");
    const statuses = () => caller.seen<string>("status");
    await until(async () => (await statuses()).includes("reconnecting"), "the loss", 60_000);
    await until(async () => (await statuses()).at(-1) === "live", "the return", 60_000);
    expect(await caller.run<number>("call.ping()")).toBeGreaterThan(0);
    expect(await service.metric(/^parley_webrtc_threads_replaced_total\{reason="stuck"\}/)).toBe(1);
    const events = (await service.events(callId)).map(({ type }) => type);
    expect(events).toContain("media.reconnected");
    expect((await service.record(callId)).ended).toBeNull();
    await caller.run("call.leave()");
    expect((await service.endedSoon(callId)).endReason).toBe("hangup");
  });
});

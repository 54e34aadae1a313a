/** A call from a page, from its events to its end: tools, devices, networks, tabs. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { wait } from "../../src/runner/testing/call-client.ts";
import { fakeToneHz } from "../../src/ports/testing/fake-tts.ts";
import { HEARD } from "../faulty-engines.ts";
import { openRunningService, type RunningService, USER_FIRST } from "../running-service.ts";
import { finals, joinByPage, LONG, opening } from "./call-parts.ts";
import { HAS_BROWSER, openPages, PAGE, type Pages } from "./pages.ts";
import { openUdpRelays } from "./udp-relays.ts";
import { speechAfterSilence, until } from "./speech.ts";

if (!HAS_BROWSER) process.stderr.write("skipped: calls from pages, for there is no Chromium here\n");

const SPEAKS_AFTER_SECONDS = 3;
const LOOK = {
  modelToolName: "look",
  description: "Looks at the page.",
  dynamicParameters: [
    { name: "room", location: "PARAMETER_LOCATION_BODY", schema: { type: "integer" }, required: true },
  ],
  client: {},
};

describe.skipIf(!HAS_BROWSER)("a call from a page", () => {
  let service: RunningService;
  let pages: Pages;

  beforeAll(async () => {
    service = await openRunningService();
    pages = await openPages({
      speech: await speechAfterSilence(SPEAKS_AFTER_SECONDS),
      answers: (path) =>
        Promise.resolve(
          path === "/forbidden"
            ? { headers: { "content-type": "text/html", "permissions-policy": "microphone=()" }, body: PAGE }
            : null,
        ),
    });
  });
  afterAll(async () => {
    await pages.close();
    await service.close();
  });

  const join = (settings: object, options?: string) => joinByPage(service, pages, settings, options);

  test("interrupts the agent by speaking", async () => {
    const { caller } = await join(opening(LONG));
    await until(async () => (await caller.tone(fakeToneHz(0))) > 0.9, "the agent's voice");
    await until(async () => (await finals(caller, "user")).length === 1, "the interruption");
    const [cut] = await finals(caller, "agent");
    expect(LONG.startsWith(cut?.text ?? "?")).toBe(true);
    expect(cut?.text.length).toBeLessThan(LONG.length);
    await caller.run("call.leave()");
  });

  test("runs client tools, and says so when there is none, or one fails", async () => {
    const medium = { webRtc: { dataMessages: { toolUsed: true } } };
    const settings = { ...USER_FIRST, medium, selectedTools: [{ temporaryTool: LOOK }] };
    const { caller } = await join(
      settings,
      `{
      microphone: false,
      tools: { look: async ({ room }) => { if (room === 13) throw new Error("no such room"); return { room, free: true }; } },
    }`,
    );
    interface Used {
      readonly type: string;
      readonly result?: string;
      readonly errorDetails?: string;
    }
    const used = async () => (await caller.seen<Used>("message")).filter(({ type }) => type === "tool_used");
    const ask = async (room: number): Promise<Used | undefined> => {
      const before = (await used()).length;
      const call = JSON.stringify([{ name: "look", arguments: { room } }]);
      await caller.run(`call.forceAgentMessage("", { toolCalls: ${call}, urgency: "immediate" })`);
      await until(async () => (await used()).length > before, "the tool's result");
      return (await used())[before];
    };
    expect((await ask(12))?.result).toBe('{"room":12,"free":true}');
    expect((await ask(13))?.errorDetails).toContain("no such room");
    await caller.run("call.registerTool('look', () => 'another')()");
    expect((await ask(12))?.errorDetails).toContain("The page has no tool look.");
    expect(await caller.seen("toolFailed")).toHaveLength(2);
    await caller.run("call.leave()");
  });

  test("is silent for the agent while it is muted, and heard by another track", async () => {
    const { caller } = await join(USER_FIRST);
    await caller.run("call.muteMicrophone()");
    await wait((SPEAKS_AFTER_SECONDS + 3) * 1_000);
    expect(await caller.run("call.transcripts")).toEqual([]);
    expect(await caller.run("call.levels().input")).toBe(0);
    expect(await caller.seen("muted")).toEqual([{ microphone: true, output: false }]);
    await caller.run(`(async () => {
      call.muteMicrophone(false);
      const { context } = call.inputAnalyser;
      const stream = context.createMediaStreamDestination(), tone = context.createOscillator();
      tone.connect(stream);
      tone.start();
      tone.stop(context.currentTime + 1.5);
      await call.useMicrophone(stream.stream.getAudioTracks()[0]);
    })()`);
    await until(async () => (await caller.run<number>("call.levels().input")) > 0.1, "the level of the tone");
    await until(async () => (await finals(caller, "user")).length === 1, "what the other track has said");
    expect((await finals(caller, "user"))[0]).toMatchObject({ text: HEARD });
    await caller.run("call.leave()");
  });

  test("mutes the agent for the page alone, and changes devices", async () => {
    const { caller } = await join(opening(LONG));
    await caller.run("call.muteOutput()");
    expect(await caller.run("call.outputMuted")).toBe(true);
    await until(
      async () => (await caller.run<number>("call.levels().output")) > 0.05,
      "the level of the voice",
    );
    const { microphones, outputs } = await caller.run<{
      microphones: { deviceId: string; label: string }[];
      outputs: unknown[];
    }>("parley.listAudioDevices()");
    expect(microphones.length).toBeGreaterThan(1);
    expect(outputs.length).toBeGreaterThan(0);
    const other = microphones.at(-1);
    await caller.run(`call.useMicrophone({ deviceId: ${JSON.stringify(other?.deviceId)} })`);
    expect(await caller.run("call.inputTrack.label")).toBe(other?.label);
    const failed = await caller.run("call.useMicrophone({ deviceId: 'none' }).catch(({ code }) => code)");
    expect(failed).toBe("no_microphone");
    expect(await caller.run("call.inputTrack.readyState")).toBe("live");
    expect(await caller.run("call.useOutput('none').catch(({ code }) => code)")).toBe("output_failed");
    await caller.run("call.useMicrophone(false)");
    expect(await caller.run("call.inputTrack")).toBeNull();
    await caller.run("call.leave()");
  });

  test("survives a restart of its network", async () => {
    const { caller, callId } = await join(opening("One two three four five six seven eight nine ten."));
    await until(async () => (await finals(caller, "agent")).length === 1, "the greeting");
    const pair = `peers[0].getStats().then((all) => [...all.values()].find((one) => one.type === "transport").selectedCandidatePairChanges)`;
    const before = await caller.run<number>(pair);
    await caller.run("call.restartNetwork()");
    await until(async () => (await caller.run<number>(pair)) > before, "another pair of candidates");
    expect(await caller.run<number>("call.ping()")).toBeGreaterThan(0);
    await until(async () => (await finals(caller, "agent")).length === 2, "the answer by voice");
    // Longer than the service waits for data on a lost connection.
    await wait(11_000);
    expect(await caller.run("call.status")).toBe("live");
    expect(await caller.run("peers.length")).toBe(1);
    await caller.run("call.leave()");
    expect((await service.endedSoon(callId)).endReason).toBe("hangup");
  });

  test("is joined again by WebRTC when its connection cannot be restored", async () => {
    const relays = openUdpRelays();
    const { caller, callId } = await joinByPage(service, pages, opening("Good evening."), "{}", relays);
    await until(async () => (await finals(caller, "agent")).length === 1, "the greeting");
    relays.cut();
    await until(async () => (await caller.seen("status")).includes("reconnecting"), "the loss", 30_000);
    relays.open();
    await until(async () => (await caller.run("call.status")) === "live", "the return", 30_000);
    expect(await caller.run("call.transport")).toBe("webRtc");
    await caller.run('call.sendText("Still there?")');
    await until(async () => (await finals(caller, "agent")).length === 2, "the answer");
    await caller.run("call.leave()");
    expect((await service.endedSoon(callId)).endReason).toBe("hangup");
    await relays.close();
  });

  test("is hung up by a page that goes away", async () => {
    const { caller, callId } = await join(USER_FIRST);
    await caller.page.goto("about:blank");
    expect((await service.endedSoon(callId)).endReason).toBe("hangup");
  });

  test("ends in time when its page is killed", async () => {
    const { caller, callId } = await join(USER_FIRST);
    await wait(1_000);
    void caller.page.goto("chrome://crash").catch(() => undefined);
    expect((await service.ended(callId, 20_000)).endReason).toBe("connection_error");
  });

  test("is not begun without the microphone that was asked for", async () => {
    const { joinUrl } = await service.makeCall(USER_FIRST);
    const caller = await pages.open("/forbidden");
    expect(await caller.join(joinUrl)).toMatchObject({ name: "CallError", code: "microphone_denied" });
    const other = await pages.open();
    expect(await other.join(joinUrl, "{ microphone: { deviceId: 'none' } }")).toMatchObject({
      code: "no_microphone",
    });
    expect(await other.join(joinUrl, "{ signal: AbortSignal.abort() }")).toMatchObject({
      name: "AbortError",
    });
    expect(await caller.join(joinUrl, "{ microphone: false }")).toBe("joined");
    await caller.run("call.leave()");
  });
});

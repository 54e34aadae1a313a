/** The official library of the public service, unchanged, in a real browser: it joins a LiveKit room. */

import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fakeToneHz } from "../../src/ports/testing/fake-tts.ts";
import { HEARD, REPLY } from "../faulty-engines.ts";
import { openRunningService, type RunningService, USER_FIRST, withWrongToken } from "../running-service.ts";
import { bundled, type CallerPage, EARS, HAS_BROWSER, openPages, type Pages } from "./pages.ts";
import { speechAfterSilence, until } from "./speech.ts";

if (!HAS_BROWSER) process.stderr.write("skipped: rooms in a browser, for there is no Chromium here\n");

const LIBRARY = fileURLToPath(import.meta.resolve("ultravox-client"));

/** A page that uses the library as its documentation says. */
const PAGE = `<!doctype html><meta charset="utf-8"><script type="module">
import { UltravoxSession as Caller } from "/room-library.js";
${EARS}
const statuses = [], peers = [], messages = [], invocations = [];
window.RTCPeerConnection = class extends RTCPeerConnection {
  constructor(settings) {
    super(settings);
    peers.push(this);
    this.addEventListener("track", ({ track, streams: [stream] }) => {
      if (track.kind === "audio" && stream !== undefined) hear(new AudioContext(), stream);
    });
  }
};
function join(url) {
  const caller = (window.caller = new Caller());
  for (const kind of ["status", "transcripts", "experimental_message"])
    caller.addEventListener(kind, () => kind === "status" && statuses.push(caller.status));
  caller.addEventListener("data_message", ({ message }) => messages.push(message));
  caller.registerToolImplementation("look", (given) => {
    invocations.push(given);
    return "a red door";
  });
  caller.joinCall(url, "test of rooms");
}
Object.assign(window, { join, tone, statuses, peers, messages, invocations });
</script>`;

interface Said {
  readonly text: string;
  readonly isFinal: boolean;
  readonly speaker: string;
  readonly medium: string;
}

const opening = (text: string) => ({ firstSpeakerSettings: { agent: { text } }, voice: "quick" });

describe.skipIf(!HAS_BROWSER)("a page with the official library", () => {
  let service: RunningService;
  let pages: Pages;

  beforeAll(async () => {
    service = await openRunningService();
    const library = await bundled(false, LIBRARY);
    const html = { headers: { "content-type": "text/html" }, body: PAGE };
    const script = { headers: { "content-type": "text/javascript" }, body: library };
    pages = await openPages({
      speech: await speechAfterSilence(2),
      answers: async (path) => (path === "/room" ? html : path === "/room-library.js" ? script : null),
    });
  }, 120_000);
  afterAll(async () => {
    await pages.close();
    await service.close();
  });

  async function join(settings: object): Promise<{ caller: CallerPage; callId: string; joinUrl: string }> {
    const { callId, joinUrl } = await service.makeCall(settings);
    const caller = await pages.open("/room");
    await caller.run(`join(${JSON.stringify(joinUrl)})`);
    return { caller, callId, joinUrl };
  }

  const finals = async (caller: CallerPage, speaker: string): Promise<readonly Said[]> =>
    (await caller.run<Said[]>("caller.transcripts.filter((one) => one !== undefined)")).filter(
      (one) => one.isFinal && one.speaker === speaker,
    );
  const isConnected = (caller: CallerPage) => async (): Promise<boolean> =>
    ["idle", "listening", "thinking", "speaking"].includes(await caller.run<string>("caller.status"));

  test("hears the agent, is heard, follows transcripts and states, and leaves", async () => {
    const { caller, callId } = await join(opening("Good evening."));
    await until(async () => (await finals(caller, "agent")).length >= 1, "the greeting's transcript", 30_000);
    expect((await finals(caller, "agent"))[0]).toMatchObject({ text: "Good evening.", medium: "voice" });
    await until(async () => (await caller.tone(fakeToneHz(0))) > 0.9, "the first word's tone");
    await until(async () => (await caller.tone(fakeToneHz(1))) > 0.9, "the second word's tone");
    // No word has this one.
    expect(await caller.tone(1_500)).toBeLessThan(0.1);

    await until(
      async () => (await finals(caller, "agent")).length === 2,
      "the answer to the spoken words",
      30_000,
    );
    expect((await finals(caller, "user"))[0]).toMatchObject({ text: HEARD, medium: "voice" });
    expect(await caller.run("statuses")).toEqual(
      expect.arrayContaining(["connecting", "speaking", "listening"]),
    );
    expect(await caller.run("peers.length")).toBe(1);

    await caller.run("caller.leaveCall()");
    expect((await service.endedSoon(callId)).endReason).toBe("hangup");
    expect(await caller.run("caller.status")).toBe("disconnected");
  }, 120_000);

  test("types short and long texts, and reads answers that are written", async () => {
    const { caller, callId } = await join(USER_FIRST);
    await until(isConnected(caller), "the room", 30_000);
    await caller.run("caller.setOutputMedium('text')");
    await caller.run("caller.sendText('Are you there?')");
    await until(async () => (await finals(caller, "agent")).length === 1, "the written answer", 30_000);
    expect((await finals(caller, "agent"))[0]).toMatchObject({ text: REPLY, medium: "text" });
    // Above 1,024 bytes the library uses its socket at the join URL.
    const long = "word ".repeat(500).trim();
    await caller.run(`caller.sendText(${JSON.stringify(long)})`);
    await until(async () => (await finals(caller, "agent")).length === 2, "the second answer", 30_000);
    const texts = (await service.messages(callId)).map(({ text }) => text);
    expect(texts).toEqual(expect.arrayContaining(["Are you there?", long]));
    await caller.run("caller.leaveCall()");
    expect((await service.endedSoon(callId)).endReason).toBe("hangup");
  }, 120_000);

  test("runs a tool, mutes itself, and is left by the agent", async () => {
    const selectedTools = [{ temporaryTool: { modelToolName: "look", client: {} } }];
    const { caller, callId } = await join({ ...USER_FIRST, selectedTools });
    await until(isConnected(caller), "the room", 30_000);
    await caller.run("caller.muteMic()");
    await until(async () => (await service.record(callId)).joined !== null, "the join");
    const forced = await service.ask("POST", `/api/calls/${callId}/send_data_message`, {
      type: "forced_agent_message",
      toolCalls: [{ name: "look", arguments: {} }],
    });
    expect(forced.status).toBe(204);
    await until(async () => (await caller.run<number>("invocations.length")) === 1, "the invocation", 30_000);
    await until(
      async () => (await service.messages(callId)).some(({ text }) => text.includes("a red door")),
      "the tool's result",
      30_000,
    );
    await caller.run("caller.unmuteMic()");
    const ended = await service.ask("POST", `/api/calls/${callId}/send_data_message`, { type: "hang_up" });
    expect(ended.status).toBe(204);
    expect((await service.endedSoon(callId)).endReason).toBe("agent_hangup");
    await until(
      async () => (await caller.run("caller.status")) === "disconnected",
      "the end in the page",
      30_000,
    );
  }, 120_000);

  test("is refused with a wrong token, and while another page has the call", async () => {
    const { caller, callId, joinUrl } = await join(USER_FIRST);
    await until(isConnected(caller), "the room", 30_000);
    for (const url of [withWrongToken(joinUrl), joinUrl]) {
      const other = await pages.open("/room");
      await other.run(`join(${JSON.stringify(url)})`);
      await until(async () => (await other.run("caller.status")) === "disconnected", "the refusal", 30_000);
      expect(await other.run("peers.length")).toBe(0);
    }
    expect(await isConnected(caller)()).toBe(true);
    await caller.run("caller.leaveCall()");
    expect((await service.endedSoon(callId)).endReason).toBe("hangup");
  }, 120_000);
});

import nodeProcess from "node:process";
import { beforeAll, describe, expect, test } from "vitest";
import { initResampler } from "../../media/resample.ts";
import type { FakeTransportOptions } from "../../ports/testing/fake-transport.ts";
import { openFakeTts } from "../../ports/testing/fake-tts.ts";
import type { TtsEngine } from "../../ports/tts.ts";
import { openCallWorld } from "../testing/call-world.ts";
import { openFakeEngines } from "../testing/fakes.ts";
import type { PlanChanges } from "../testing/plan.ts";

const RATE_HZ = 8_000;
const PHONE: FakeTransportOptions = {
  inputSampleRateHz: RATE_HZ,
  outputSampleRateHz: RATE_HZ,
  aheadMs: 200,
  isCarrier: true,
};
const TEXT = "Welcome to Parley. How can I help you today, and what is it about?";

beforeAll(async () => {
  await initResampler(nodeProcess);
});

/** A voice that notes its sentences, and can be made to hang or fail. */
function openVoice() {
  const tts = openFakeTts();
  const asked: string[] = [];
  let mode: "speaks" | "hangs" | "fails" = "speaks";
  const engine: TtsEngine = {
    ...tts,
    async *synthesize(request, signal) {
      asked.push(request.text);
      if (mode === "fails") throw new Error("broken on purpose");
      if (mode === "hangs") await new Promise((resolve) => signal.addEventListener("abort", resolve));
      else yield* tts.synthesize(request, signal);
    },
  };
  return { engine, asked, set: (next: typeof mode) => (mode = next) };
}

function phoneCall(changes: PlanChanges = {}, returns = true) {
  const voice = openVoice();
  const world = openCallWorld({ ...openFakeEngines(), tts: voice.engine });
  const firstSpeaker = {
    kind: "agent",
    delayMs: 0,
    text: TEXT,
    prompt: null,
    uninterruptible: false,
  } as const;
  const medium = {
    kind: "telephony1",
    inputSampleRateHz: RATE_HZ,
    outputSampleRateHz: RATE_HZ,
    returns,
  } as const;
  const { callId } = world.create({ firstSpeaker, ...changes, medium });
  const answer = async () => {
    const { transport } = await world.join(callId, [], PHONE);
    if (transport === null) throw new Error("not connected");
    return transport;
  };
  const spoken = () => {
    const messages = new Map(world.records.messages.map(({ message }) => [message.index, message]));
    return [...messages.values()].filter(({ role }) => role === "agent").map(({ text }) => text);
  };
  return { ...world, voice, answer, spoken };
}

describe("the greeting of a phone call", () => {
  test("is rendered before anybody answers, and its first words are sent as soon as somebody does", async () => {
    const { voice, clock, answer } = phoneCall();
    await clock.advance(100);
    expect(voice.asked.length).toBeGreaterThan(0);
    // From here on no voice answers: what is heard was ready.
    voice.set("hangs");
    const transport = await answer();
    await clock.advance(20);
    expect(transport.frames.length).toBeGreaterThan(0);
    expect(transport.frames.some((frame) => frame.some((sample) => sample !== 0))).toBe(true);
  });

  test("is said once and whole", async () => {
    const { voice, clock, answer, spoken } = phoneCall();
    await clock.advance(20);
    const transport = await answer();
    for (let second = 0; second < 10; second += 1) {
      transport.hear(new Int16Array(160));
      await clock.advance(1_000);
    }
    expect(spoken()).toEqual([TEXT]);
    expect(voice.asked).toEqual(["Welcome to Parley.", "How can I help you today, and what is it about?"]);
  });

  test("is rendered when it is said where the voice had failed before", async () => {
    const { voice, clock, answer } = phoneCall();
    voice.set("fails");
    await clock.advance(100);
    voice.set("speaks");
    const transport = await answer();
    await clock.advance(500);
    expect(transport.frames.length).toBeGreaterThan(0);
  });

  test.each<[string, PlanChanges, boolean]>([
    ["a call whose instructions are not ours, which may never be joined", {}, false],
    ["a greeting that a model writes", { firstSpeaker: { kind: "user", fallback: null } }, true],
    ["a call in writing", { initialOutputMedium: "text" }, true],
  ])("is not rendered for %s", async (_, changes, returns) => {
    const { voice, clock } = phoneCall(changes, returns);
    await clock.advance(100);
    expect(voice.asked).toEqual([]);
  });
});

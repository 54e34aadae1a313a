/** Media with means of their own: marks, dropping of audio, and keys. */

import nodeProcess from "node:process";
import { beforeAll, describe, expect, test } from "vitest";
import { dtmfSamples } from "../../media/dtmf.ts";
import { initResampler } from "../../media/resample.ts";
import { concat, sine } from "../../media/testing/signals.ts";
import type { FakeTransportOptions } from "../../ports/testing/fake-transport.ts";
import { openCallWorld } from "../testing/call-world.ts";
import { openFakeEngines } from "../testing/fakes.ts";
import type { PlanChanges } from "../testing/plan.ts";
import { openManualClock } from "../testing/manual-clock.ts";
import { SpeechOut } from "./speech-out.ts";
import { deploymentSpeaker } from "../../ports/deployment-speaker.ts";
import { openFakeTts } from "../../ports/testing/fake-tts.ts";

const RATE_HZ = 8_000;
const PHONE: FakeTransportOptions = {
  inputSampleRateHz: RATE_HZ,
  outputSampleRateHz: RATE_HZ,
  aheadMs: 200,
  isCarrier: true,
};
const MEDIUM: NonNullable<PlanChanges["medium"]> = {
  kind: "telephony1",
  inputSampleRateHz: RATE_HZ,
  outputSampleRateHz: RATE_HZ,
  digits: { kind: "text", text: "{digits}", urgency: "immediate" },
};

beforeAll(async () => {
  await initResampler(nodeProcess);
});

async function phoneCall(options: FakeTransportOptions = {}, changes: PlanChanges = {}) {
  const heard: Int16Array[] = [];
  const says = (_utterance: number, samples: Int16Array): string => {
    heard.push(samples.slice());
    return "Hello there.";
  };
  const world = openCallWorld(openFakeEngines({ stt: { says } }));
  const { callId } = world.create({ ...changes, medium: MEDIUM });
  const { transport } = await world.join(callId, [], { ...PHONE, ...options });
  if (transport === null) throw new Error("not connected");
  const hear = async (samples: Int16Array) => {
    for (let at = 0; at < samples.length; at += 160) {
      transport.hear(samples.subarray(at, at + 160));
      await world.clock.advance(20);
    }
  };
  /** Later versions of a message replace earlier ones. */
  const spoken = (role: "user" | "agent") => {
    const messages = new Map(world.records.messages.map(({ message }) => [message.index, message]));
    return [...messages.values()].filter((message) => message.role === role).map(({ text }) => text);
  };
  return { ...world, callId, transport, heard, hear, spoken };
}

describe("a call over a carrier", () => {
  test("asks for an echo every 200 ms, and counts as heard what the carrier has played", async () => {
    const { transport, clock, records, spoken } = await phoneCall();
    await clock.advance(500);
    const marks = transport.commands.filter((command) => typeof command === "number");
    expect(marks.slice(0, 3)).toEqual([1_600, 3_200, 4_800]);
    // The carrier has played 200 ms, and is 300 ms behind.
    transport.play(marks[0] ?? 0);
    const before = transport.frames.length;
    await clock.advance(600);
    expect(transport.frames.length).toBe(before + 30);
    transport.lose(true, 1000);
    await clock.advance(100);
    expect(records.ends).toMatchObject([{ record: { reason: "hangup" } }]);
    // 800 ms, and a word has 300 ms.
    expect(spoken("agent")).toEqual(["Welcome, how can"]);
  });

  test("has its buffer dropped by an interruption, once", async () => {
    // Six seconds. The echo of the line is known after 1.5 s of the agent's voice.
    const text = "and on it goes ".repeat(5).trim();
    const firstSpeaker = { kind: "agent", delayMs: 0, text, prompt: null, uninterruptible: false } as const;
    const { transport, hear } = await phoneCall({}, { firstSpeaker });
    await hear(new Int16Array(2.5 * RATE_HZ));
    expect(transport.commands).not.toContain("clear");
    await hear(sine(440, RATE_HZ, RATE_HZ));
    expect(transport.commands.filter((command) => command === "clear")).toHaveLength(1);
  });

  test("counts as heard what was sent, in real time, where the carrier never echoes a mark", async () => {
    const { transport, clock, spoken } = await phoneCall();
    // Each word has 300 ms, and 200 ms more have been sent.
    await clock.advance(1_100);
    transport.lose(true, 1000);
    await clock.advance(100);
    expect(transport.commands.slice(0, 5)).toEqual([1_600, 3_200, 4_800, 6_400, 8_000]);
    expect(spoken("agent")).toEqual(["Welcome, how can I"]);
  });

  test("has its buffer dropped within 200 ms of the caller's first sound, whether or not marks are echoed", async () => {
    const text = "and on it goes ".repeat(5).trim();
    const firstSpeaker = { kind: "agent", delayMs: 0, text, prompt: null, uninterruptible: false } as const;
    for (const echoes of [false, true]) {
      const { transport, hear } = await phoneCall({}, { firstSpeaker });
      const hearFor = async (samples: Int16Array) => {
        await hear(samples);
        const mark = transport.commands.findLast((command) => typeof command === "number");
        if (echoes && typeof mark === "number") transport.play(mark);
      };
      for (let ms = 0; ms < 2_500; ms += 20) await hearFor(new Int16Array(160));
      let soundMs = 0;
      while (!transport.commands.includes("clear") && soundMs < 1_000) {
        await hearFor(sine(440, RATE_HZ, 160));
        soundMs += 20;
      }
      // 0: it was dropped without any sound.
      expect(soundMs).toBeGreaterThan(0);
      expect(soundMs).toBeLessThanOrEqual(200);
    }
  });

  test("hears keys as words of the user, and not as sound", async () => {
    const { transport, hear, heard, spoken } = await phoneCall(
      {},
      {
        firstSpeaker: { kind: "user", fallback: null },
      },
    );
    await hear(new Int16Array(RATE_HZ / 2));
    for (const key of "42#") {
      transport.press(key);
      await hear(concat([...dtmfSamples({ digits: key, toneMs: 200, spaceMs: 100 }, RATE_HZ)]));
      await hear(new Int16Array(RATE_HZ / 10));
    }
    // A carrier sends silence as well.
    await hear(new Int16Array(3 * RATE_HZ));
    expect(spoken("user")).toEqual(["42#"]);
    expect(spoken("agent")).toHaveLength(1);
    expect(heard).toEqual([]);
  });

  test("hears speech as before", async () => {
    const { hear, spoken } = await phoneCall({}, { firstSpeaker: { kind: "user", fallback: null } });
    await hear(new Int16Array(RATE_HZ / 2));
    await hear(sine(440, RATE_HZ, RATE_HZ));
    await hear(new Int16Array(2 * RATE_HZ));
    expect(spoken("user")).toEqual(["Hello there."]);
  });
});

describe("keys that the agent presses", () => {
  const tones = { digits: "19", toneMs: 200, spaceMs: 100 };

  async function play(sendsDigits: boolean) {
    const clock = openManualClock();
    const frames: Int16Array[] = [];
    const digits: { readonly digits: string; readonly framesBefore: number }[] = [];
    const medium = sendsDigits
      ? { sendDigits: (given: string) => void digits.push({ digits: given, framesBefore: frames.length }) }
      : {};
    const speech = new SpeechOut({
      speakerOf: () => deploymentSpeaker(openFakeTts({ sampleRateHz: RATE_HZ }), null),
      outputSampleRateHz: RATE_HZ,
      aheadMs: 60,
      taps: [],
      nowMs: () => clock.nowMs(),
      after: (delayMs, fire) => clock.after(delayMs, fire),
      send: (frame) => void frames.push(frame),
      medium,
      post: () => undefined,
      faulted: (error) => {
        throw error;
      },
    });
    const stop = clock.onTick(() => {
      speech.tick();
    });
    const segment = { type: "synthesize", replyId: 1, voice: { kind: "deployment", name: null } } as const;
    speech.synthesize({ ...segment, segmentId: 1, text: "one two", languageHint: null, silent: false });
    speech.synthesize({ ...segment, segmentId: 2, text: "", languageHint: null, silent: false, tones });
    speech.speak(1);
    await clock.advance(3_000);
    stop();
    return {
      frames,
      digits,
      loud: (from: number) => concat(frames.slice(from)).some((sample) => sample !== 0),
    };
  }

  test("are tones in the audio without a means of the medium", async () => {
    const { digits, loud } = await play(false);
    expect([digits, loud(30)]).toEqual([[], true]);
  });

  test("are sent when their turn comes, with silence in the place of the tones", async () => {
    const { frames, digits, loud } = await play(true);
    // Two words of 300 ms, and two tones with their space of 500 ms.
    expect(digits).toEqual([{ digits: "19", framesBefore: 30 }]);
    expect([frames.length, loud(30)]).toEqual([55, false]);
  });
});

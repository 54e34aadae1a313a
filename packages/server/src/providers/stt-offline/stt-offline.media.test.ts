import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SttEngine } from "../../ports/stt.ts";
import { readSpeechFile, readSpeechFixture } from "../../ports/testing/speech-fixtures.ts";
import { describeSttConformance, pushAll, SttRecord } from "../../ports/testing/stt-conformance.ts";
import { startDecoderThread, type StartDecoderThread } from "./decoder-thread.ts";
import { openOfflineStt, openQueuedStt } from "./stt-offline.ts";

/** The real thread, whose utterances never arrive. */
const deaf =
  (reached: () => void): StartDecoderThread =>
  (listener) => ({ ...startDecoderThread(listener), send: reached });

/** A thread that cannot decode anything. */
const broken: StartDecoderThread = (listener) => {
  queueMicrotask(() => {
    listener.heard({ type: "ready" });
  });
  return {
    send: (id) => {
      queueMicrotask(() => {
        listener.heard({ type: "failed", id, detail: "broken on purpose" });
      });
    },
    end: () => Promise.resolve(),
  };
};

const quiet = (): undefined => undefined;

/** What is recognised does not depend on how busy the machine is. */
const PATIENT = { answerTimeoutMs: 100_000 };

describeSttConformance("the offline recogniser", {
  open: () => openOfflineStt(PATIENT),
  spoken: [
    { samples: readSpeechFixture("cards_001.wav"), text: "ten of clubs" },
    { samples: readSpeechFixture("cards_004.wav"), text: "five five" },
  ],
  unintelligible: readSpeechFixture("austen_0930.wav"),
  foreignLanguage: "fr-CA",
  openHanging: async () => {
    const { promise: reached, resolve } = Promise.withResolvers<void>();
    return { engine: await openQueuedStt(deaf(resolve), quiet), reached };
  },
  openFailing: () => openQueuedStt(broken, quiet),
});

describe("the offline recogniser", () => {
  let engine: SttEngine;
  let utterances = 0;
  beforeAll(async () => {
    engine = await openOfflineStt(PATIENT);
  });
  afterAll(() => engine.close());

  async function hear(samples: Int16Array): Promise<string | null> {
    const record = new SttRecord();
    const stream = engine.open({ language: "en" }, record);
    const utteranceId = ++utterances;
    stream.open(utteranceId);
    pushAll(stream, utteranceId, samples);
    stream.request(utteranceId, 0);
    const [answer] = await record.answered(1);
    stream.close();
    if (answer?.type !== "final" || answer.understood !== (answer.text !== "")) return null;
    return answer.text;
  }

  it.each([
    ["cards_001.wav", "ten of clubs"],
    ["cards_002.wav", "four queen of clubs"],
    ["cards_004.wav", "five five"],
    ["cards_005.wav", "eight of spades four of clubs seven of hearts"],
    ["goforward.wav", "go forward ten meters"],
  ])("hears %s", async (name, text) => {
    const samples = readSpeechFixture(name);
    expect(await hear(samples)).toBe(text);
    // A tenth of the level is what a caller far from the microphone gives.
    expect(await hear(samples.map((sample) => sample / 10))).toBe(text);
  });

  it.each(["jfk.wav", "austen_0880.wav", "austen_0920.wav", "austen_0930.wav", "austen_long_pauses.wav"])(
    "makes nothing of %s",
    async (name) => {
      expect(await hear(readSpeechFixture(name))).toBe("");
    },
  );

  it("makes nothing of a speech cut into pieces", async () => {
    const samples = readSpeechFixture("jfk.wav");
    const piece = 16_000 * 2.5;
    for (let at = 0; at + piece <= samples.length; at += piece) {
      expect(await hear(samples.slice(at, at + piece))).toBe("");
    }
  });

  it("makes nothing of silence, noise, tones and clicks", async () => {
    const seconds = { length: 32_000 };
    let seed = 1;
    const random = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647 - 0.5;
    const sounds = [
      new Int16Array(32_000),
      Int16Array.from(seconds, () => 200 * random()),
      Int16Array.from(seconds, () => 8_000 * random()),
      Int16Array.from(seconds, (_, index) => 8_000 * Math.sin((2 * Math.PI * 440 * index) / 16_000)),
      Int16Array.from(seconds, (_, index) => (index % 4_000 < 40 ? 30_000 * random() : 30 * random())),
      new Int16Array(32_000).fill(32_767),
    ];
    for (const sound of sounds) expect(await hear(sound)).toBe("");
  });

  it("makes nothing of speech that continues for longer than any phrase", async () => {
    const card = readSpeechFixture("cards_001.wav");
    const many = new Int16Array(card.length * 20);
    for (let index = 0; index < 20; index++) many.set(card, index * card.length);
    expect(await hear(many)).toBe("");
  });
});

/**
 * Single letters and digits, one file each (`one.wav`, `a.wav`). They are not in the repository because their licence
 * says nothing of the recordings; the clips are `test-assets/alphanumeric` of moonshine-ai/moonshine.
 */
const CLIPS = process.env["TEST_ALPHANUMERIC_CLIPS"];
const DIGITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
const LETTERS = "abcdefghijklmnpqrstuvwxyz".split("");

if (CLIPS === undefined) {
  process.stderr.write("skipped: single digits and letters (set TEST_ALPHANUMERIC_CLIPS to their folder)\n");
}

describe.skipIf(CLIPS === undefined)("single words", () => {
  it("are heard as digits for the most part, never as another digit, and letters seldom as anything", async () => {
    const engine = await openOfflineStt(PATIENT);
    const record = new SttRecord();
    const stream = engine.open({ language: "en" }, record);
    const names = [...DIGITS, ...LETTERS].filter((name) => existsSync(join(CLIPS ?? "", `${name}.wav`)));
    expect(names).toHaveLength(DIGITS.length + LETTERS.length);
    const heard = new Map<string, string>();
    for (const [index, name] of names.entries()) {
      stream.open(index);
      pushAll(stream, index, readSpeechFile(join(CLIPS ?? "", `${name}.wav`)));
      stream.request(index, 0);
      const answer = (await record.answered(index + 1)).at(-1);
      heard.set(name, answer?.type === "final" ? answer.text : "failed");
      stream.abandon(index);
    }
    await engine.close();
    const right = DIGITS.filter((digit) => heard.get(digit) === digit);
    const wrong = DIGITS.filter((digit) => ![digit, ""].includes(heard.get(digit) ?? ""));
    const mistaken = LETTERS.filter((letter) => heard.get(letter) !== "");
    expect(wrong).toEqual([]);
    expect(right.length).toBeGreaterThanOrEqual(7);
    expect(mistaken.length).toBeLessThanOrEqual(3);
  });
});

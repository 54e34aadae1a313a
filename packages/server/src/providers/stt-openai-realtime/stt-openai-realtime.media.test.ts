import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { initResampler } from "../../media/resample.ts";
import type { SttEngine, SttStream } from "../../ports/stt.ts";
import { ManualTimers } from "../../ports/testing/manual-timers.ts";
import { describeSttConformance, pushAll, SttRecord } from "../../ports/testing/stt-conformance.ts";
import { until } from "../../ports/testing/until.ts";
import { speechOf, unclearSpeech } from "../../ports/testing/word-audio.ts";
import { openOpenAiRealtimeStt } from "./stt-openai-realtime.ts";
import { FakeRealtime, type FakeRealtimeOptions } from "./testing/fake-realtime.ts";

const KEY = "sk-key";
const MODEL = "gpt-4o-mini-transcribe";
const fakes: FakeRealtime[] = [];
const engines: SttEngine[] = [];

beforeAll(() => initResampler(process));

afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.close()));
  const violations = fakes.flatMap((fake) => fake.violations);
  await Promise.all(fakes.splice(0).map((fake) => fake.close()));
  if (violations.length > 0) throw new Error(`the fake refused: ${violations.join("; ")}`);
});

async function openFake(options: FakeRealtimeOptions = {}): Promise<FakeRealtime> {
  const fake = await FakeRealtime.open(options);
  fakes.push(fake);
  return fake;
}

class FullRecord extends SttRecord {
  readonly partials: string[] = [];
  readonly errors: Error[] = [];
  override partial(...given: [number?, string?]): void {
    this.partials.push(given[1] ?? "");
  }
  override failed(utteranceId: number, revision: number, error: Error): void {
    this.errors.push(error);
    super.failed(utteranceId, revision, error);
  }
}

interface SetUp {
  readonly fake: FakeRealtime;
  readonly timers: ManualTimers;
  readonly record: FullRecord;
  readonly stream: SttStream;
  readonly say: (utteranceId: number, text: string, revision?: number) => void;
}

async function setUp(
  options: FakeRealtimeOptions = {},
  call: { readonly language?: string; readonly hints?: readonly string[] } = {},
): Promise<SetUp> {
  const timers = new ManualTimers();
  const fake = await openFake(options);
  const engine = openOpenAiRealtimeStt({ baseUrl: fake.baseUrl, apiKey: KEY, model: MODEL, clock: timers });
  engines.push(engine);
  const record = new FullRecord();
  const { language = null, hints } = call;
  const stream = engine.open({ language, ...(hints === undefined ? {} : { hints }) }, record);
  const say = (utteranceId: number, text: string, revision = 0): void => {
    stream.open(utteranceId);
    pushAll(stream, utteranceId, speechOf(text));
    stream.request(utteranceId, revision);
  };
  return { fake, timers, record, stream, say };
}

describeSttConformance("OpenAI realtime transcription", {
  open: async () => openOpenAiRealtimeStt({ baseUrl: (await openFake()).baseUrl, apiKey: KEY, model: MODEL }),
  spoken: [
    { samples: speechOf("ten of clubs please"), text: "ten of clubs please" },
    { samples: speechOf("go forward"), text: "go forward" },
  ],
  unintelligible: unclearSpeech(800),
  foreignLanguage: "und",
  openHanging: async () => {
    const reached = Promise.withResolvers<void>();
    const { baseUrl } = await openFake({
      atCommit: () => {
        reached.resolve();
        return "hang";
      },
    });
    return {
      engine: openOpenAiRealtimeStt({ baseUrl, apiKey: KEY, model: MODEL }),
      reached: reached.promise,
    };
  },
  openFailing: async () =>
    openOpenAiRealtimeStt({
      baseUrl: (await openFake({ atCommit: () => "fail" })).baseUrl,
      apiKey: KEY,
      model: MODEL,
    }),
});

describe("a session", () => {
  it("has the settings of the call, and no turns of the server's", async () => {
    const { fake, record, say } = await setUp({}, { language: "de-CH", hints: ["Fawlty Towers", "Torquay"] });
    say(1, "yes please");
    await record.answered(1);
    expect(fake.connections.map(({ settings }) => settings)).toEqual([
      {
        type: "transcription",
        audio: {
          input: {
            format: { type: "audio/pcm", rate: 24_000 },
            transcription: {
              model: MODEL,
              language: "de",
              prompt: "These words may occur: Fawlty Towers, Torquay.",
            },
            turn_detection: null,
          },
        },
      },
    ]);
  });

  it("puts the items of an utterance together in their order, whichever is ready first", async () => {
    const { record, stream, say } = await setUp({
      atCommit: (count) => (count === 2 ? "hold" : "answer"),
      inPieces: true,
    });
    // Once the connection is open, each request has an item of its own.
    say(9, "go");
    await record.answered(1);
    stream.abandon(9);
    say(1, "ten of", 1);
    pushAll(stream, 1, speechOf("clubs please"));
    stream.request(1, 2);
    expect(await record.answered(3)).toMatchObject([
      { utteranceId: 9, text: "go" },
      { revision: 1, text: "ten of" },
      { revision: 2, text: "ten of clubs please" },
    ]);
    expect(record.partials.at(-1)).toBe("ten of clubs please");
  });

  it("keeps the words of an abandoned utterance out of the next one", async () => {
    const { fake, record, stream, say } = await setUp();
    say(9, "go");
    await record.answered(1);
    stream.abandon(9);
    say(1, "wait stop");
    stream.abandon(1);
    stream.open(2);
    pushAll(stream, 2, speechOf("table"));
    stream.abandon(2);
    say(3, "no");
    await record.answered(2);
    expect(record.answers).toMatchObject([{}, { utteranceId: 3, text: "no" }]);
    expect(fake.connections).toHaveLength(1);
  });

  it("commits no audio that the server would refuse as too short", async () => {
    const { fake, record, stream, say } = await setUp();
    say(1, "four", 1);
    await record.answered(1);
    pushAll(stream, 1, new Int16Array(800));
    stream.request(1, 2);
    expect(await record.answered(2)).toMatchObject([{ text: "four" }, { revision: 2, text: "four" }]);
    expect(fake.commits).toBe(1);
  });
});

describe("a fault", () => {
  it.each([
    [401, true],
    [403, true],
    [404, true],
    [429, false],
    [500, false],
  ])(
    "of HTTP %i fails the request, permanently: %s, and never shows the key",
    async (status, isPermanent) => {
      const { record, timers, say } = await setUp({ refuse: status });
      say(1, "yes");
      await until(() => {
        timers.pass(1_000);
        return record.errors.length === 1;
      });
      expect(record.errors).toMatchObject([{ isPermanent, type: String(status) }]);
      expect(record.errors[0]?.message).not.toContain(KEY);
    },
  );

  it.each(["drop", "garbage", "expire"] as const)(
    "(%s) at a commit moves the utterance to a new connection",
    async (fault) => {
      const { fake, record, timers, say } = await setUp({
        atCommit: (count) => (count === 1 ? fault : "answer"),
      });
      say(1, "ten of clubs");
      await until(() => {
        timers.pass(100);
        return record.answers.length === 1;
      });
      expect(record.answers).toMatchObject([{ type: "final", text: "ten of clubs" }]);
      expect(fake.connections).toHaveLength(2);
      expect(fake.connections[1]?.heard).toBe("ten of clubs");
    },
  );

  it("of one transcript fails its request with the server's words, without the key; the next one works", async () => {
    const { record, stream, say } = await setUp({ atCommit: (count) => (count === 1 ? "fail" : "answer") });
    say(1, "ten of clubs", 1);
    expect(await record.answered(1)).toMatchObject([{ type: "failed" }]);
    expect(record.errors[0]?.message).toBe("the recogniser failed: it failed for [key]");
    stream.request(1, 2);
    expect(await record.answered(2)).toMatchObject([
      {},
      { type: "final", revision: 2, text: "ten of clubs" },
    ]);
  });

  it("of the model is a permanent failure", async () => {
    const { record, say } = await setUp({ atCommit: () => "badModel" });
    say(1, "yes");
    await record.answered(1);
    expect(record.errors).toMatchObject([{ isPermanent: true, type: "model_not_found" }]);
  });

  it("of a transcript that never comes fails after the limit", async () => {
    const { fake, record, timers, say } = await setUp({ atCommit: () => "hang" });
    say(1, "yes");
    await until(() => fake.commits === 1);
    timers.pass(3_000);
    await record.answered(1);
    expect(record.errors).toMatchObject([{ type: "timeout", isPermanent: false }]);
  });

  it("of settings that are never accepted fails the request", async () => {
    const { record, timers, say } = await setUp({ hangsAtStart: true });
    say(1, "yes");
    await until(() => {
      timers.pass(1_000);
      return record.errors.length === 1;
    });
    expect(record.errors[0]?.message).toContain("settings");
  });
});

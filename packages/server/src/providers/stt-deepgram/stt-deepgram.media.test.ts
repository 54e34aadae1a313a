import { afterEach, describe, expect, it } from "vitest";
import { EngineFailure } from "../../ports/engine-failure.ts";
import type { SttEngine, SttStream } from "../../ports/stt.ts";
import { ManualTimers } from "../../ports/testing/manual-timers.ts";
import { describeSttConformance, pushAll, SttRecord } from "../../ports/testing/stt-conformance.ts";
import { until } from "../../ports/testing/until.ts";
import { speechOf, unclearSpeech } from "../../ports/testing/word-audio.ts";
import { openDeepgramStt } from "./stt-deepgram.ts";
import { FakeDeepgram, type FakeDeepgramOptions } from "./testing/fake-deepgram.ts";

const KEY = "dg-key";
const fakes: FakeDeepgram[] = [];
const engines: SttEngine[] = [];

afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.close()));
  const violations = fakes.flatMap((fake) => fake.violations);
  await Promise.all(fakes.splice(0).map((fake) => fake.close()));
  if (violations.length > 0) throw new Error(`the fake refused: ${violations.join("; ")}`);
});

async function openFake(options: FakeDeepgramOptions = {}): Promise<FakeDeepgram> {
  const fake = await FakeDeepgram.open(options);
  fakes.push(fake);
  return fake;
}

interface SetUp {
  readonly fake: FakeDeepgram;
  readonly engine: SttEngine;
  readonly timers: ManualTimers;
  readonly record: FullRecord;
  readonly stream: SttStream;
  readonly say: (utteranceId: number, text: string, revision?: number) => void;
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

async function setUp(
  options: FakeDeepgramOptions = {},
  call: {
    readonly language?: string;
    readonly hints?: readonly string[];
    readonly model?: string;
  } = {},
): Promise<SetUp> {
  const timers = new ManualTimers();
  const fake = await openFake({ clock: timers, ...options });
  const { model = "nova-3", language = null, hints } = call;
  const engine = openDeepgramStt({ baseUrl: fake.baseUrl, apiKey: KEY, model, clock: timers });
  engines.push(engine);
  const record = new FullRecord();
  const stream = engine.open({ language, ...(hints === undefined ? {} : { hints }) }, record);
  const say = (utteranceId: number, text: string, revision = 0): void => {
    stream.open(utteranceId);
    pushAll(stream, utteranceId, speechOf(text));
    stream.request(utteranceId, revision);
  };
  return { fake, engine, timers, record, stream, say };
}

describeSttConformance("Deepgram", {
  open: async () => {
    const { baseUrl } = await openFake({ lacks: ["tlh"] });
    return openDeepgramStt({ baseUrl, apiKey: KEY, model: "nova-3" });
  },
  spoken: [
    { samples: speechOf("ten of clubs please"), text: "ten of clubs please" },
    { samples: speechOf("go forward"), text: "go forward" },
  ],
  unintelligible: unclearSpeech(800),
  foreignLanguage: "tlh",
  openHanging: async () => {
    const reached = Promise.withResolvers<void>();
    const { baseUrl } = await openFake({
      atFinalize: () => {
        reached.resolve();
        return "hang";
      },
    });
    const engine = openDeepgramStt({ baseUrl, apiKey: KEY, model: "nova-3" });
    return { engine, reached: reached.promise };
  },
  openFailing: async () => {
    const { baseUrl } = await openFake({ refuse: 503 });
    return openDeepgramStt({ baseUrl, apiKey: KEY, model: "nova-3" });
  },
});

describe("a call on one connection", () => {
  it("asks for what the port needs, in the language and with the hints of the call", async () => {
    const { fake, record, say } = await setUp({}, { language: "en-gb", hints: ["Fawlty Towers", "Torquay"] });
    say(1, "yes please");
    await record.answered(1);
    expect(fake.connections.map(({ query }) => query)).toEqual([
      {
        model: "nova-3",
        language: "en-GB",
        encoding: "linear16",
        sample_rate: "16000",
        channels: "1",
        interim_results: "true",
        punctuate: "true",
        endpointing: "false",
        keyterm: ["Fawlty Towers", "Torquay"],
      },
    ]);
  });

  it("gives earlier models the words of the hints", async () => {
    const { fake, record, say } = await setUp({}, { model: "nova-2", hints: ["Fawlty Towers"] });
    say(1, "yes");
    await record.answered(1);
    expect(fake.connections[0]?.query).toMatchObject({ keywords: ["Fawlty", "Towers"] });
    expect(fake.connections[0]?.query).not.toHaveProperty("language");
  });

  it("shows early text while the caller speaks, in frames of any size", async () => {
    const { record, say } = await setUp({ inPieces: true });
    say(1, "ten of clubs go forward please");
    const answers = await record.answered(1);
    expect(answers).toMatchObject([{ type: "final", text: "ten of clubs go forward please" }]);
    expect(record.partials.length).toBeGreaterThan(1);
    expect("ten of clubs go forward please".startsWith(record.partials[0] ?? "-")).toBe(true);
  });

  it("joins the results of long speech", async () => {
    const { record, say } = await setUp();
    const text = Array.from({ length: 30 }, (_, index) => (index % 2 === 0 ? "go" : "stop")).join(" ");
    say(1, text);
    expect(await record.answered(1)).toMatchObject([{ type: "final", text }]);
  });

  it("keeps the words of an abandoned utterance out of the next one", async () => {
    const { fake, record, stream, say } = await setUp();
    say(9, "go");
    await record.answered(1);
    stream.abandon(9);
    stream.open(1);
    pushAll(stream, 1, speechOf("wait wait wait wait"));
    stream.abandon(1);
    say(2, "yes");
    stream.abandon(2);
    say(3, "no");
    await record.answered(2);
    expect(record.answers).toMatchObject([{}, { utteranceId: 3, text: "no" }]);
    expect(record.partials.some((text) => text.includes("wait") && text.includes("no"))).toBe(false);
    expect(fake.connections).toHaveLength(1);
    expect(fake.connections[0]?.heard()).toBe("go wait wait wait wait yes no");
  });

  it("answers a repeated request without new audio from what it knows", async () => {
    const { fake, record, stream, say } = await setUp();
    say(1, "table", 1);
    await record.answered(1);
    stream.request(1, 2);
    expect(await record.answered(2)).toMatchObject([{ text: "table" }, { revision: 2, text: "table" }]);
    expect(fake.finalizes).toBe(1);
  });

  it("stays open through a long silence, by messages of their own", async () => {
    const { fake, record, timers, say } = await setUp();
    say(1, "yes");
    await record.answered(1);
    for (let index = 1; index <= 8; index += 1) {
      timers.pass(4_000);
      await until(
        () => fake.connections[0]?.messages.filter((text) => text.includes("KeepAlive")).length === index,
      );
    }
    say(1, "no", 1);
    expect(await record.answered(2)).toMatchObject([{ text: "yes" }, { text: "yes no" }]);
    expect(fake.connections).toHaveLength(1);
  });

  it("ends with a word to the server", async () => {
    const { fake, stream, record, say } = await setUp();
    say(1, "yes");
    await record.answered(1);
    stream.close();
    await until(() => fake.connections[0]?.closeCode !== null);
    expect(fake.connections[0]?.messages.at(-1)).toBe('{"type":"CloseStream"}');
  });
});

describe("a `Finalize` that Deepgram leaves unanswered", () => {
  it("is answered from interim results that cover the audio", async () => {
    const { record, timers, say } = await setUp({ atFinalize: () => "interim" });
    say(1, "four");
    await until(() => record.partials.includes("four"));
    timers.pass(3_000);
    expect(await record.answered(1)).toMatchObject([{ type: "final", text: "four", understood: true }]);
  });

  it("fails where nothing of the audio is known, and the next request has a new connection", async () => {
    const { fake, record, timers, stream, say } = await setUp({
      atFinalize: (count) => (count === 1 ? "hang" : "answer"),
    });
    say(1, "four");
    await until(() => fake.finalizes === 1);
    timers.pass(3_000);
    expect(await record.answered(1)).toMatchObject([
      { type: "failed", error: expect.stringMatching(/within 3000 ms/) as string },
    ]);
    expect(record.errors[0]).toMatchObject({ type: "timeout", isPermanent: false });
    stream.request(1, 1);
    expect(await record.answered(2)).toMatchObject([{}, { type: "final", revision: 1, text: "four" }]);
    expect(fake.connections).toHaveLength(2);
  });

  it("is waited for as long as the measured answers suggest", async () => {
    const { fake, record, timers, engine, stream, say } = await setUp({
      atFinalize: (count) => (count <= 20 ? "answer" : "hang"),
    });
    for (let count = 1; count <= 20; count += 1) {
      say(count, "go");
      await record.answered(count);
      stream.abandon(count);
    }
    expect(engine.answerDelayMs?.()).toBe(0);
    say(21, "go");
    const before = fake.finalizes;
    await until(() => fake.finalizes >= before && fake.finalizes >= 21);
    timers.pass(800);
    expect(await record.answered(21)).toMatchObject(
      Array.from({ length: 21 }, (_, index) => ({ type: index < 20 ? "final" : "failed" })),
    );
  });
});

describe("a fault", () => {
  it.each([
    [401, true],
    [402, true],
    [403, true],
    [404, true],
    [400, true],
    [429, false],
    [500, false],
  ])(
    "of HTTP %i fails the request, permanently: %s, and never shows the key",
    async (status, isPermanent) => {
      const { record, timers, say, fake } = await setUp({ refuse: status });
      say(1, "yes");
      await until(() => {
        timers.pass(1_000);
        return record.errors.length === 1;
      });
      expect(record.errors).toMatchObject([{ isPermanent, type: String(status) }]);
      expect(record.errors[0]).toBeInstanceOf(EngineFailure);
      expect(record.errors[0]?.message).toContain(String(status));
      expect(record.errors[0]?.message).not.toContain(KEY);
      expect(fake.requests.length).toBe(isPermanent ? 1 : 4);
    },
  );

  it.each(["drop", "garbage", "error"] as const)(
    "(%s) in an answer moves the utterance to a new connection",
    async (fault) => {
      const { fake, record, timers, say } = await setUp({
        atFinalize: (count) => (count === 1 ? fault : "answer"),
      });
      say(1, "ten of clubs");
      await until(() => {
        timers.pass(100);
        return record.answers.length === 1;
      });
      expect(record.answers).toMatchObject([{ type: "final", text: "ten of clubs" }]);
      expect(fake.connections).toHaveLength(2);
      expect(fake.connections[1]?.heard()).toBe("ten of clubs");
    },
  );

  it("that repeats fails after three more connections", async () => {
    const { fake, record, timers, say } = await setUp({ atFinalize: () => "drop" });
    say(1, "ten of clubs");
    await until(() => {
      timers.pass(1_000);
      return record.errors.length === 1;
    });
    expect(record.answers).toMatchObject([{ type: "failed" }]);
    expect(fake.connections).toHaveLength(4);
    expect(record.errors[0]).toMatchObject({ type: "closed", isPermanent: false });
  });

  it("in the middle of speech costs no word", async () => {
    const { fake, record, timers, stream } = await setUp();
    stream.open(1);
    pushAll(stream, 1, speechOf("ten of"));
    await until(() => (fake.connections[0]?.audioMs ?? 0) > 400);
    fake.connections[0]?.socket.terminate();
    pushAll(stream, 1, speechOf("clubs please"));
    stream.request(1, 0);
    await until(() => {
      timers.pass(100);
      return record.answers.length === 1;
    });
    expect(record.answers).toMatchObject([{ type: "final", text: "ten of clubs please" }]);
  });

  it("between utterances costs nothing: the next one has a new connection", async () => {
    const { fake, record, timers, stream, say } = await setUp();
    say(1, "yes");
    await record.answered(1);
    stream.abandon(1);
    fake.connections[0]?.socket.close(1011, "NET-0001");
    await until(() => fake.connections[0]?.closeCode !== null);
    say(2, "no");
    await until(() => {
      timers.pass(100);
      return record.answers.length === 2;
    });
    expect(record.answers).toMatchObject([{ text: "yes" }, { text: "no" }]);
  });
});

describe("settings", () => {
  const open = (changes: object) => () =>
    openDeepgramStt({ baseUrl: "https://api.deepgram.com", apiKey: KEY, model: "nova-3", ...changes });

  it.each([
    [{ baseUrl: "ftp://x" }, "base URL"],
    [{ baseUrl: "https://a:secret@x" }, "password"],
    [{ apiKey: "secret key" }, "API key"],
    [{ model: "" }, "model"],
    [{ endOfTurnMs: 500 }, "end of a turn"],
  ])("%j are refused without quoting a secret", (changes, words) => {
    expect(open(changes)).toThrow(words);
    expect(open(changes)).not.toThrow("secret");
  });
});

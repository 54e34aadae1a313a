import { afterEach, describe, expect, it } from "vitest";
import { EngineFailure } from "../../ports/engine-failure.ts";
import type { SttEngine, SttStream } from "../../ports/stt.ts";
import { ManualTimers } from "../../ports/testing/manual-timers.ts";
import { describeSttConformance, pushAll, SttRecord } from "../../ports/testing/stt-conformance.ts";
import { until } from "../../ports/testing/until.ts";
import { speechOf, unclearSpeech } from "../../ports/testing/word-audio.ts";
import { openDeepgramStt } from "./stt-deepgram.ts";
import { FakeFlux, type FakeFluxOptions } from "./testing/fake-flux.ts";

const KEY = "dg-key";
const fakes: FakeFlux[] = [];
const engines: SttEngine[] = [];

afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.close()));
  const violations = fakes.flatMap((fake) => fake.violations);
  await Promise.all(fakes.splice(0).map((fake) => fake.close()));
  if (violations.length > 0) throw new Error(`the fake refused: ${violations.join("; ")}`);
});

async function openFake(options: FakeFluxOptions = {}): Promise<FakeFlux> {
  const fake = await FakeFlux.open(options);
  fakes.push(fake);
  return fake;
}

describeSttConformance("Deepgram Flux", {
  open: async () => {
    const { baseUrl } = await openFake({ lacks: ["tlh"] });
    return openDeepgramStt({ baseUrl, apiKey: KEY, model: "flux-general-multi" });
  },
  spoken: [
    { samples: speechOf("ten of clubs please"), text: "ten of clubs please" },
    { samples: speechOf("go forward"), text: "go forward" },
  ],
  unintelligible: unclearSpeech(800),
  foreignLanguage: "tlh",
  openHanging: async () => {
    const reached = Promise.withResolvers<void>();
    const { baseUrl } = await openFake({ act: () => "hang", heard: () => reached.resolve() });
    const engine = openDeepgramStt({ baseUrl, apiKey: KEY, model: "flux-general-multi" });
    return { engine, reached: reached.promise };
  },
  openFailing: async () => {
    const { baseUrl } = await openFake({ refuse: 503 });
    return openDeepgramStt({ baseUrl, apiKey: KEY, model: "flux-general-multi" });
  },
});

class FullRecord extends SttRecord {
  readonly partials: string[] = [];
  readonly errors: Error[] = [];
  readonly opinions: (number | null)[] = [];
  override partial(...given: [number?, string?]): void {
    this.partials.push(given[1] ?? "");
  }
  override failed(utteranceId: number, revision: number, error: Error): void {
    this.errors.push(error);
    super.failed(utteranceId, revision, error);
  }
  judged(_utteranceId: number, finished: number | null): void {
    this.opinions.push(finished);
  }
}

interface SetUp {
  readonly fake: FakeFlux;
  readonly timers: ManualTimers;
  readonly record: FullRecord;
  readonly stream: SttStream;
}

async function setUp(
  options: FakeFluxOptions = {},
  call: {
    readonly model?: string;
    readonly language?: string | null;
    readonly hints?: readonly string[];
    readonly endOfTurnMs?: number;
  } = {},
): Promise<SetUp> {
  const timers = new ManualTimers();
  const fake = await openFake({ clock: timers, ...options });
  const { model = "flux-general-en", language = null, hints, endOfTurnMs = 1_500 } = call;
  const engine = openDeepgramStt({ baseUrl: fake.baseUrl, apiKey: KEY, model, endOfTurnMs, clock: timers });
  engines.push(engine);
  const record = new FullRecord();
  const stream = engine.open({ language, ...(hints === undefined ? {} : { hints }) }, record);
  // Both ends are ready: each has a timer for an idle connection.
  if (options.refuse === undefined) await until(() => timers.count === 2);
  return { fake, timers, record, stream };
}

const silence = (ms: number): Int16Array => new Int16Array(16 * ms);
/** What a call pushes: the speech, the request 60 ms after it, and the silence that follows. */
function say(stream: SttStream, utteranceId: number, text: string, silentMs = 600, revision = 0): void {
  stream.open(utteranceId);
  pushAll(stream, utteranceId, speechOf(text));
  stream.request(utteranceId, revision);
  pushAll(stream, utteranceId, silence(silentMs));
}

describe("a call with a Flux model", () => {
  it("asks for what the port needs, with the hints of the call", async () => {
    const { fake, record, stream } = await setUp({}, { hints: ["Fawlty Towers", "Torquay"] });
    say(stream, 1, "yes please");
    await record.answered(1);
    expect(fake.connections.map(({ query }) => query)).toEqual([
      {
        model: "flux-general-en",
        encoding: "linear16",
        sample_rate: "16000",
        eager_eot_threshold: "0.5",
        eot_threshold: "0.7",
        eot_timeout_ms: "1500",
        keyterm: ["Fawlty Towers", "Torquay"],
      },
    ]);
  });

  it.each([
    ["flux-general-multi", "de-CH", ["de"], 0],
    ["flux-general-en", "en-GB", undefined, 0],
    ["flux-general-en", "de", undefined, 1],
    ["flux-general-multi", null, undefined, 0],
  ] as const)(
    "%s in the language %s has the hint %j, and %i warnings",
    async (model, language, hint, count) => {
      const { fake, record, stream } = await setUp({}, { model, language });
      say(stream, 1, "yes");
      await record.answered(1);
      expect(fake.connections[0]?.query["language_hint"]).toEqual(hint);
      expect(record.warnings).toHaveLength(count);
    },
  );

  it("shows early text while the caller speaks, in frames of any size", async () => {
    const { record, stream } = await setUp({ inPieces: true });
    const text = "ten of clubs go forward please";
    say(stream, 1, text);
    expect(await record.answered(1)).toMatchObject([{ type: "final", text }]);
    expect(record.partials.length).toBeGreaterThan(1);
    expect(text.startsWith(record.partials[0] ?? "-")).toBe(true);
  });

  it("is answered by the early end of the turn, and without one when enough was heard beyond the request", async () => {
    for (const neverEnds of [false, true]) {
      const { fake, record, stream } = await setUp({ neverEnds });
      say(stream, 1, "ten of clubs");
      expect(await record.answered(1)).toMatchObject([{ type: "final", text: "ten of clubs" }]);
      expect(fake.connections[0]?.events.includes("EagerEndOfTurn")).toBe(!neverEnds);
    }
  });

  it("sends silence where no audio follows a request, once", async () => {
    const { fake, record, stream, timers } = await setUp({ neverEnds: true });
    say(stream, 1, "ten of clubs", 0);
    const [connection] = fake.connections;
    await until(() => (fake.connections[0]?.audioMs ?? 0) >= 780);
    timers.pass(200);
    expect(await record.answered(1)).toMatchObject([{ text: "ten of clubs" }]);
    timers.pass(700);
    expect(fake.connections[0]?.audioMs).toBe(780 + 560);
    expect(connection?.closeCode ?? null).toBeNull();
  });

  it("joins the turns of an utterance", async () => {
    const { fake, record, stream } = await setUp();
    say(stream, 1, "ten of clubs", 900);
    await record.answered(1);
    await until(() => fake.connections[0]?.events.includes("EndOfTurn") === true);
    pushAll(stream, 1, speechOf("go forward"));
    stream.request(1, 1);
    pushAll(stream, 1, silence(600));
    expect(await record.answered(2)).toMatchObject([{}, { revision: 1, text: "ten of clubs go forward" }]);
  });

  it.each([
    { isUntimed: false },
    { isUntimed: true },
    { isUntimed: false, ignoresForce: true },
    { isUntimed: true, ignoresForce: true },
  ])("keeps the words of an earlier utterance out: %j", async (options) => {
    const { fake, record, stream } = await setUp({ ...options, neverEnds: true });
    stream.open(1);
    pushAll(stream, 1, speechOf("wait wait wait wait"));
    await until(() => record.partials.at(-1) === "wait wait wait wait");
    stream.abandon(1);
    say(stream, 2, "yes please");
    expect(await record.answered(1)).toMatchObject([{ utteranceId: 2, text: "yes please" }]);
    expect(fake.connections[0]?.messages).toContain('{"type":"ForceEndTurn"}');
  });

  it("stays open through a long silence, by pings", async () => {
    const { fake, record, stream, timers } = await setUp();
    say(stream, 1, "yes");
    await record.answered(1);
    stream.abandon(1);
    for (let index = 0; index < 12; index += 1) {
      const pinged = new Promise((resolve) => fake.connections[0]?.socket.once("ping", resolve));
      timers.pass(20_000);
      await pinged;
    }
    say(stream, 2, "no");
    expect(await record.answered(2)).toMatchObject([{ text: "yes" }, { text: "no" }]);
    expect(fake.connections).toHaveLength(1);
  });

  it("ends with a word to the server", async () => {
    const { fake, record, stream } = await setUp();
    say(stream, 1, "yes");
    await record.answered(1);
    stream.close();
    await until(() => fake.connections[0]?.closeCode !== null);
    expect(fake.connections[0]?.messages.at(-1)).toBe('{"type":"CloseStream"}');
  });
});

describe("the end of a turn", () => {
  it("is an opinion: early with its confidence, for good as one that is sure", async () => {
    const { record, stream } = await setUp();
    say(stream, 1, "ten of clubs", 900);
    await until(() => record.opinions.length === 2);
    expect(record.opinions).toEqual([0.6, 0.9]);
  });

  it("is taken back when the user goes on, before and after it was for good", async () => {
    const { record, stream } = await setUp();
    say(stream, 1, "ten of clubs", 250);
    await until(() => record.opinions.length === 1);
    pushAll(stream, 1, speechOf("go"));
    pushAll(stream, 1, silence(700));
    await until(() => record.opinions.length === 4);
    pushAll(stream, 1, speechOf("please"));
    await until(() => record.opinions.length === 5);
    expect(record.opinions).toEqual([0.6, null, 0.6, 0.9, null]);
  });

  it("is none where it is not asked for", async () => {
    const { fake, record, stream } = await setUp({}, { endOfTurnMs: 0 });
    say(stream, 1, "ten of clubs", 900);
    await record.answered(1);
    await until(() => fake.connections[0]?.events.includes("EndOfTurn") === true);
    stream.request(1, 1);
    pushAll(stream, 1, silence(600));
    await record.answered(2);
    expect(record.opinions).toEqual([]);
    expect(fake.connections[0]?.query["eot_timeout_ms"]).toBe("5000");
  });
});

describe("a fault of a Flux model", () => {
  it.each([
    [401, true],
    [402, true],
    [400, true],
    [429, false],
    [500, false],
  ])(
    "of HTTP %i fails the request, permanently: %s, and never shows the key",
    async (status, isPermanent) => {
      const { fake, record, stream, timers } = await setUp({ refuse: status });
      say(stream, 1, "yes");
      await until(() => {
        timers.pass(1_000);
        return record.errors.length === 1;
      });
      expect(record.errors).toMatchObject([{ isPermanent, type: String(status) }]);
      expect(record.errors[0]).toBeInstanceOf(EngineFailure);
      expect(record.errors[0]?.message).not.toContain(KEY);
      expect(fake.requests).toHaveLength(isPermanent ? 1 : 4);
    },
  );

  it.each(["drop", "garbage", "error"] as const)(
    "(%s) moves the utterance to a new connection, and costs no word",
    async (fault) => {
      const { fake, record, stream, timers } = await setUp({
        act: (connection) => (connection === 1 ? fault : "answer"),
      });
      say(stream, 1, "ten of clubs");
      await until(() => {
        timers.pass(100);
        return record.answers.length === 1;
      });
      expect(record.answers).toMatchObject([{ type: "final", text: "ten of clubs" }]);
      expect(fake.connections).toHaveLength(2);
    },
  );

  it("that stays open and says nothing fails the request, and the next one has a new connection", async () => {
    const { fake, record, stream, timers } = await setUp({
      act: (connection) => (connection === 1 ? "hang" : "answer"),
    });
    say(stream, 1, "four");
    await until(() => fake.connections[0]?.heard() === "four");
    timers.pass(3_000);
    expect(await record.answered(1)).toMatchObject([{ type: "failed" }]);
    expect(record.errors[0]).toMatchObject({ type: "timeout", isPermanent: false });
    stream.request(1, 1);
    await until(() => fake.connections[1]?.heard() === "four" && timers.count >= 3);
    timers.pass(200);
    expect(await record.answered(2)).toMatchObject([{}, { type: "final", revision: 1, text: "four" }]);
    expect(fake.connections).toHaveLength(2);
  });
});

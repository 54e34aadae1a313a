import { expect, it } from "vitest";
import { STT_MAX_UTTERANCE_MS, STT_SAMPLE_RATE_HZ } from "../ports/stt.ts";
import { describeSttConformance, SttRecord } from "../ports/testing/stt-conformance.ts";
import {
  openBatchStt,
  STT_MAX_REQUESTS_PER_UTTERANCE,
  STT_MIN_UTTERANCE_MS,
  type BatchRecogniser,
} from "./batch-stt.ts";

const ENGLISH = { language: "en" } as const;

function recogniser(changes: Partial<BatchRecogniser> = {}): BatchRecogniser {
  return {
    name: "test",
    transcribe: (samples) => Promise.resolve({ 1: "one", 2: "two" }[samples[0] ?? 0] ?? ""),
    warningFor: (language) => (language.startsWith("en") ? null : `${language} is not spoken here`),
    close: () => Promise.resolve(),
    ...changes,
  };
}

const half = new Int16Array(8_000);

describeSttConformance("a batch recogniser", {
  open: () => openBatchStt(recogniser()),
  spoken: [
    { samples: half.slice().fill(1), text: "one" },
    { samples: half.slice().fill(2), text: "two" },
  ],
  unintelligible: half,
  foreignLanguage: "fr-FR",
  openHanging: () => {
    const { promise: reached, resolve } = Promise.withResolvers<void>();
    const transcribe = (): Promise<string> => {
      resolve();
      return new Promise(() => undefined);
    };
    return { engine: openBatchStt(recogniser({ transcribe })), reached };
  },
  openFailing: () => openBatchStt(recogniser({ transcribe: () => Promise.reject(new Error("broken")) })),
});

it("gives the newest minute of an utterance, whatever the sizes of the pieces", async () => {
  const lengths: number[] = [];
  const lasts: (number | undefined)[] = [];
  const transcribe = (samples: Int16Array): Promise<string> => {
    lengths.push(samples.length);
    lasts.push(samples.at(-1));
    return Promise.resolve("");
  };
  const record = new SttRecord();
  const stream = openBatchStt(recogniser({ transcribe })).open(ENGLISH, record);
  const most = STT_MAX_UTTERANCE_MS * (STT_SAMPLE_RATE_HZ / 1000);
  stream.open(1);
  for (let index = 0; index < 1_000; index++) stream.push(1, new Int16Array(160));
  for (let index = 0; index < 90; index++) stream.push(1, new Int16Array(STT_SAMPLE_RATE_HZ).fill(index));
  stream.request(1, 0);
  await record.answered(1);
  stream.push(1, new Int16Array(1).fill(7));
  stream.request(1, 1);
  await record.answered(2);
  expect(lengths).toEqual([most, most]);
  expect(lasts).toEqual([89, 7]);
});

it("does not ask about less than a tenth of a second", async () => {
  let requested = 0;
  const transcribe = (): Promise<string> => {
    requested += 1;
    return Promise.resolve("word");
  };
  const record = new SttRecord();
  const stream = openBatchStt(recogniser({ transcribe })).open(ENGLISH, record);
  const least = STT_MIN_UTTERANCE_MS * (STT_SAMPLE_RATE_HZ / 1000);
  stream.open(1);
  stream.push(1, new Int16Array(least - 1));
  stream.request(1, 0);
  await record.answered(1);
  expect(requested).toBe(0);
  stream.push(1, new Int16Array(1));
  stream.request(1, 1);
  expect((await record.answered(2))[1]).toMatchObject({ text: "word", understood: true });
});

it("gives up the oldest of too many utterances", async () => {
  const signals: AbortSignal[] = [];
  const transcribe: BatchRecogniser["transcribe"] = (_samples, _language, signal) => {
    signals.push(signal);
    return new Promise(() => undefined);
  };
  const record = new SttRecord();
  const stream = openBatchStt(recogniser({ transcribe })).open(ENGLISH, record);
  for (let utteranceId = 0; utteranceId < 9; utteranceId++) {
    stream.open(utteranceId);
    stream.push(utteranceId, half);
    stream.request(utteranceId, 0);
  }
  expect(record.answers).toMatchObject([{ type: "failed", utteranceId: 0 }]);
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, ...Array.from({ length: 8 }, () => false)]);
});

it("gives up the oldest of too many requests for one utterance, and no other's", async () => {
  const under: { signal: AbortSignal; answer: (text: string) => void }[] = [];
  const transcribe: BatchRecogniser["transcribe"] = (_samples, _language, signal) =>
    new Promise((answer) => under.push({ signal, answer }));
  const record = new SttRecord();
  const stream = openBatchStt(recogniser({ transcribe })).open(ENGLISH, record);
  for (const utteranceId of [1, 2]) {
    stream.open(utteranceId);
    stream.push(utteranceId, half);
  }
  stream.request(1, 0);
  const newest = STT_MAX_REQUESTS_PER_UTTERANCE;
  for (let revision = 0; revision <= newest; revision++) stream.request(2, revision);
  expect(record.answers).toEqual([]);
  await record.answered(1);
  expect(under.map(({ signal }) => signal.aborted)).toEqual([
    false,
    true,
    ...under.slice(2).map(() => false),
  ]);
  // The recogniser may not notice that nobody waits any more.
  for (const { answer } of under) answer("word");
  const answers = await record.answered(under.length);
  expect(answers).toMatchObject([
    { type: "failed", utteranceId: 2, revision: 0 },
    { type: "final", utteranceId: 1, revision: 0 },
    ...Array.from({ length: newest }, (_, index) => ({ type: "final", utteranceId: 2, revision: index + 1 })),
  ]);
});

it("keeps every sample in its place, before and after the oldest are dropped", async () => {
  const heard: Int16Array[] = [];
  const transcribe = (samples: Int16Array): Promise<string> => {
    heard.push(samples);
    return Promise.resolve("");
  };
  const record = new SttRecord();
  const stream = openBatchStt(recogniser({ transcribe })).open(ENGLISH, record);
  const most = STT_MAX_UTTERANCE_MS * (STT_SAMPLE_RATE_HZ / 1000);
  // A sequence without a short period, so that a shift of any length shows.
  const all = Int16Array.from({ length: most + 40_000 }, (_, index) => (index * 31 + (index >> 9)) % 30_011);
  stream.open(1);
  let at = 0;
  const pushTo = (end: number, length: number): void => {
    for (; at < end; at += length) stream.push(1, all.subarray(at, Math.min(end, at + length)));
    at = end;
  };
  const ends = [16_000, 16_001, 50_000, most, most + 1, most + 15_999, most + 16_000, most + 33_333];
  for (const [revision, end] of ends.entries()) {
    pushTo(end, 512 + 4_000 * (revision % 3));
    stream.request(1, revision);
    await record.answered(revision + 1);
    const expected = all.subarray(Math.max(0, end - most), end);
    const got = heard.at(-1);
    // Compared by hand: a deep comparison of a million numbers takes seconds.
    expect(got?.length).toBe(expected.length);
    expect(got?.findIndex((sample, index) => sample !== expected[index])).toBe(-1);
  }
});

it("aborts what is abandoned or closed, and closes the recogniser once", async () => {
  const signals: AbortSignal[] = [];
  let closed = 0;
  const engine = openBatchStt(
    recogniser({
      transcribe: (_samples, _language, signal) => {
        signals.push(signal);
        return new Promise(() => undefined);
      },
      close: () => {
        closed += 1;
        return Promise.resolve();
      },
    }),
  );
  const stream = engine.open(ENGLISH, new SttRecord());
  for (const utteranceId of [1, 2]) {
    stream.open(utteranceId);
    stream.push(utteranceId, half);
    stream.request(utteranceId, 0);
  }
  stream.abandon(1);
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
  stream.close();
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  await Promise.all([engine.close(), engine.close()]);
  expect(closed).toBe(1);
});

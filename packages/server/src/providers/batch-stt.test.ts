import { expect, it } from "vitest";
import { STT_MAX_UTTERANCE_MS, STT_SAMPLE_RATE_HZ } from "../ports/stt.ts";
import { describeSttConformance, SttRecord } from "../ports/testing/stt-conformance.ts";
import { openBatchStt, STT_MIN_UTTERANCE_MS, type BatchRecogniser } from "./batch-stt.ts";

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
  let asked = 0;
  const transcribe = (): Promise<string> => {
    asked += 1;
    return Promise.resolve("word");
  };
  const record = new SttRecord();
  const stream = openBatchStt(recogniser({ transcribe })).open(ENGLISH, record);
  const least = STT_MIN_UTTERANCE_MS * (STT_SAMPLE_RATE_HZ / 1000);
  stream.open(1);
  stream.push(1, new Int16Array(least - 1));
  stream.request(1, 0);
  await record.answered(1);
  expect(asked).toBe(0);
  stream.push(1, new Int16Array(1));
  stream.request(1, 1);
  expect((await record.answered(2))[1]).toMatchObject({ text: "word", understood: true });
});

it("gives up the oldest of too many utterances, and refuses too many requests", async () => {
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
  for (let revision = 1; revision <= 9; revision++) stream.request(8, revision);
  expect((await record.answered(2))[1]).toMatchObject({ type: "failed", utteranceId: 8, revision: 9 });
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

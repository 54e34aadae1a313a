import { expect, it, vi } from "vitest";
import { FAKE_STT_LOUD, FAKE_STT_TEXT, openFakeStt } from "./fake-stt.ts";
import { describeSttConformance, SttRecord } from "./stt-conformance.ts";

const firstSample = (_utterance: number, samples: Int16Array): string =>
  ({ 1: "one", 2: "two" })[samples[0] ?? 0] ?? "";

describeSttConformance("the fake", {
  open: () => openFakeStt({ says: firstSample }),
  spoken: [
    { samples: new Int16Array(8_000).fill(1), text: "one" },
    { samples: new Int16Array(8_000).fill(2), text: "two" },
  ],
  unintelligible: new Int16Array(8_000).fill(3),
  openHanging: () => ({ engine: openFakeStt({ broken: "hangs" }), reached: Promise.resolve() }),
  openFailing: () => openFakeStt({ broken: "fails" }),
});

it("hears by default whether anything is loud, and counts its open streams", async () => {
  const engine = openFakeStt();
  const record = new SttRecord();
  const stream = engine.open({ language: null }, record);
  expect(engine.openStreams()).toBe(1);
  stream.open(1);
  stream.push(1, Int16Array.of(0, FAKE_STT_LOUD));
  stream.request(1, 0);
  await record.answered(1);
  stream.push(1, Int16Array.of(-5_000));
  stream.request(1, 1);
  expect(await record.answered(2)).toMatchObject([
    { text: "", understood: false },
    { text: FAKE_STT_TEXT, understood: true },
  ]);
  stream.close();
  stream.close();
  expect(engine.openStreams()).toBe(0);
});

it("numbers the utterances of each stream from 1", async () => {
  const engine = openFakeStt({ says: String });
  for (const firstId of [10, 20]) {
    const record = new SttRecord();
    const stream = engine.open({ language: null }, record);
    for (const utteranceId of [firstId, firstId + 1]) {
      stream.open(utteranceId);
      stream.request(utteranceId, 0);
    }
    expect(await record.answered(2)).toMatchObject([{ text: "1" }, { text: "2" }]);
  }
});

it("gives the newest minute of a long utterance", async () => {
  const engine = openFakeStt({ says: (_utterance, samples) => `${samples.length} from ${samples[0] ?? 0}` });
  const record = new SttRecord();
  const stream = engine.open({ language: null }, record);
  stream.open(1);
  for (let second = 1; second <= 61; second++) stream.push(1, new Int16Array(16_000).fill(second));
  stream.request(1, 0);
  expect(await record.answered(1)).toMatchObject([{ text: "960000 from 2" }]);
});

it("answers after its delay, and not at all when closed before", async () => {
  vi.useFakeTimers();
  try {
    const engine = openFakeStt({ delayMs: 300, says: () => "late" });
    const records = [new SttRecord(), new SttRecord()];
    const streams = records.map((record) => engine.open({ language: null }, record));
    for (const stream of streams) {
      stream.open(1);
      stream.request(1, 0);
    }
    await vi.advanceTimersByTimeAsync(299);
    expect(records.map(({ answers }) => answers.length)).toEqual([0, 0]);
    streams[1]?.close();
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(records.map(({ answers }) => answers.length)).toEqual([1, 0]);
  } finally {
    vi.useRealTimers();
  }
});

it("can refuse to open", () => {
  expect(() => openFakeStt({ opensNot: true }).open({ language: null }, new SttRecord())).toThrow(
    "did not open",
  );
});

import { expect, it } from "vitest";
import { VAD_WINDOW_SAMPLES } from "../vad.ts";
import { openFakeVad } from "./fake-vad.ts";
import { describeVadConformance, VadRecord } from "./vad-conformance.ts";

const loud = Int16Array.from({ length: 32_000 }, (_, index) => 4_000 * Math.sin(index / 7));

describeVadConformance("the fake", {
  open: () => openFakeVad(),
  speech: loud,
  openLosable: () => {
    const engine = openFakeVad();
    return Promise.resolve({
      engine,
      lose: () => {
        engine.lose();
      },
    });
  },
});

it("fails a stream at the configured window", async () => {
  const record = new VadRecord();
  const stream = openFakeVad({ failsAt: 2 }).open(record);
  for (let index = 0; index < 5; index++) stream.push(new Int16Array(VAD_WINDOW_SAMPLES));
  await record.heard(Infinity);
  expect(record.indexes).toEqual([0, 1]);
  expect(record.failures).toHaveLength(1);
});

it("takes its scores from the test", async () => {
  const record = new VadRecord();
  openFakeVad({ score: (window) => (window[0] ?? 0) / 10 })
    .open(record)
    .push(new Int16Array(512).fill(5));
  await record.heard(1);
  expect(record.scores).toEqual([0.5]);
});

import { expect, it } from "vitest";
import { openFakeStt } from "./fake-stt.ts";
import { describeSttConformance, SttRecord } from "./stt-conformance.ts";

const firstSample = (samples: Int16Array): string => ({ 1: "one", 2: "two" })[samples[0] ?? 0] ?? "";

describeSttConformance("the fake", {
  open: () => openFakeStt({ transcribe: firstSample }),
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
  stream.push(1, Int16Array.of(0, 5_000));
  stream.request(1, 0);
  expect(await record.answered(1)).toMatchObject([{ text: "hello", understood: true }]);
  stream.close();
  stream.close();
  expect(engine.openStreams()).toBe(0);
});

import { afterEach, describe, expect, it } from "vitest";
import { pushAll, SttRecord } from "../../ports/testing/stt-conformance.ts";
import { until } from "../../ports/testing/until.ts";
import { speechOf } from "../../ports/testing/word-audio.ts";
import { openDeepgramStt } from "./stt-deepgram.ts";
import { FakeDeepgram, type FakeDeepgramOptions } from "./testing/fake-deepgram.ts";

const opened: { close(): Promise<void> }[] = [];
const fakes: FakeDeepgram[] = [];

afterEach(async () => {
  for (const one of opened.splice(0).toReversed()) await one.close();
  const violations = fakes.splice(0).flatMap((fake) => fake.violations);
  if (violations.length > 0) throw new Error(`the fake refused: ${violations.join("; ")}`);
});

class JudgedRecord extends SttRecord {
  readonly judgements: (readonly [utteranceId: number, finished: number | null])[] = [];
  judged(utteranceId: number, finished: number | null): void {
    this.judgements.push([utteranceId, finished]);
  }
}

async function setUp(endOfTurnMs: number, options: FakeDeepgramOptions = {}) {
  const fake = await FakeDeepgram.open(options);
  const engine = openDeepgramStt({ baseUrl: fake.baseUrl, apiKey: "dg-key", model: "nova-3", endOfTurnMs });
  fakes.push(fake);
  opened.push(fake, engine);
  const record = new JudgedRecord();
  return { fake, record, stream: engine.open({ language: null }, record) };
}

describe("the end of a turn", () => {
  const silence = (ms: number): Int16Array => new Int16Array(16 * ms);

  it.each([
    ["by its silence", false],
    ["by the gap between words, in noise", true],
  ])("is an opinion %s, which new words take back", async (_name, isNoisy) => {
    const { fake, record, stream } = await setUp(1_000, { isNoisy });
    stream.open(7);
    pushAll(stream, 7, speechOf("table four please"));
    pushAll(stream, 7, silence(2_000));
    await until(() => record.judgements.length === 1);
    expect(record.judgements).toEqual([[7, 0.9]]);
    pushAll(stream, 7, speechOf("no wait stop"));
    pushAll(stream, 7, silence(500));
    await until(() => record.judgements.length === 2);
    expect(record.judgements[1]).toEqual([7, null]);
    pushAll(stream, 7, silence(2_000));
    await until(() => record.judgements.length === 3);
    stream.request(7, 0);
    expect(await record.answered(1)).toMatchObject([{ text: "table four please no wait stop" }]);
    expect(record.judgements).toEqual([
      [7, 0.9],
      [7, null],
      [7, 0.9],
    ]);
    expect(fake.connections[0]?.query).toMatchObject({ endpointing: "1000", utterance_end_ms: "1000" });
  });

  it("is not told by the answer to a request, nor about an utterance that is over, nor without words", async () => {
    const { record, stream } = await setUp(1_000);
    stream.open(1);
    pushAll(stream, 1, speechOf("yes please"));
    stream.request(1, 0);
    await record.answered(1);
    stream.abandon(1);
    stream.open(2);
    pushAll(stream, 2, silence(3_000));
    stream.request(2, 0);
    await record.answered(2);
    expect(record.judgements).toEqual([]);
  });

  it("is not asked for where the setting is off", async () => {
    const { fake, record, stream } = await setUp(0);
    stream.open(1);
    pushAll(stream, 1, speechOf("yes"));
    pushAll(stream, 1, silence(3_000));
    stream.request(1, 0);
    await record.answered(1);
    expect(record.judgements).toEqual([]);
    expect(fake.connections[0]?.query).not.toHaveProperty("utterance_end_ms");
  });
});

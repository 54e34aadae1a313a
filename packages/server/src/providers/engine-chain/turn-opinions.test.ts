import { expect, it } from "vitest";
import type { SttEngine, SttListener } from "../../ports/stt.ts";
import { faultyStt } from "../../ports/testing/engine-faults.ts";
import { openFakeStt } from "../../ports/testing/fake-stt.ts";
import { SttRecord } from "../../ports/testing/stt-conformance.ts";
import { openManualClock } from "../../runner/testing/manual-clock.ts";
import { ListedEngine } from "./listed-engine.ts";
import { ANSWER_LIMIT_MS, openSttChain } from "./stt-chain.ts";

it("an opinion about the end of a turn is that of the recogniser that has the utterance", async () => {
  const clock = openManualClock();
  const listeners: SttListener[] = [];
  const listening = (name: string, stt: SttEngine) =>
    new ListedEngine<SttEngine>(
      name,
      {
        ...stt,
        open: (options, listener) => {
          listeners.push(listener);
          return stt.open(options, listener);
        },
      },
      clock,
    );
  const chain = openSttChain({
    clock,
    observer: { used: () => undefined, failed: () => undefined },
    engines: [
      listening(
        "first",
        faultyStt(() => "5xx", "wrong"),
      ),
      listening("second", openFakeStt({ says: () => "right" })),
    ],
    answerLimitMs: ANSWER_LIMIT_MS,
  });
  const said: unknown[] = [];
  const record = Object.assign(new SttRecord(), {
    judged: (...opinion: unknown[]) => void said.push(opinion),
  });
  const stream = chain.open({ language: null }, record);
  stream.open(1);
  listeners[0]?.judged?.(1, 0.9);
  listeners[0]?.judged?.(2, 0.9);
  stream.push(1, new Int16Array(16_000));
  stream.request(1, 1);
  await clock.advance(ANSWER_LIMIT_MS);
  expect(record.answers).toMatchObject([{ type: "final", text: "right" }]);
  listeners[0]?.judged?.(1, 0.9);
  listeners[1]?.judged?.(1, null);
  expect(said).toEqual([
    [1, 0.9],
    [1, null],
  ]);
  stream.close();
});

/** A call whose recogniser says when the user has finished, on a manual clock. */

import nodeProcess from "node:process";
import { beforeAll, expect, test } from "vitest";
import { initResampler } from "../../media/resample.ts";
import type { SttEngine } from "../../ports/stt.ts";
import { FAKE_STT_LOUD, openFakeStt } from "../../ports/testing/fake-stt.ts";
import type { TurnDetector } from "../../ports/turn-detector.ts";
import { openCallWorld } from "../testing/call-world.ts";
import { openFakeEngines } from "../testing/fakes.ts";

beforeAll(async () => {
  await initResampler(nodeProcess);
});

/** Silence after which the recogniser speaks up. */
const OPINION_MS = 600;
const FRAME_MS = 20;

/** `finished`: what it says then; null: nothing. */
function openOpinionatedStt(finished: number | null): SttEngine {
  const fake = openFakeStt();
  return {
    ...fake,
    open: (options, listener) => {
      const stream = fake.open(options, listener);
      let silentSamples = 0;
      return {
        open: (id) => stream.open(id),
        push: (id, samples) => {
          stream.push(id, samples);
          const isLoud = samples.some((sample) => Math.abs(sample) > FAKE_STT_LOUD);
          const before = silentSamples;
          silentSamples = isLoud ? 0 : silentSamples + samples.length;
          const due = OPINION_MS * 16;
          if (finished === null || before >= due || silentSamples < due) return;
          queueMicrotask(() => listener.judged?.(id, finished));
        },
        request: (id, revision) => stream.request(id, revision),
        abandon: (id) => stream.abandon(id),
        close: () => stream.close(),
      };
    },
  };
}

/** Reads every text as rather unfinished, or has no opinion. */
function reader(finished: number | null): TurnDetector {
  return {
    name: "text",
    listens: false,
    judge: () => Promise.resolve(finished === null ? null : { finished }),
    close: () => Promise.resolve(),
  };
}

/** Silence until the turn ends, in ms. */
async function turnEndMs(recogniser: number | null, words: number | null): Promise<number> {
  const engines = {
    ...openFakeEngines(),
    stt: openOpinionatedStt(recogniser),
    turnDetectors: [reader(words)],
  };
  const { joined } = openCallWorld(engines);
  const { transport, hear } = await joined({ firstSpeaker: { kind: "user", fallback: null } });
  await hear(300, false);
  await hear(900, true);
  for (let silentMs = FRAME_MS; silentMs <= 5_000; silentMs += FRAME_MS) {
    await hear(FRAME_MS, false);
    const isOver = transport.messages.some(
      (message) => message.type === "transcript" && message.role === "user" && message.final,
    );
    if (isOver) return silentMs;
  }
  throw new Error("the turn does not end");
}

test("a recogniser that is sure ends the wait for words that sound rather unfinished", async () => {
  const alone = await turnEndMs(null, 0.35);
  const withOpinion = await turnEndMs(0.9, 0.35);
  expect(withOpinion).toBeGreaterThanOrEqual(OPINION_MS);
  expect(withOpinion).toBeLessThan(alone - 300);
});

test("it never ends a turn before the least wait, and words that clearly go on still get more time", async () => {
  expect(await turnEndMs(0.9, null)).toBe(await turnEndMs(null, null));
  expect(await turnEndMs(0.9, 0.1)).toBe(await turnEndMs(null, 0.35));
});

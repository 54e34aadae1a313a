/** A call with a recogniser that has words before it is asked, on a manual clock. */

import nodeProcess from "node:process";
import { beforeAll, expect, test } from "vitest";
import { initResampler } from "../../media/resample.ts";
import type { SttEngine, SttOptions } from "../../ports/stt.ts";
import { openFakeStt } from "../../ports/testing/fake-stt.ts";
import { openCallWorld } from "../testing/call-world.ts";
import { openFakeEngines } from "../testing/fakes.ts";
import type { PlanChanges } from "../testing/plan.ts";

const userFirst: PlanChanges = { firstSpeaker: { kind: "user", fallback: null } };

beforeAll(async () => {
  await initResampler(nodeProcess);
});

/** Says "Hello" as soon as it gets audio of an utterance, and the whole text when it is asked. */
function openEagerStt(opened: SttOptions[]): SttEngine {
  const fake = openFakeStt();
  return {
    ...fake,
    open: (options, listener) => {
      opened.push(options);
      const stream = fake.open(options, listener);
      return {
        open: (id) => {
          stream.open(id);
        },
        push: (id, samples) => {
          stream.push(id, samples);
          queueMicrotask(() => {
            listener.partial(id, "Hello");
          });
        },
        request: (id, revision) => {
          stream.request(id, revision);
        },
        abandon: (id) => {
          stream.abandon(id);
        },
        close: () => {
          stream.close();
        },
      };
    },
  };
}

async function talk(messages: readonly string[], changes: PlanChanges = {}) {
  const opened: SttOptions[] = [];
  const { clock, joined } = openCallWorld({ ...openFakeEngines(), stt: openEagerStt(opened) });
  const { transport, hear } = await joined({ ...userFirst, ...changes }, messages);
  await hear(300, false);
  await hear(900, true);
  await hear(1_500, false);
  await clock.advance(200);
  const said = transport.messages.flatMap((message) =>
    message.type === "transcript" && message.role === "user" ? [message] : [],
  );
  return { opened, said };
}

test("a client that asks sees the words while they are spoken, and then the final ones", async () => {
  const { said } = await talk(["partials"]);
  expect(said.map(({ text, final }) => [text, final])).toEqual([
    ["Hello", false],
    ["Hello there.", false],
    ["Hello there.", true],
  ]);
  expect(new Set(said.map(({ ordinal }) => ordinal))).toEqual(new Set([0]));
});

test("others see the final ones alone", async () => {
  const { said } = await talk(["debug"]);
  expect(said).toMatchObject([{ text: "Hello there.", final: true, ordinal: 0 }]);
});

test("the recogniser gets what the plan says of it", async () => {
  const { opened } = await talk([], { recogniser: "deepgram", transcriptHints: ["Torquay"] });
  expect(opened).toMatchObject([{ language: null, recogniser: "deepgram", hints: ["Torquay"] }]);
});

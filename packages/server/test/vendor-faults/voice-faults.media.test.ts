/** Each voice with each fault in a call with a fallback: what is heard, recorded and counted. */

import nodeProcess from "node:process";
import { beforeAll, describe, expect, test } from "vitest";
import { initResampler } from "../../src/media/resample.ts";
import { FAKE_STT_TEXT } from "../../src/ports/testing/fake-stt.ts";
import { speechOf } from "../../src/ports/testing/word-audio.ts";
import { type Outcome, tableOf, tableOnPage } from "./fault-table.ts";
import {
  GREETING,
  joinFaultyCall,
  SILENCE_LIMIT_MS,
  VENDOR_FAULTS,
  type VendorFault,
} from "./faulty-call.ts";
import { VOICES } from "./voices.ts";

beforeAll(async () => {
  await initResampler(nodeProcess);
});

/** The greeting, with the wait for a voice that hangs; and the answer. */
const GREETING_MS = 6_000;
const ANSWER_MS = 12_000;

/** Voices that do not say when their words begin. */
const WITHOUT_TIMES = ["Google", "Respeecher", "OpenAI-compatible"];

const found = new Map<string, Map<VendorFault, Outcome>>();

describe.each(VOICES)("$name", ({ name, open }) => {
  test.each(VENDOR_FAULTS)("with the fault %s", async (fault) => {
    const { voice, close } = await open(fault);
    try {
      const call = await joinFaultyCall({ fault, voice, recogniser: null });
      await call.listen(GREETING_MS);
      const silenceMs = call.longestSilenceMs();
      await call.say(speechOf("yes please"));
      const saidMs = call.nowMs();
      await call.listen(ANSWER_MS);
      const answeredMs = call.soundAfterMs(saidMs);
      const { agent, user, events } = await call.recorded();
      const first = voice.kind === "deployment" ? "first" : voice.provider.name;
      const outcome = outcomeOf(events, call.hadAudio());
      const row = found.get(name) ?? new Map<VendorFault, Outcome>();
      found.set(name, row.set(fault, outcome));
      // No silence within the greeting, and none before the answer, which whoever speaks now says.
      expect(silenceMs).toBeLessThanOrEqual(SILENCE_LIMIT_MS);
      expect((answeredMs ?? Infinity) - saidMs).toBeLessThanOrEqual(SILENCE_LIMIT_MS);
      // The transcript is whole, and nothing is said twice.
      expect(agent[0]).toBe(GREETING);
      expect(agent).toHaveLength(2);
      expect(user).toEqual([FAKE_STT_TEXT]);
      expect(events).not.toContain("call.ended");
      const isOwn = outcome === "own";
      expect(call.failures[0]?.engine).toBe(isOwn ? undefined : first);
      expect(call.used[0]).toBe(`tts ${first} ${isOwn ? "answered" : "failed"}`);
      expect(call.used.includes("tts second answered")).toBe(!isOwn);
      expect(events.filter((type) => type === "tts.replaced")).toHaveLength(isOwn ? 0 : 1);
      // The rest begins with a word, and where the voice gives no times of words, with a clause.
      expect(beginningsOf(name, outcome)).toContain(call.saidBySecond[0]);
      // A failure within a sentence that another voice goes on with is none of the call.
      expect(events).not.toContain("tts.failed");
    } finally {
      await close();
    }
  });
});

/** What the voice that takes over may be given to say of the greeting first. */
function beginningsOf(name: string, outcome: Outcome): readonly (string | undefined)[] {
  if (outcome === "own") return [undefined];
  if (outcome === "next") return [GREETING];
  if (WITHOUT_TIMES.includes(name)) return [GREETING, "how can I help you today?"];
  return GREETING.split(" ").map((_word, from, words) => words.slice(from).join(" "));
}

/** By the record of the call, and by whether the first voice had begun to speak. */
function outcomeOf(events: readonly string[], hadAudio: boolean): Outcome {
  if (!events.includes("tts.replaced")) return "own";
  return hadAudio ? "rest" : "next";
}

test("the page has what was found", () => {
  expect(tableOnPage("voice-faults")).toEqual(tableOf(found));
});

/** Each voice with each fault in a call with a fallback: what is heard, recorded and counted. */

import nodeProcess from "node:process";
import { beforeAll, expect, test } from "vitest";
import { initResampler } from "../../src/media/resample.ts";
import { FAKE_STT_TEXT } from "../../src/ports/testing/fake-stt.ts";
import { speechOf } from "../../src/ports/testing/word-audio.ts";
import { casesOf, type Found, noteOutcome, type Outcome, tableOf, tableOnPage } from "./fault-table.ts";
import { GREETING, joinFaultyCall, SILENCE_LIMIT_MS } from "./faulty-call.ts";
import { VOICES } from "./voices.ts";

beforeAll(async () => {
  await initResampler(nodeProcess);
});

/** The greeting, with the wait for a voice that hangs; and the answer. */
const GREETING_MS = 6_000;
const ANSWER_MS = 12_000;

const found: Found = new Map();

test.each(casesOf(VOICES))("$name with the fault $fault", async ({ subject, name, fault }) => {
  const { voice, close } = await subject.open(fault);
  try {
    const call = await joinFaultyCall({ fault, voice });
    await call.listen(GREETING_MS);
    const silenceMs = call.longestSilenceMs();
    await call.say(speechOf("yes please"));
    const saidMs = call.nowMs();
    await call.listen(ANSWER_MS);
    const answeredMs = call.soundAfterMs(saidMs);
    const { agent, user, events } = await call.recorded();
    const first = voice.kind === "deployment" ? "first" : voice.provider.name;
    const outcome = outcomeOf(events, call.hadAudio());
    noteOutcome(found, name, fault, outcome);
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
    expect(beginningsOf(outcome)).toContain(call.saidBySecond[0]);
    // A failure within a sentence that another voice goes on with is none of the call.
    expect(events).not.toContain("tts.failed");
  } finally {
    await close();
  }
});

/** What the voice that takes over may be given to say of the greeting first: it begins with a word. */
function beginningsOf(outcome: Outcome): readonly (string | undefined)[] {
  if (outcome === "own") return [undefined];
  if (outcome === "next") return [GREETING];
  return GREETING.split(" ").map((_word, from, words) => words.slice(from).join(" "));
}

/** By the record of the call, and by whether the first voice had begun to speak. */
function outcomeOf(events: readonly string[], hadAudio: boolean): Outcome {
  if (!events.includes("tts.replaced")) return "own";
  return hadAudio ? "rest" : "next";
}

test("the page has what was found", () => {
  expect(tableOnPage("voice-faults")).toEqual(tableOf(VOICES, found));
});

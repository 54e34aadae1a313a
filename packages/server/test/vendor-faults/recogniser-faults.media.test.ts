/** Each recogniser with each fault in a call with a fallback: what is understood, recorded and counted. */

import nodeProcess from "node:process";
import { beforeAll, expect, test } from "vitest";
import { initResampler } from "../../src/media/resample.ts";
import { FAKE_STT_TEXT } from "../../src/ports/testing/fake-stt.ts";
import { speechOf } from "../../src/ports/testing/word-audio.ts";
import { casesOf, type Found, noteOutcome, type Outcome, tableOf, tableOnPage } from "./fault-table.ts";
import { joinFaultyCall, SILENCE_LIMIT_MS } from "./faulty-call.ts";
import { RECOGNISERS } from "./recognisers.ts";
import { SPOKEN } from "./said.ts";

beforeAll(async () => {
  await initResampler(nodeProcess);
});

/** The greeting; and the answer, after the wait for a recogniser that hangs. */
const GREETING_MS = 5_000;
const ANSWER_MS = 6_000;

const found: Found = new Map();

test.each(casesOf(RECOGNISERS))("$name with the fault $fault", async ({ subject, name, fault }) => {
  const { engine, close } = await subject.open(fault);
  try {
    const call = await joinFaultyCall({ fault, recogniser: engine });
    await call.listen(GREETING_MS);
    await call.say(speechOf(SPOKEN));
    const saidMs = call.nowMs();
    await call.listen(ANSWER_MS);
    const { user, agent, events } = await call.recorded();
    const outcome: Outcome = events.includes("stt.replaced") ? "next" : "own";
    noteOutcome(found, name, fault, outcome);
    // The caller is understood once, and answered.
    expect(user).toEqual([outcome === "own" ? SPOKEN : FAKE_STT_TEXT]);
    expect(agent).toHaveLength(2);
    expect(events).not.toContain("stt.failed");
    expect(events).not.toContain("call.ended");
    const failedMs = call.failures[0]?.atMs ?? saidMs;
    const answeredMs = call.soundAfterMs(Math.max(failedMs, saidMs));
    expect(answeredMs).not.toBeNull();
    expect((answeredMs ?? 0) - Math.max(failedMs, saidMs)).toBeLessThanOrEqual(SILENCE_LIMIT_MS);
    const isOwn = outcome === "own";
    expect(call.failures.map(({ engine: failed }) => failed)).toEqual(isOwn ? [] : ["first"]);
    expect(new Set(call.used)).toEqual(
      new Set(isOwn ? ["stt first answered"] : ["stt first failed", "stt second answered"]),
    );
    expect(events.filter((type) => type === "stt.replaced")).toHaveLength(isOwn ? 0 : 1);
  } finally {
    await close();
  }
});

test("the page has what was found", () => {
  expect(tableOnPage("recogniser-faults")).toEqual(tableOf(RECOGNISERS, found));
});

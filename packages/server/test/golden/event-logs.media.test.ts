/** The scores in the stored calls are still those that the real detector gives to the clips. */

import { afterAll, beforeAll, expect, test } from "vitest";
import type { VadEngine } from "../../src/ports/vad.ts";
import { CONVERSATIONS } from "./conversations.ts";
import { parseLog, readLogText, scoresOf } from "./event-log.ts";
import { disagreements, openRealVad, SCORE_TOLERANCE, scoreSounds } from "./sound-track.ts";

/** The default of the wire, and the usual threshold of the model. */
const THRESHOLDS = [0.1, 0.5];

let engine: VadEngine;
beforeAll(async () => {
  engine = await openRealVad();
});
afterAll(async () => {
  await engine.close();
});

test.each(CONVERSATIONS)("$name", async ({ name, sounds }) => {
  const { head, steps } = parseLog(readLogText(name));
  expect(head.sounds).toEqual(sounds);
  const stored = scoresOf(steps);
  const scores = await scoreSounds(engine, sounds, stored.length);
  expect(disagreements(scores, stored)).toEqual([]);
  for (const threshold of THRESHOLDS) {
    const clear = stored.map((score) => Math.abs(score - threshold) > SCORE_TOLERANCE);
    const decisions = (list: readonly number[]) =>
      list.map((score, at) => clear[at] === true && score > threshold);
    expect(decisions(scores)).toEqual(decisions(stored));
    // Only a small part of the windows may be left out of the comparison.
    expect(clear.filter((is) => !is).length).toBeLessThan(stored.length / 50);
  }
});

test("scores of another clip do not pass for the stored ones", async () => {
  const stored = scoresOf(parseLog(readLogText("clip-austen_0930")).steps);
  const sounds = [{ clip: "austen_0880.wav", atMs: 512 }];
  const scores = await scoreSounds(engine, sounds, stored.length);
  expect(disagreements(scores, stored).length).toBeGreaterThan(5);
  expect(disagreements(scores.slice(1), stored)).toHaveLength(1);
});

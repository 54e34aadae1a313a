/** The agent's own voice that a phone line returns: it must not interrupt the agent, and the caller must. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readSpeechFixture } from "../src/ports/testing/speech-fixtures.ts";
import { playOverLine, type LineScene } from "./echo-line.ts";
import { openRoomEngines, type RoomEngines, type Voice } from "./echo-room.ts";

const STORY =
  "There is a small hotel by the sea, ten meters from the water. Its guests come every summer, and they stay for a week " +
  "or two. They love the quiet rooms, the long breakfasts, and the walks along the beach in the evening.";
/** A recogniser's possible text of an echo: words, but not those of the agent. */
const MISHEARD = "hostile tin metres";
const SAID = "he might even have been made amiable himself";
/** As loud as the agent within 2 dB. */
const CALLER: Voice = {
  samples: readSpeechFixture("austen_0930.wav").subarray(0, 2.8 * 16_000),
  atMs: 4_000,
  gainDb: 0,
  text: SAID,
};

let engines: RoomEngines;
beforeAll(async () => {
  engines = await openRoomEngines();
});
afterAll(async () => {
  await engines.close();
});

const play = (scene: Partial<LineScene>) =>
  playOverLine(engines, STORY, { lossDb: null, delayMs: 120, caller: null, mishears: MISHEARD, ...scene });

describe.each([80, 200, 400])("a line that returns the agent's voice after %i ms", (delayMs) => {
  test.each([12, 30])("%i dB quieter never silences it, and is no turn", async (lossDb) => {
    expect(await play({ lossDb, delayMs })).toEqual({
      pauses: 0,
      firstPauseMs: null,
      agentText: STORY,
      interruptions: 0,
      userTexts: [],
    });
  });

  test("20 dB quieter hides no caller", async () => {
    const played = await play({ lossDb: 20, delayMs, caller: CALLER, mishears: "" });
    expect(played).toMatchObject({ interruptions: 1, userTexts: [SAID] });
    expect(played.firstPauseMs).toBeGreaterThanOrEqual(CALLER.atMs);
    expect(STORY.startsWith(played.agentText)).toBe(true);
    expect(played.agentText.length).toBeLessThan(STORY.length / 2);
  });
});

test("12 dB quieter hides no caller who is as loud as the agent", async () => {
  const played = await play({ lossDb: 12, delayMs: 200, caller: CALLER, mishears: "" });
  expect(played).toMatchObject({ interruptions: 1, userTexts: [SAID] });
});

test("when echo is not looked for, the agent is silenced by its own voice", async () => {
  const played = await play({ lossDb: 12, turnTaking: { echoTailMs: 0 } });
  expect(played.interruptions).toBeGreaterThan(0);
});

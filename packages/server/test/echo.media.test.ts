/** The agent's own voice in the caller's microphone: it must not interrupt itself, and another speaker must. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readSpeechFixture } from "../src/ports/testing/speech-fixtures.ts";
import { openRoomEngines, playScene, type RoomEngines, type Scene, type Voice } from "./echo-room.ts";

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

const play = (scene: Partial<Scene>) =>
  playScene(engines, STORY, {
    lossDb: null,
    delayMs: 120,
    smeared: true,
    caller: null,
    mishears: MISHEARD,
    ...scene,
  });

describe.each([10, 20, 30])("an echo %i dB quieter than the agent", (lossDb) => {
  test.each([
    [60, false],
    [60, true],
    [250, false],
    [250, true],
  ])("after %i ms, smeared: %s, never silences it and is no turn", async (delayMs, smeared) => {
    const played = await play({ lossDb, delayMs, smeared });
    expect(played).toEqual({
      pauses: 0,
      firstPauseMs: null,
      agentText: STORY,
      interruptions: 0,
      userTexts: [],
    });
  });

  test("hides nobody who is as loud as the agent", async () => {
    const played = await play({ lossDb, caller: CALLER, mishears: "" });
    expect(played).toMatchObject({ interruptions: 1, userTexts: [SAID] });
    expect(STORY.startsWith(played.agentText)).toBe(true);
    expect(played.agentText.length).toBeLessThan(STORY.length / 2);
  });
});

test.each([20, 30])(
  "an echo %i dB quieter does not hide a caller 10 dB quieter than the agent",
  async (lossDb) => {
    const played = await play({ lossDb, caller: { ...CALLER, gainDb: -10 }, mishears: "" });
    expect(played).toMatchObject({ interruptions: 1, userTexts: [SAID] });
  },
);

test("without an echo the caller silences the agent at once", async () => {
  const played = await play({ caller: CALLER, mishears: "" });
  expect(played).toMatchObject({ interruptions: 1, userTexts: [SAID] });
  expect(played.firstPauseMs).toBeLessThan(CALLER.atMs + 400);
});

test("when echo is not looked for, the agent is silenced by its own voice", async () => {
  const played = await play({ lossDb: 20, turnTaking: { echoTailMs: 0 } });
  expect(played.interruptions).toBeGreaterThan(0);
});

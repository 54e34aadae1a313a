/**
 * Speech over the agent's voice that is no interruption: listening words, coughs, the agent's own echo, a false start.
 */

import { describe, expect, test } from "vitest";
import { repeatsAgent } from "./agent-words.ts";
import { isBackchannel, mayBecomeBackchannel } from "./backchannel.ts";
import type { PlanChanges } from "../testing/plan.ts";
import { Scenario } from "../testing/scenario.ts";

const STORY =
  "Once upon a time there was a small hotel by the sea. Its guests came every summer. They loved the quiet rooms.";
const QUESTION =
  "There is a small hotel by the sea. Would you like to stay there for a night or for two nights?";

/** The agent has been telling its story for `heardMs`. */
function telling(
  text: string,
  heardMs: number,
  changes: PlanChanges = {},
  prepare: (call: Scenario) => void = () => {},
) {
  const firstSpeaker = { kind: "agent", delayMs: 0, text, prompt: null, uninterruptible: false } as const;
  const call = new Scenario({ firstSpeaker, ...changes });
  prepare(call);
  call.join().runUntil(({ reply }) => reply?.begun === true);
  return call.run(heardMs);
}

describe("listening words", () => {
  test.each([
    ["mhm", null, true],
    ["Uh-huh.", "en", true],
    ["yeah, okay", "en", true],
    ["right", "en", true],
    ["I see", "en-GB", true],
    ["uh huh", "en", true],
    ["ja genau", "de", true],
    ["ach so", "de", true],
    ["oui", "fr", true],
    ["bien sûr", "fr", true],
    ["claro", "es", true],
    ["hmm", "pl", true],
    ["Mm-hmm.", "en", true],
    ["M-hm", null, true],
    ["Mhmm,", "de", true],
    ["Uhhuh", "en", true],
    ["Ohh.", "en", true],
    ["O.K.", "en", true],
    ["Yesss", "en", true],
    ["Right, right.", "en", true],
    ["Okay, I see.", "en", true],
    ["That makes sense.", "en", true],
    ["Klar.", "de", true],
    ["Uh-uh.", "en", false],
    ["Okay, stop.", "en", false],
    ["hold on", "en", false],
    ["no", "en", false],
    ["stop", "en", false],
    ["wait", "en", false],
    ["really?", "en", false],
    ["yeah but wait", "en", false],
    ["I", "en", false],
    ["of", "en", false],
    ["genau", "en", false],
    ["tak", "pl", false],
    ["okay okay okay okay okay", "en", false],
    ["", "en", false],
  ] as const)("%j in %s: %s", (text, language, is) => {
    expect(isBackchannel(text, language)).toBe(is);
  });

  test.each([
    ["of", "en", true],
    ["yeah I", "en", true],
    ["of course", "en", false],
    ["I want", "en", false],
    ["but of", "en", false],
    ["", "en", false],
    ["ach", "de", true],
    ["that makes", "en", true],
    ["yeah that makes", "en", true],
    ["that is", "en", false],
  ] as const)("%j in %s may be half of one: %s", (text, language, may) => {
    expect(mayBecomeBackchannel(text, language)).toBe(may);
  });

  test("of two words do not interrupt while only the first is known", () => {
    const call = telling(STORY, 1_504, {}, ({ stt }) => {
      stt.partialsMs = 32;
    });
    call.says("Of course", 640).run(12_000);
    expect(call.effectsOf("clearPlayout")).toHaveLength(0);
    expect(call.transcript).toEqual([`agent: ${STORY}`]);
  });

  test("over a story make neither a turn nor a message, and the story continues at once", () => {
    const call = telling(STORY, 1_504).says("Mhm yeah", 400).run(12_000);
    const [pausedMs = 0] = call.timesOf("pausePlayout");
    const [resumedMs = Infinity] = call.timesOf("resumePlayout");
    // 304 ms of speech after the pause, three silent windows, 60 ms for the words.
    expect(resumedMs - pausedMs).toBeLessThanOrEqual(304 + 96 + 60 + 64);
    expect(call.effectsOf("clearPlayout")).toHaveLength(0);
    expect(call.transcript).toEqual([`agent: ${STORY}`]);
    expect(call.llm.requests).toHaveLength(0);
  });

  test.each([544, 704, 960])("that take %i ms do not interrupt either, with a recogniser of 150 ms", (ms) => {
    const call = telling(STORY, 1_504, {}, ({ stt }) => {
      stt.delayMs = 150;
    });
    call.says("Yeah okay", ms);
    const endMs = call.atMs;
    call.run(12_000);
    expect(call.effectsOf("clearPlayout")).toHaveLength(0);
    expect((call.timesOf("resumePlayout")[0] ?? NaN) - endMs).toBeLessThanOrEqual(96 + 150 + 32);
    expect(call.transcript).toEqual([`agent: ${STORY}`]);
    expect(call.llm.requests).toHaveLength(0);
  });

  test("drawn out to a second and a half do not interrupt, and a short stop does at once", () => {
    const turnTaking = { backchannelMaxMs: 1_500 };
    const long = telling(STORY, 1_504, { turnTaking }).says("Mm-hmm.", 1_440).run(12_000);
    expect(long.effectsOf("clearPlayout")).toHaveLength(0);
    expect(long.transcript).toEqual([`agent: ${STORY}`]);
    for (const text of ["Stop.", "Wait.", "No."]) {
      const call = telling(STORY, 1_504, { turnTaking }).says(text, 224).run(6_000);
      expect(call.effectsOf("clearPlayout")).toHaveLength(1);
      expect(call.transcript[1]).toBe(`user: ${text}`);
    }
  });

  test("known while they are said do not cut it, even when they take longer than a confirmation", () => {
    const partials = ({ stt }: Scenario) => {
      stt.partialsMs = 32;
    };
    const call = telling(STORY, 1_504, {}, partials).says("Mhm yeah okay right", 900).run(12_000);
    expect(call.effectsOf("clearPlayout")).toHaveLength(0);
    expect(call.transcript).toEqual([`agent: ${STORY}`]);
    const long = telling(STORY, 1_504, {}, partials).says("Mhm yeah okay right", 1_600).run(12_000);
    expect(long.effectsOf("clearPlayout")).toHaveLength(1);
  });

  test("that continue with real words are an interruption", () => {
    const call = telling(STORY, 1_504, {}, ({ stt }) => {
      stt.partialsMs = 32;
    });
    call.says("Okay but what about breakfast", 1_600).run(9_000);
    expect(call.effectsOf("clearPlayout")).toHaveLength(1);
    expect(call.transcript[1]).toBe("user: Okay but what about breakfast");
  });

  test("are an answer while the agent asks, and right after it has asked", () => {
    const during = telling(QUESTION, 4_000).says("Yeah okay", 400).run(9_000);
    expect(during.transcript[1]).toBe("user: Yeah okay");
    expect(during.llm.requests).toHaveLength(1);
    const after = telling(QUESTION, 9_000).says("Yeah okay", 400).run(9_000);
    expect(after.transcript[1]).toBe("user: Yeah okay");
  });

  test("are a turn like any other while the agent is silent, and with the setting at 0", () => {
    const silent = telling("Good morning.", 3_000).says("Okay", 400).run(9_000);
    expect(silent.transcript[1]).toBe("user: Okay");
    const off = telling(STORY, 1_504, { turnTaking: { backchannelMaxMs: 0 } })
      .says("Mhm yeah", 400)
      .run(9_000);
    expect(off.effectsOf("clearPlayout")).toHaveLength(1);
  });
});

describe("nothing understood", () => {
  test("lets the agent continue as soon as the recogniser says so", () => {
    const call = telling(STORY, 1_504).coughs(256).run(12_000);
    const [pausedMs = 0] = call.timesOf("pausePlayout");
    const [resumedMs = Infinity] = call.timesOf("resumePlayout");
    expect(resumedMs - pausedMs).toBeLessThanOrEqual(160 + 96 + 60 + 64);
    expect(call.transcript).toEqual([`agent: ${STORY}`]);
  });
});

describe("right after the agent's first sound", () => {
  test("a short noise does not pause it; words do", () => {
    const noise = telling(STORY, 32).coughs(256).run(12_000);
    expect(noise.effectsOf("pausePlayout")).toHaveLength(0);
    expect(noise.transcript).toEqual([`agent: ${STORY}`]);
    const words = telling(STORY, 32, {}, ({ stt }) => {
      stt.partialsMs = 32;
    });
    words.says("No no no", 320).run(6_000);
    expect(words.effectsOf("clearPlayout")).toHaveLength(1);
    expect(words.transcript).toContain("user: No no no");
  });

  test("speech that continues pauses it when the grace is over, and cuts it", () => {
    const call = telling(STORY, 32).says("I was not finished yet", 1_500).run(9_000);
    expect(call.timesOf("pausePlayout")[0]).toBeGreaterThanOrEqual(400);
    expect(call.effectsOf("clearPlayout")).toHaveLength(1);
    const off = telling(STORY, 32, { turnTaking: { interruptionGraceMs: 0 } })
      .coughs(256)
      .run(3_000);
    expect(off.effectsOf("pausePlayout")).toHaveLength(1);
  });
});

describe("the agent's own echo", () => {
  test("in the sound is no speech while the agent is heard and shortly after", () => {
    const call = telling(STORY, 1_504);
    call.echo = () => 0.9;
    call.says("a small hotel by the sea", 2_000).run(12_000);
    expect(call.effectsOf("openUtterance")).toHaveLength(0);
    expect(call.effectsOf("pausePlayout")).toHaveLength(0);
    // The agent is silent for long: speech now is the user's.
    call.says("And the breakfast", 1_200).run(6_000);
    expect(call.transcript[1]).toBe("user: And the breakfast");
  });

  test("while the room is still unknown does not silence the agent, and is no turn once the room is known", () => {
    const call = telling(STORY, 0);
    const knownMs = call.atMs + 1_400;
    call.echo = (toMs) => (toMs < knownMs ? 0.3 : 0.9);
    call.says("", 3_000).run(12_000);
    expect(call.effectsOf("openUtterance")).toHaveLength(1);
    expect(call.timesOf("abandonUtterance")[0]).toBeLessThanOrEqual(knownMs + 32);
    expect(call.effectsOf("pausePlayout")).toHaveLength(0);
    expect(call.transcript).toEqual([`agent: ${STORY}`]);
  });

  test("that follows on the user's words does not take them away once the room is known", () => {
    const answered = (isOwn: boolean) => {
      const call = telling(STORY, 200);
      const startMs = call.atMs;
      const knownMs = startMs + 900;
      call.echo = (toMs) => (toMs < knownMs ? 0.3 : 0.9);
      const said = Array.from({ length: 28 }, (_, n) => ({ mediaMs: startMs + 32 * n, score: 0.9 }));
      call.echoLearned = (toMs) => (isOwn && toMs >= knownMs && toMs < knownMs + 32 ? said : null);
      // The recogniser is slower than the echo, so no words have shown yet that it was the user.
      call.stt.delayMs = 600;
      const score = call.user.score.bind(call.user);
      call.user.score = (toMs) => (toMs >= knownMs && toMs < knownMs + 1_000 ? 0.9 : score(toMs));
      call.says("What does the room cost", 860).run(12_000);
      return call.transcript.filter((line) => line.startsWith("user"));
    };
    expect(answered(true)).toEqual(["user: What does the room cost"]);
    expect(answered(false)).toEqual([]);
  });

  test("that may be there hides no user who continues, and none whose words are known", () => {
    const plain = telling(STORY, 600);
    const unknownMs = plain.atMs + 1_200;
    plain.echo = (toMs) => (toMs < unknownMs ? 0.3 : 0);
    plain.says("Wait a moment please", 1_500).run(9_000);
    expect(plain.effectsOf("clearPlayout")).toHaveLength(1);
    expect(plain.transcript[1]).toBe("user: Wait a moment please");
    const words = telling(STORY, 600, {}, ({ stt }) => {
      stt.partialsMs = 32;
    });
    words.echo = () => 0.3;
    words.says("No no no", 400).run(9_000);
    expect(words.effectsOf("clearPlayout")).toHaveLength(1);
    expect(words.transcript[1]).toBe("user: No no no");
  });

  test("that may be there gives way to words at the end of the speech, and to nothing else", () => {
    const words = telling(STORY, 600);
    words.echo = () => 0.3;
    words.says("Wait please", 600).run(9_000);
    expect(words.effectsOf("clearPlayout")).toHaveLength(1);
    expect(words.transcript[1]).toBe("user: Wait please");
    const noise = telling(STORY, 600);
    noise.echo = () => 0.3;
    noise.says("", 700).run(12_000);
    expect(noise.effectsOf("pausePlayout")).toHaveLength(0);
    expect(noise.transcript).toEqual([`agent: ${STORY}`]);
    expect(noise.llm.requests).toHaveLength(0);
  });

  test("does not take away a turn of which some is certainly the user's", () => {
    const call = telling(STORY, 600);
    const startMs = call.atMs;
    call.echo = (toMs) => (toMs < startMs + 600 ? 0.3 : toMs < startMs + 700 ? 0 : 0.9);
    call.says("Hello there", 700).run(12_000);
    expect(call.transcript).toContain("user: Hello there");
  });

  test("leaves a user over it to be heard", () => {
    const call = telling(STORY, 1_504);
    call.echo = (toMs) => (Math.floor(toMs / 32) % 4 === 0 ? 0.9 : 0.1);
    call.says("Wait a moment please", 1_200).run(9_000);
    expect(call.effectsOf("clearPlayout")).toHaveLength(1);
    expect(call.transcript[1]).toBe("user: Wait a moment please");
  });

  test("in the words makes no turn, and the agent continues", () => {
    const call = telling(STORY, 1_504, {}, ({ stt }) => {
      stt.partialsMs = 32;
    });
    call.says("there was a small hotel by the sea", 1_600).run(12_000);
    expect(call.effectsOf("clearPlayout")).toHaveLength(0);
    expect(call.transcript).toEqual([`agent: ${STORY}`]);
    expect(call.llm.requests).toHaveLength(0);
  });

  test("is not looked for with the setting at 0", () => {
    const call = telling(STORY, 1_504, { turnTaking: { echoTailMs: 0 } });
    call.echo = () => 0.9;
    call.says("there was a small hotel by the sea", 1_600).run(12_000);
    expect(call.effectsOf("clearPlayout")).toHaveLength(1);
  });

  test.each([
    ["a small hotel by the sea", true],
    ["once upon a time there was a small hotel", true],
    ["a small hotel bye the sea", true],
    ["small hotel", false],
    ["I want a hotel by the mountains", false],
    ["the a was there", false],
  ])("%j: %s", (text, is) => {
    expect(repeatsAgent(telling(STORY, 2_700).state, text)).toBe(is);
  });

  test("a choice from the agent's question is no echo", () => {
    const call = telling(QUESTION, 9_000);
    expect(repeatsAgent(call.state, "for two nights")).toBe(false);
  });
});

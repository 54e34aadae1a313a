import { describe, expect, test } from "vitest";
import { combined, COMPLETE, EXTRA_MAX_MS, unfinishedMs } from "./endpointing.ts";
import { SPECULATIONS_PER_TURN, SPECULATIONS_REFUNDED } from "../reply/reply.ts";
import type { PlanChanges } from "../testing/plan.ts";
import { joinedCall } from "../testing/scenario.ts";

const ENDPOINT_MS = 384;
/** Speech of the scenarios ends here. */
const SPEECH_END_MS = 960 + 960;

/** The user says this, and a turn detector for text has this opinion of it. */
function judged(finished: number | null, changes: PlanChanges = {}, judgeDelayMs = 0) {
  const call = joinedCall(changes);
  call.judge = () => finished;
  call.judgeDelayMs = judgeDelayMs;
  call.run(960).says("I would like a", 960).run(6_000);
  return call.timesOf("speak").map((atMs) => atMs - SPEECH_END_MS);
}

/** The first window that ends when so much silence has passed. */
const windowed = (silenceMs: number) => Math.ceil(silenceMs / 32) * 32;

describe("the wait after words", () => {
  test.each([
    ["that end a sentence is the least", 0.8, ENDPOINT_MS],
    ["of which there is no opinion is the least", null, ENDPOINT_MS],
    ["that sound rather unfinished is longer", 0.35, windowed(ENDPOINT_MS + 800)],
    ["that cannot be the end is longer still", 0.15, windowed(ENDPOINT_MS + 2_000)],
    ["that are a whole answer is the least", 0.97, ENDPOINT_MS],
  ])("%s", (_, finished, waitMs) => {
    expect(judged(finished)).toEqual([waitMs]);
  });

  test("is never longer than the endpoint delay and 3 s", () => {
    const turnTaking = { clearlyUnfinishedExtraMs: 3_000, adaptiveEndpointMaxMs: 3_000 };
    expect(judged(0.1, { turnTaking })).toEqual([windowed(ENDPOINT_MS + 3_000)]);
  });

  test("with the extra waits set to nothing is the least", () => {
    expect(judged(0.1, { turnTaking: { unfinishedExtraMs: 0, clearlyUnfinishedExtraMs: 0 } })).toEqual([
      ENDPOINT_MS,
    ]);
  });

  test("counts from the end of speech, however late the opinion comes", () => {
    expect(judged(0.35, {}, 150)).toEqual([windowed(ENDPOINT_MS + 800)]);
  });

  test("is for an opinion that is a little late, and not for one that never comes", () => {
    // Queried 252 ms after the speech, when the transcript arrived; the windows give the time.
    const late = { turnTaking: { transcriptDelayMs: 192 } };
    expect(judged(0.8, late, 160)).toEqual([412]);
    const silent = judged(0.8, late, 60_000);
    expect(silent).toEqual([windowed(224 + 200)]);
  });

  test("of speech that was not understood is longer", () => {
    const call = joinedCall().run(960).coughs(960).run(6_000);
    expect(call.llm.requests.at(-1)?.messages.at(-1)?.text).toMatch(/could not be understood/);
    expect(call.timesOf("speak")[0]).toBeGreaterThanOrEqual(SPEECH_END_MS + ENDPOINT_MS + 600);
    // One thought with a pause in it stays together.
    const whole = joinedCall().run(960).coughs(960).run(800).says("by the sea", 960).run(6_000);
    expect(whole.transcript[0]).toBe("user: by the sea");
    expect(whole.timesOf("speak")).toHaveLength(1);
  });

  test("continues when the user continues: one turn, and the turn detectors see the whole of it", () => {
    const call = joinedCall();
    const texts: string[] = [];
    call.judge = ({ text }) => {
      texts.push(text);
      return text.endsWith("a") ? 0.1 : 0.8;
    };
    call.run(960).says("I would like a", 960).run(1_500).says("quiet room", 960).run(6_000);
    expect(texts).toEqual(["I would like a", "I would like a quiet room"]);
    expect(call.transcript[0]).toBe("user: I would like a quiet room");
    expect(call.timesOf("speak")).toHaveLength(1);
  });

  test("begins again from a transcript that comes after the least wait", () => {
    const call = joinedCall();
    call.stt.delayMs = 700;
    call.judge = () => 0.15;
    call.run(960).says("I would like a", 960).run(900);
    expect(call.state.turn.kind).toBe("pausing");
    call.run(6_000);
    expect(call.timesOf("speak")).toEqual([SPEECH_END_MS + windowed(ENDPOINT_MS + 2_000)]);
  });
});

describe("the additional wait is one curve", () => {
  const at = (finished: number | null) => unfinishedMs(finished, 800, 2_000);

  test("nothing at even odds and above, both settings on it, and 3 s at most", () => {
    expect([null, 1, 0.65, 0.5].map(at)).toEqual([0, 0, 0, 0]);
    expect(at(0.35)).toBeCloseTo(800);
    expect(at(0.15)).toBeCloseTo(2_000);
    expect(at(0)).toBe(EXTRA_MAX_MS);
    expect([0.5, 0.3, 0.1, 0].map((finished) => unfinishedMs(finished, 0, 0))).toEqual([0, 0, 0, 0]);
  });

  test("it never falls as the user is less likely to have finished, and never jumps", () => {
    const likelihoods = Array.from({ length: 1_001 }, (_, n) => 1 - n / 1_000);
    const waits = likelihoods.map(at);
    const rises = waits.map((wait, n) => wait - (waits[n - 1] ?? wait));
    expect(Math.min(...rises)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...rises)).toBeLessThan(110);
  });
});

test("the turn detectors get what the agent has asked", () => {
  const text = "Where do you live?";
  const call = joinedCall({
    firstSpeaker: { kind: "agent", delayMs: 0, text, prompt: null, uninterruptible: false },
  });
  call.runUntil(({ history }) => history.entries.at(-1)?.text === text).run(1_000);
  call.says("In Boston", 960).run(3_000);
  expect(call.effectsOf("judgeTurn")).toMatchObject([{ text: "In Boston", agentText: text }]);
});

test("without a wait for them the turn detectors are not queried", () => {
  const call = joinedCall({ turnTaking: { judgementWaitMs: 0 } })
    .run(960)
    .says("I would", 960)
    .run(3_000);
  expect(call.effectsOf("judgeTurn")).toHaveLength(0);
});

describe("several opinions", () => {
  test.each([
    [null, []],
    [
      0.3,
      [
        ["text", 0.8],
        ["text", 0.3],
      ],
    ],
    [
      0.6,
      [
        ["text", 0.6],
        ["audio", 0.95],
        ["audio", 0.7],
      ],
    ],
    [0.15, [["text", 0.15]]],
    [
      COMPLETE,
      [
        ["text", 0.97],
        ["audio", 0.1],
      ],
    ],
    [
      0.2,
      [
        ["text", 0.8],
        ["audio", 0.2],
      ],
    ],
    [
      0.5,
      [
        ["text", 0.4],
        ["audio", 0.95],
      ],
    ],
    [
      0.35,
      [
        ["text", 0.1],
        ["audio", 0.95],
      ],
    ],
    [
      0.1,
      [
        ["text", 0.1],
        ["audio", 0.6],
      ],
    ],
  ] as const)("make %s of %j", (finished, opinions) => {
    const judgements = opinions.map(([kind, of], i) => ({
      by: `detector ${i}`,
      listens: kind === "audio",
      finished: of,
    }));
    expect(combined(judgements)).toBe(finished);
  });

  test.each([
    ["reads", false, 0.97],
    ["listens", true, 0.95],
  ])("of a detector that %s count the same under any name", (_, listens, finished) => {
    const waits = ["text", "audio", "words of another vendor"].map((by) => {
      const call = joinedCall();
      // Words that sound unfinished, beside the verdict of the detector in question.
      call.judge = () => 0.3;
      call.run(960).says("I would like", 960).run(192);
      const { turn } = call.state;
      if (turn.kind === "quiet") throw new Error("no turn");
      const { utteranceId, revision } = turn;
      call.post({ type: "turnJudged", utteranceId, revision, finished: 0.3, by: "first", listens: false });
      call.post({ type: "turnJudged", utteranceId, revision, finished, by, listens });
      return combined(call.state.turn.kind === "quiet" ? [] : call.state.turn.judgements);
    });
    expect(new Set(waits)).toEqual(new Set([listens ? 0.5 : COMPLETE]));
  });

  test("one that is out of date is not counted", () => {
    const call = joinedCall().run(960).says("I would like", 960).run(288);
    const { turn } = call.state;
    if (turn.kind === "quiet") throw new Error("no turn");
    const stale = {
      utteranceId: turn.utteranceId,
      revision: turn.revision - 1,
      finished: 0.1,
      by: "audio",
      listens: true,
    };
    call.post({ type: "turnJudged", ...stale });
    call.run(3_000);
    expect(call.timesOf("speak")).toEqual([SPEECH_END_MS + ENDPOINT_MS]);
  });
});

describe("the caller's own pauses", () => {
  const wait = (call: ReturnType<typeof joinedCall>) => {
    const endMs = call.atMs;
    const before = call.timesOf("speak").length;
    call.runUntil(() => call.timesOf("speak").length > before).run(12_000);
    return (call.timesOf("speak")[before] ?? 0) - endMs;
  };

  test("teach a longer wait when the agent has cut in on them, and never more than its bound", () => {
    const call = joinedCall().run(960);
    let longest = 0;
    for (let n = 0; n < 12; n += 1) {
      call.says("I would like a room", 960).run(720).says("that has a view", 960);
      const waited = wait(call);
      longest = Math.max(longest, waited);
    }
    expect(longest).toBeGreaterThan(700);
    expect(longest).toBeLessThanOrEqual(1_000 + 32);
    // By now the pause is waited for, and the two halves are one turn.
    expect(call.transcript.filter((line) => line.startsWith("user:")).at(-1)).toBe(
      "user: I would like a room that has a view",
    );
  });

  test("are forgotten by one who does not pause", () => {
    const call = joinedCall().run(960);
    for (let n = 0; n < 6; n += 1) {
      call.says("I would like a room", 960).run(720).says("that has a view", 960);
      wait(call);
    }
    expect(call.state.endpointing.pauseMs).toBeGreaterThan(400);
    for (let n = 0; n < 20; n += 1) {
      call.says("I would like a room", 960);
      wait(call);
    }
    call.says("I would like a room", 960);
    expect(wait(call)).toBeLessThanOrEqual(ENDPOINT_MS + 32);
  });

  test("do not make a short answer wait", () => {
    const call = joinedCall().run(960);
    for (let n = 0; n < 8; n += 1) {
      call.says("I would like a room", 960).run(720).says("that has a view", 960);
      wait(call);
    }
    call.judge = () => 0.97;
    call.says("Yes", 480);
    expect(wait(call)).toBeLessThanOrEqual(ENDPOINT_MS + 32);
  });

  test("that were judged unfinished teach nothing, and neither does a setting of 0", () => {
    const judgedCall = joinedCall();
    judgedCall.judge = ({ text }) => (text.endsWith("a") ? 0.1 : 0.8);
    judgedCall.run(960).says("I would like a", 960).run(900).says("room", 960).run(9_000);
    expect(judgedCall.state.endpointing.pauseMs).toBe(0);
    const off = joinedCall({ turnTaking: { adaptiveEndpointMaxMs: 0 } }).run(960);
    off.says("I would like a room", 960).run(720).says("that has a view", 960).run(9_000);
    expect(off.state.endpointing.pauseMs).toBe(0);
  });
});

test("speculations that were dropped because the user went on are not counted, up to a bound", () => {
  const call = joinedCall().run(960);
  for (let n = 0; n < 12; n += 1) call.says("and then", 640).run(320);
  expect(call.llm.requests).toHaveLength(SPECULATIONS_PER_TURN + SPECULATIONS_REFUNDED);
});

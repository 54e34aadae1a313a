import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Playout } from "./playout.ts";
import { concat, ramp } from "./testing/signals.ts";

const RATE = 8_000;
const FRAME = 160;
const samplesOf = (lengthMs: number, first = 1) => ramp((lengthMs * RATE) / 1_000, first);

type Report =
  ["started", number, number] | ["advanced", number, number, number] | ["finished", number, number, number];

function start(aheadMs = 60) {
  const reports: Report[] = [];
  const heard: Int16Array[] = [];
  const heardAt: number[] = [];
  const sent: { atMs: number; frame: Int16Array }[] = [];
  const playout = new Playout(
    { sampleRateHz: RATE, aheadMs },
    {
      started: (replyId, segmentId) => reports.push(["started", replyId, segmentId]),
      advanced: (replyId, segmentId, chars) => reports.push(["advanced", replyId, segmentId, chars]),
      finished: (replyId, segmentId, playedMs) => reports.push(["finished", replyId, segmentId, playedMs]),
      heard: (samples, startMs) => {
        heard.push(samples.slice());
        heardAt.push(startMs);
      },
    },
  );
  const take = (atMs: number) => playout.take(atMs, (frame) => sent.push({ atMs, frame }));
  const run = (fromMs: number, toMs: number) => {
    for (let nowMs = fromMs; nowMs <= toMs; nowMs += 10) take(nowMs);
  };
  const say = (replyId: number, segmentId: number, text: string, audio: Int16Array) => {
    playout.addSegment(replyId, segmentId, text);
    playout.append(replyId, segmentId, audio);
    playout.endSegment(replyId, segmentId, true);
  };
  return { playout, reports, heard, heardAt, sent, take, run, say };
}

describe("sending", () => {
  test("nothing is sent before the reply is opened", () => {
    const { playout, sent, run, say } = start();
    say(1, 1, "Hello there.", samplesOf(400));
    run(0, 500);
    expect(sent).toEqual([]);
    playout.open(1);
    run(500, 520);
    expect(sent.length).toBe(4);
  });

  test("frames run at most `aheadMs` ahead and in real time after that", () => {
    const { playout, sent, run, say } = start(100);
    say(1, 1, "Hello there.", samplesOf(1_000));
    playout.open(1);
    run(0, 2_000);
    expect(sent.length).toBe(50);
    sent.forEach(({ atMs }, i) => {
      expect(atMs).toBe(Math.max(0, (i + 1) * 20 - 100));
    });
  });

  test("a buffer below one frame counts as one frame", () => {
    const { playout, sent, run, say } = start(0);
    say(1, 1, "Hi.", samplesOf(100));
    playout.open(1);
    run(0, 100);
    expect(sent.map(({ atMs }) => atMs)).toEqual([0, 20, 40, 60, 80]);
  });

  test("late ticks do not slow the stream down", () => {
    const { playout, sent, take, say } = start(20);
    say(1, 1, "Hello there.", samplesOf(2_000));
    playout.open(1);
    for (let nowMs = 0; nowMs <= 2_400; nowMs += 33) take(nowMs);
    expect(sent.length).toBe(100);
    expect(sent.at(-1)?.atMs).toBeLessThanOrEqual(2_013);
  });

  test("replies sound in the order in which they were opened", () => {
    const { playout, reports, run, say } = start();
    say(2, 5, "Second.", samplesOf(40));
    say(1, 4, "First.", samplesOf(40));
    playout.open(1);
    playout.open(2);
    run(0, 200);
    expect(reports.filter(([kind]) => kind !== "advanced")).toEqual([
      ["started", 1, 4],
      ["started", 2, 5],
      ["finished", 1, 4, 40],
      ["finished", 2, 5, 40],
    ]);
  });
});

describe("audio that is still coming", () => {
  test("is sent as it comes, in whole frames, and the last one is filled up", () => {
    const { playout, sent, heard, take, run } = start();
    playout.addSegment(1, 1, "Hello");
    playout.open(1);
    playout.append(1, 1, samplesOf(10));
    take(0);
    expect(sent.length).toBe(0);
    playout.append(1, 1, samplesOf(15, 81));
    take(5);
    expect(sent.map(({ frame }) => frame)).toEqual([samplesOf(20)]);
    playout.endSegment(1, 1, true);
    run(10, 100);
    expect(sent.length).toBe(2);
    expect(sent.every(({ frame }) => frame.length === FRAME)).toBe(true);
    expect(concat(heard)).toEqual(concat([samplesOf(25), new Int16Array(FRAME - 40)]));
  });

  test("after a gap playout continues from now, not from where it would have been", () => {
    const { playout, sent, heardAt, run } = start();
    playout.addSegment(1, 1, "Hello you");
    playout.append(1, 1, samplesOf(40));
    playout.open(1);
    run(0, 500);
    playout.append(1, 1, samplesOf(400));
    run(510, 700);
    expect(sent.slice(2, 6).map(({ atMs }) => atMs)).toEqual([510, 510, 510, 530]);
    expect(heardAt).toContain(510);
  });

  test("a segment that came to nothing is passed over when its turn comes", () => {
    const { playout, reports, run, say } = start();
    say(1, 1, "One.", samplesOf(40));
    playout.addSegment(1, 2, "Two.");
    playout.endSegment(1, 2, false);
    say(1, 3, "Three.", samplesOf(40));
    playout.open(1);
    run(0, 200);
    expect(reports.filter(([kind]) => kind === "finished")).toEqual([
      ["finished", 1, 1, 40],
      ["finished", 1, 2, 0],
      ["finished", 1, 3, 40],
    ]);
    expect(reports.filter(([kind]) => kind === "started").length).toBe(2);
  });

  test("segments play by id, however their audio came", () => {
    const { playout, sent, run } = start();
    playout.addSegment(1, 2, "two");
    playout.addSegment(1, 1, "one");
    playout.append(1, 2, samplesOf(20, 1_000));
    playout.endSegment(1, 2, true);
    playout.open(1);
    run(0, 50);
    expect(sent).toEqual([]);
    playout.append(1, 1, samplesOf(20, 1));
    playout.endSegment(1, 1, true);
    run(60, 100);
    expect(sent.map(({ frame }) => frame[0])).toEqual([1, 1_000]);
  });
});

describe("words", () => {
  test("with times: each is reported when it begins, and the end when it was heard", () => {
    const { playout, reports, run, say } = start(1_000);
    say(1, 1, "Good  morning, you.", samplesOf(600));
    playout.word(1, 1, 0, 0);
    playout.word(1, 1, 6, 205);
    playout.word(1, 1, 15, 405);
    playout.open(1);
    run(0, 200);
    expect(reports).toEqual([
      ["started", 1, 1],
      ["advanced", 1, 1, 4],
    ]);
    run(210, 590);
    expect(reports.slice(2)).toEqual([
      ["advanced", 1, 1, 14],
      ["advanced", 1, 1, 19],
    ]);
    run(600, 600);
    expect(reports.slice(4)).toEqual([["finished", 1, 1, 600]]);
  });

  test("without times: by the share of the characters", () => {
    const { playout, run, say } = start();
    say(1, 1, "aaaa bbbb cccc dddd", samplesOf(1_900));
    playout.open(1);
    run(0, 1_200);
    expect(playout.pause(1, 1_200)).toEqual({ segmentId: 1, heardChars: 14 });
  });

  test("without spaces: by the words of the script", () => {
    const { playout, run, say } = start();
    const text = "今日は天気がいいですね";
    say(1, 1, text, samplesOf(1_100));
    playout.open(1);
    run(0, 600);
    const { heardChars } = playout.pause(1, 600);
    expect(heardChars).toBeGreaterThan(3);
    expect(heardChars).toBeLessThan(text.length);
  });

  test("a voice that broke off does not count as having said everything", () => {
    const { playout, run } = start();
    playout.addSegment(1, 1, "one two three four five six seven eight nine ten");
    playout.append(1, 1, samplesOf(400));
    playout.endSegment(1, 1, false);
    playout.open(1);
    run(0, 1_000);
    expect(playout.clear(1, 1_000).heardChars).toBe(7);
  });
});

describe("pause, resume, clear", () => {
  test("pausing before anything sounded says so", () => {
    const { playout, say } = start();
    say(1, 1, "Hello.", samplesOf(200));
    expect(playout.pause(1, 0)).toEqual({ segmentId: null, heardChars: 0 });
    expect(playout.clear(7, 0)).toEqual({ segmentId: null, heardChars: 0 });
  });

  test("what was sent and not heard is sent again", () => {
    const { playout, sent, heard, run, say } = start(400);
    const audio = samplesOf(1_000);
    say(1, 1, "Hello there my friend.", audio);
    playout.open(1);
    run(0, 250);
    expect(playout.unplayedMs(250)).toBe(390);
    playout.pause(1, 253);
    expect(playout.unplayedMs(253)).toBe(0);
    const before = sent.length;
    run(260, 1_000);
    expect(sent.length).toBe(before);
    playout.resume(1);
    run(1_010, 3_000);
    expect(concat(heard).subarray(0, audio.length)).toEqual(audio);
    // Behind the short ramp at its beginning.
    expect(sent[before]?.frame[100]).toBe(audio[253 * 8 + 100]);
  });

  test("nothing of a reply is sent after it was cleared, and another begins at once", () => {
    const { playout, reports, sent, run, say } = start();
    say(1, 1, "One.", samplesOf(1_000));
    say(2, 2, "Two.", samplesOf(40, 20_000));
    playout.open(1);
    run(0, 300);
    playout.clear(1, 305);
    playout.append(1, 1, samplesOf(100));
    const before = sent.length;
    playout.open(2);
    run(310, 400);
    expect(sent.slice(before).map(({ frame }) => frame[0])).toEqual([20_000, 20_160]);
    expect(reports.filter(([kind, reply]) => kind === "finished" && reply === 1)).toEqual([]);
  });

  test("the heard position spans segments", () => {
    const { playout, run, say } = start();
    say(1, 1, "One.", samplesOf(100));
    say(1, 2, "Two words.", samplesOf(100));
    playout.open(1);
    run(0, 100);
    expect(playout.pause(1, 100)).toEqual({ segmentId: 1, heardChars: 4 });
    playout.resume(1);
    run(100, 130);
    expect(playout.clear(1, 130)).toEqual({ segmentId: 2, heardChars: 3 });
  });

  test("another attempt at a segment takes its place", () => {
    const { playout, sent, run, say } = start();
    playout.addSegment(1, 1, "One.");
    playout.append(1, 1, samplesOf(20, 500));
    say(1, 2, "Two.", samplesOf(20, 2_000));
    playout.restartSegment(1, 1, "One.");
    playout.append(1, 1, samplesOf(20, 1_000));
    playout.endSegment(1, 1, true);
    playout.open(1);
    run(0, 100);
    expect(sent.map(({ frame }) => frame[0])).toEqual([1_000, 2_000]);
  });
});

test("heard audio gives its memory back", () => {
  const { playout, run } = start();
  playout.addSegment(1, 1, "long");
  playout.open(1);
  let nowMs = 0;
  for (let i = 0; i < 500; i += 1) {
    playout.append(1, 1, samplesOf(100));
    run(nowMs, nowMs + 90);
    nowMs += 100;
    expect(playout.bufferedMs).toBeLessThanOrEqual(300);
  }
});

/** A reply played under any schedule of ticks, pauses and arriving audio. */
const schedule = fc.array(
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({ kind: fc.constant("tick" as const), ms: fc.integer({ min: 0, max: 90 }) }),
    },
    {
      weight: 4,
      arbitrary: fc.record({ kind: fc.constant("audio" as const), ms: fc.integer({ min: 0, max: 400 }) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constantFrom("pause" as const, "resume" as const),
        ms: fc.constant(0),
      }),
    },
  ),
  { maxLength: 120 },
);

test("whatever the schedule: what is heard is the audio in order, and the lead stays within its limit", () => {
  fc.assert(
    fc.property(schedule, fc.integer({ min: 20, max: 500 }), (steps, aheadMs) => {
      const { playout, heard, take } = start(aheadMs);
      const frames: Int16Array[] = [];
      playout.addSegment(1, 1, "some text that is said");
      playout.open(1);
      let nowMs = 0;
      let given = 0;
      let paused = false;
      let mistakes = 0;
      for (const step of steps) {
        if (step.kind === "tick") {
          nowMs += step.ms;
          const sent = playout.take(nowMs, (frame) => frames.push(frame));
          mistakes += paused ? sent : 0;
          mistakes += playout.unplayedMs(nowMs) > aheadMs + 0.02 ? 1 : 0;
        } else if (step.kind === "audio") {
          playout.append(1, 1, samplesOf(step.ms, given + 1));
          given += step.ms * 8;
        } else if (step.kind === "pause") {
          playout.pause(1, nowMs);
          paused = true;
        } else {
          playout.resume(1);
          paused = false;
        }
        mistakes += concat(heard).length / 8 > nowMs ? 1 : 0;
      }
      expect(mistakes).toBe(0);
      const soFar = concat(heard);
      expect(soFar).toEqual(ramp(soFar.length));
      playout.resume(1);
      playout.endSegment(1, 1, true);
      for (let i = 0; i < given / 80 + 20; i += 1) {
        nowMs += 20;
        take(nowMs);
      }
      const all = concat(heard);
      expect(all.subarray(0, given)).toEqual(ramp(given));
      expect(all.length - given).toBeLessThan(FRAME);
      expect(playout.bufferedMs).toBe(0);
    }),
    { numRuns: 150 },
  );
});

test("at any moment: after a clear nothing more is heard, reported or sent", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 1_500 }),
      fc.integer({ min: 20, max: 2_000 }),
      (clearAtMs, aheadMs) => {
        const { playout, reports, heard, sent, run, take, say } = start(aheadMs);
        say(1, 1, "one two three", samplesOf(500));
        say(1, 2, "four five six", samplesOf(500));
        playout.open(1);
        run(0, clearAtMs);
        const position = playout.clear(1, clearAtMs);
        const before = [reports.length, heard.length, sent.length];
        take(clearAtMs);
        run(clearAtMs, clearAtMs + 2_000);
        expect([reports.length, heard.length, sent.length]).toEqual(before);
        expect(playout.bufferedMs).toBe(0);
        const expected = clearAtMs === 0 ? null : clearAtMs <= 500 ? 1 : 2;
        expect(position.segmentId).toBe(expected);
        expect(concat(heard).length).toBe(Math.min(clearAtMs, 1_000) * 8);
      },
    ),
    { numRuns: 150 },
  );
});

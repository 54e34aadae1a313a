import { describe, expect, test } from "vitest";
import { Playout } from "./playout.ts";
import { ramp } from "./testing/signals.ts";

const RATE = 8_000;
/** Ten words of 200 ms. */
const TEXT = "one two three four five six seven eight nine ten";
const AUDIO = ramp(2 * RATE);

/** A carrier that plays `lagMs` later than the clock of the playout says. */
function start(lagMs: number | null, aheadMs = 200) {
  const heard: number[] = [];
  const finished: number[] = [];
  let heardSamples = 0;
  let takenBack = 0;
  let nowMs = 0;
  const playout = new Playout(
    { sampleRateHz: RATE, aheadMs },
    {
      started: () => undefined,
      advanced: () => heard.push(nowMs),
      finished: () => finished.push(nowMs),
      heard: (samples) => (heardSamples += samples.length),
      takenBack: () => (takenBack += 1),
    },
  );
  let sent = 0;
  /** When the carrier has played each mark, in the order of the marks. */
  let playing: { readonly position: number; readonly atMs: number }[] = [];
  const marks: number[] = [];
  let playedUntilMs = 0;
  const send = (frame: Int16Array): void => {
    sent += 1;
    playedUntilMs = Math.max(playedUntilMs, nowMs + (lagMs ?? 0)) + (frame.length * 1_000) / RATE;
  };
  const mark = (position: number): void => {
    marks.push(position);
    if (lagMs !== null) playing.push({ position, atMs: playedUntilMs });
  };
  const run = (untilMs: number): void => {
    for (; nowMs <= untilMs; nowMs += 10) {
      for (const echo of playing.filter(({ atMs }) => atMs <= nowMs)) playout.played(echo.position, nowMs);
      playing = playing.filter(({ atMs }) => atMs > nowMs);
      playout.take(nowMs, send, mark);
    }
  };
  playout.addSegment(1, 1, TEXT);
  playout.append(1, 1, AUDIO);
  for (const [index, word] of [...TEXT.matchAll(/\S+/g)].entries())
    playout.word(1, 1, word.index, index * 200);
  playout.endSegment(1, 1, true);
  playout.open(1);
  return {
    playout,
    marks,
    heard,
    finished,
    run,
    sent: () => sent,
    heardMs: () => (heardSamples * 1_000) / RATE,
    takenBack: () => takenBack,
    now: () => nowMs,
  };
}

describe("marks", () => {
  test("are set every 200 ms and behind the end of a segment", () => {
    const { marks, run } = start(0);
    run(2_500);
    expect(marks).toEqual(Array.from({ length: 10 }, (_, i) => (i + 1) * 1_600));
  });

  test("that come late move what counts as heard, and nothing that is sent", () => {
    const punctual = start(0);
    const late = start(300);
    punctual.run(1_000);
    late.run(1_000);
    expect(late.sent()).toBe(punctual.sent());
    expect(Math.abs(punctual.heardMs() - late.heardMs() - 300)).toBeLessThanOrEqual(20);
    late.run(3_000);
    expect(late.heardMs()).toBe(2_000);
    expect((late.finished[0] ?? 0) - 2_300).toBeGreaterThanOrEqual(0);
    expect((late.finished[0] ?? 0) - 2_300).toBeLessThanOrEqual(20);
  });

  test("that never come leave the clock in charge", () => {
    const { run, finished, heardMs } = start(null);
    run(2_500);
    expect([heardMs(), finished]).toEqual([2_000, [2_000]]);
  });

  test("that are echoed at once cannot make anything heard early", () => {
    const { playout, marks, run, heardMs } = start(null);
    run(400);
    for (const position of marks) playout.played(position, 400);
    playout.played(12_345_678, 400);
    expect(heardMs()).toBeLessThanOrEqual(400);
  });

  test("of audio that was taken back do not count", () => {
    const { playout, marks, run, heardMs, takenBack, now } = start(null);
    // A whole number of frames, so that nothing is filled up.
    run(490);
    const before = marks.length;
    playout.pause(1, now());
    expect(takenBack()).toBe(1);
    const at = heardMs();
    for (const position of marks) playout.played(position, now() + 1_500);
    run(900);
    expect(heardMs()).toBe(at);
    playout.resume(1);
    run(3_500);
    expect(heardMs()).toBe(2_000);
    expect(marks.length).toBeGreaterThan(before);
  });

  test("an interruption is told to the other side once, and not when it holds nothing", () => {
    const { playout, run, takenBack, now } = start(0);
    run(3_000);
    playout.clear(1, now());
    playout.pause(2, now());
    expect(takenBack()).toBe(0);
  });
});

describe("a side that sends all the time", () => {
  /** The other side sends until `goneMs`, and nothing after that. */
  function runWith(goneMs: number, untilMs: number) {
    const started = start(null);
    while (started.now() <= untilMs) {
      if (started.now() <= goneMs) started.playout.heardFrom(started.now());
      started.run(started.now());
    }
    return started;
  }

  test("changes nothing while it is there", () => {
    const quiet = start(null);
    quiet.run(3_000);
    const lively = runWith(3_000, 3_000);
    expect([lively.heardMs(), lively.finished]).toEqual([quiet.heardMs(), quiet.finished]);
  });

  test("hears nothing after it has gone, and hears the rest after a pause", () => {
    const { playout, heardMs, run, now } = runWith(490, 1_400);
    expect(heardMs()).toBeGreaterThanOrEqual(490);
    expect(heardMs()).toBeLessThanOrEqual(1_020);
    const before = heardMs();
    playout.pause(1, now());
    expect(heardMs()).toBe(before);
    playout.resume(1);
    playout.heardFrom(now());
    for (let until = now(); until < 5_000; until += 100) {
      playout.heardFrom(now());
      run(until);
    }
    expect(heardMs()).toBeGreaterThanOrEqual(2_000);
    expect(heardMs()).toBeLessThanOrEqual(2_040);
  });

  test("has heard everything after a silence in which it would have been lost", () => {
    const { heardMs, finished } = runWith(490, 9_000);
    expect(heardMs()).toBe(2_000);
    expect(finished).toHaveLength(1);
  });
});

describe("speech that is cut", () => {
  /** Loud and even, so that every edge is one of a cut. */
  const LOUD = new Int16Array(2 * RATE).fill(8_000);

  function open() {
    const sent: Int16Array[] = [];
    const tails: Int16Array[] = [];
    const playout = new Playout(
      { sampleRateHz: RATE, aheadMs: 60 },
      {
        started: () => undefined,
        advanced: () => undefined,
        finished: () => undefined,
        heard: () => undefined,
        takenBack: (tail) => tails.push(tail.slice()),
      },
    );
    playout.addSegment(1, 1, TEXT);
    playout.append(1, 1, LOUD);
    playout.endSegment(1, 1, true);
    playout.open(1);
    const take = (nowMs: number) => playout.take(nowMs, (frame) => sent.push(frame.slice()));
    return { playout, sent, tails, take };
  }

  test("fades out where it is interrupted, and in where it goes on", () => {
    const { playout, sent, tails, take } = open();
    take(0);
    // As at its beginning, which the voice itself has rendered.
    expect(sent[0]?.[0]).toBe(8_000);
    take(35);
    playout.pause(1, 35);
    const [tail] = tails;
    expect([tail?.[0], tail?.length, tail?.at(80), tail?.at(-1)]).toEqual([8_000, 160, 0, 0]);
    const before = sent.length;
    playout.resume(1);
    take(500);
    expect(sent[before]?.[0]).toBe(0);
    expect(sent[before]?.at(-1)).toBe(8_000);
    expect(sent[before + 1]?.[0]).toBe(8_000);
  });

  test("leaves the beginning of the next reply as it is", () => {
    const { playout, sent, take } = open();
    take(0);
    playout.clear(1, 25);
    playout.addSegment(2, 2, TEXT);
    playout.append(2, 2, LOUD);
    playout.open(2);
    const before = sent.length;
    take(100);
    expect(sent[before]?.[0]).toBe(8_000);
  });
});

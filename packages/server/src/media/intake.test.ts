import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { GAP_TOLERANCE_MS, Intake, QUEUE_LIMIT_MS } from "./intake.ts";
import { concat, ramp } from "./testing/signals.ts";

const RATE = 8_000;
const ms = (samples: number) => (samples * 1_000) / RATE;
const audio = (lengthMs: number, first = 1) => ramp((lengthMs * RATE) / 1_000, first);

function start(idleTimeoutMs: number | null = null) {
  const seen = {
    audio: [] as Int16Array[],
    insertedMs: 0,
    underflows: [] as number[],
    overflows: [] as number[],
    idles: 0,
  };
  const intake = new Intake(
    { sampleRateHz: RATE, startMs: 0, idleTimeoutMs },
    {
      released: (samples, inserted) => {
        if (inserted) seen.insertedMs += ms(samples.length);
        else seen.audio.push(samples.slice());
      },
      underflowed: (missingMs) => seen.underflows.push(missingMs),
      overflowed: (droppedMs) => seen.overflows.push(droppedMs),
      idled: () => {
        seen.idles += 1;
      },
    },
  );
  return { intake, seen };
}

/** Runs the clock in ticks of 10 ms up to and including `toMs`, calling `at` before each tick. */
function run(intake: Intake, fromMs: number, toMs: number, at: (nowMs: number) => void = () => {}): void {
  for (let nowMs = fromMs; nowMs <= toMs; nowMs += 10) {
    at(nowMs);
    intake.tick(nowMs);
  }
}

describe("pace from the client", () => {
  test("audio in real time passes at once and unchanged", () => {
    const { intake, seen } = start();
    const sent: Int16Array[] = [];
    run(intake, 0, 60_000, (nowMs) => {
      if (nowMs % 20 !== 0) return;
      const frame = audio(20, nowMs + 1);
      sent.push(frame);
      intake.push(frame, nowMs);
    });
    expect(concat(seen.audio)).toEqual(concat(sent));
    expect(seen).toMatchObject({ insertedMs: 0, underflows: [], overflows: [] });
    expect(intake.queuedMs).toBe(0);
    expect(intake.mediaMs).toBe(60_020);
  });

  test.each([0.999, 1.001])("a clock that runs at %d costs neither silence nor audio", (speed) => {
    const reported: string[] = [];
    const intake = new Intake(
      { sampleRateHz: RATE, startMs: 0, idleTimeoutMs: null },
      {
        released: (_samples, inserted) => void (inserted && reported.push("inserted")),
        underflowed: () => void reported.push("underflowed"),
        overflowed: () => void reported.push("overflowed"),
        idled: () => void reported.push("idled"),
      },
    );
    const frame = audio(20);
    let sentMs = 0;
    // Twenty minutes put the clocks 1.2 s apart.
    run(intake, 0, 1_200_000, (nowMs) => {
      while (sentMs + 20 <= nowMs * speed) {
        intake.push(frame, nowMs);
        sentMs += 20;
      }
    });
    expect(reported).toEqual([]);
    expect(intake.queuedMs).toBeLessThanOrEqual(40);
  });

  test("a silent socket is silence in real time, reported once in ten seconds", () => {
    const { intake, seen } = start();
    run(intake, 0, 30_000);
    expect(intake.mediaMs).toBe(seen.insertedMs);
    // 2 % of patience: 29.4 s expected, less the tolerance, in whole frames.
    expect(seen.insertedMs).toBeGreaterThan(29_400 - GAP_TOLERANCE_MS - 40);
    expect(seen.insertedMs).toBeLessThan(29_400);
    expect(seen.underflows.length).toBe(3);
    expect(seen.underflows[0]).toBe(20);
    expect(seen.idles).toBe(0);
  });

  test("silence begins after the tolerance, not before", () => {
    const { intake, seen } = start();
    run(intake, 0, GAP_TOLERANCE_MS);
    expect(seen.insertedMs).toBe(0);
    run(intake, GAP_TOLERANCE_MS + 10, GAP_TOLERANCE_MS + 40);
    expect(seen.insertedMs).toBe(20);
  });

  test("a stall of up to a second leaves no delay: what was held up passes at once", () => {
    const { intake, seen } = start();
    run(intake, 0, 2_000, (nowMs) => {
      if (nowMs % 20 === 0) intake.push(audio(20), nowMs);
    });
    run(intake, 2_010, 2_800);
    expect(seen.insertedMs).toBeGreaterThan(500);
    for (let i = 0; i < 40; i += 1) intake.push(audio(20), 2_805);
    expect(intake.queuedMs).toBe(0);
    expect(seen.overflows).toEqual([]);
  });

  test("the delay after a long stall is worked off", () => {
    const { intake, seen } = start();
    run(intake, 0, 5_000);
    for (let i = 0; i < 250; i += 1) intake.push(audio(20), 5_001);
    expect(intake.queuedMs).toBe(QUEUE_LIMIT_MS);
    expect(seen.overflows.length).toBe(1);
    run(intake, 5_010, 17_000, (nowMs) => {
      if (nowMs % 20 === 0) intake.push(audio(20), nowMs);
    });
    expect(intake.queuedMs).toBe(0);
  });

  test("a flood keeps the newest second and says what was lost", () => {
    const { intake, seen } = start();
    run(intake, 0, 20_000, (nowMs) => {
      intake.push(audio(100, nowMs * 10 + 1), nowMs);
    });
    const passedMs = seen.audio.reduce((sum, part) => sum + ms(part.length), 0);
    expect(passedMs).toBeLessThan(20_000 * 1.1 + 1_300);
    expect(intake.queuedMs).toBeLessThanOrEqual(QUEUE_LIMIT_MS);
    expect(seen.overflows.length).toBe(2);
    expect(seen.insertedMs).toBe(0);
  });

  test("one piece longer than the queue keeps its newest part", () => {
    const { intake, seen } = start();
    const piece = audio(3_000);
    intake.push(piece, 0);
    run(intake, 0, 5_000);
    const passed = concat(seen.audio);
    // 200 ms of initial credit, then the newest second.
    expect(passed.subarray(0, 1_600)).toEqual(piece.subarray(0, 1_600));
    expect(passed.subarray(1_600)).toEqual(piece.subarray(piece.length - 8_000));
    expect(seen.overflows).toEqual([1_800]);
  });

  test("a stall of our own is not taken for a gap of the client", () => {
    const { intake, seen } = start();
    intake.tick(0);
    intake.tick(3_000);
    expect(seen.insertedMs).toBe(0);
  });
});

describe("an idle connection", () => {
  test("is reported once per quiet time", () => {
    const { intake, seen } = start(10_000);
    run(intake, 0, 9_990);
    expect(seen.idles).toBe(0);
    run(intake, 10_000, 25_000);
    expect(seen.idles).toBe(1);
    intake.push(audio(20), 25_000);
    run(intake, 25_000, 40_000);
    expect(seen.idles).toBe(2);
  });

  test("is not reported while there is no connection, and counts again from the next", () => {
    const { intake, seen } = start(10_000);
    run(intake, 0, 5_000);
    intake.detach();
    const reports = seen.underflows.length;
    run(intake, 5_010, 30_000);
    expect(seen.idles).toBe(0);
    expect(seen.underflows.length).toBe(reports);
    intake.attach(30_000);
    run(intake, 30_010, 39_990);
    expect(seen.idles).toBe(0);
    run(intake, 40_000, 40_000);
    expect(seen.idles).toBe(1);
  });

  test("what waits is dropped with the connection", () => {
    const { intake, seen } = start();
    intake.push(audio(1_000), 0);
    expect(intake.queuedMs).toBeGreaterThan(0);
    intake.detach();
    expect(intake.queuedMs).toBe(0);
    expect(seen.overflows).toEqual([]);
  });
});

test("whatever comes whenever: order is kept, nothing is made up, and all sums hold", () => {
  const step = fc.record({
    afterMs: fc.integer({ min: 0, max: 700 }),
    lengthMs: fc.integer({ min: 0, max: 1_500 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const { intake, seen } = start();
      let nowMs = 0;
      let pushedMs = 0;
      let position = 0;
      for (const { afterMs, lengthMs } of steps) {
        const until = nowMs + afterMs;
        for (; nowMs + 10 <= until; nowMs += 10) intake.tick(nowMs);
        nowMs = until;
        intake.push(audio(lengthMs, position + 1), nowMs);
        position += (lengthMs * RATE) / 1_000;
        pushedMs += lengthMs;
        expect(intake.queuedMs).toBeLessThanOrEqual(QUEUE_LIMIT_MS);
      }
      run(intake, nowMs, nowMs + 30_000);
      expect(intake.queuedMs).toBe(0);
      const passed = concat(seen.audio);
      const lostMs = seen.overflows.reduce((sum, dropped) => sum + dropped, 0);
      // Amounts not yet reported are reported within the 30 s that have passed since.
      expect(ms(passed.length) + lostMs).toBeCloseTo(pushedMs, 6);
      expect(intake.mediaMs).toBeCloseTo(ms(passed.length) + seen.insertedMs, 6);
      const limitMs = nowMs * 1.1 + 1_000 + 200 + seen.insertedMs + QUEUE_LIMIT_MS;
      expect(ms(passed.length)).toBeLessThanOrEqual(limitMs);
      // The samples count up: the distance between two of them is what was lost, never negative.
      let last = 0;
      let jumps = 0;
      for (const sample of passed) {
        const jump = (sample - last - 1 + 64_000) % 32_000;
        jumps += jump;
        last = sample;
      }
      expect(ms(jumps)).toBeLessThanOrEqual(lostMs + 1e-6);
    }),
    { numRuns: 60 },
  );
});

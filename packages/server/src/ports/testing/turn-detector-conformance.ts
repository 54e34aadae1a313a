/** Conformance suite for turn detectors; each adapter's test file registers it with its own detector. */

import { afterEach, describe, expect, it } from "vitest";
import type { TurnDetector, TurnQuestion } from "../turn-detector.ts";

export interface TurnDetectorSubject {
  /** Called once per test; the suite closes what it opened. */
  readonly open: () => TurnDetector | Promise<TurnDetector>;
  readonly listens: boolean;
  /** Two questions that the detector judges differently, each with an opinion. */
  readonly questions: readonly [TurnQuestion, TurnQuestion];
}

/** Questions at once: as many as the pauses of a busy minute produce, and within any detector's queue. */
const COMPANY = 10;

/** How far the result for the same question may differ in another batch (float rounding). */
const TOLERANCE = 1e-5;

const never = (): AbortSignal => new AbortController().signal;

/** How a question ended: its probability, null, or what it failed with. */
async function outcome(
  detector: TurnDetector,
  question: TurnQuestion,
  signal = never(),
): Promise<number | string | null> {
  try {
    const judgement = await detector.judge(question, signal);
    return judgement === null ? null : judgement.finished;
  } catch (error) {
    return error instanceof Error ? error.message : "rejected with something that is no error";
  }
}

export function describeTurnDetectorConformance(name: string, subject: TurnDetectorSubject): void {
  describe(`${name} as turn detector`, () => {
    const opened: TurnDetector[] = [];
    const open = async (): Promise<TurnDetector> => {
      const detector = await subject.open();
      opened.push(detector);
      return detector;
    };
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((detector) => detector.close()));
    });
    judging(subject, open);
    ending(subject, open);
  });
}

function judging(subject: TurnDetectorSubject, open: () => Promise<TurnDetector>): void {
  const [one, other] = subject.questions;

  it("has a name and says whether it wants the audio", async () => {
    const detector = await open();
    expect(detector.name).not.toBe("");
    expect(detector.listens).toBe(subject.listens);
  });

  it("answers with a probability, the same for the same question", async () => {
    const detector = await open();
    const first = await outcome(detector, one);
    expect(first).toBeTypeOf("number");
    expect(first).toBeGreaterThanOrEqual(0);
    expect(first).toBeLessThanOrEqual(1);
    expect(await outcome(detector, one)).toBeCloseTo(Number(first), 5);
    expect(Math.abs(Number(await outcome(detector, other)) - Number(first))).toBeGreaterThan(TOLERANCE);
  });

  it("keeps questions of many calls apart", async () => {
    const detector = await open();
    const [first, second] = [await outcome(detector, one), await outcome(detector, other)];
    const answers = await Promise.all(
      Array.from({ length: COMPANY }, (_, index) => outcome(detector, index % 2 === 0 ? one : other)),
    );
    for (const [index, answer] of answers.entries()) {
      expect(answer).toBeCloseTo(Number(index % 2 === 0 ? first : second), 5);
    }
  });

  it("leaves the caller's audio as it was", async () => {
    const detector = await open();
    const audio = one.audio?.slice() ?? null;
    await outcome(detector, one);
    expect(one.audio).toEqual(audio);
  });

  it("has an opinion or none about a question without words and without audio", async () => {
    const detector = await open();
    const empty = { text: "", agentText: "", language: null };
    for (const audio of [null, new Int16Array(0)]) {
      const answer = await outcome(detector, { ...empty, audio });
      expect(answer === null || (typeof answer === "number" && answer >= 0 && answer <= 1)).toBe(true);
    }
  });
}

function ending(subject: TurnDetectorSubject, open: () => Promise<TurnDetector>): void {
  const [one, other] = subject.questions;

  it("rejects a question that is aborted already, and continues", async () => {
    const detector = await open();
    expect(await outcome(detector, one, AbortSignal.abort())).toBeTypeOf("string");
    expect(await outcome(detector, one)).toBeTypeOf("number");
  });

  it("settles questions that are aborted on the way, and answers the others", async () => {
    const detector = await open();
    const expected = await outcome(detector, other);
    const abort = new AbortController();
    const aborted = Array.from({ length: COMPANY / 2 }, () => outcome(detector, one, abort.signal));
    const unaffected = outcome(detector, other);
    abort.abort();
    await Promise.all(aborted);
    expect(await unaffected).toBeCloseTo(Number(expected), 5);
  });

  it("closes twice, settles what is under way, and settles what is asked later", async () => {
    const detector = await open();
    const underWay = Array.from({ length: COMPANY }, () => outcome(detector, one));
    await Promise.all([detector.close(), detector.close()]);
    await detector.close();
    const settled = await Promise.all(underWay);
    expect(settled).toHaveLength(COMPANY);
    expect(await outcome(detector, one)).not.toBeUndefined();
  });
}

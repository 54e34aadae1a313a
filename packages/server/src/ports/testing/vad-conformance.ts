/** Conformance suite for voice activity detectors; each adapter's test file registers it with its own engine. */

import { afterEach, describe, expect, it } from "vitest";
import { VAD_WINDOW_SAMPLES, type VadEngine, type VadStream } from "../vad.ts";

export interface VadSubject {
  /** Called once per test; the suite closes what it opened. */
  readonly open: () => VadEngine | Promise<VadEngine>;
  /** 16 kHz mono speech, two seconds or more, that the engine must hear. */
  readonly speech: Int16Array;
  /** An engine and a way to kill its worker. Left out where nothing can be lost. */
  readonly openLosable?: () => Promise<{ readonly engine: VadEngine; readonly lose: () => void }>;
}

/** How far scores of the same windows may differ in another batch (float rounding). */
const SCORE_TOLERANCE = 1e-4;

/** Collects the scores of one stream, with a promise for the moment when enough have come. */
export class VadRecord {
  readonly indexes: number[] = [];
  readonly scores: number[] = [];
  readonly failures: Error[] = [];
  #wanted = 0;
  #reached = Promise.withResolvers<void>();

  scored(index: number, score: number): void {
    this.indexes.push(index);
    this.scores.push(score);
    if (this.scores.length >= this.#wanted) this.#reached.resolve();
  }

  failed(error: Error): void {
    this.failures.push(error);
    this.#reached.resolve();
  }

  /** Resolves with `count` scores, or earlier with a failure. */
  async heard(count: number): Promise<void> {
    this.#wanted = count;
    if (this.scores.length >= count || this.failures.length > 0) return;
    this.#reached = Promise.withResolvers<void>();
    await this.#reached.promise;
  }
}

/** Whole windows of the audio; a rest shorter than a window is left out. */
export function vadWindows(samples: Int16Array): Int16Array[] {
  const count = Math.floor(samples.length / VAD_WINDOW_SAMPLES);
  return Array.from({ length: count }, (_, index) =>
    samples.slice(index * VAD_WINDOW_SAMPLES, (index + 1) * VAD_WINDOW_SAMPLES),
  );
}

/** Streams of other calls in the test that mixes streams: more than one batch holds. */
const COMPANY = 20;

/** Windows pushed ahead of their scores: well within any engine's queue for one stream. */
const AHEAD = 50;

/** Scores all windows on a separate stream. */
export async function scoreAlone(engine: VadEngine, windows: readonly Int16Array[]): Promise<number[]> {
  const record = new VadRecord();
  const stream = engine.open(record);
  for (const [index, window] of windows.entries()) {
    stream.push(window);
    await record.heard(index + 1 - AHEAD);
  }
  await record.heard(windows.length);
  stream.close();
  expect(record.failures).toEqual([]);
  return record.scores;
}

export function describeVadConformance(name: string, subject: VadSubject): void {
  describe(`${name} as voice activity detection`, () => {
    const opened: VadEngine[] = [];
    const open = async (): Promise<VadEngine> => {
      const engine = await subject.open();
      opened.push(engine);
      return engine;
    };
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((engine) => engine.close()));
    });
    const windows = vadWindows(subject.speech).slice(0, 60);
    scoring(windows, open);
    ending(windows, open);
    const { openLosable } = subject;
    if (openLosable !== undefined) {
      losing(windows, async () => {
        const losable = await openLosable();
        opened.push(losable.engine);
        return losable;
      });
    }
  });
}

type Open = () => Promise<VadEngine>;

/** The largest difference of two lists; infinite when one is longer. */
function difference(actual: readonly number[], expected: readonly number[]): number {
  if (actual.length !== expected.length) return Infinity;
  return Math.max(...actual.map((score, index) => Math.abs(score - (expected[index] ?? Infinity))));
}

function scoring(windows: readonly Int16Array[], open: Open): void {
  it("scores every window in order, each within 0 and 1", async () => {
    const engine = await open();
    const record = new VadRecord();
    const stream = engine.open(record);
    for (const window of windows) stream.push(window);
    await record.heard(windows.length);
    expect(record.indexes).toEqual(windows.map((_, index) => index));
    expect(record.scores.every((score) => score >= 0 && score <= 1)).toBe(true);
    expect(record.failures).toEqual([]);
  });

  it("hears speech and does not hear silence", async () => {
    const engine = await open();
    const silence = windows.map(() => new Int16Array(VAD_WINDOW_SAMPLES));
    expect(Math.max(...(await scoreAlone(engine, windows)))).toBeGreaterThan(0.8);
    expect(Math.max(...(await scoreAlone(engine, silence)))).toBeLessThan(0.1);
  });

  it("copies a window that its caller uses again", async () => {
    const engine = await open();
    const expected = await scoreAlone(engine, windows);
    const record = new VadRecord();
    const stream = engine.open(record);
    const reused = new Int16Array(VAD_WINDOW_SAMPLES);
    for (const window of windows) {
      reused.set(window);
      stream.push(reused);
      reused.fill(12_345);
    }
    await record.heard(windows.length);
    expect(difference(record.scores, expected)).toBeLessThan(SCORE_TOLERANCE);
  });

  it("keeps the streams of many calls apart, each at its own place in its audio", async () => {
    const engine = await open();
    const expected = await scoreAlone(engine, windows);
    const records: VadRecord[] = [];
    const streams: VadStream[] = [];
    for (let call = 0; call < COMPANY; call++) {
      const record = new VadRecord();
      records.push(record);
      streams.push(engine.open(record));
    }
    // Call n is n windows behind call 0, so every batch mixes different places of the audio.
    for (let step = 0; step < windows.length + COMPANY; step++) {
      for (const [call, stream] of streams.entries()) {
        const window = windows[step - call];
        if (window !== undefined) stream.push(window);
      }
    }
    await Promise.all(records.map((record) => record.heard(windows.length)));
    const differences = records.map(({ scores }) => difference(scores, expected));
    expect(Math.max(...differences)).toBeLessThan(SCORE_TOLERANCE);
  });

  it("refuses a window of another length and continues", async () => {
    const engine = await open();
    const record = new VadRecord();
    const stream = engine.open(record);
    for (const length of [0, VAD_WINDOW_SAMPLES - 1, VAD_WINDOW_SAMPLES + 1]) {
      expect(() => {
        stream.push(new Int16Array(length));
      }).toThrow(String(length));
    }
    stream.push(new Int16Array(VAD_WINDOW_SAMPLES));
    await record.heard(1);
    expect(record.indexes).toEqual([0]);
  });
}

function ending(windows: readonly Int16Array[], open: Open): void {
  it("says nothing more of a closed stream, takes no more, and may be closed again", async () => {
    const engine = await open();
    const record = new VadRecord();
    const stream = engine.open(record);
    for (const window of windows) stream.push(window);
    await record.heard(1);
    stream.close();
    const { length } = record.scores;
    stream.close();
    stream.push(new Int16Array(VAD_WINDOW_SAMPLES));
    // Another stream's scores arrive after any pending work of the first.
    await scoreAlone(engine, windows);
    expect(record.scores).toHaveLength(length);
    expect(record.failures).toEqual([]);
  });

  it("closes twice with a stream open, which then fails once; a stream opened later fails too", async () => {
    const engine = await open();
    const record = new VadRecord();
    const stream = engine.open(record);
    for (const window of windows) stream.push(window);
    await Promise.all([engine.close(), engine.close()]);
    await engine.close();
    expect(record.failures).toHaveLength(1);
    const { length } = record.scores;
    const late = new VadRecord();
    const lateStream = engine.open(late);
    lateStream.push(new Int16Array(VAD_WINDOW_SAMPLES));
    await late.heard(1);
    expect(late.scores).toEqual([]);
    expect(late.failures).toHaveLength(1);
    expect(record.scores).toHaveLength(length);
    expect(record.failures).toHaveLength(1);
  });
}

function losing(
  windows: readonly Int16Array[],
  open: () => Promise<{ readonly engine: VadEngine; readonly lose: () => void }>,
): void {
  it("fails every open stream once when its work is lost, and serves new ones", async () => {
    const { engine, lose } = await open();
    const records = Array.from({ length: 5 }, () => new VadRecord());
    const streams = records.map((record) => engine.open(record));
    for (const stream of streams) stream.push(new Int16Array(VAD_WINDOW_SAMPLES));
    await Promise.all(records.map((record) => record.heard(1)));
    lose();
    await Promise.all(records.map((record) => record.heard(Infinity)));
    for (const stream of streams) stream.push(new Int16Array(VAD_WINDOW_SAMPLES));
    expect(Math.max(...(await scoreAlone(engine, windows)))).toBeGreaterThan(0.8);
    for (const record of records) {
      expect(record.failures).toHaveLength(1);
      expect(record.scores).toHaveLength(1);
    }
  });
}

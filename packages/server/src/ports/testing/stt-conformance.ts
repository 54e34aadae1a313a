/** Conformance suite for recognisers; each adapter's test file registers it with its own engine. */

import { afterEach, describe, expect, it } from "vitest";
import { STT_SAMPLE_RATE_HZ, type SttEngine, type SttListener, type SttStream } from "../stt.ts";

export interface SpokenText {
  readonly samples: Int16Array;
  /** Exactly what the engine must answer. */
  readonly text: string;
}

export interface HangingStt {
  readonly engine: SttEngine;
  /** Resolves once the engine's work on a request has begun; nothing more will come. */
  readonly reached: Promise<unknown>;
}

export interface SttSubject {
  /** Called once per test; the suite closes what it opened. */
  readonly open: () => SttEngine | Promise<SttEngine>;
  /** Two utterances with different texts. */
  readonly spoken: readonly [SpokenText, SpokenText];
  /** Heard but not recognised. */
  readonly unintelligible: Int16Array;
  /** A language that the engine lacks. Left out where it takes any. */
  readonly foreignLanguage?: string;
  /** An engine that never answers. */
  readonly openHanging: () => HangingStt | Promise<HangingStt>;
  /** An engine whose every request fails. */
  readonly openFailing: () => SttEngine | Promise<SttEngine>;
}

export type SttAnswer =
  | {
      readonly type: "final";
      readonly utteranceId: number;
      readonly revision: number;
      readonly text: string;
      readonly understood: boolean;
    }
  | {
      readonly type: "failed";
      readonly utteranceId: number;
      readonly revision: number;
      readonly error: string;
    };

/** Collects the listener calls of one stream. */
export class SttRecord implements SttListener {
  readonly answers: SttAnswer[] = [];
  readonly warnings: string[] = [];
  #wanted = Infinity;
  #reached = Promise.withResolvers<void>();

  partial(): void {
    // Early text is optional and may be anything; the suite checks answers only.
  }

  final(utteranceId: number, revision: number, text: string, understood: boolean): void {
    this.#add({ type: "final", utteranceId, revision, text, understood });
  }

  failed(utteranceId: number, revision: number, error: Error): void {
    this.#add({ type: "failed", utteranceId, revision, error: error.message });
  }

  warned(message: string): void {
    this.warnings.push(message);
  }

  /** Resolves once `count` answers have come in total. */
  async answered(count: number): Promise<readonly SttAnswer[]> {
    this.#wanted = count;
    if (this.answers.length < count) {
      this.#reached = Promise.withResolvers<void>();
      await this.#reached.promise;
    }
    return this.answers;
  }

  #add(answer: SttAnswer): void {
    this.answers.push(answer);
    if (this.answers.length >= this.#wanted) this.#reached.resolve();
  }
}

/** Pushes the audio in pieces of 20 ms, through one reused array. */
export function pushAll(stream: SttStream, utteranceId: number, samples: Int16Array): void {
  const piece = new Int16Array(STT_SAMPLE_RATE_HZ / 50);
  for (let at = 0; at < samples.length; at += piece.length) {
    const part = samples.subarray(at, at + piece.length);
    piece.set(part);
    stream.push(utteranceId, piece.subarray(0, part.length));
    piece.fill(-1);
  }
}

function ask(stream: SttStream, utteranceId: number, samples: Int16Array, revision = 0): void {
  stream.open(utteranceId);
  pushAll(stream, utteranceId, samples);
  stream.request(utteranceId, revision);
}

function finalOf(utteranceId: number, revision: number, text: string): SttAnswer {
  return { type: "final", utteranceId, revision, text, understood: text !== "" };
}

export function describeSttConformance(name: string, subject: SttSubject): void {
  describe(`${name} as a recogniser`, () => {
    const opened: SttEngine[] = [];
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((engine) => engine.close()));
    });
    const opener = async (open: SttSubject["open"]): Promise<SttEngine> => {
      const engine = await open();
      opened.push(engine);
      return engine;
    };
    const hanging = async (): Promise<HangingStt> => {
      const hung = await subject.openHanging();
      opened.push(hung.engine);
      return hung;
    };
    transcribing(subject, () => opener(subject.open));
    dropping(subject, () => opener(subject.open));
    closing(subject, () => opener(subject.open), hanging);
    failing(subject, () => opener(subject.openFailing), hanging);
  });
}

type Open = () => Promise<SttEngine>;

const ENGLISH = { language: "en-GB" } as const;

function transcribing({ spoken, unintelligible, foreignLanguage }: SttSubject, open: Open): void {
  it("answers each request once, with its numbers and the text", async () => {
    const record = new SttRecord();
    const stream = (await open()).open({ language: null }, record);
    ask(stream, 7, spoken[0].samples, 3);
    await record.answered(1);
    ask(stream, 8, spoken[1].samples);
    expect(await record.answered(2)).toEqual([finalOf(7, 3, spoken[0].text), finalOf(8, 0, spoken[1].text)]);
    expect(record.warnings).toEqual([]);
  });

  it("answers every revision when asked again while an answer is on its way, the last for the whole audio", async () => {
    const record = new SttRecord();
    const stream = (await open()).open(ENGLISH, record);
    const { samples, text } = spoken[0];
    const half = samples.length >> 1;
    ask(stream, 1, samples.subarray(0, half), 0);
    pushAll(stream, 1, samples.subarray(half));
    stream.request(1, 1);
    const answers = await record.answered(2);
    expect(new Set(answers.map(({ revision }) => revision))).toEqual(new Set([0, 1]));
    expect(answers.find(({ revision }) => revision === 1)).toEqual(finalOf(1, 1, text));
  });

  it("keeps the utterances of many calls apart", async () => {
    const engine = await open();
    const records = Array.from({ length: 4 }, () => new SttRecord());
    for (const [call, record] of records.entries()) {
      ask(engine.open(ENGLISH, record), call, spoken[call % 2 === 0 ? 0 : 1].samples);
    }
    const answers = await Promise.all(records.map((record) => record.answered(1)));
    expect(answers).toEqual(
      records.map((_, call) => [finalOf(call, 0, spoken[call % 2 === 0 ? 0 : 1].text)]),
    );
  });

  it("says that it did not understand, with no text, of unclear speech and of no audio at all", async () => {
    const record = new SttRecord();
    const stream = (await open()).open(ENGLISH, record);
    ask(stream, 1, unintelligible);
    await record.answered(1);
    ask(stream, 2, new Int16Array(0));
    expect(await record.answered(2)).toEqual([finalOf(1, 0, ""), finalOf(2, 0, "")]);
  });

  it.skipIf(foreignLanguage === undefined)("warns once of a language that it lacks, and tries", async () => {
    const record = new SttRecord();
    const stream = (await open()).open({ language: foreignLanguage ?? null }, record);
    ask(stream, 1, spoken[0].samples);
    await record.answered(1);
    ask(stream, 2, spoken[0].samples);
    await record.answered(2);
    expect(record.warnings).toHaveLength(1);
    expect(record.warnings[0]).toContain(foreignLanguage);
  });
}

function dropping({ spoken }: SttSubject, open: Open): void {
  it("says nothing of an abandoned utterance, ignores what is not open, and continues", async () => {
    const record = new SttRecord();
    const stream = (await open()).open(ENGLISH, record);
    ask(stream, 1, spoken[0].samples);
    stream.abandon(1);
    stream.abandon(1);
    stream.abandon(99);
    stream.push(1, new Int16Array(160));
    stream.push(99, new Int16Array(160));
    stream.request(1, 1);
    stream.request(99, 0);
    ask(stream, 2, spoken[1].samples);
    expect(await record.answered(1)).toEqual([finalOf(2, 0, spoken[1].text)]);
  });

  it("drops the oldest audio of an utterance that is too long, and still answers", async () => {
    const record = new SttRecord();
    const stream = (await open()).open(ENGLISH, record);
    stream.open(1);
    const second = new Int16Array(STT_SAMPLE_RATE_HZ);
    for (let index = 0; index < 70; index++) stream.push(1, second);
    stream.request(1, 0);
    const [answer] = await record.answered(1);
    expect(answer).toMatchObject({ type: "final", utteranceId: 1 });
  });
}

function closing({ spoken }: SttSubject, open: Open, hanging: () => Promise<HangingStt>): void {
  it("says nothing more of a closed stream, which may be closed again", async () => {
    const engine = await open();
    const record = new SttRecord();
    const stream = engine.open(ENGLISH, record);
    ask(stream, 1, spoken[0].samples);
    stream.close();
    stream.close();
    stream.open(2);
    stream.push(2, spoken[0].samples.subarray(0, 160));
    stream.request(2, 0);
    // Another stream's answer comes after any pending work of the first.
    const other = new SttRecord();
    ask(engine.open(ENGLISH, other), 1, spoken[1].samples);
    await other.answered(1);
    expect(record.answers).toEqual([]);
  });

  it("fails what is under way when it closes, and what is asked later; closes twice", async () => {
    const { engine, reached } = await hanging();
    const record = new SttRecord();
    const stream = engine.open(ENGLISH, record);
    ask(stream, 1, spoken[0].samples);
    await reached;
    await Promise.all([engine.close(), engine.close()]);
    expect(record.answers).toMatchObject([{ type: "failed", utteranceId: 1, revision: 0 }]);
    const late = new SttRecord();
    ask(engine.open(ENGLISH, late), 1, spoken[0].samples);
    expect(await late.answered(1)).toMatchObject([{ type: "failed" }]);
    expect(record.answers).toHaveLength(1);
  });
}

function failing({ spoken }: SttSubject, open: Open, hanging: () => Promise<HangingStt>): void {
  it("tells of a failure once per request and continues taking requests", async () => {
    const record = new SttRecord();
    const stream = (await open()).open(ENGLISH, record);
    ask(stream, 1, spoken[0].samples, 5);
    await record.answered(1);
    stream.request(1, 6);
    expect(await record.answered(2)).toMatchObject([
      { type: "failed", utteranceId: 1, revision: 5 },
      { type: "failed", utteranceId: 1, revision: 6 },
    ]);
  });

  it("says nothing of a hanging request that is abandoned", async () => {
    const { engine, reached } = await hanging();
    const record = new SttRecord();
    const stream = engine.open(ENGLISH, record);
    ask(stream, 1, spoken[0].samples);
    await reached;
    stream.abandon(1);
    await engine.close();
    expect(record.answers).toEqual([]);
  });
}

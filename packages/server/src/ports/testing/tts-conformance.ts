/** Conformance suite for voice adapters; each adapter's test file registers it with its own engine. */

import { afterEach, describe, expect, it } from "vitest";
import type { TtsEngine, TtsPart, TtsRequest } from "../tts.ts";
import { collect, neverAborted } from "./collect.ts";

export interface Hanging {
  readonly engine: TtsEngine;
  /** Resolves once the engine has received the request and will send nothing more. */
  readonly reached: Promise<unknown>;
}

export interface TtsSubject {
  /** Called once per test; the suite closes what it opened. */
  readonly open: () => TtsEngine | Promise<TtsEngine>;
  /** A language that the engine speaks, for example `en`. */
  readonly language: string;
  /** An engine that yields some audio (or none) and then hangs. Left out where nothing can hang. */
  readonly openHanging?: () => Hanging | Promise<Hanging>;
  /** An engine whose synthesis breaks. Left out where nothing can break. */
  readonly openFailing?: () => TtsEngine | Promise<TtsEngine>;
  /**
   * How much the length of the same text's audio may differ from one request to the next, as a share. Default 0.
   * Engines with noise in their voice need a little.
   */
  readonly lengthTolerance?: number;
}

/** The texts have very different lengths, so that audio of one cannot pass for another's. */
const TEXTS = [
  "Good evening, and welcome to the house.",
  "Two.",
  "Your table for four is booked on Friday at seven, and we are looking forward to seeing you there, rain or shine.",
] as const;

export function ttsRequest(text: string, fields: Partial<TtsRequest> = {}): TtsRequest {
  return { text, voice: null, language: null, ...fields };
}

/** Milliseconds of audio in `parts`. */
export function durationMsOf(parts: readonly TtsPart[]): number {
  let ms = 0;
  for (const part of parts)
    if (part.type === "audio") ms += (part.samples.length * 1_000) / part.sampleRateHz;
  return ms;
}

/** All samples of `parts` in one array. */
export function samplesOf(parts: readonly TtsPart[]): Int16Array {
  const all: number[] = [];
  for (const part of parts) if (part.type === "audio") for (const sample of part.samples) all.push(sample);
  return Int16Array.from(all);
}

export function describeTtsConformance(name: string, subject: TtsSubject): void {
  describe(`${name} as a voice`, () => {
    const opened: TtsEngine[] = [];
    const opener = async (open: TtsSubject["open"]): Promise<TtsEngine> => {
      const engine = await open();
      opened.push(engine);
      return engine;
    };
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((engine) => engine.close()));
    });
    speaking(() => opener(subject.open));
    choosing(subject, () => opener(subject.open));
    mixing(subject, () => opener(subject.open));
    aborting(() => opener(subject.open));
    closing(() => opener(subject.open));
    const { openHanging, openFailing } = subject;
    if (openHanging !== undefined) {
      hanging(async () => {
        const { engine, reached } = await openHanging();
        opened.push(engine);
        return { engine, reached };
      });
    }
    if (openFailing !== undefined) failing(() => opener(openFailing));
  });
}

type Open = () => Promise<TtsEngine>;

function speaking(open: Open): void {
  it("yields audio at one rate and word times in order", async () => {
    const [text] = TEXTS;
    const { parts, error } = await collect((await open()).synthesize(ttsRequest(text), neverAborted()));
    expect(error).toBeNull();
    const audio = parts.filter((part) => part.type === "audio");
    expect(audio.length).toBeGreaterThanOrEqual(1);
    expect(new Set(audio.map(({ sampleRateHz }) => sampleRateHz)).size).toBe(1);
    for (const { samples } of audio) expect(samples.length).toBeGreaterThan(0);
    expect(samplesOf(parts).some((sample) => Math.abs(sample) > 500)).toBe(true);
    let before = { textOffset: -1, atMs: -1 };
    for (const part of parts) {
      if (part.type !== "word") continue;
      expect(part.textOffset).toBeGreaterThan(before.textOffset);
      expect(part.textOffset).toBeLessThan(text.length);
      expect(part.atMs).toBeGreaterThanOrEqual(Math.max(before.atMs, 0));
      expect(part.atMs).toBeLessThanOrEqual(durationMsOf(parts));
      before = part;
    }
  });

  it("speaks whatever holds a letter or a digit, and takes what holds none", async () => {
    const engine = await open();
    for (const text of ["7", "a", "<b>4 & 5</b>", "[[hello]]", "\u0000one\u0007two\uD800", "Grüße 😀!"]) {
      const { parts, error } = await collect(engine.synthesize(ttsRequest(text), neverAborted()));
      expect(error).toBeNull();
      expect(durationMsOf(parts)).toBeGreaterThan(0);
    }
    for (const text of ["", "  \n", "...", "—"])
      expect((await collect(engine.synthesize(ttsRequest(text), neverAborted()))).error).toBeNull();
  });
}

function choosing({ language }: TtsSubject, open: Open): void {
  it("speaks with every voice and language that it names, and refuses a voice that it lacks", async () => {
    const engine = await open();
    for (const voice of engine.voices.slice(0, 8)) {
      const { parts, error } = await collect(
        engine.synthesize(ttsRequest("Two.", { voice }), neverAborted()),
      );
      expect(error).toBeNull();
      expect(durationMsOf(parts)).toBeGreaterThan(0);
    }
    expect(engine.speaks(language)).toBe(true);
    for (const odd of ["", "-", "x".repeat(500)]) expect(typeof engine.speaks(odd)).toBe("boolean");
    const request = ttsRequest("Two.", { voice: "no such voice" });
    const { parts, error } = await collect(engine.synthesize(request, neverAborted()));
    expect(parts).toEqual([]);
    expect(error?.message).toContain("no such voice");
  });
}

function mixing({ lengthTolerance = 0 }: TtsSubject, open: Open): void {
  it("does not mix concurrent requests", async () => {
    const engine = await open();
    const speak = async (text: string) => {
      const { parts, error } = await collect(engine.synthesize(ttsRequest(text), neverAborted()));
      expect(error).toBeNull();
      const words = parts.flatMap((part) => (part.type === "word" ? [part.textOffset] : []));
      return { words, ms: durationMsOf(parts) };
    };
    const alone = [];
    for (const text of TEXTS) alone.push(await speak(text));
    const together = await Promise.all([...TEXTS, ...TEXTS].map(speak));
    for (const [index, { words, ms }] of together.entries()) {
      const expected = alone[index % TEXTS.length];
      expect(words).toEqual(expected?.words);
      const drift = Math.abs(ms - (expected?.ms ?? 0));
      expect(drift).toBeLessThanOrEqual(lengthTolerance * ms);
    }
  });
}

function aborting(open: Open): void {
  it("throws an AbortError and yields nothing when the signal is already aborted", async () => {
    const { parts, error } = await collect(
      (await open()).synthesize(ttsRequest(TEXTS[2]), AbortSignal.abort()),
    );
    expect(parts).toEqual([]);
    expect(error?.name).toBe("AbortError");
  });

  it("yields nothing after an abort, whatever the reason given, and continues to serve others", async () => {
    const engine = await open();
    const abort = new AbortController();
    const { parts, error } = await collect(engine.synthesize(ttsRequest(TEXTS[2]), abort.signal), () => {
      abort.abort(new Error("the caller spoke"));
    });
    expect(parts).toHaveLength(1);
    expect(error?.name).toBe("AbortError");
    const next = await collect(engine.synthesize(ttsRequest(TEXTS[1]), neverAborted()));
    expect(next.error).toBeNull();
    expect(durationMsOf(next.parts)).toBeGreaterThan(0);
  });

  it("lets its reader stop early", async () => {
    const engine = await open();
    for await (const part of engine.synthesize(ttsRequest(TEXTS[2]), neverAborted())) {
      expect(["audio", "word"]).toContain(part.type);
      break;
    }
    expect((await collect(engine.synthesize(ttsRequest(TEXTS[1]), neverAborted()))).error).toBeNull();
  });
}

function closing(open: Open): void {
  it("closes twice, ends what was under way with a throw, and refuses later requests", async () => {
    const engine = await open();
    const { error } = await collect(engine.synthesize(ttsRequest(TEXTS[2]), neverAborted()), () =>
      engine.close(),
    );
    expect(error).not.toBeNull();
    await engine.close();
    const late = await collect(engine.synthesize(ttsRequest(TEXTS[0]), neverAborted()));
    expect(late.parts).toEqual([]);
    expect(late.error).not.toBeNull();
  });
}

function hanging(open: () => Promise<Hanging>): void {
  it("throws an AbortError when it is aborted while nothing comes", async () => {
    const { engine, reached } = await open();
    const abort = new AbortController();
    const reading = collect(engine.synthesize(ttsRequest(TEXTS[0]), abort.signal));
    await reached;
    abort.abort();
    const { error } = await reading;
    expect(error?.name).toBe("AbortError");
  });

  it("ends a hanging request with a throw when it is closed", async () => {
    const { engine, reached } = await open();
    const reading = collect(engine.synthesize(ttsRequest(TEXTS[0]), neverAborted()));
    await reached;
    await engine.close();
    expect((await reading).error).not.toBeNull();
  });
}

function failing(open: Open): void {
  it("throws what went wrong", async () => {
    const { error } = await collect((await open()).synthesize(ttsRequest(TEXTS[0]), neverAborted()));
    expect(error).not.toBeNull();
    expect(error?.name).not.toBe("AbortError");
  });
}

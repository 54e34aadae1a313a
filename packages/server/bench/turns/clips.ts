/** The speech of the benchmark: recordings with aligned words, and texts in synthetic voices. */

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Resampler } from "../../src/media/resample.ts";
import { readSpeechFile, readSpeechFixture } from "../../src/ports/testing/speech-fixtures.ts";
import type { TtsEngine } from "../../src/ports/tts.ts";
import { Aligner } from "./align.ts";
import { PER_MS, RATE_HZ } from "./sounds.ts";
import { TEXTS, type TextKind } from "./texts.ts";

export type Column = "development" | "test";

export interface SpokenWord {
  /** As it is written, with the punctuation that follows it. */
  readonly text: string;
  readonly fromMs: number;
  readonly toMs: number;
}

export interface Clip {
  readonly id: string;
  readonly column: Column;
  readonly voice: "recorded" | "synthetic";
  readonly speaker: string;
  readonly kind: TextKind;
  readonly agent: string | null;
  readonly samples: Int16Array;
  readonly words: readonly SpokenWord[];
  /** Whether its end is the end of what the caller wants to say. */
  readonly ends: boolean;
}

/** The first bit of a hash of the name: nobody chooses. */
export function columnOf(id: string): Column {
  return hashOf(id) % 2 === 0 ? "development" : "test";
}

export function hashOf(text: string): number {
  return createHash("sha256").update(text).digest().readUInt32BE(0);
}

interface Recording {
  readonly file: string;
  readonly speaker: string;
  readonly text: string;
  readonly fromMs?: number;
  readonly toMs?: number;
  readonly ends?: false;
}

const READER = "LibriVox reader";
const CARDS = "speaker of the card clips";
const PRESIDENT = "J. F. Kennedy";
/** What is said in the repository's recordings. Phrases of a speech that go on are no ends. */
const RECORDINGS: readonly Recording[] = [
  { file: "austen_0880.wav", speaker: READER, text: "he was not an ill disposed young man" },
  {
    file: "austen_0920.wav",
    speaker: READER,
    text: "had he married a more a amiable woman he might have been made still more respectable than he was",
  },
  { file: "austen_0930.wav", speaker: READER, text: "he might even have been made amiable himself" },
  { file: "cards_001.wav", speaker: CARDS, text: "ten of clubs" },
  { file: "cards_002.wav", speaker: CARDS, text: "four queen of clubs" },
  { file: "cards_004.wav", speaker: CARDS, text: "five five" },
  { file: "cards_005.wav", speaker: CARDS, text: "eight of spades four of clubs seven of hearts" },
  { file: "goforward.wav", speaker: "speaker of goforward", text: "go forward ten meters" },
  {
    file: "jfk.wav",
    speaker: PRESIDENT,
    text: "and so my fellow americans",
    toMs: 2_500,
    ends: false,
  },
  {
    file: "jfk.wav",
    speaker: PRESIDENT,
    text: "ask not what your country can do for you",
    fromMs: 3_200,
    toMs: 7_900,
    ends: false,
  },
  {
    file: "jfk.wav",
    speaker: PRESIDENT,
    text: "ask what you can do for your country",
    fromMs: 8_050,
  },
];

/** Voices of the synthesizer that are unlike each other. */
const VOICES = ["espeak", "espeak-f2", "espeak-m3", "espeak-f5"] as const;

export async function recordedClips(folder: string | null): Promise<Clip[]> {
  const aligner = await Aligner.open();
  const own = RECORDINGS.map((of) => {
    const samples = readSpeechFixture(of.file).slice(
      (of.fromMs ?? 0) * PER_MS,
      of.toMs === undefined ? undefined : of.toMs * PER_MS,
    );
    const id = `${of.file}:${of.text}`;
    return recorded(aligner, id, { ...of, samples });
  });
  const others = folder === null ? [] : folderClips(aligner, folder);
  aligner.close();
  return [...own, ...others];
}

/** More recordings: `transcripts.tsv` with file, text and perhaps speaker, beside 16 kHz mono WAV files. */
function folderClips(aligner: Aligner, folder: string): Clip[] {
  const rows = readFileSync(join(folder, "transcripts.tsv"), "utf8").trim().split("\n").slice(1);
  return rows.flatMap((row) => {
    const [file = "", text = "", speaker = "unknown speaker"] = row.split("\t");
    if (text === "") return [];
    return [recorded(aligner, file, { speaker, text, samples: readSpeechFile(join(folder, file)) })];
  });
}

function recorded(
  aligner: Aligner,
  id: string,
  of: Pick<Recording, "speaker" | "text" | "ends"> & { readonly samples: Int16Array },
): Clip {
  const words = aligner.align(of.samples, of.text);
  return {
    id,
    column: columnOf(id),
    voice: "recorded",
    speaker: of.speaker,
    kind: "sentence",
    agent: null,
    samples: of.samples,
    words: punctuated(words),
    ends: of.ends ?? true,
  };
}

/** A recording's text has no punctuation: a capital at its beginning and a full stop at its end. */
function punctuated(words: readonly SpokenWord[]): SpokenWord[] {
  return words.map((word, at) => {
    const text = at === 0 ? word.text.charAt(0).toUpperCase() + word.text.slice(1) : word.text;
    return { ...word, text: at === words.length - 1 ? `${text}.` : text };
  });
}

export async function syntheticClips(tts: TtsEngine): Promise<Clip[]> {
  const clips: Clip[] = [];
  for (const { kind, text, agent } of TEXTS) {
    const voice = VOICES[hashOf(`voice of ${text}`) % VOICES.length] ?? VOICES[0];
    const { samples, words } = await spoken(tts, text, voice);
    clips.push({
      id: text,
      column: columnOf(text),
      voice: "synthetic",
      speaker: voice,
      kind,
      agent,
      samples,
      words,
      ends: true,
    });
  }
  return clips;
}

/** Below this a sample is the voice's own silence. */
const AUDIBLE = 300;

/** A text in a synthetic voice, without the silence around it, and the times of its words. */
export async function spoken(
  tts: TtsEngine,
  text: string,
  voice: string = VOICES[0],
): Promise<{ readonly samples: Int16Array; readonly words: SpokenWord[] }> {
  const parts: number[] = [];
  const marks: { readonly at: number; readonly ms: number }[] = [];
  let resampler: Resampler | null = null;
  const push = (samples: Int16Array) => {
    for (const sample of samples) parts.push(sample);
  };
  for await (const part of tts.synthesize({ text, voice, language: "en" }, new AbortController().signal)) {
    if (part.type === "word") {
      marks.push({ at: part.textOffset, ms: part.atMs });
      continue;
    }
    resampler ??= new Resampler(part.sampleRateHz, RATE_HZ);
    push(resampler.push(part.samples));
  }
  if (resampler !== null) push(resampler.flush());
  const from = parts.findIndex((sample) => Math.abs(sample) > AUDIBLE);
  const to = parts.findLastIndex((sample) => Math.abs(sample) > AUDIBLE) + 1;
  const samples = Int16Array.from(parts.slice(Math.max(0, from), to));
  const endMs = samples.length / PER_MS;
  const words = [...text.matchAll(/\S+/g)].map((match) => {
    // A word that the voice gave no mark of its own began with the one before it.
    const mark = marks.findLast(({ at }) => at <= match.index) ?? { ms: 0 };
    return { text: match[0], fromMs: Math.max(0, Math.round(mark.ms - from / PER_MS)) };
  });
  return {
    samples,
    words: words.map((word, at) => ({ ...word, toMs: words[at + 1]?.fromMs ?? endMs })),
  };
}

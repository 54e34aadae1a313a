/** The recorded calls: which clips are heard when, under which settings, and what the model answers. */

import { readFileSync } from "node:fs";
import { planOf } from "../../src/call/testing/compile-input.ts";
import type { CallPlan } from "../../src/plan/plan.ts";

/** A clip of `fixtures/speech`, beginning at this position of the received audio. */
export interface Sound {
  readonly clip: string;
  readonly atMs: number;
  /** Only the beginning of it. */
  readonly lengthMs?: number;
}

/** Words and their positions, in ms from the beginning of the clip. */
export interface Phrase {
  readonly fromMs: number;
  readonly toMs: number;
  readonly text: string;
}

export interface Conversation {
  /** Also the name of its file. */
  readonly name: string;
  readonly about: string;
  /** Fields of the request that starts the call; everything else has the default of the wire. */
  readonly request: object;
  readonly sounds: readonly Sound[];
  /** The model's answers by what the user said; anything else is answered by `shortAnswer`. */
  readonly answers: Readonly<Record<string, string>>;
}

/** Positions of the words of each clip, to about a tenth of a second, read off its waveform. */
export const PHRASES: Readonly<Record<string, readonly Phrase[]>> = {
  "jfk.wav": [
    { fromMs: 350, toMs: 2_250, text: "and so my fellow americans" },
    { fromMs: 3_300, toMs: 4_400, text: "ask not" },
    { fromMs: 5_400, toMs: 7_700, text: "what your country can do for you" },
    { fromMs: 8_200, toMs: 10_900, text: "ask what you can do for your country" },
  ],
  "austen_0880.wav": [{ fromMs: 300, toMs: 2_800, text: "he was not an ill disposed young man" }],
  "austen_0920.wav": [
    {
      fromMs: 400,
      toMs: 5_800,
      text: "had he married a more a amiable woman he might have been made still more respectable than he was",
    },
  ],
  "austen_0930.wav": [{ fromMs: 300, toMs: 3_000, text: "he might even have been made amiable himself" }],
  "cards_001.wav": [{ fromMs: 200, toMs: 1_000, text: "ten of clubs" }],
  "cards_002.wav": [
    { fromMs: 300, toMs: 700, text: "four" },
    { fromMs: 800, toMs: 1_700, text: "queen of clubs" },
  ],
  "cards_004.wav": [
    { fromMs: 350, toMs: 750, text: "five" },
    { fromMs: 950, toMs: 1_300, text: "five" },
  ],
  "cards_005.wav": [
    { fromMs: 200, toMs: 1_150, text: "eight of spades" },
    { fromMs: 1_250, toMs: 2_150, text: "four of clubs" },
    { fromMs: 2_250, toMs: 3_250, text: "seven of hearts" },
  ],
  "goforward.wav": [{ fromMs: 500, toMs: 2_200, text: "go forward ten meters" }],
  "austen_long_pauses.wav": [
    { fromMs: 300, toMs: 2_800, text: "he was not an ill disposed young man" },
    {
      fromMs: 5_950,
      toMs: 10_700,
      text: "unless to be rather cold hearted and rather selfish is to be ill disposed",
    },
    { fromMs: 11_900, toMs: 14_600, text: "he might even have been made amiable himself" },
  ],
};

/** The user listens this long before the clip begins: 16 windows. */
const LEAD_MS = 512;
const USER_FIRST = { firstSpeakerSettings: { user: {} } };
const STORY =
  "There is a small hotel by the sea, ten meters from the water. Its guests come every summer, and they stay for " +
  "a week or two. They love the quiet rooms, the long breakfasts, and the walks along the beach in the evening.";
const GREETING = "Good morning, this call is recorded. Please choose your cards, and I will write them down.";

function oneClip(clip: string): Conversation {
  return {
    name: `clip-${clip.replace(".wav", "")}`,
    about: `${clip} alone, all settings at their defaults`,
    request: USER_FIRST,
    sounds: [{ clip, atMs: LEAD_MS }],
    answers: {},
  };
}

export const CONVERSATIONS: readonly Conversation[] = [
  ...Object.keys(PHRASES).map((clip) => oneClip(clip)),
  {
    name: "two-turns",
    about: "a turn, its answer, another turn, its answer",
    request: USER_FIRST,
    sounds: [
      { clip: "cards_001.wav", atMs: LEAD_MS },
      { clip: "goforward.wav", atMs: 5_120 },
    ],
    answers: {},
  },
  {
    name: "short-pause",
    about: "two clips with less than the endpoint between them are one turn",
    request: USER_FIRST,
    sounds: [
      { clip: "cards_004.wav", atMs: LEAD_MS },
      { clip: "cards_001.wav", atMs: LEAD_MS + 1_344 },
    ],
    answers: {},
  },
  {
    name: "interruption-long",
    about: "a sentence into the middle of a long reply",
    request: USER_FIRST,
    sounds: [
      { clip: "goforward.wav", atMs: LEAD_MS },
      { clip: "austen_0930.wav", atMs: 6_144 },
    ],
    answers: { "go forward ten meters": STORY },
  },
  {
    name: "interruption-short",
    about: "three words into the middle of a long reply",
    request: USER_FIRST,
    sounds: [
      { clip: "goforward.wav", atMs: LEAD_MS },
      { clip: "cards_001.wav", atMs: 7_168 },
    ],
    answers: { "go forward ten meters": STORY },
  },
  {
    name: "breath-during-reply",
    about: "a breath without words, the beginning of austen_0930.wav, into the middle of a long reply",
    request: USER_FIRST,
    sounds: [
      { clip: "goforward.wav", atMs: LEAD_MS },
      { clip: "austen_0930.wav", atMs: 6_144, lengthMs: 224 },
    ],
    answers: { "go forward ten meters": STORY },
  },
  {
    name: "breath-before-turn",
    about: "the same breath while nobody speaks, and a turn two seconds later",
    request: USER_FIRST,
    sounds: [
      { clip: "austen_0930.wav", atMs: LEAD_MS, lengthMs: 224 },
      { clip: "cards_001.wav", atMs: 3_072 },
    ],
    answers: {},
  },
  {
    name: "greeting-uninterruptible",
    about: "cards are called out during a greeting that may not be interrupted",
    request: { firstSpeakerSettings: { agent: { text: GREETING, uninterruptible: true } } },
    sounds: [{ clip: "cards_005.wav", atMs: 1_024 }],
    answers: {},
  },
  {
    name: "long-pauses-endpoint-1s",
    about: "pauses of 2.5 s and 0.8 s within one utterance, turnEndpointDelay 1s",
    request: { ...USER_FIRST, vadSettings: { turnEndpointDelay: "1s" } },
    sounds: [{ clip: "austen_long_pauses.wav", atMs: LEAD_MS }],
    answers: {},
  },
  {
    name: "long-pauses-endpoint-4s",
    about: "the same with turnEndpointDelay 4s, longer than every pause",
    request: { ...USER_FIRST, vadSettings: { turnEndpointDelay: "4s" } },
    sounds: [{ clip: "austen_long_pauses.wav", atMs: LEAD_MS }],
    answers: {},
  },
  {
    name: "jfk-endpoint-1.5s",
    about: "a speech with pauses of up to 1.1 s, turnEndpointDelay 1.5s",
    request: { ...USER_FIRST, vadSettings: { turnEndpointDelay: "1.5s" } },
    sounds: [{ clip: "jfk.wav", atMs: LEAD_MS }],
    answers: {},
  },
];

export function shortAnswer(said: string): string {
  return `Very well: ${said}.`;
}

/** Compiled from a request in wire format, so that the defaults are those of the product. */
export function planFor({ request }: Conversation): CallPlan {
  const plan = planOf({ systemPrompt: "You are a concierge.", ...request });
  // These are shown, so that a reader of a log sees where voice begins and ends.
  const dataMessages = { ...plan.dataMessages, userStartedSpeaking: true, userStoppedSpeaking: true };
  return { ...plan, dataMessages };
}

/** The transcript of a clip in `transcripts.tsv`. */
export function transcriptOf(clip: string): string {
  const table = readFileSync(new URL("../../../../fixtures/speech/transcripts.tsv", import.meta.url), "utf8");
  const row = table.split("\n").find((line) => line.startsWith(`${clip}\t`));
  if (row === undefined) throw new Error(`${clip} has no transcript`);
  return row.slice(clip.length + 1).trim();
}

/** The cases of the benchmark, drawn by seed: the same in every run. */

import { seeded } from "../../src/media/testing/seeded.ts";
import type { TtsEngine } from "../../src/ports/tts.ts";
import { columnOf, hashOf, spoken, type Clip, type Column } from "./clips.ts";
import { play, type Outcome, type Playing, type Style } from "./play.ts";
import { clicks, cough, drawnOut, laughter, music, PER_MS, scaled } from "./sounds.ts";
import { INTERRUPTIONS, LISTENING, STORY } from "./texts.ts";
import { layPaused, layPlain, type Scorer, type Sound, type Track } from "./tracks.ts";

export const STYLES: readonly Style[] = ["punctuated", "bare"];
/** Answer times of recognisers: a streaming one, a fast one, a usual one, one on a loaded machine. */
const STT_MS = [80, 150, 300, 600] as const;
/** The recogniser of which the waits are published. */
export const STT_USUAL_MS = 150;
/** One pause of each range at every boundary, drawn in steps of 10 ms. */
const PAUSE_RANGES = [
  [200, 500],
  [500, 1_000],
  [1_000, 1_500],
] as const;
const SEED = 19;
/** An interruption on every one of these, from the agent's first sound on. */
const INTERRUPTION_STEP_MS = 100;
const INTERRUPTIONS_TO_MS = 3_000;

export interface Result {
  readonly kind: "pause" | "end" | "listening" | "noise" | "interruption";
  /** Narrower than the kind: the kind of text, the sound. */
  readonly of: string;
  readonly column: Column;
  readonly voice: Clip["voice"];
  readonly style: Style;
  readonly sttMs: number;
  readonly pauseMs: number | null;
  readonly intoAgentMs: number | null;
  readonly name: string;
  readonly track: Track;
  readonly outcome: Outcome;
}

function drawFor(name: string): () => number {
  return seeded(SEED + hashOf(name));
}

const plain = { partialsMs: null, intoAgentMs: null };

/** Every word boundary: of recordings with one pause of each range, of synthetic voices with one of them, in turn. */
export async function pauses(clips: readonly Clip[], scorer: Scorer): Promise<Result[]> {
  const cases = clips.flatMap((clip) =>
    clip.words.slice(0, -1).flatMap((_, boundary) =>
      PAUSE_RANGES.flatMap(([from, to], range) => {
        if (clip.voice === "synthetic" && (hashOf(clip.id) + boundary) % PAUSE_RANGES.length !== range)
          return [];
        const draw = drawFor(`${clip.id} ${String(boundary)} ${String(range)}`);
        const pauseMs = from + 10 * Math.floor(draw() * ((to - from) / 10));
        const sttMs = STT_MS[Math.floor(draw() * STT_MS.length)] ?? STT_USUAL_MS;
        return [{ clip, boundary, pauseMs, sttMs }];
      }),
    ),
  );
  const tracks = await scorer.tracks(
    cases.map(({ clip, boundary, pauseMs }) => layPaused(clip, boundary, pauseMs)),
  );
  return cases.flatMap(({ clip, boundary, pauseMs, sttMs }, at) => {
    const track = tracks[at];
    if (track === undefined) return [];
    const said = clip.words.slice(0, boundary + 1).map(({ text }) => text);
    return STYLES.map((style) => ({
      ...shown(clip, "pause", style, sttMs, track, { ...plain, agent: clip.agent }),
      pauseMs,
      name: `${said.join(" ")} | ${String(pauseMs)} ms`,
    }));
  });
}

/** Every clip that is whole, with the usual recogniser and another one. */
export async function ends(clips: readonly Clip[], scorer: Scorer): Promise<Result[]> {
  const whole = clips.filter((clip) => clip.ends);
  const tracks = await scorer.tracks(whole.map((clip) => layPlain(clip)));
  return whole.flatMap((clip, at) => {
    const track = tracks[at];
    if (track === undefined) return [];
    const other = STT_MS.filter((sttMs) => sttMs !== STT_USUAL_MS)[hashOf(clip.id) % (STT_MS.length - 1)];
    return STYLES.flatMap((style) =>
      [STT_USUAL_MS, other ?? STT_USUAL_MS].map((sttMs) =>
        shown(clip, "end", style, sttMs, track, { ...plain, agent: clip.agent }),
      ),
    );
  });
}

function shown(
  clip: Clip,
  kind: Result["kind"],
  style: Style,
  sttMs: number,
  track: Track,
  how: Omit<Playing, "style" | "sttMs">,
): Result {
  return {
    kind,
    of: clip.kind,
    column: clip.column,
    voice: clip.voice,
    style,
    sttMs,
    pauseMs: null,
    intoAgentMs: null,
    name: clip.id,
    track,
    outcome: play(track, { ...how, style, sttMs }),
  };
}

interface Over {
  readonly kind: "listening" | "noise" | "interruption";
  readonly of: string;
  readonly name: string;
  readonly sound: Sound;
  readonly voice: Clip["voice"];
  readonly intoAgentMs: readonly number[];
}

/** Sounds over the agent's story. */
async function overAgent(cases: readonly Over[], scorer: Scorer): Promise<Result[]> {
  const tracks = await scorer.tracks(cases.map(({ sound }) => layPlain(sound)));
  return cases.flatMap(({ kind, of, name, voice, intoAgentMs }, at) => {
    const track = tracks[at];
    if (track === undefined) return [];
    return intoAgentMs.map((into): Result => {
      const style = kind === "listening" ? "punctuated" : (STYLES[(into / 100) % 2] ?? "bare");
      const draw = drawFor(`${name} ${String(into)}`);
      const sttMs = STT_MS[Math.floor(draw() * STT_MS.length)] ?? STT_USUAL_MS;
      const partialsMs = draw() < 0.5 ? 128 : null;
      const outcome = play(track, { style, sttMs, partialsMs, agent: STORY, intoAgentMs: into });
      const given = { kind, of, column: columnOf(name), voice, style, sttMs, name };
      return { ...given, pauseMs: null, intoAgentMs: into, track, outcome };
    });
  });
}

/** Where in the story they fall; not within its first half second, in which only words count. */
const LISTENING_AT = [700, 1_500, 2_300, 3_700, 5_200] as const;
const LISTENING_VOICES = ["espeak-f2", "espeak-m3"] as const;
/** As they come, and drawn out. */
const LISTENING_MS = [0, 800, 1_400] as const;

export async function listening(tts: TtsEngine, scorer: Scorer): Promise<Result[]> {
  const cases: Over[] = [];
  for (const [written, word] of LISTENING) {
    for (const voice of LISTENING_VOICES) {
      const { samples } = await spoken(tts, word, voice);
      for (const ms of LISTENING_MS) {
        const name = `${written} ${voice} ${String(ms)}`;
        const stretched = drawnOut(samples, ms);
        const into = LISTENING_AT[hashOf(name) % LISTENING_AT.length] ?? 1_500;
        cases.push({
          kind: "listening",
          of: ms === 0 ? "as it comes" : "drawn out",
          name,
          sound: { samples: stretched, words: wordsOver(written, stretched) },
          voice: "synthetic",
          intoAgentMs: [into],
        });
      }
    }
  }
  return overAgent(cases, scorer);
}

/** The words of a short text, spread evenly over a sound. */
function wordsOver(text: string, samples: Int16Array): Sound["words"] {
  const words = text.split(" ");
  const eachMs = samples.length / PER_MS / words.length;
  return words.map((word, at) => ({
    text: word,
    fromMs: Math.round(at * eachMs),
    toMs: Math.round((at + 1) * eachMs),
  }));
}

const NOISE_AT = [200, 700, 1_500, 2_900, 4_400, 6_100] as const;

export async function noises(tts: TtsEngine, scorer: Scorer): Promise<Result[]> {
  const far = await spoken(tts, "Could you pass me the salt please", "espeak-m7");
  const near = (of: string, ms: readonly number[], make: (ms: number) => Int16Array): Over[] =>
    ms.map((length) => ({
      kind: "noise",
      of,
      name: `${of} of ${String(length)} ms`,
      sound: { samples: make(length), words: [] },
      voice: "synthetic",
      intoAgentMs: NOISE_AT,
    }));
  const distant = [-24, -30].map((gainDb): Over => ({
    kind: "noise",
    of: "a distant voice",
    name: `a voice at ${String(gainDb)} dB`,
    sound: { samples: scaled(far.samples, gainDb), words: [] },
    voice: "synthetic",
    intoAgentMs: NOISE_AT,
  }));
  const cases = [
    ...near("coughs", [120, 200, 280, 360], (ms) => cough(ms)),
    ...near("laughter", [400, 700, 1_000], (ms) => laughter(ms)),
    ...near("clicks", [50, 400, 1_500], (ms) => clicks(ms)),
    ...near("music", [1_000, 3_000], (ms) => music(ms)),
    ...distant,
  ];
  return overAgent(cases, scorer);
}

export async function interruptions(
  clips: readonly Clip[],
  tts: TtsEngine,
  scorer: Scorer,
): Promise<Result[]> {
  const recorded = clips
    .filter(({ voice, ends: whole }) => voice === "recorded" && whole)
    .map((clip): Omit<Over, "intoAgentMs"> => ({
      kind: "interruption",
      of: "a sentence",
      name: clip.id,
      sound: clip,
      voice: "recorded",
    }));
  const short: Omit<Over, "intoAgentMs">[] = [];
  for (const [at, text] of INTERRUPTIONS.entries()) {
    const sound = await spoken(tts, text, LISTENING_VOICES[at % LISTENING_VOICES.length]);
    short.push({ kind: "interruption", of: "a few words", name: text, sound, voice: "synthetic" });
  }
  const offsets = Array.from(
    { length: INTERRUPTIONS_TO_MS / INTERRUPTION_STEP_MS },
    (_, n) => n * INTERRUPTION_STEP_MS,
  );
  return overAgent(
    [...recorded, ...short].map((each) => ({ ...each, intoAgentMs: offsets })),
    scorer,
  );
}

/** Received audio with its scores: clips on a quiet line, cut at a word for a pause, through the real detector. */

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { SileroModel } from "../../src/providers/vad-silero/silero-model.ts";
import type { Clip, SpokenWord } from "./clips.ts";
import { PER_MS, roomNoise } from "./sounds.ts";

export const WINDOW_MS = 32;
const WINDOW = WINDOW_MS * PER_MS;
/** The line before the speech, so that the detector has heard its noise; a multiple of the window. */
export const LEAD_MS = 960;
/** Scored after the last sound; later windows of a quiet line score nothing. */
const TAIL_MS = 960;
/** A cut within a word would click. */
const FADE_MS = 8;
/** Tracks scored beside each other: more in one call of the model save no time. */
const STREAMS = 32;
/** A window above this has voice; the end of the speech is the end of the last one. */
const VOICE = 0.3;

export interface Track {
  readonly scores: readonly number[];
  readonly words: readonly SpokenWord[];
  /** Where the pause is, null without one. */
  readonly pause: { readonly fromMs: number; readonly toMs: number } | null;
  /** Where the speech begins and ends, in ms from the beginning of the track. */
  readonly startMs: number;
  readonly endMs: number;
}

export interface Sound {
  readonly samples: Int16Array;
  readonly words: readonly SpokenWord[];
}

interface Laid {
  readonly audio: Int16Array;
  readonly words: readonly SpokenWord[];
  readonly pause: Track["pause"];
}

/** The clip with a pause of room noise after a word, both ends of the cut faded. */
export function layPaused(clip: Clip, afterWord: number, pauseMs: number): Laid {
  const cutMs = cutAfter(clip, afterWord);
  const { samples } = clip;
  const cut = cutMs * PER_MS;
  const gap = pauseMs * PER_MS;
  const audio = roomNoise(LEAD_MS * PER_MS + samples.length + gap + TAIL_MS * PER_MS, cut);
  mix(audio, samples.slice(0, cut), LEAD_MS * PER_MS, { out: true });
  mix(audio, samples.slice(cut), LEAD_MS * PER_MS + cut + gap, { in: true });
  const words = clip.words.map((word, at) => moved(word, LEAD_MS + (at > afterWord ? pauseMs : 0)));
  return { audio, words, pause: { fromMs: LEAD_MS + cutMs, toMs: LEAD_MS + cutMs + pauseMs } };
}

/** The boundary between two words; where they touch, the quietest 10 ms near it. */
function cutAfter(clip: Clip, afterWord: number): number {
  const end = clip.words[afterWord]?.toMs ?? 0;
  const next = clip.words[afterWord + 1]?.fromMs ?? end;
  const [from, to] = [Math.min(end, next) - 30, Math.max(end, next) + 30];
  let best = { ms: Math.round((end + next) / 2), energy: Infinity };
  for (let ms = Math.max(10, from); ms <= to; ms += 5) {
    let energy = 0;
    for (const sample of clip.samples.subarray((ms - 5) * PER_MS, (ms + 5) * PER_MS))
      energy += sample * sample;
    if (energy < best.energy) best = { ms, energy };
  }
  return best.ms;
}

export function layPlain(sound: Sound): Laid {
  const audio = roomNoise((LEAD_MS + TAIL_MS) * PER_MS + sound.samples.length, sound.samples.length);
  mix(audio, sound.samples, LEAD_MS * PER_MS, {});
  return { audio, words: sound.words.map((word) => moved(word, LEAD_MS)), pause: null };
}

function moved(word: SpokenWord, byMs: number): SpokenWord {
  return { ...word, fromMs: word.fromMs + byMs, toMs: word.toMs + byMs };
}

function mix(
  audio: Int16Array,
  samples: Int16Array,
  at: number,
  fade: { readonly in?: true; readonly out?: true },
): void {
  const ramp = FADE_MS * PER_MS;
  samples.forEach((sample, n) => {
    let gain = 1;
    if (fade.in === true && n < ramp) gain = n / ramp;
    if (fade.out === true && samples.length - n < ramp) gain = (samples.length - n) / ramp;
    const sum = (audio[at + n] ?? 0) + sample * gain;
    audio[at + n] = Math.max(-32_768, Math.min(32_767, Math.round(sum)));
  });
}

/** Scores are kept in a file, if there is one, so that a change of the engine is measured without them. */
export class Scorer {
  readonly #model: SileroModel;
  readonly #file: string | null;
  readonly #known: Map<string, number[]>;
  #streams = 0;

  private constructor(model: SileroModel, file: string | null) {
    this.#model = model;
    this.#file = file;
    const stored = file !== null && existsSync(file) ? readFileSync(file, "utf8") : "[]";
    this.#known = new Map(JSON.parse(stored) as [string, number[]][]);
  }

  static async open(file: string | null): Promise<Scorer> {
    const model = fileURLToPath(new URL("../../models/silero_vad.onnx", import.meta.url));
    return new Scorer(await SileroModel.load(model, STREAMS), file);
  }

  async tracks(laid: readonly Laid[]): Promise<Track[]> {
    const keys = laid.map(({ audio }) => createHash("sha256").update(audio).digest("base64"));
    const missing = laid
      .map(({ audio }, at) => ({ audio, key: keys[at] ?? "" }))
      .filter(({ key }) => !this.#known.has(key))
      .toSorted((a, b) => a.audio.length - b.audio.length);
    for (let at = 0; at < missing.length; at += STREAMS) await this.#score(missing.slice(at, at + STREAMS));
    if (missing.length > 0) this.#keep();
    return laid.map((one, at) => trackOf(one, this.#known.get(keys[at] ?? "") ?? []));
  }

  #keep(): void {
    if (this.#file === null) return;
    mkdirSync(dirname(this.#file), { recursive: true });
    writeFileSync(this.#file, JSON.stringify([...this.#known]));
  }

  /** Some tracks beside each other, a window of each in one call; the shorter ones end with silence. */
  async #score(tracks: readonly { readonly audio: Int16Array; readonly key: string }[]): Promise<void> {
    const windows = Math.floor((tracks.at(-1)?.audio.length ?? 0) / WINDOW);
    const ids = Int32Array.from(tracks, () => (this.#streams += 1));
    const found = tracks.map((): number[] => []);
    const batch = new Int16Array(tracks.length * WINDOW);
    const scores = new Float32Array(tracks.length);
    for (let window = 0; window < windows; window += 1) {
      tracks.forEach(({ audio }, row) => {
        const part = audio.subarray(window * WINDOW, (window + 1) * WINDOW);
        batch.fill(0, row * WINDOW, (row + 1) * WINDOW);
        batch.set(part, row * WINDOW);
      });
      await this.#model.score(tracks.length, ids, batch, scores);
      tracks.forEach(({ audio }, row) => {
        if ((window + 1) * WINDOW <= audio.length) found[row]?.push(Number((scores[row] ?? 0).toFixed(4)));
      });
    }
    tracks.forEach(({ key }, row) => {
      this.#known.set(key, found[row] ?? []);
      this.#model.forget(ids[row] ?? 0);
    });
  }
}

function trackOf({ words, pause }: Laid, scores: readonly number[]): Track {
  const first = scores.findIndex((score) => score > VOICE);
  const last = scores.findLastIndex((score) => score > VOICE);
  const startMs = first === -1 ? LEAD_MS : first * WINDOW_MS;
  return { scores, words, pause, startMs, endMs: last === -1 ? LEAD_MS : (last + 1) * WINDOW_MS };
}

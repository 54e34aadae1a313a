/** Sounds that are no words: coughs, laughter, clicks, music; and what is done to speech. 16 kHz mono. */

import { seeded } from "../../src/media/testing/seeded.ts";
import { readSpeechFixture } from "../../src/ports/testing/speech-fixtures.ts";

export const RATE_HZ = 16_000;
export const PER_MS = 16;

/** Background noise: the quiet between two sentences of a recording. Digital silence would be unlike any line. */
const ROOM = readSpeechFixture("austen_long_pauses.wav").subarray(3_300 * PER_MS, 5_400 * PER_MS);

export function roomNoise(samples: number, offset = 0): Int16Array {
  return Int16Array.from({ length: samples }, (_, at) => ROOM[(at + offset) % ROOM.length] ?? 0);
}

/** A burst of noise with the envelope of a cough: a hard onset that decays. */
export function cough(ms: number, seed = 7): Int16Array {
  const draw = seeded(seed);
  const length = ms * PER_MS;
  return Int16Array.from({ length }, (_, at) => (2 * draw() - 1) * 9_000 * (1 - at / length) ** 2);
}

/** "Ha ha ha": breathy bursts with a voiced core, five in a second. */
export function laughter(ms: number, seed = 11): Int16Array {
  const draw = seeded(seed);
  const burst = 200 * PER_MS;
  const length = ms * PER_MS;
  return Int16Array.from({ length }, (_, at) => {
    const within = (at % burst) / burst;
    const swell = within < 0.6 ? Math.sin((Math.PI * within) / 0.6) ** 2 : 0;
    const decay = 1 - (0.5 * at) / length;
    const pitch = 260 - 40 * (at / length);
    const voiced = [1, 2, 3, 4].reduce(
      (sum, n) => sum + Math.sin((2 * Math.PI * n * pitch * at) / RATE_HZ) / n,
      0,
    );
    return swell * decay * (2_600 * voiced + 2_000 * (2 * draw() - 1));
  });
}

/** Clicks of a keyboard or a bad line. */
export function clicks(ms: number, seed = 13): Int16Array {
  const draw = seeded(seed);
  const samples = new Int16Array(ms * PER_MS);
  for (let at = 0; at < samples.length; at += Math.round((90 + 160 * draw()) * PER_MS)) {
    for (let n = 0; n < 6 * PER_MS && at + n < samples.length; n += 1) {
      samples[at + n] = (2 * draw() - 1) * 12_000 * Math.exp(-n / 20);
    }
  }
  return samples;
}

/** Music in the background: three notes of a chord that changes every 400 ms. */
export function music(ms: number): Int16Array {
  const chords = [
    [262, 330, 392],
    [220, 277, 330],
    [294, 370, 440],
    [247, 311, 370],
  ];
  return Int16Array.from({ length: ms * PER_MS }, (_, at) => {
    const step = Math.floor(at / (400 * PER_MS));
    const within = (at % (400 * PER_MS)) / (400 * PER_MS);
    const notes = chords[step % chords.length] ?? [];
    const sum = notes.reduce(
      (total, hz) =>
        total +
        Math.sin((2 * Math.PI * hz * at) / RATE_HZ) +
        0.4 * Math.sin((4 * Math.PI * hz * at) / RATE_HZ),
      0,
    );
    return 1_200 * sum * Math.exp(-2 * within);
  });
}

/** The middle of a sound repeated, so that it lasts this long: "mmmm-hm". A longer sound stays as it is. */
export function drawnOut(samples: Int16Array, ms: number): Int16Array {
  const wanted = ms * PER_MS;
  if (samples.length >= wanted) return samples;
  const middle = Math.floor(samples.length / 2);
  const loop = Math.min(160 * PER_MS, middle);
  const fade = Math.min(40 * PER_MS, Math.floor(loop / 3));
  const core = samples.subarray(middle - Math.floor(loop / 2), middle - Math.floor(loop / 2) + loop);
  const out: number[] = [...samples.subarray(0, middle)];
  const until = wanted - (samples.length - middle);
  while (out.length < until) {
    for (let n = 0; n < core.length && out.length < until; n += 1) {
      const sample = core[n] ?? 0;
      if (n >= fade) out.push(sample);
      else {
        const at = out.length - fade + n;
        out[at] = ((out[at] ?? 0) * (fade - n) + sample * n) / fade;
      }
    }
  }
  out.push(...samples.subarray(middle));
  return Int16Array.from(out, Math.round);
}

export function scaled(samples: Int16Array, gainDb: number): Int16Array {
  const gain = 10 ** (gainDb / 20);
  return samples.map((sample) => Math.round(sample * gain));
}

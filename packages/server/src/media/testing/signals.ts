/** Signals and measures for tests of audio code. */

/** A sine of `hz` at `level` (0..1 of full scale). */
export function sine(hz: number, sampleRateHz: number, sampleCount: number, level = 0.5): Int16Array {
  const samples = new Int16Array(sampleCount);
  for (let i = 0; i < sampleCount; i += 1) {
    samples[i] = Math.round(Math.sin((2 * Math.PI * hz * i) / sampleRateHz) * level * 32_767);
  }
  return samples;
}

/** Samples that tell their own position: 1, 2, 3 … */
export function ramp(sampleCount: number, first = 1): Int16Array {
  return Int16Array.from({ length: sampleCount }, (_, i) => ((first + i - 1) % 32_000) + 1);
}

export function concat(parts: readonly Int16Array[]): Int16Array {
  const all = new Int16Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    all.set(part, offset);
    offset += part.length;
  }
  return all;
}

/** Cuts `samples` into pieces of the given lengths, repeated as often as needed. */
export function pieces(samples: Int16Array, lengths: readonly number[]): Int16Array[] {
  const parts: Int16Array[] = [];
  let offset = 0;
  for (let i = 0; offset < samples.length; i += 1) {
    const length = Math.max(1, lengths[i % lengths.length] ?? 1);
    parts.push(samples.subarray(offset, offset + length));
    offset += length;
  }
  return parts;
}

/** Power of the tone `hz` and of everything, both as mean squares (full scale 1). */
export function tonePower(
  samples: Int16Array,
  hz: number,
  sampleRateHz: number,
): { tone: number; all: number } {
  let re = 0;
  let im = 0;
  let all = 0;
  for (let i = 0; i < samples.length; i += 1) {
    const value = samples[i]! / 32_768;
    const angle = (2 * Math.PI * hz * i) / sampleRateHz;
    re += value * Math.cos(angle);
    im -= value * Math.sin(angle);
    all += value * value;
  }
  const n = samples.length;
  return { tone: (2 * (re * re + im * im)) / (n * n), all: all / n };
}

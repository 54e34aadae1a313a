/** Frame and rate arithmetic. */

export const FRAME_MS = 20;

/** Samples of one 20 ms frame; rates that do not divide evenly are rounded, and pacing counts samples, not frames. */
export function frameSamples(sampleRateHz: number): number {
  return Math.round((sampleRateHz * FRAME_MS) / 1_000);
}

export function samplesToMs(samples: number, sampleRateHz: number): number {
  return (samples * 1_000) / sampleRateHz;
}

export function msToSamples(ms: number, sampleRateHz: number): number {
  return Math.round((ms * sampleRateHz) / 1_000);
}

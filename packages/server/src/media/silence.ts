/** Shared silence, so that quiet calls cost no memory. */

/** One second at 48 kHz, the longest block of silence that is requested at once. */
const LONGEST_SAMPLES = 48_000;

const zeros = new Int16Array(LONGEST_SAMPLES);

/** Silence of at most one second at 48 kHz. Shared: never write to it. */
export function silence(sampleCount: number): Int16Array {
  return zeros.subarray(0, Math.min(sampleCount, LONGEST_SAMPLES));
}

/** Characters that a voice speaks in a second; used where nothing better is known. */
export const SPOKEN_CHARS_PER_SECOND = 15;

/** Estimated length of `text` when spoken, in ms. */
export function spokenDurationMs(text: string): number {
  return (text.length / SPOKEN_CHARS_PER_SECOND) * 1_000;
}

/** The speech of callers in pages, and the wait for its effects. */

import { readFile } from "node:fs/promises";
import { WAV_HEADER_BYTES } from "../../src/media/wav.ts";
import { wait } from "../../src/runner/testing/call-client.ts";

const RATE_HZ = 16_000;
/** Longer than any test's call. */
const QUIET_SECONDS = 60;

/** Recorded words after some silence, and a minute in which the line is quiet. */
export async function speechAfterSilence(seconds: number): Promise<Int16Array> {
  const url = new URL("../../../../fixtures/speech/goforward.wav", import.meta.url);
  const bytes = Uint8Array.from((await readFile(url)).subarray(WAV_HEADER_BYTES));
  const words = new Int16Array(bytes.buffer, 0, bytes.length >> 1);
  const speech = new Int16Array((seconds + QUIET_SECONDS) * RATE_HZ + words.length);
  speech.set(words, seconds * RATE_HZ);
  return speech;
}

export async function until(ready: () => Promise<boolean>, what: string, limitMs = 15_000): Promise<void> {
  const endMs = performance.now() + limitMs;
  while (!(await ready())) {
    if (performance.now() > endMs) throw new Error(`timed out waiting for ${what}`);
    await wait(50);
  }
}

/** Downloads a recording in slices, computes its waveform and stores it as a file of the browser. */

import { type Peaks, PeakReader } from "./wav-peaks.ts";

/** 17 minutes: longer recordings are loaded on request. */
export const LOADED_UNASKED_BYTES = 64_000_000;
/** Four and a half hours. Longer recordings can only be played line by line or downloaded. */
export const MAX_LOADED_BYTES = 1_000_000_000;
/** Bytes that are moved from memory to a file at a time. */
const SLICE_BYTES = 4_000_000;

export interface LoadedRecording {
  readonly blob: Blob;
  readonly peaks: Peaks;
}

export function lengthOf(response: Response): number | null {
  const length = Number(response.headers.get("content-length") ?? Number.NaN);
  return Number.isNaN(length) ? null : length;
}

/** @throws RangeError if the recording is too long for the page */
export async function readRecording(
  response: Response,
  onProgress: (doneBytes: number) => void,
): Promise<LoadedRecording> {
  const reader = response.body?.getReader();
  if (reader === undefined) throw new Error("The response has no content.");
  const peaks = new PeakReader();
  const slices: Blob[] = [];
  let waiting: Uint8Array<ArrayBuffer>[] = [];
  let waitingBytes = 0;
  let done = 0;
  for (;;) {
    const { value, done: over } = await reader.read();
    if (over) break;
    done += value.byteLength;
    if (done > MAX_LOADED_BYTES) {
      await reader.cancel();
      throw new RangeError("The recording is too long for this page.");
    }
    peaks.add(value);
    waiting.push(value);
    waitingBytes += value.byteLength;
    if (waitingBytes < SLICE_BYTES) continue;
    slices.push(new Blob(waiting));
    waiting = [];
    waitingBytes = 0;
    onProgress(done);
    // Clicks are handled between slices, however fast the bytes arrive.
    await new Promise((resolve) => setTimeout(resolve));
  }
  return { blob: new Blob([...slices, ...waiting], { type: "audio/wav" }), peaks: peaks.finish() };
}

/** A call's recording on its way to the page: read in slices, outlined as it comes, kept where the browser keeps files. */

import { type Peaks, PeakReader } from "./wav-peaks.ts";

/** 17 minutes: more is loaded when somebody asks for it. */
export const LOADED_UNASKED_BYTES = 64_000_000;
/** Four and a half hours. What is longer is heard line by line, and downloaded as a whole. */
export const MAX_LOADED_BYTES = 1_000_000_000;
/** So much is put away as a file at a time; what is in memory stays below it. */
const SLICE_BYTES = 4_000_000;

export interface LoadedRecording {
  readonly blob: Blob;
  readonly peaks: Peaks;
}

export function lengthOf(response: Response): number | null {
  const length = Number(response.headers.get("content-length") ?? Number.NaN);
  return Number.isNaN(length) ? null : length;
}

/** @throws RangeError when more comes than the page holds */
export async function readRecording(
  response: Response,
  onProgress: (doneBytes: number) => void,
): Promise<LoadedRecording> {
  const reader = response.body?.getReader();
  if (reader === undefined) throw new Error("The recording came without content.");
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
      throw new RangeError("The recording is longer than this page can hold.");
    }
    peaks.add(value);
    waiting.push(value);
    waitingBytes += value.byteLength;
    if (waitingBytes < SLICE_BYTES) continue;
    slices.push(new Blob(waiting));
    waiting = [];
    waitingBytes = 0;
    onProgress(done);
    // Whoever clicks meanwhile is heard, however quickly the bytes come.
    await new Promise((resolve) => setTimeout(resolve));
  }
  return { blob: new Blob([...slices, ...waiting], { type: "audio/wav" }), peaks: peaks.finish() };
}

/** Uploads one recording to the bucket: in one request, or in parts if it is long. */

import type { OpenedRecording } from "../../ports/recordings.ts";
import type { S3Objects, UploadedPart } from "../s3/s3-objects.ts";

/** Part size, held in memory once per upload. S3 requires at least 5 MiB; 10,000 parts are 350 hours of audio. */
export const PART_BYTES = 8 * 1_048_576;

/**
 * Resolves when the bucket has the whole recording. Parts of an interrupted attempt are dropped: they cannot be joined
 * any more, and they cost money.
 */
export async function uploadRecording(
  objects: S3Objects,
  key: string,
  file: OpenedRecording,
  signal: AbortSignal,
): Promise<void> {
  const reader = file.stream.getReader();
  const blocks = partsOf(reader);
  try {
    // Only the node with the file writes the object, and only once, so an object of the same length is the same
    // recording.
    if ((await objects.sizeOf(key, signal)) === file.byteLength) return;
    if (file.byteLength <= PART_BYTES) await putWhole(objects, key, blocks, signal);
    else await putInParts(objects, key, blocks, signal);
    const size = await objects.sizeOf(key, signal);
    if (size !== file.byteLength) {
      const found = size === null ? "nothing" : String(size);
      throw new Error(`the object store has ${found} of ${String(file.byteLength)} bytes`);
    }
  } finally {
    await reader.cancel();
  }
}

async function putWhole(
  objects: S3Objects,
  key: string,
  blocks: AsyncGenerator<Uint8Array, void, undefined>,
  signal: AbortSignal,
): Promise<void> {
  const { value } = await blocks.next();
  await objects.put(key, value ?? new Uint8Array(), signal);
}

async function putInParts(
  objects: S3Objects,
  key: string,
  blocks: AsyncGenerator<Uint8Array, void, undefined>,
  signal: AbortSignal,
): Promise<void> {
  for (const begun of await objects.begunParts(key, signal)) await objects.dropParts(key, begun);
  const uploadId = await objects.beginParts(key, signal);
  try {
    const parts: UploadedPart[] = [];
    for await (const block of blocks) {
      parts.push(await objects.putPart(key, uploadId, parts.length + 1, block, signal));
    }
    await objects.endParts(key, uploadId, parts, signal);
  } catch (error) {
    // The first error is reported. If the parts cannot be dropped either, the next attempt drops them.
    await objects.dropParts(key, uploadId).catch(() => undefined);
    throw error;
  }
}

/** Blocks of `PART_BYTES`; the last one may be shorter. */
async function* partsOf(
  reader: ReadableStreamDefaultReader<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  let part = new Uint8Array(PART_BYTES);
  let filled = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    for (let offset = 0; offset < value.byteLength;) {
      const taken = value.subarray(offset, offset + PART_BYTES - filled);
      part.set(taken, filled);
      filled += taken.byteLength;
      offset += taken.byteLength;
      if (filled < PART_BYTES) continue;
      yield part;
      part = new Uint8Array(PART_BYTES);
      filled = 0;
    }
  }
  if (filled > 0) yield part.subarray(0, filled);
}

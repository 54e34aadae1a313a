/** Brings one recording to the bucket: in one request, or in parts where it is long. */

import type { OpenedRecording } from "../../ports/recordings.ts";
import type { S3Objects, UploadedPart } from "./s3-objects.ts";

/** Held in memory once per upload. At least 5 MiB by the rules of S3; 10,000 of them are 350 hours of sound. */
export const PART_BYTES = 8 * 1_048_576;

/**
 * Resolves when the bucket has it in its whole length. What an attempt that was cut off left of its parts is dropped: nobody
 * could join them any more, and they would be paid for.
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
    // Only ever written once, by the node that has the file: the same length is the same recording.
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
    // What went wrong is told; that the rest could not be dropped either is made good by the next attempt.
    await objects.dropParts(key, uploadId).catch(() => undefined);
    throw error;
  }
}

/** Blocks of `PART_BYTES`, the last one shorter. */
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

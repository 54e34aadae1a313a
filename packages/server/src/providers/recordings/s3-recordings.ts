/**
 * Recordings in a bucket that all nodes share. They are written to the folder of their node during the call and
 * uploaded after it. Until the upload is complete, the node that has the file serves it.
 */

import { parseWavHeader, WAV_HEADER_BYTES, wavHeader } from "../../media/wav.ts";
import {
  RecordingsUnavailable,
  type OpenedRecording,
  type Recordings,
  type RecordingWriter,
} from "../../ports/recordings.ts";
import type { LocalRecordings } from "./file-recordings.ts";
import { openS3Objects, type S3Objects, type S3Target } from "../s3/s3-objects.ts";
import { uploadRecording } from "./s3-upload.ts";
import { messageOf } from "../../pacing/error-text.ts";

export interface S3Settings extends S3Target {
  /** Prefix of every key; empty, or with a slash at its end. */
  readonly prefix: string;
  /** Whether clients are redirected to the store for whole recordings. */
  readonly redirects: boolean;
}

export interface S3Recordings extends Recordings {
  /** Finished recordings in the folder of this node. */
  finished(): Promise<readonly string[]>;
  /**
   * Uploads a recording unless the bucket has it already, and verifies it. The file stays until `forgetFile`. False:
   * there is nothing to upload; a file without a complete header, which a crash left, is removed. Idempotent. Rejects
   * with the error, and when the recording is removed meanwhile.
   */
  upload(callId: string, signal: AbortSignal): Promise<boolean>;
  /** Removes the file of a recording that is in the bucket. */
  forgetFile(callId: string): Promise<void>;
}

/** Time in which a client may use the link. */
const LINK_SECONDS = 300;

export function openS3Recordings(local: LocalRecordings, settings: S3Settings): S3Recordings {
  const objects = openS3Objects(settings);
  return new BucketRecordings(local, objects, settings);
}

class BucketRecordings implements S3Recordings {
  readonly #local: LocalRecordings;
  readonly #objects: S3Objects;
  readonly #settings: Pick<S3Settings, "prefix" | "redirects">;
  readonly #writing = new Set<string>();
  /** A running upload, and the means to stop it. */
  readonly #uploads = new Map<string, { readonly stop: AbortController; readonly over: Promise<void> }>();

  constructor(
    local: LocalRecordings,
    objects: S3Objects,
    settings: Pick<S3Settings, "prefix" | "redirects">,
  ) {
    this.#local = local;
    this.#objects = objects;
    this.#settings = settings;
  }

  readonly isShared = true;

  create(callId: string, sampleRateHz: number): Promise<RecordingWriter> {
    return this.#write(callId, () => this.#local.create(callId, sampleRateHz));
  }

  resume(callId: string, sampleRateHz: number, startMs: number): Promise<RecordingWriter> {
    return this.#write(callId, () => this.#local.resume(callId, sampleRateHz, startMs));
  }

  async #write(callId: string, open: () => Promise<RecordingWriter>): Promise<RecordingWriter> {
    // Added before the file exists, so that it does not count as finished.
    this.#writing.add(callId);
    const writer = await open().catch((error: unknown) => {
      this.#writing.delete(callId);
      throw error;
    });
    return {
      write: (samples) => writer.write(samples),
      close: async () => {
        try {
          await writer.close();
        } finally {
          this.#writing.delete(callId);
        }
      },
    };
  }

  async open(callId: string): Promise<OpenedRecording | null> {
    const file = await this.#local.open(callId);
    const key = this.#keyOf(callId);
    return file ?? (await reached(() => this.#objects.read(key)));
  }

  async openPart(callId: string, startMs: number, endMs: number): Promise<OpenedRecording | null> {
    const file = await this.#local.openPart(callId, startMs, endMs);
    const key = this.#keyOf(callId);
    return file ?? (await reached(() => openObjectPart(this.#objects, key, startMs, endMs)));
  }

  async link(callId: string): Promise<string | null> {
    if (!this.#settings.redirects) return null;
    const file = await this.#local.open(callId);
    if (file !== null) {
      await file.stream.cancel();
      return null;
    }
    const key = this.#keyOf(callId);
    const size = await reached(() => this.#objects.sizeOf(key));
    if (size === null) return null;
    return this.#objects.link(key, LINK_SECONDS, {
      "response-content-type": "audio/wav",
      "response-content-disposition": `inline; filename="${callId}.wav"`,
    });
  }

  async finished(): Promise<readonly string[]> {
    return (await this.#local.list()).filter((callId) => !this.#writing.has(callId));
  }

  async upload(callId: string, signal: AbortSignal): Promise<boolean> {
    if (this.#writing.has(callId) || this.#uploads.has(callId)) return false;
    const stop = new AbortController();
    const over = Promise.withResolvers<void>();
    this.#uploads.set(callId, { stop, over: over.promise });
    try {
      const file = await this.#local.open(callId);
      if (file === null) {
        await this.#local.remove(callId);
        return false;
      }
      const key = this.#keyOf(callId);
      await uploadRecording(this.#objects, key, file, AbortSignal.any([signal, stop.signal]));
      stop.signal.throwIfAborted();
      return true;
    } finally {
      this.#uploads.delete(callId);
      over.resolve();
    }
  }

  forgetFile(callId: string): Promise<void> {
    return this.#local.remove(callId);
  }

  async remove(callId: string, signal?: AbortSignal): Promise<void> {
    const key = this.#keyOf(callId);
    // The file is removed first, so that no new upload can begin after this.
    await this.#local.remove(callId);
    const upload = this.#uploads.get(callId);
    upload?.stop.abort(new Error("the recording is removed"));
    await upload?.over;
    await this.#objects.remove(key, signal);
  }

  /** @throws RangeError when it is not an id */
  #keyOf(callId: string): string {
    return `${this.#settings.prefix}${this.#local.nameOf(callId)}`;
  }
}

/** Errors here come from the store or from the network. */
async function reached<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    throw new RecordingsUnavailable(messageOf(error), { cause: error });
  }
}

/** Two requests: one for the header, which also returns the length, and one for the audio. */
async function openObjectPart(
  objects: S3Objects,
  key: string,
  startMs: number,
  endMs: number,
): Promise<OpenedRecording | null> {
  const head = await objects.read(key, { first: 0, last: WAV_HEADER_BYTES - 1 });
  if (head === null) return null;
  const blocks: Uint8Array[] = [];
  for await (const block of head.stream) blocks.push(block);
  const format = parseWavHeader(Buffer.concat(blocks));
  if (format === null) return null;
  const pairBytes = format.channels * 2;
  const pairs = Math.floor((head.wholeBytes - WAV_HEADER_BYTES) / pairBytes);
  const pairAt = (ms: number): number =>
    Math.max(0, Math.min(pairs, Math.round((ms * format.sampleRateHz) / 1000)));
  const first = pairAt(startMs) * pairBytes;
  const dataBytes = pairAt(endMs) * pairBytes - first;
  if (dataBytes <= 0) return null;
  const from = WAV_HEADER_BYTES + first;
  const sound = await objects.read(key, { first: from, last: from + dataBytes - 1 });
  if (sound === null) return null;
  if (sound.byteLength !== dataBytes) {
    await sound.stream.cancel();
    throw new Error("the object store sent another part than the requested one");
  }
  return {
    byteLength: WAV_HEADER_BYTES + dataBytes,
    stream: prefixed(wavHeader(format, dataBytes), sound.stream),
  };
}

function prefixed(header: Uint8Array, rest: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const reader = rest.getReader();
  return new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(header),
    pull: async (controller) => {
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

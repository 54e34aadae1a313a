/** Recordings as WAV files in a directory of this machine. */

import { chmod, open, mkdir, readdir, rm, type FileHandle } from "node:fs/promises";
import path from "node:path";
import { bytesOfSamples } from "../../media/pcm.ts";
import { parseWavHeader, WAV_HEADER_BYTES, wavHeader } from "../../media/wav.ts";
import type { OpenedRecording, Recordings, RecordingWriter } from "../../ports/recordings.ts";
import { errorOf } from "../../pacing/error-text.ts";

const CHANNELS = 2;
const PAIR_BYTES = CHANNELS * 2;
/**
 * Limit of bytes that wait for the disk: 30 s at 16 kHz. If the disk is slower, audio is lost, and `close` reports it.
 */
const PENDING_LIMIT_BYTES = 30 * 16_000 * PAIR_BYTES;
/** Interval at which the sizes in the header are updated, so that a copy of a growing file can be played. */
const HEADER_INTERVAL_BYTES = 10 * 16_000 * PAIR_BYTES;
/** Bytes of one read when a recording is served. */
const READ_BYTES = 256 * 1024;
/** Ids are UUIDs; other texts could point outside of the directory. */
const FILE_ID = /^[0-9a-z][0-9a-z_-]{0,99}$/i;

const EXTENSION = ".wav";

/**
 * Recordings are private: the mode of the folder excludes other users of the machine, whatever the modes of its files.
 */
const OWNER_ONLY = 0o700;

/** For a store that uses this folder temporarily. */
export interface LocalRecordings extends Recordings {
  /** Ids of the calls that have a file. */
  list(): Promise<readonly string[]>;
  /** @throws RangeError when it is not an id */
  nameOf(callId: string): string;
}

/** What is done to a file while it is recorded. */
export interface RecordedFile {
  write(
    bytes: Uint8Array,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ bytesWritten: number }>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

/**
 * @param dir created if it does not exist; contains one `{callId}.wav` per recorded call
 * @param create creates or empties a file
 */
export async function openFileRecordings(
  dir: string,
  create: (name: string) => Promise<RecordedFile> = async (name) => open(name, "w"),
): Promise<LocalRecordings> {
  await mkdir(dir, { recursive: true, mode: OWNER_ONLY });
  await chmod(dir, OWNER_ONLY);
  const nameOf = (callId: string): string => {
    if (!FILE_ID.test(callId)) throw new RangeError("not a call id");
    return `${callId}${EXTENSION}`;
  };
  const fileOf = (callId: string): string => path.join(dir, nameOf(callId));
  const begin = async (callId: string, sampleRateHz: number): Promise<FileWriter> => {
    const file = await create(fileOf(callId));
    try {
      await file.write(wavHeader({ sampleRateHz, channels: CHANNELS }, 0), 0, WAV_HEADER_BYTES, 0);
    } catch (error) {
      await file.close();
      throw error;
    }
    return new FileWriter(file, sampleRateHz);
  };
  return {
    isShared: false,
    nameOf,
    list: async () =>
      (await readdir(dir))
        .filter((name) => name.endsWith(EXTENSION))
        .map((name) => name.slice(0, -EXTENSION.length))
        .filter((callId) => FILE_ID.test(callId)),
    link: (callId) => {
      nameOf(callId);
      return Promise.resolve(null);
    },
    create: begin,
    resume: async (callId, sampleRateHz, startMs) => {
      const name = fileOf(callId);
      const file = await open(name, "r+").catch((error: unknown) => {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
        throw error;
      });
      if (file === null) await (await begin(callId, sampleRateHz)).close();
      return await resumedWriter(file ?? (await open(name, "r+")), sampleRateHz, startMs);
    },
    open: async (callId) => await openRecording(fileOf(callId), WHOLE),
    openPart: async (callId, startMs, endMs) => await openRecording(fileOf(callId), { startMs, endMs }),
    remove: async (callId) => {
      await rm(fileOf(callId), { force: true });
    },
  };
}

/** The part of a file that was never written reads as silence. */
async function resumedWriter(file: FileHandle, sampleRateHz: number, startMs: number): Promise<FileWriter> {
  try {
    const head = new Uint8Array(WAV_HEADER_BYTES);
    await file.read(head, 0, WAV_HEADER_BYTES, 0);
    const format = parseWavHeader(head);
    if (format !== null && format.sampleRateHz !== sampleRateHz) {
      throw new Error("the recording has another sample rate than before");
    }
    const { size } = await file.stat();
    const pairs = Math.floor(Math.max(0, size - WAV_HEADER_BYTES) / PAIR_BYTES);
    const from = Math.max(pairs, Math.round((startMs * sampleRateHz) / 1000)) * PAIR_BYTES;
    const writer = new FileWriter(file, sampleRateHz, from);
    await writer.begin();
    return writer;
  } catch (error) {
    await file.close();
    throw error;
  }
}

class FileWriter implements RecordingWriter {
  readonly #file: RecordedFile;
  readonly #sampleRateHz: number;
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  #written = 0;
  #headerAt = 0;
  #writing: Promise<void> | null = null;
  #failure: Error | null = null;
  #closing: Promise<void> | null = null;

  /** @param from bytes of samples that are there already */
  constructor(file: RecordedFile, sampleRateHz: number, from = 0) {
    this.#file = file;
    this.#sampleRateHz = sampleRateHz;
    this.#written = from;
  }

  /** Writes the header of what is there, so that a copy can be played. */
  begin(): Promise<void> {
    return this.#writeHeader();
  }

  write(samples: Int16Array): void {
    if (this.#closing !== null || samples.length === 0) return;
    if (this.#pendingBytes + samples.byteLength > PENDING_LIMIT_BYTES) {
      this.#failure ??= new Error("the disk is too slow: parts of the recording were lost");
      return;
    }
    this.#pending.push(bytesOfSamples(samples.slice()));
    this.#pendingBytes += samples.byteLength;
    this.#writing ??= this.#drain();
  }

  close(): Promise<void> {
    this.#closing ??= this.#finish();
    return this.#closing;
  }

  /** Never rejects: `close` reports what went wrong. */
  async #drain(): Promise<void> {
    try {
      while (this.#pending.length > 0) {
        const block = Buffer.concat(this.#pending);
        this.#pending = [];
        this.#pendingBytes = 0;
        await writeAll(this.#file, block, WAV_HEADER_BYTES + this.#written);
        this.#written += block.byteLength;
        if (this.#written - this.#headerAt >= HEADER_INTERVAL_BYTES) await this.#writeHeader();
      }
    } catch (error) {
      this.#pending = [];
      this.#pendingBytes = 0;
      this.#failure ??= errorOf(error);
    } finally {
      this.#writing = null;
    }
  }

  async #writeHeader(): Promise<void> {
    const header = wavHeader({ sampleRateHz: this.#sampleRateHz, channels: CHANNELS }, this.#written);
    await writeAll(this.#file, header, 0);
    this.#headerAt = this.#written;
  }

  async #finish(): Promise<void> {
    if (this.#writing !== null) await this.#writing;
    try {
      await this.#writeHeader();
      // A power failure after the end of the call is on record must not leave a shorter file.
      await this.#file.sync();
    } finally {
      await this.#file.close();
    }
    if (this.#failure !== null) throw this.#failure;
  }
}

async function writeAll(file: RecordedFile, bytes: Uint8Array, position: number): Promise<void> {
  let offset = 0;
  while (offset < bytes.byteLength) {
    const { bytesWritten } = await file.write(bytes, offset, bytes.byteLength - offset, position + offset);
    if (bytesWritten === 0) throw new Error("the disk accepted no data");
    offset += bytesWritten;
  }
}

interface Part {
  readonly startMs: number;
  readonly endMs: number;
}

const WHOLE: Part = { startMs: 0, endMs: Number.POSITIVE_INFINITY };

async function openRecording(name: string, part: Part): Promise<OpenedRecording | null> {
  const file = await open(name, "r").catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  });
  if (file === null) return null;
  try {
    const { size } = await file.stat();
    const head = new Uint8Array(WAV_HEADER_BYTES);
    await file.read(head, 0, WAV_HEADER_BYTES, 0);
    const format = parseWavHeader(head);
    // The length of the file is correct even where a crash left an old header; an incomplete pair of samples is left
    // out.
    const pairs = Math.floor((size - WAV_HEADER_BYTES) / PAIR_BYTES);
    const pairAt = (ms: number): number =>
      Math.max(0, Math.min(pairs, Math.round((ms * (format?.sampleRateHz ?? 0)) / 1000)));
    const first = pairAt(part.startMs);
    const dataBytes = (pairAt(part.endMs) - first) * PAIR_BYTES;
    // Without a complete header nothing was recorded. A whole recording may be empty, a part of one may not.
    if (format === null || (part !== WHOLE && dataBytes <= 0)) {
      await file.close();
      return null;
    }
    return {
      byteLength: WAV_HEADER_BYTES + dataBytes,
      stream: streamOf(file, wavHeader(format, dataBytes), first * PAIR_BYTES, dataBytes),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Streams the header and then exactly `dataBytes` of the samples from `fromByte`, at the reader's pace. */
function streamOf(
  file: FileHandle,
  header: Uint8Array,
  fromByte: number,
  dataBytes: number,
): ReadableStream<Uint8Array> {
  let sent = 0;
  return new ReadableStream<Uint8Array>({
    start: (controller) => {
      controller.enqueue(header);
    },
    pull: async (controller) => {
      const block = new Uint8Array(Math.min(READ_BYTES, dataBytes - sent));
      if (block.byteLength > 0) {
        const position = WAV_HEADER_BYTES + fromByte + sent;
        const { bytesRead } = await file.read(block, 0, block.byteLength, position);
        if (bytesRead === 0) throw new Error("the recording became shorter while it was read");
        sent += bytesRead;
        controller.enqueue(block.subarray(0, bytesRead));
      }
      if (sent < dataBytes) return;
      await file.close();
      controller.close();
    },
    cancel: () => file.close(),
  });
}

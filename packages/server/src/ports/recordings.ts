/** Where call recordings are kept. */

/** The store that has a recording cannot be reached, or refuses. Nothing is lost, and a later try may succeed. */
export class RecordingsUnavailable extends Error {}

export interface RecordingWriter {
  /** Interleaved stereo s16 (left caller, right agent). Buffered and written in order; bounded; never throws. */
  write(samples: Int16Array): void;
  /** Flushes and finishes the file. Rejects when something could not be written. */
  close(): Promise<void>;
}

export interface OpenedRecording {
  readonly byteLength: number;
  readonly stream: ReadableStream<Uint8Array>;
}

export interface Recordings {
  /** Whether every node of the service finds what any of them has recorded, some time after the end of a call. */
  readonly isShared: boolean;
  /** Creates the file at once; it is playable after a crash at any later point. */
  create(callId: string, sampleRateHz: number): Promise<RecordingWriter>;
  /** Reading rejects with `RecordingsUnavailable` where that is the reason. Null when there is none. A file that a crash left unfinished is served with a right header. */
  open(callId: string): Promise<OpenedRecording | null>;
  /**
   * A part as a WAV of its own, from the sound at `startMs` up to that at `endMs`; beyond the end there is nothing. Reads
   * that part only. Null when there is no recording, or nothing of it lies in the part.
   */
  openPart(callId: string, startMs: number, endMs: number): Promise<OpenedRecording | null>;
  /** Where whoever has the URL can fetch the whole recording for some minutes; null: it is read by `open` alone. */
  link(callId: string): Promise<string | null>;
  /** Idempotent. Rejects when it is not certain that it is gone. */
  remove(callId: string, signal?: AbortSignal): Promise<void>;
}

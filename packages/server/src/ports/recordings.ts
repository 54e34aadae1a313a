/** Port for the store of call recordings. */

/** The store that has a recording cannot be reached, or refuses. Nothing is lost, and a retry may succeed. */
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
  /** Whether every node can read what any node has recorded, some time after the end of a call. */
  readonly isShared: boolean;
  /** Creates the file at once; it is playable after a crash at any later point. */
  create(callId: string, sampleRateHz: number): Promise<RecordingWriter>;
  /**
   * Goes on in the recording of a call at `startMs`; what lies between its end and this is silence. Creates the file
   * where this machine has none. Rejects when the recording has another rate.
   */
  resume(callId: string, sampleRateHz: number, startMs: number): Promise<RecordingWriter>;
  /**
   * Null when there is no recording. Reading rejects with `RecordingsUnavailable` where that is the reason. A file that
   * a crash left unfinished is served with a correct header.
   */
  open(callId: string): Promise<OpenedRecording | null>;
  /**
   * A part as a separate WAV, from the sound at `startMs` up to that at `endMs`, or to the end of the recording. Reads
   * that part only. Null when there is no recording, or nothing of it lies in the part.
   */
  openPart(callId: string, startMs: number, endMs: number): Promise<OpenedRecording | null>;
  /** A URL at which anyone who has it can fetch the whole recording for some minutes; null: only `open` reads it. */
  link(callId: string): Promise<string | null>;
  /** Idempotent. Rejects when it is not certain that the recording is gone. */
  remove(callId: string, signal?: AbortSignal): Promise<void>;
}

/**
 * Port for voice activity detection: one score in 0..1 for each window of 512 samples (32 ms) of 16 kHz mono speech.
 */

export const VAD_SAMPLE_RATE_HZ = 16_000;
export const VAD_WINDOW_SAMPLES = 512;
export const VAD_WINDOW_MS = 32;

export interface VadListener {
  /** Scores arrive in the order in which windows were pushed; `index` counts windows from 0. */
  scored(index: number, score: number): void;
  /** The stream is dead after this; no score follows. Called at most once. */
  failed(error: Error): void;
}

export interface VadStream {
  /** Takes a copy of exactly `VAD_WINDOW_SAMPLES` samples. Never blocks. Throws on any other length. */
  push(window: Int16Array): void;
  /** Idempotent. No listener call follows. */
  close(): void;
}

export interface VadEngine {
  readonly name: string;
  /**
   * Why the engine serves no streams now; null while it does. For engines that can be lost while the service runs. It
   * may recover: `/readyz` reports it until then.
   */
  readonly unusable?: () => string | null;
  open(listener: VadListener): VadStream;
  /** Drains the running work, then releases the model. Idempotent. */
  close(): Promise<void>;
}

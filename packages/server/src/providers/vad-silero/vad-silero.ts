import type { VadEngine } from "../../ports/vad.ts";

export interface SileroVadOptions {
  /** Path of `silero_vad.onnx` (v6 interface). */
  readonly modelPath: string;
  /** Told of a worker crash and restart, one sentence each. */
  readonly log?: (message: string) => void;
}

export const SILERO_VAD_DESCRIPTION = "Silero v6 in one worker thread, windows of all calls scored in batches";

/** Starts the worker and loads the model; rejects when the model cannot be loaded or has another interface. */
export function openSileroVad(options: SileroVadOptions): Promise<VadEngine> {
  return Promise.reject(new Error(`not written yet: ${options.modelPath}`));
}

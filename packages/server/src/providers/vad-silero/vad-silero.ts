import type { VadEngine } from "../../ports/vad.ts";
import { openThreadedVad } from "./threaded-vad.ts";
import { sileroThread } from "./vad-thread.ts";

export interface SileroVadOptions {
  /** Path of `silero_vad.onnx` (v5 or v6 interface). */
  readonly modelPath: string;
  /** Called with one sentence at the end and at the restart of a worker. */
  readonly log?: (message: string) => void;
}

/** Description of this engine in the log of the start. */
export const SILERO_VAD_DESCRIPTION =
  "Silero v6 in one worker thread, windows of all calls scored in batches";

/** Starts the worker and loads the model; rejects when the file is missing, broken or has another interface. */
export function openSileroVad(options: SileroVadOptions): Promise<VadEngine> {
  return openThreadedVad("silero", sileroThread(options.modelPath), options.log ?? (() => undefined));
}

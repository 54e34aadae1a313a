import type { SttEngine } from "../../ports/stt.ts";

export interface OfflineSttOptions {
  /** Told of a worker crash and restart, one sentence each; never of what was said. */
  readonly log?: (message: string) => void;
}

export const OFFLINE_STT_DESCRIPTION =
  "offline English phrase grammar of the demo concierge (SoundSwallower); other speech is reported as not understood";

/** Starts the worker and loads model, dictionary and grammar; rejects when one of them is unusable. */
export function openOfflineStt(options: OfflineSttOptions = {}): Promise<SttEngine> {
  return Promise.reject(new Error(`not written yet: ${String(options.log)}`));
}

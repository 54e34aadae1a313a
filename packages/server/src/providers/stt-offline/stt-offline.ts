import type { SttEngine } from "../../ports/stt.ts";
import { openBatchStt } from "../batch-stt.ts";
import { DecoderQueue } from "./decoder-queue.ts";
import { startDecoderThread, type StartDecoderThread } from "./decoder-thread.ts";

export interface OfflineSttOptions {
  /** Called with one sentence at the end and at the restart of a worker; never contains what was said. */
  readonly log?: (message: string) => void;
  /** Time limit of one utterance; absent: `DECODER_TIMEOUT_MS`. */
  readonly answerTimeoutMs?: number;
}

/** Description of this engine in the log of the start. */
export const OFFLINE_STT_DESCRIPTION =
  "SoundSwallower, offline English phrases of the demo concierge; other speech is reported as not understood";

/** Of the grammar in `concierge.gram`. */
export const OFFLINE_PHRASES: readonly string[] = [
  "go forward ten meters",
  "a table for four on Friday at seven",
  "ten of clubs",
];

/** Starts the worker and loads model, dictionary and grammar; rejects when one of them is unusable. */
export function openOfflineStt(options: OfflineSttOptions = {}): Promise<SttEngine> {
  return openQueuedStt(startDecoderThread, options.log ?? (() => undefined), options.answerTimeoutMs);
}

/** The same with another thread in place of the real one, for tests. */
export async function openQueuedStt(
  start: StartDecoderThread,
  log: (message: string) => void,
  answerTimeoutMs?: number,
): Promise<SttEngine> {
  const queue = new DecoderQueue(start, log, answerTimeoutMs);
  await queue.load();
  return openBatchStt({
    name: "offline",
    transcribe: (samples, _language, signal) => queue.decode(samples, signal),
    warningFor: (language) =>
      /^en(-|$)/i.test(language)
        ? null
        : `the offline recogniser understands English only; this call speaks ${language}`,
    unusable: queue.unusable,
    examplePhrases: OFFLINE_PHRASES,
    close: () => queue.close(),
  });
}

/** Audio of a voice in parts that are small enough for the event loop of its reader. */

import type { TtsPart } from "../ports/tts.ts";
import type { SpeechSamples } from "./speech-body.ts";

/** Audio per part, so that a server that sends a whole sentence at once does not block the reader. */
export const MAX_PART_MS = 200;

export function* cutParts({ samples, sampleRateHz }: SpeechSamples): Generator<TtsPart & { type: "audio" }> {
  const length = Math.floor((MAX_PART_MS * sampleRateHz) / 1_000);
  for (let start = 0; start < samples.length; start += length)
    yield { type: "audio", samples: samples.subarray(start, start + length), sampleRateHz };
}

/** Whether a part is as long as parts are: then more follow at once, and others get their turn first. */
export function isFullPart({ samples, sampleRateHz }: SpeechSamples): boolean {
  return samples.length >= Math.floor((MAX_PART_MS * sampleRateHz) / 1_000);
}

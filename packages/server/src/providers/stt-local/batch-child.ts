/** Program of the process of a recogniser that takes whole utterances. */

import { messageOf } from "../../pacing/error-text.ts";
import { STT_SAMPLE_RATE_HZ } from "../../ports/stt.ts";
import type { Asked } from "../local-child/child-thread.ts";
import { releasedOne, runModel } from "../local-child/child-program.ts";
import { loadOffline, toFloats, type OfflineRecogniser } from "./recognisers.ts";

/** Whisper reads 30 s at a time and ignores the rest. */
const LONGEST_PART_SAMPLES = 28 * STT_SAMPLE_RATE_HZ;

function transcribe(recogniser: OfflineRecogniser, samples: Int16Array): string {
  const stream = recogniser.createStream();
  try {
    stream.acceptWaveform({ samples: toFloats(samples), sampleRate: STT_SAMPLE_RATE_HZ });
    recogniser.decode(stream);
    return recogniser.getResult(stream).text.trim();
  } finally {
    releasedOne();
  }
}

runModel<Asked<Int16Array>, string>((order, tell) => {
  const recogniser = loadOffline(order);
  const partSamples = order.model.family === "whisper" ? LONGEST_PART_SAMPLES : Infinity;
  return ({ id, request }) => {
    try {
      const texts: string[] = [];
      for (let at = 0; at < request.length; at += partSamples)
        texts.push(transcribe(recogniser, request.subarray(at, at + partSamples)));
      tell({ type: "answered", id, answer: texts.join(" ").trim() });
    } catch (error) {
      tell({ type: "failed", id, detail: messageOf(error) });
    }
  };
});

/** Program of the process of a voice. */

import { messageOf } from "../../pacing/error-text.ts";
import type { Asked } from "../local-child/child-thread.ts";
import { loadPackage, releasedOne, runModel } from "../local-child/child-program.ts";
import type { LoadOrder } from "../local-child/local-model.ts";
import type { SpokenPiece, SpokenText } from "./tts-protocol.ts";

/** The used part of sherpa-onnx-node. */
interface SherpaPackage {
  readonly OfflineTts: new (config: object) => SherpaVoice;
}

interface SherpaVoice {
  /** Synchronous. */
  generate(request: {
    readonly text: string;
    readonly sid: number;
    readonly speed: number;
    /** False: the samples are a copy, which a newer Node requires in some builds. */
    readonly enableExternalBuffer: boolean;
  }): { readonly samples: Float32Array; readonly sampleRate: number };
}

function loadVoice({ model, packageFolder, threads }: LoadOrder): SherpaVoice {
  const { family, paths } = model;
  if (family !== "vits" && family !== "kokoro" && family !== "kitten")
    throw new Error(`a model of the kind ${family} is no voice`);
  const { OfflineTts } = loadPackage(packageFolder) as SherpaPackage;
  return new OfflineTts({
    model: { [family]: paths, numThreads: threads, provider: "cpu", debug: false },
    maxNumSentences: 1,
  });
}

function toSamples(floats: Float32Array): Int16Array {
  const samples = new Int16Array(floats.length);
  for (let index = 0; index < floats.length; index += 1) {
    const value = Math.round((floats[index] ?? 0) * 32_767);
    samples[index] = Math.max(-32_768, Math.min(32_767, value));
  }
  return samples;
}

runModel<Asked<SpokenText>, SpokenPiece>((order, tell) => {
  const voice = loadVoice(order);
  return ({ id, request: { text, speaker } }) => {
    try {
      const audio = voice.generate({ text, sid: speaker, speed: 1, enableExternalBuffer: false });
      const samples = toSamples(audio.samples);
      tell({ type: "answered", id, answer: { samples, sampleRateHz: audio.sampleRate } });
    } catch (error) {
      tell({ type: "failed", id, detail: messageOf(error) });
    } finally {
      releasedOne();
    }
  };
});

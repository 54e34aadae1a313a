/** Loads recognisers with sherpa-onnx. Runs in the process of the model. */

import { STT_SAMPLE_RATE_HZ } from "../../ports/stt.ts";
import { loadPackage } from "../local-child/child-program.ts";
import type { LoadOrder } from "../local-child/local-model.ts";

/** The used part of sherpa-onnx-node. */
interface SherpaPackage {
  readonly OnlineRecognizer: new (config: object) => OnlineRecogniser;
  readonly OfflineRecognizer: new (config: object) => OfflineRecogniser;
}

export interface SherpaStream {
  acceptWaveform(audio: { readonly samples: Float32Array; readonly sampleRate: number }): void;
}

export interface OnlineRecogniser {
  createStream(): SherpaStream;
  isReady(stream: SherpaStream): boolean;
  /** One step of some 100 ms of audio. Synchronous. */
  decode(stream: SherpaStream): void;
  getResult(stream: SherpaStream): { readonly text: string };
}

export interface OfflineRecogniser {
  createStream(): SherpaStream;
  decode(stream: SherpaStream): void;
  getResult(stream: SherpaStream): { readonly text: string };
}

const FEATURES = { sampleRate: STT_SAMPLE_RATE_HZ, featureDim: 80 };

export function loadOnline(order: LoadOrder): OnlineRecogniser {
  const { OnlineRecognizer } = loadPackage(order.packageFolder) as SherpaPackage;
  return new OnlineRecognizer({ featConfig: FEATURES, modelConfig: configOf(order) });
}

export function loadOffline(order: LoadOrder): OfflineRecogniser {
  const { OfflineRecognizer } = loadPackage(order.packageFolder) as SherpaPackage;
  return new OfflineRecognizer({ featConfig: FEATURES, modelConfig: configOf(order) });
}

function configOf({ model, threads }: LoadOrder): object {
  const { tokens, ...paths } = model.paths;
  return { ...ofFamily(model, paths), tokens, numThreads: threads, provider: "cpu", debug: false };
}

function ofFamily({ family }: LoadOrder["model"], paths: Readonly<Record<string, string>>): object {
  switch (family) {
    case "online-transducer":
      return { transducer: paths };
    case "online-nemo-ctc":
    case "nemo-ctc":
      return { nemoCtc: paths };
    case "online-zipformer-ctc":
      return { zipformer2Ctc: paths };
    case "moonshine":
      return { moonshine: paths };
    case "whisper":
      // No language: it is detected for each utterance.
      return { whisper: { ...paths, language: "", task: "transcribe" } };
    case "nemo-transducer":
      return { transducer: paths, modelType: "nemo_transducer" };
    case "vits":
    case "kokoro":
    case "kitten":
    case "gguf":
      break;
  }
  throw new Error(`a model of the kind ${family} is no recogniser`);
}

/** Samples as sherpa-onnx takes them. */
export function toFloats(samples: Int16Array): Float32Array {
  const floats = new Float32Array(samples.length);
  for (let index = 0; index < samples.length; index += 1) floats[index] = (samples[index] ?? 0) / 32_768;
  return floats;
}

/**
 * The models that `parley models pull` fetches. An address is that of a file which its project publishes; a size is the
 * size of that file. A sha256 is here only where it was computed from the bytes: without one, the first pull pins it.
 */

import type { ModelFamily } from "../providers/local-child/local-model.ts";

export type ModelKind = "stt" | "llm" | "tts" | "turn";

export interface CatalogueModel {
  readonly name: string;
  readonly kind: ModelKind;
  /** How it is loaded; null: by the service itself. */
  readonly family: ModelFamily | null;
  /** One line for the list of models. */
  readonly description: string;
  /** SPDX identifier, or a short name. */
  readonly licence: string;
  /** BCP 47; `*`: many. */
  readonly languages: readonly string[];
  readonly address: string;
  /** Of the file at the address. */
  readonly bytes: number;
  readonly sha256: string | null;
  /** The folder in the archive that contains everything; null: the address is that of the model itself. */
  readonly folder: string | null;
  /** Which file, or folder, of it has which role. Other files are not unpacked. */
  readonly parts: Readonly<Record<string, string>>;
  /** Names of the speakers of a voice, in the order of their numbers. */
  readonly voices: readonly string[];
  /** npm packages that it needs, by name, with the version. */
  readonly packages: Readonly<Record<string, string>>;
}

const SHERPA = "https://github.com/k2-fsa/sherpa-onnx/releases/download";
/** Loads recognisers and voices. Its platform package has 32 MB. */
export const SHERPA_PACKAGE = "sherpa-onnx-node";
const SHERPA_PACKAGES = { [SHERPA_PACKAGE]: "1.13.8" } as const;

/** Loads language models. With its parts for one platform it has 85 MB. */
export const LLAMA_PACKAGE = "node-llama-cpp";
const LLAMA_PACKAGES = { [LLAMA_PACKAGE]: "3.22.1" } as const;

function archive(release: "asr-models" | "tts-models", folder: string) {
  return { address: `${SHERPA}/${release}/${folder}.tar.bz2`, folder, sha256: null };
}

const RECOGNISER = { kind: "stt", voices: [], packages: SHERPA_PACKAGES } as const;
const LANGUAGE_MODEL = {
  kind: "llm",
  family: "gguf",
  languages: ["*"],
  sha256: null,
  folder: null,
  voices: [],
  packages: LLAMA_PACKAGES,
} as const;
const VOICE = { kind: "tts", packages: SHERPA_PACKAGES } as const;

const MOONSHINE_PARTS = {
  preprocessor: "preprocess.onnx",
  encoder: "encode.int8.onnx",
  uncachedDecoder: "uncached_decode.int8.onnx",
  cachedDecoder: "cached_decode.int8.onnx",
  tokens: "tokens.txt",
};

/** Of `voices.bin`, in the order of the speakers. */
const KOKORO_VOICES = [
  "af",
  "af_bella",
  "af_nicole",
  "af_sarah",
  "af_sky",
  "am_adam",
  "am_michael",
  "bf_emma",
  "bf_isabella",
  "bm_george",
  "bm_lewis",
];
const KITTEN_VOICES = [2, 3, 4, 5].flatMap((number) => [
  `expr-voice-${String(number)}-m`,
  `expr-voice-${String(number)}-f`,
]);

const EUROPEAN = "bg hr cs da nl en et fi fr de el hu it lv lt mt pl pt ro sk sl es sv ru uk".split(" ");

/** In the order of the list; the first of each kind is recommended. */
export const CATALOGUE: readonly CatalogueModel[] = [
  {
    ...RECOGNISER,
    ...archive("asr-models", "sherpa-onnx-streaming-zipformer-en-kroko-2025-08-06"),
    name: "zipformer-en",
    family: "online-transducer",
    description: "streaming recogniser: words while they are spoken",
    licence: "CC-BY-SA-4.0",
    languages: ["en"],
    bytes: 57_267_600,
    parts: {
      encoder: "encoder.onnx",
      decoder: "decoder.onnx",
      joiner: "joiner.onnx",
      tokens: "tokens.txt",
    },
  },
  {
    ...RECOGNISER,
    ...archive("asr-models", "sherpa-onnx-moonshine-tiny-en-int8"),
    name: "moonshine-tiny-en",
    family: "moonshine",
    description: "small recogniser of whole utterances",
    licence: "MIT",
    languages: ["en"],
    bytes: 107_600_000,
    parts: MOONSHINE_PARTS,
  },
  {
    ...RECOGNISER,
    ...archive("asr-models", "sherpa-onnx-moonshine-base-en-int8"),
    name: "moonshine-base-en",
    family: "moonshine",
    description: "the same, larger and more accurate",
    licence: "MIT",
    languages: ["en"],
    bytes: 250_807_309,
    parts: MOONSHINE_PARTS,
  },
  {
    ...RECOGNISER,
    ...archive("asr-models", "sherpa-onnx-whisper-tiny"),
    name: "whisper-tiny",
    family: "whisper",
    description: "recogniser of whole utterances that detects their language",
    licence: "MIT",
    languages: ["*"],
    bytes: 116_200_000,
    parts: {
      encoder: "tiny-encoder.int8.onnx",
      decoder: "tiny-decoder.int8.onnx",
      tokens: "tiny-tokens.txt",
    },
  },
  {
    ...RECOGNISER,
    ...archive("asr-models", "sherpa-onnx-nemo-parakeet-tdt-0.6b-v3-int8"),
    name: "parakeet-v3",
    family: "nemo-transducer",
    description: "large, accurate recogniser of whole utterances",
    licence: "CC-BY-4.0",
    languages: EUROPEAN,
    bytes: 487_170_055,
    parts: {
      encoder: "encoder.int8.onnx",
      decoder: "decoder.int8.onnx",
      joiner: "joiner.int8.onnx",
      tokens: "tokens.txt",
    },
  },
  {
    ...LANGUAGE_MODEL,
    name: "qwen2.5-1.5b",
    description: "small language model that can call tools",
    licence: "Apache-2.0",
    address:
      "https://huggingface.co/Qwen/Qwen2.5-1.5B-Instruct-GGUF/resolve/main/qwen2.5-1.5b-instruct-q4_k_m.gguf",
    bytes: 1_117_320_736,
    parts: { model: "qwen2.5-1.5b-instruct-q4_k_m.gguf" },
  },
  {
    ...LANGUAGE_MODEL,
    name: "qwen2.5-0.5b",
    description: "the same, smallest and fastest; for trials",
    licence: "Apache-2.0",
    address:
      "https://huggingface.co/Qwen/Qwen2.5-0.5B-Instruct-GGUF/resolve/main/qwen2.5-0.5b-instruct-q4_k_m.gguf",
    bytes: 491_400_032,
    parts: { model: "qwen2.5-0.5b-instruct-q4_k_m.gguf" },
  },
  {
    ...LANGUAGE_MODEL,
    name: "granite-3.3-2b",
    description: "the same, of another family",
    licence: "Apache-2.0",
    address:
      "https://huggingface.co/ibm-granite/granite-3.3-2b-instruct-GGUF/resolve/main/granite-3.3-2b-instruct-Q4_K_M.gguf",
    bytes: 1_545_303_328,
    parts: { model: "granite-3.3-2b-instruct-Q4_K_M.gguf" },
  },
  {
    ...LANGUAGE_MODEL,
    name: "qwen3-4b",
    description: "larger; needs a fast processor",
    licence: "Apache-2.0",
    address:
      "https://huggingface.co/unsloth/Qwen3-4B-Instruct-2507-GGUF/resolve/main/Qwen3-4B-Instruct-2507-Q4_K_M.gguf",
    bytes: 2_497_280_736,
    parts: { model: "Qwen3-4B-Instruct-2507-Q4_K_M.gguf" },
  },
  {
    ...VOICE,
    ...archive("tts-models", "vits-piper-en_GB-cori-medium"),
    name: "piper-en-cori",
    family: "vits",
    description: "fast British voice (Piper)",
    licence: "public domain recordings",
    languages: ["en"],
    bytes: 67_257_412,
    parts: { model: "en_GB-cori-medium.onnx", tokens: "tokens.txt", dataDir: "espeak-ng-data" },
    voices: ["cori"],
  },
  {
    ...VOICE,
    ...archive("tts-models", "vits-piper-de_DE-thorsten-medium"),
    name: "piper-de-thorsten",
    family: "vits",
    description: "fast German voice (Piper)",
    licence: "CC0-1.0 recordings",
    languages: ["de"],
    bytes: 67_214_254,
    parts: { model: "de_DE-thorsten-medium.onnx", tokens: "tokens.txt", dataDir: "espeak-ng-data" },
    voices: ["thorsten"],
  },
  {
    ...VOICE,
    ...archive("tts-models", "kitten-nano-en-v0_2-fp16"),
    name: "kitten-nano-en",
    family: "kitten",
    description: "smallest download, eight voices",
    licence: "Apache-2.0",
    languages: ["en"],
    bytes: 26_586_708,
    parts: {
      model: "model.fp16.onnx",
      voices: "voices.bin",
      tokens: "tokens.txt",
      dataDir: "espeak-ng-data",
    },
    voices: KITTEN_VOICES,
  },
  {
    ...VOICE,
    ...archive("tts-models", "kokoro-int8-en-v0_19"),
    name: "kokoro-en",
    family: "kokoro",
    description: "most natural, eleven voices; needs a fast processor",
    licence: "Apache-2.0",
    languages: ["en"],
    bytes: 103_248_205,
    parts: {
      model: "model.int8.onnx",
      voices: "voices.bin",
      tokens: "tokens.txt",
      dataDir: "espeak-ng-data",
    },
    voices: KOKORO_VOICES,
  },
  {
    name: "smart-turn-v3",
    kind: "turn",
    family: null,
    description: "hears whether the caller has finished; used as soon as it is there",
    licence: "BSD-2-Clause",
    languages: ["*"],
    address: "https://huggingface.co/pipecat-ai/smart-turn-v3/resolve/main/smart-turn-v3.2-cpu.onnx",
    bytes: 8_679_182,
    sha256: null,
    folder: null,
    // Where the service looks for it by itself: see SMART_TURN_MODEL.
    parts: { model: "smart-turn-v3.onnx" },
    voices: [],
    packages: {},
  },
];

export function modelNamed(name: string, catalogue: readonly CatalogueModel[]): CatalogueModel | null {
  return catalogue.find((model) => model.name === name) ?? null;
}

/** A size as people read it. */
export function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(bytes < 10_000_000 ? 1 : 0)} MB`;
}

/** A model on this machine, and what its process is told to load. */

/**
 * How a model is loaded: `gguf` by llama.cpp, the others by sherpa-onnx. Those that begin with `online-` recognise while
 * audio arrives.
 */
export type ModelFamily =
  | "online-transducer"
  | "online-nemo-ctc"
  | "online-zipformer-ctc"
  | "moonshine"
  | "nemo-ctc"
  | "whisper"
  | "nemo-transducer"
  | "vits"
  | "kokoro"
  | "kitten"
  | "gguf";

/** What a file had when it was unpacked. */
export interface CheckedFile {
  /** Absolute. */
  readonly path: string;
  readonly bytes: number;
  /** Lower-case hexadecimal digits. */
  readonly sha256: string;
}

export interface LocalModel {
  readonly name: string;
  readonly family: ModelFamily;
  /** Absolute paths of files and folders, by their role. */
  readonly paths: Readonly<Record<string, string>>;
  /** All of its files. They are compared before each load, because a damaged model can end its whole process. */
  readonly files: readonly CheckedFile[];
  /** BCP 47; `*`: many. */
  readonly languages: readonly string[];
  /** Of a voice: the names of its speakers. */
  readonly voices: readonly string[];
}

/** The first message to the process. */
export interface LoadOrder {
  readonly model: LocalModel;
  /** Folder of the npm package that loads it. */
  readonly packageFolder: string;
  readonly threads: number;
}

export function isStreaming(family: ModelFamily): boolean {
  return family.startsWith("online-");
}

/** Whether the model is made for a BCP 47 language. */
export function speaksLanguage({ languages }: Pick<LocalModel, "languages">, language: string): boolean {
  const [tag = ""] = language.toLowerCase().split(/[-_]/, 1);
  return languages.includes("*") || languages.includes(tag);
}

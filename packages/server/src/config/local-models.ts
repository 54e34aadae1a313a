/** Which models of this machine run the recogniser and the voice: settings of the environment. */

import { httpUrl, optional, whole } from "./env-fields.ts";

export interface LocalModels {
  /** Names of the catalogue; null: none. */
  readonly stt: string | null;
  readonly tts: string | null;
  /** The speaker of the voice where a call names none; null: its first. */
  readonly ttsVoice: string | null;
  /** Of each model. */
  readonly threads: number;
  /** Where models are fetched in place of their own addresses. */
  readonly mirror: string | null;
}

/** Besides those of the models, which decide about servers as well: see `model-servers.ts`. */
export const LOCAL_MODEL_FIELDS = {
  TTS_LOCAL_VOICE: optional,
  // A model may use two processors while nothing else needs them; it has lower priority than the calls.
  LOCAL_MODEL_THREADS: whole(1, 64).default(2),
  MODELS_MIRROR: httpUrl.optional(),
};

/** The variables that select a model of this machine. */
export const LOCAL_VARIABLES = { stt: "STT_LOCAL_MODEL", tts: "TTS_LOCAL_MODEL" } as const;

interface LocalValues {
  readonly STT_LOCAL_MODEL?: string | undefined;
  readonly TTS_LOCAL_MODEL?: string | undefined;
  readonly TTS_LOCAL_VOICE?: string | undefined;
  readonly LOCAL_MODEL_THREADS: number;
  readonly MODELS_MIRROR?: string | undefined;
}

export function localModelsOf(values: LocalValues): LocalModels {
  return {
    stt: values.STT_LOCAL_MODEL ?? null,
    tts: values.TTS_LOCAL_MODEL ?? null,
    ttsVoice: values.TTS_LOCAL_VOICE ?? null,
    threads: values.LOCAL_MODEL_THREADS,
    mirror: values.MODELS_MIRROR ?? null,
  };
}

/** An engine has one place: a sentence where a model of this machine and a server are both set. */
export function localConflicts(values: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(LOCAL_VARIABLES).flatMap(([kind, variable]) => {
    if (values[variable] === undefined) return [];
    const prefix = kind.toUpperCase();
    const others = [`${prefix}_BASE_URL`, `${prefix}_API_KEY`, "OPENAI_API_KEY"];
    const other = others.find((name) => values[name] !== undefined);
    if (other === undefined) return [];
    const shared =
      other === "OPENAI_API_KEY"
        ? " Set LLM_API_KEY in its place, which is for the language model only."
        : "";
    return [`${variable} and ${other} must not both be set: they select different engines.${shared}`];
  });
}

/** The engines in words. */

import type { DeploymentEngine, EngineKind } from "@parley/schema";

export const KINDS = ["stt", "llm", "tts"] as const satisfies readonly EngineKind[];

export interface EngineWords {
  readonly title: string;
  readonly text: string;
  /** What the names of its variables begin with. */
  readonly prefix: string;
  readonly modelExample: string;
}

export const ENGINE_WORDS: Readonly<Record<EngineKind, EngineWords>> = {
  stt: {
    title: "Recogniser",
    text: "Turns the caller's speech into words.",
    prefix: "STT",
    modelExample: "Systran/faster-whisper-small",
  },
  llm: {
    title: "Language model",
    text: "Writes what the agent says.",
    prefix: "LLM",
    modelExample: "llama3.2:3b",
  },
  tts: {
    title: "Voice",
    text: "Speaks what the agent says.",
    prefix: "TTS",
    modelExample: "kokoro",
  },
};

/** Why this engine runs, in a sentence. */
export function reasonOf(kind: EngineKind, { source, selectedBy }: DeploymentEngine): string {
  const { prefix } = ENGINE_WORDS[kind];
  if (source === "stored") return "It was stored by the operator.";
  if (source === "built_in") {
    return "It comes with the service, and runs because neither the environment nor the operator sets another one.";
  }
  return `The environment sets it, by ${selectedBy ?? `${prefix}_BASE_URL`}.`;
}

/** The variables that would set this engine, as lines of a file. */
export function variablesOf(kind: EngineKind): string {
  const { prefix, modelExample } = ENGINE_WORDS[kind];
  const lines = [
    `${prefix}_BASE_URL=http://127.0.0.1:11434/v1`,
    `${prefix}_MODEL=${modelExample}`,
    `${prefix}_API_KEY=`,
    ...(kind === "tts" ? ["TTS_VOICE=af_heart"] : []),
  ];
  return lines.join("\n");
}

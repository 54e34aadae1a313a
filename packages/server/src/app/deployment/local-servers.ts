/**
 * Model servers on this machine, at the ports that such programs use if nothing else is said. They are offered, never
 * used by themselves. Only loopback addresses are asked, and no request can name another one.
 */

import type { EngineKind, LocalModelServer } from "@parley/schema";
import { readBoundedText } from "../../net/bounded-text.ts";
import { modelsIn } from "./model-list.ts";

export interface LocalCandidate {
  readonly name: string;
  readonly port: number;
}

const CANDIDATES: readonly LocalCandidate[] = [
  { name: "Ollama", port: 11_434 },
  { name: "vLLM or speaches", port: 8000 },
  { name: "llama.cpp", port: 8080 },
  { name: "LM Studio", port: 1234 },
  { name: "Kokoro", port: 8880 },
];

/** A local server answers within milliseconds; nothing waits longer for a missing one. */
const LIMIT_MS = 300;
/** Of a list of models; a server with hundreds of them has some 100 KB. */
const MAX_LIST_BYTES = 1_000_000;
/** Most models that are named of one server. */
const MAX_MODELS = 50;

/** The candidates that do not have the port of this service. */
export function localCandidates(ownPort: number): readonly LocalCandidate[] {
  return CANDIDATES.filter(({ port }) => port !== ownPort);
}

/** The candidates that answer like a model server, in their order. Never rejects. */
export async function findLocalServers(
  candidates: readonly LocalCandidate[],
): Promise<readonly LocalModelServer[]> {
  const answers = await Promise.all(candidates.map(askForModels));
  return answers.filter((answer) => answer !== null);
}

async function askForModels({ name, port }: LocalCandidate): Promise<LocalModelServer | null> {
  const baseUrl = `http://127.0.0.1:${String(port)}/v1`;
  try {
    const signal = AbortSignal.timeout(LIMIT_MS);
    const response = await fetch(`${baseUrl}/models`, { redirect: "error", signal });
    if (!response.ok) {
      await response.body?.cancel();
      return null;
    }
    const text = await readBoundedText(response, MAX_LIST_BYTES);
    const models = text === null ? null : modelsIn(text);
    if (models === null) return null;
    return { name, baseUrl, engines: enginesOf(models), models: models.slice(0, MAX_MODELS) };
  } catch {
    return null; // Nothing listens there, or it is something else: both mean that there is nothing to offer.
  }
}

/** The names of models that recognise or speak; the protocol does not say what a model is for. */
const KIND_NAMES = {
  stt: /whisper|transcribe|parakeet|moonshine|canary/i,
  tts: /kokoro|piper|orpheus|\btts\b|speech-/i,
} as const;

/** A server without models is one of language models: the others come with theirs. */
function enginesOf(models: readonly string[]): EngineKind[] {
  const hears = models.some((name) => KIND_NAMES.stt.test(name));
  const speaks = models.some((name) => KIND_NAMES.tts.test(name));
  const answers =
    models.length === 0 || models.some((name) => !Object.values(KIND_NAMES).some((kind) => kind.test(name)));
  return [
    ...(hears ? ["stt" as const] : []),
    ...(answers ? ["llm" as const] : []),
    ...(speaks ? ["tts" as const] : []),
  ];
}

/**
 * Asks the configured model servers at the start whether they can be used, so that a wrong setting shows before the
 * first call. It only warns: a server may start later, and not every one lists its models.
 */

import type { Logger } from "pino";
import type { ModelServers, OpenAiTarget } from "../config/model-servers.ts";
import { readBoundedText } from "../net/bounded-text.ts";
import { messageOf } from "../pacing/error-text.ts";

const ENGINES = [
  { name: "model", prefix: "LLM", key: "llm" },
  { name: "recogniser", prefix: "STT", key: "stt" },
  { name: "voice", prefix: "TTS", key: "tts" },
] as const;

/** A server that loads a model may take that long for a list; calls would wait longer for it anyway. */
const PROBE_LIMIT_MS = 5_000;
/** Of a list of models; OpenAI's has 30 KB. */
const MAX_LIST_BYTES = 4_000_000;
/** Most models that a warning names. */
const MAX_NAMED = 5;

/** Never rejects. Engines at one address are asked once each: they may have different keys. */
export async function probeEngines(
  servers: ModelServers,
  logger: Pick<Logger, "warn">,
  signal: AbortSignal,
): Promise<void> {
  await Promise.all(
    ENGINES.map(async ({ name, prefix, key }) => {
      const target = servers[key];
      if (target === null) return;
      const problem = await problemOf(target, prefix, signal);
      if (problem !== null && !signal.aborted) logger.warn(`${name}: ${problem}`);
    }),
  );
}

/** Null: nothing speaks against the settings. */
async function problemOf(
  { baseUrl, apiKey, model }: OpenAiTarget,
  prefix: string,
  signal: AbortSignal,
): Promise<string | null> {
  const limit = AbortSignal.timeout(PROBE_LIMIT_MS);
  try {
    const response = await fetch(`${baseUrl}/models`, {
      headers: apiKey === null ? {} : { authorization: `Bearer ${apiKey}` },
      // The key goes to the configured address only.
      redirect: "error",
      signal: AbortSignal.any([signal, limit]),
    });
    const { status } = response;
    if (status === 401 || status === 403) {
      await response.body?.cancel();
      const key = apiKey === null ? `wants a key: set ${prefix}_API_KEY` : `does not accept the key`;
      return `${baseUrl} ${key} (HTTP ${String(status)})`;
    }
    if (!response.ok) {
      await response.body?.cancel();
      // Servers without a list of models answer 404 here and work.
      return null;
    }
    const text = await readBoundedText(response, MAX_LIST_BYTES);
    const models = text === null ? null : modelsIn(text);
    if (models === null) return `${baseUrl} does not answer like a model server: check ${prefix}_BASE_URL`;
    if (models.length === 0 || models.some((known) => isSame(known, model))) return null;
    const known = models.slice(0, MAX_NAMED).join(", ");
    return `${baseUrl} does not list the model ${model}: check ${prefix}_MODEL (it lists ${known})`;
  } catch (error) {
    if (limit.aborted) return `${baseUrl} does not answer within ${String(PROBE_LIMIT_MS / 1_000)} s`;
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const { code } = cause as NodeJS.ErrnoException;
    return `${baseUrl} cannot be reached (${code ?? messageOf(cause)}): check ${prefix}_BASE_URL`;
  }
}

/** Only plain names: they are written to the log. Null: not a list of models. */
function modelsIn(text: string): readonly string[] | null {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return null;
  }
  const data = typeof body === "object" && body !== null ? Reflect.get(body, "data") : undefined;
  if (!Array.isArray(data)) return null;
  return data.flatMap((entry: unknown) => {
    const id: unknown = typeof entry === "object" && entry !== null ? Reflect.get(entry, "id") : undefined;
    return typeof id === "string" && /^[\w./:@-]{1,100}$/.test(id) ? [id] : [];
  });
}

/** Ollama lists `llama3` as `llama3:latest`. */
function isSame(known: string, model: string): boolean {
  return known === model || known === `${model}:latest`;
}

/** The recognisers of a deployment: one is the default, and a call may name another one (D49). */

import type { Config } from "../config/config.ts";
import type { OpenAiTarget } from "../config/model-servers.ts";
import type { SttEngine } from "../ports/stt.ts";
import type { LoadOrder } from "../providers/local-child/local-model.ts";
import { openDeepgramStt } from "../providers/stt-deepgram/stt-deepgram.ts";
import { openLocalStt } from "../providers/stt-local/stt-local.ts";
import { openOfflineStt } from "../providers/stt-offline/stt-offline.ts";
import { openOpenAiStt } from "../providers/stt-openai/stt-openai.ts";
import { openOpenAiRealtimeStt } from "../providers/stt-openai-realtime/stt-openai-realtime.ts";
import { orConfigError } from "./deployment/local-engines.ts";

type RecogniserConfig = Pick<Config, "stt" | "sttProtocol" | "deepgram">;

/** The recogniser at an OpenAI-compatible server. */
export function openServerStt(config: Pick<Config, "sttProtocol">, target: OpenAiTarget): SttEngine {
  return config.sttProtocol === "realtime" ? openOpenAiRealtimeStt(target) : openOpenAiStt(target);
}

export interface OpenedRecognisers {
  /** The default. */
  readonly stt: SttEngine;
  /** Those that a call may name besides. */
  readonly others: readonly SttEngine[];
}

/**
 * A model of this machine is the default, then the server of `STT_…`, then Deepgram, then the recogniser that comes with
 * the service.
 */
export async function openRecognisers(
  config: RecogniserConfig,
  local: LoadOrder | null,
  log: (message: string) => void,
): Promise<OpenedRecognisers> {
  const first =
    local !== null
      ? await orConfigError("STT_LOCAL_MODEL", openLocalStt({ order: local, log }))
      : config.stt === null
        ? null
        : openServerStt(config, config.stt);
  const deepgram = config.deepgram === null ? null : openDeepgramStt(config.deepgram);
  if (first === null) return { stt: deepgram ?? (await openOfflineStt({ log })), others: [] };
  const others = deepgram === null ? [] : [deepgram];
  return { stt: first, others };
}

/**
 * An engine that opens each stream at the recogniser that its call names. Everything else that it says of itself is
 * said of the default.
 */
export function routeRecognisers(main: SttEngine, others: readonly SttEngine[]): SttEngine {
  if (others.length === 0) return main;
  const all = [main, ...others];
  return {
    ...main,
    unusable: () => main.unusable?.() ?? null,
    answerDelayMs: () => main.answerDelayMs?.() ?? null,
    recognisers: () => all.map(({ name }) => name),
    open: (options, listener) => {
      const { recogniser, ...rest } = options;
      const chosen = all.find(({ name }) => name === recogniser) ?? main;
      const stream = chosen.open(rest, listener);
      if (recogniser !== undefined && chosen.name !== recogniser) {
        // The settings of the deployment have changed since the call was created.
        queueMicrotask(() => {
          listener.warned(`there is no recogniser ${recogniser} any more; ${main.name} is used`);
        });
      }
      return stream;
    },
    close: async () => {
      await Promise.all(all.map((engine) => engine.close()));
    },
  };
}

/** Names that a call may choose from. */
export function recogniserNames(stt: SttEngine): readonly string[] {
  return stt.recognisers?.() ?? [stt.name];
}

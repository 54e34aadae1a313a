/**
 * A list of voices as one voice. A sentence that fails before its audio is said by the next one at once; after audio it
 * fails, and the call's next sentence is said by another voice.
 */

import { EngineFailure } from "../../ports/engine-failure.ts";
import type { EngineUser } from "../../ports/engine-steps.ts";
import type { TtsEngine, TtsPart } from "../../ports/tts.ts";
import { EngineList, type ListOptions } from "./engine-list.ts";
import { streamed } from "./streamed.ts";

/** Voices answer within 0.3 s; a second and a half of silence before a sentence is noticed. */
export const FIRST_AUDIO_LIMIT_MS = 1_500;
/** A voice may stop within a sentence for as long as the caller still hears what came before, and this much longer. */
export const AUDIO_STALL_MS = 1_000;

export interface TtsChainOptions extends Omit<ListOptions<TtsEngine>, "kind" | "isSticky"> {
  /** Limit until the first audio, while another voice is left. */
  readonly firstAudioLimitMs: number;
}

/** Names of voices are those of the first engine. The others speak with their own voice. */
export function openTtsChain(options: TtsChainOptions): TtsEngine {
  const list = new EngineList<TtsEngine>({ ...options, kind: "tts", isSticky: true });
  const { engine: first } = list.first;
  /** The latest sentence of each call: a voice may work on its sentences one after the other. */
  const latest = new WeakMap<EngineUser, Promise<null>>();
  async function* synthesize(
    request: Parameters<TtsEngine["synthesize"]>[0],
    signal: AbortSignal,
  ): AsyncGenerator<TtsPart> {
    const { voice, text, user } = request;
    if (voice !== null && !first.voices.includes(voice)) throw unknownVoice(voice);
    const done = Promise.withResolvers<null>();
    const before = user === undefined ? null : (latest.get(user) ?? null);
    if (user !== undefined) latest.set(user, done.promise);
    let audioMs = 0;
    let firstAtMs: number | null = null;
    try {
      const parts = streamed<TtsEngine, TtsPart>({
        list,
        user,
        signal,
        use: ({ engine }) => (engine === first ? (voice ?? "") : ""),
        start: ({ engine }, own) =>
          engine.synthesize(engine === first ? request : { ...request, voice: null }, own),
        begins: (part) => part.type === "audio" && part.samples.length > 0,
        empty: () =>
          /[\p{L}\p{N}]/u.test(text)
            ? new EngineFailure("it gave no audio", { type: "invalid_answer" })
            : null,
        limitMs: options.firstAudioLimitMs,
        limitAfter: before,
        hedgeMs: null,
        stallMs: () => {
          const heardMs = firstAtMs === null ? 0 : list.clock.nowMs() - firstAtMs;
          return Math.max(0, audioMs - heardMs) + AUDIO_STALL_MS;
        },
      });
      for await (const part of parts) {
        if (part.type === "audio") {
          firstAtMs ??= list.clock.nowMs();
          audioMs += (part.samples.length * 1_000) / part.sampleRateHz;
        }
        yield part;
      }
    } finally {
      done.resolve(null);
    }
  }
  return {
    ...first,
    unusable: () => list.unusable(),
    speaks: (language) => first.speaks(language),
    synthesize,
    close: async () => {
      await Promise.all(list.engines.map(({ engine }) => engine.close()));
    },
  };
}

/** Not a failure of an engine: no other one would know the name. */
function unknownVoice(voice: string): EngineFailure {
  return new EngineFailure(`there is no voice named ${voice}`, { isPermanent: true, type: "unknown_voice" });
}

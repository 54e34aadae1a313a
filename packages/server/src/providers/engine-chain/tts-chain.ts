/**
 * A list of voices as one voice. A sentence that fails before its audio is said by the next one at once; after audio the
 * next one says the rest of it, and the call's next sentences.
 */

import { throwIfAborted } from "../../pacing/abort.ts";
import { errorOf } from "../../pacing/error-text.ts";
import { EngineFailure } from "../../ports/engine-failure.ts";
import { originOf } from "../../ports/engine-origin.ts";
import type { EngineUser } from "../../ports/engine-steps.ts";
import type { TtsEngine, TtsPart, TtsRequest } from "../../ports/tts.ts";
import { EngineList, type ListOptions, type UseOf } from "./engine-list.ts";
import type { ListedEngine } from "./listed-engine.ts";
import { Paces } from "./paces.ts";
import { isSpeakable, Sentence } from "./sentence.ts";
import type { Pace } from "./spoken-place.ts";
import { streamed } from "./streamed.ts";

/** Voices answer within 0.3 s; a second and a half of silence before a sentence is noticed. */
export const FIRST_AUDIO_LIMIT_MS = 1_500;
/** A voice may stop within a sentence for as long as the caller still hears what came before, and this much longer. */
export const AUDIO_STALL_MS = 1_000;
/** Shorter texts say little about the pace of a voice. */
const PACE_CHARS_MIN = 20;

export interface TtsChainOptions extends Omit<ListOptions<TtsEngine>, "kind" | "isSticky"> {
  /** Limit until the first audio of each voice. */
  readonly firstAudioLimitMs: number;
}

type Listed = ListedEngine<TtsEngine>;

/** Names of voices are those of the first engine. The others speak with their own voice. */
export function openTtsChain(options: TtsChainOptions): TtsEngine {
  const list = new EngineList<TtsEngine>({ ...options, kind: "tts", isSticky: true });
  const chain = new TtsChain(list, options.firstAudioLimitMs);
  const { engine: first } = list.first;
  return {
    ...first,
    unusable: () => list.unusable(),
    speaks: (language) => first.speaks(language),
    synthesize: (request, signal) => chain.synthesize(request, signal),
    close: async () => {
      await Promise.all(list.engines.map(({ engine }) => engine.close()));
    },
  };
}

/** One sentence, and the voices that have failed in it. */
interface Speaking {
  readonly request: TtsRequest;
  readonly signal: AbortSignal;
  readonly sentence: Sentence;
  readonly failed: Set<Listed>;
  /** The voice that speaks; null: none has begun. */
  serving: Listed | null;
  /** When the caller has begun to hear it. */
  firstAtMs: number | null;
}

class TtsChain {
  readonly #list: EngineList<TtsEngine>;
  readonly #limitMs: number;
  /** The latest sentence of each call: a voice may work on its sentences one after the other. */
  readonly #latest = new WeakMap<EngineUser, Promise<null>>();
  readonly #paces = new Paces();

  constructor(list: EngineList<TtsEngine>, limitMs: number) {
    this.#list = list;
    this.#limitMs = limitMs;
  }

  async *synthesize(request: TtsRequest, signal: AbortSignal): AsyncGenerator<TtsPart> {
    const { voice, text, user } = request;
    if (voice !== null && !this.#list.first.engine.voices.includes(voice)) throw unknownVoice(voice);
    const done = Promise.withResolvers<null>();
    const before = user === undefined ? null : (this.#latest.get(user) ?? null);
    if (user !== undefined) this.#latest.set(user, done.promise);
    const sentence = new Sentence(text);
    const speaking: Speaking = {
      request,
      signal,
      sentence,
      failed: new Set(),
      serving: null,
      firstAtMs: null,
    };
    try {
      yield* this.#say(speaking, before);
    } finally {
      sentence.close();
      done.resolve(null);
    }
  }

  async *#say(speaking: Speaking, before: Promise<null> | null): AsyncGenerator<TtsPart> {
    const { signal, sentence } = speaking;
    for (let failure: Error | null = null; ;) {
      try {
        for await (const part of this.#parts(speaking, failure === null ? before : null)) {
          if (part.type === "audio" && part.samples.length > 0)
            speaking.firstAtMs ??= this.#list.clock.nowMs();
          yield* whileWanted(sentence.take(part), signal);
        }
        yield* whileWanted(sentence.end(), signal);
        this.#notePace(speaking);
        return;
      } catch (error) {
        throwIfAborted(signal);
        // The words that were heard must not be said again, as they would be after a failure of the whole list.
        failure ??= errorOf(error);
        if (speaking.serving === null || sentence.audioMs === 0) throw failure;
        if (!sentence.goOn(this.#paceOf(speaking))) return;
        if (!this.#isAnyLeft(speaking)) throw failure;
        speaking.serving = null;
      }
    }
  }

  /** What the next voice makes of what is not said yet. */
  #parts(speaking: Speaking, limitAfter: Promise<null> | null): AsyncGenerator<TtsPart> {
    const { request, signal, sentence, failed } = speaking;
    const { engine: first } = this.#list.first;
    const { servedBy, ...asked } = { ...request, text: sentence.rest };
    return streamed<TtsEngine, TtsPart>({
      list: this.#list,
      user: request.user,
      signal,
      failed,
      use: this.#useOf(request),
      start: ({ engine }, own) =>
        engine.synthesize(engine === first ? asked : { ...asked, voice: null }, own),
      begins: (part) => part.type === "audio" && part.samples.length > 0,
      empty: () =>
        isSpeakable(asked.text) ? new EngineFailure("it gave no audio", { type: "invalid_answer" }) : null,
      limitMs: this.#limitMs,
      limitAfter,
      hedgeMs: null,
      stallMs: () => {
        const { firstAtMs } = speaking;
        const heardMs = firstAtMs === null ? 0 : this.#list.clock.nowMs() - firstAtMs;
        return Math.max(0, sentence.audioMs - heardMs) + AUDIO_STALL_MS;
      },
      serves: (listed) => {
        speaking.serving = listed;
        servedBy?.({ ...originOf(listed.engine), entry: listed.name });
      },
    });
  }

  #isAnyLeft({ request, failed }: Speaking): boolean {
    const candidates = this.#list.candidates(this.#useOf(request), request.user);
    return candidates.some((listed) => !failed.has(listed));
  }

  #useOf({ voice }: TtsRequest): UseOf<TtsEngine> {
    return (listed) => (listed === this.#list.first ? (voice ?? "") : "");
  }

  #paceOf({ serving, request }: Speaking): Pace | null {
    return serving === null ? null : this.#paces.of(serving, this.#useOf(request)(serving));
  }

  #notePace({ serving, sentence, request }: Speaking): void {
    const { spoken } = sentence;
    if (serving === null || spoken === null || request.text.length < PACE_CHARS_MIN) return;
    this.#paces.note(serving, this.#useOf(request)(serving), spoken);
  }
}

/** @throws AbortError before the first part that comes after an abort */
function* whileWanted(parts: Iterable<TtsPart>, signal: AbortSignal): Generator<TtsPart> {
  for (const part of parts) {
    throwIfAborted(signal);
    yield part;
  }
}

/** Not a failure of an engine: no other one would know the name. */
function unknownVoice(voice: string): EngineFailure {
  return new EngineFailure(`there is no voice named ${voice}`, { isPermanent: true, type: "unknown_voice" });
}

/**
 * Sentences that are rendered while the voice works, for the case that it does not: the apology before the end of a
 * call, and the request for patience. Calls with the same engine and voice share them. They are spoken with the
 * deployment's engine, which also replaces an external voice that is lost.
 */

import type { CallEngineEventBody } from "../../call/events.ts";
import { cutSegments } from "../../call/reply/segment.ts";
import { sentencesFor } from "../../call/sentences.ts";
import type { Clock } from "../../pacing/clock.ts";
import type { VoicePlan } from "../../plan/voice-plan.ts";
import type { EngineUser } from "../../ports/engine-steps.ts";
import type { UseListener } from "../../ports/engine-use.ts";
import type { TtsEngine, TtsPart, TtsRequest } from "../../ports/tts.ts";

type Spoken = readonly TtsPart[];

/** The first sentence of the agent must not wait for these. */
const PREPARE_AFTER_MS = 1_000;
/** A voice that takes longer for a short sentence is not waited for; the next call tries again. */
const RENDER_LIMIT_MS = 10_000;
/** Of one sentence; the longest takes six seconds. */
const MAX_AUDIO_MS = 15_000;
/** Sentences of one engine: two or three for each voice and language in use, some 200 KB each. */
const MAX_RENDERED = 64;

const RENDERED = new WeakMap<TtsEngine, Map<string, Promise<Spoken>>>();

export interface SpareSpeechOptions {
  readonly tts: TtsEngine;
  readonly clock: Clock;
  /** The call that needs a sentence first pays for it. Unset: nobody counts the requests. */
  readonly meter?: UseListener;
  readonly post: (event: CallEngineEventBody) => void;
}

export class SpareSpeech {
  readonly #options: SpareSpeechOptions;
  readonly #spoken = new Map<string, Spoken>();
  #cancel: (() => void) | null = null;
  #closed = false;

  constructor(options: SpareSpeechOptions) {
    this.#options = options;
  }

  /** For a voice and a language, which may change. An engine without a server is not expected to fail. */
  prepare(voice: VoicePlan, language: string | null): void {
    const { tts, clock } = this.#options;
    if (this.#closed || tts.server === undefined) return;
    this.#cancel?.();
    this.#cancel = clock.after(PREPARE_AFTER_MS, () => void this.#render(nameOf(voice), language));
  }

  /** Null: it was not prepared, or an external voice says it by itself. */
  find(text: string, voice: VoicePlan): Spoken | null {
    if (voice.kind !== "deployment") return null;
    return this.#spoken.get(text) ?? null;
  }

  /** Idempotent. */
  close(): void {
    this.#closed = true;
    this.#cancel?.();
    this.#spoken.clear();
  }

  async #render(voice: string | null, language: string | null): Promise<void> {
    const { tts, clock, meter, post } = this.#options;
    const counted = meter === undefined ? {} : { meter };
    const { apology, moment } = sentencesFor(language);
    const texts = [apology, moment].flatMap((text) =>
      cutSegments(text, { first: true, last: true }).segments.map((segment) => segment.text),
    );
    try {
      const all = await Promise.all(
        texts.map((text) => rendered(tts, clock, { text, voice, language, ...counted })),
      );
      if (this.#closed) return;
      for (const [index, spoken] of all.entries()) this.#spoken.set(texts[index] ?? "", spoken);
      post({ type: "spareSpeechPrepared", language });
    } catch {
      // The voice fails already: the sentences of the call itself report that.
    }
  }
}

/** The default voice speaks in place of an external one. */
function nameOf(voice: VoicePlan): string | null {
  return voice.kind === "deployment" ? voice.name : null;
}

type Wanted = Omit<TtsRequest, "user">;

function rendered(tts: TtsEngine, clock: Clock, wanted: Wanted): Promise<Spoken> {
  let known = RENDERED.get(tts);
  if (known === undefined) RENDERED.set(tts, (known = new Map<string, Promise<Spoken>>()));
  const all = known;
  const key = JSON.stringify([wanted.voice, wanted.language, wanted.text]);
  const before = all.get(key);
  if (before !== undefined) return before;
  const [oldest] = all.keys();
  if (all.size >= MAX_RENDERED && oldest !== undefined) all.delete(oldest);
  // A list of voices goes to the next one after a failure within the audio, if the same user asks again.
  const user: EngineUser = { stepped: () => undefined };
  const rendering = render(tts, clock, { ...wanted, user }).catch(() =>
    render(tts, clock, { ...wanted, user }),
  );
  all.set(key, rendering);
  rendering.catch(() => all.delete(key));
  return rendering;
}

async function render(tts: TtsEngine, clock: Clock, wanted: TtsRequest): Promise<Spoken> {
  const limit = new AbortController();
  const cancel = clock.after(RENDER_LIMIT_MS, () => limit.abort());
  const parts: TtsPart[] = [];
  let audioMs = 0;
  try {
    for await (const part of tts.synthesize(wanted, limit.signal)) {
      if (part.type === "audio") audioMs += (part.samples.length * 1_000) / part.sampleRateHz;
      if (audioMs > MAX_AUDIO_MS) throw new Error("a short sentence takes too long");
      parts.push(part.type === "audio" ? { ...part, samples: part.samples.slice() } : part);
    }
    if (audioMs === 0) throw new Error("the voice gave no audio");
    return parts;
  } finally {
    cancel();
  }
}

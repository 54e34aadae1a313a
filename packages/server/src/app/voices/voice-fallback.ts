/**
 * External voices of a deployment that has a list of voices: the list takes over a sentence of an external voice that
 * fails, as it does for its own first voice.
 */

import { createHash } from "node:crypto";
import type { Clock } from "../../pacing/clock.ts";
import type { PlannedExternalVoice } from "../../plan/voice-plan.ts";
import type { TtsEngine } from "../../ports/tts.ts";
import type { Speaker } from "../../ports/voices.ts";
import type { Breaker } from "../../providers/engine-chain/breaker.ts";
import type { ListObserver } from "../../providers/engine-chain/engine-list.ts";
import { ListedEngine } from "../../providers/engine-chain/listed-engine.ts";
import { openTtsChain } from "../../providers/engine-chain/tts-chain.ts";
import { ownName } from "../deployment/fallback-engines.ts";

export interface VoiceFallback {
  /** The voices of the deployment, in their order. */
  readonly engines: readonly ListedEngine<TtsEngine>[];
  readonly clock: Clock;
  readonly observer: ListObserver;
  readonly firstAudioLimitMs: number;
}

/** External voices whose health is kept; the one that was first used is forgotten beyond it. */
const MAX_VOICES = 1_000;

/** The health of an external voice, which its calls share: one account's wrong key says nothing about another's. */
export class VoiceHealth {
  readonly #byVoice = new Map<string, Map<string, Breaker>>();

  of(accountId: string, { provider, key, settings }: PlannedExternalVoice): Map<string, Breaker> {
    // Settings of a generic voice may have keys in them.
    const name = createHash("sha256")
      .update(JSON.stringify([accountId, provider, key, settings]))
      .digest("base64");
    const known = this.#byVoice.get(name);
    if (known !== undefined) return known;
    const [oldest] = this.#byVoice.keys();
    if (this.#byVoice.size >= MAX_VOICES && oldest !== undefined) this.#byVoice.delete(oldest);
    const health = new Map<string, Breaker>();
    this.#byVoice.set(name, health);
    return health;
  }
}

/** The speaker, followed by the voices of the deployment. */
export function withFallback(
  speaker: Speaker,
  { engines, clock, observer, firstAudioLimitMs }: VoiceFallback,
  health: Map<string, Breaker>,
): Speaker {
  const external: TtsEngine = {
    name: speaker.name,
    voices: [],
    synthesize: ({ text, language, user, meter }, signal) =>
      speaker.synthesize({ text, language, ...(user === undefined ? {} : { user }), meter }, signal),
    speaks: (language) => speaker.speaks(language),
    close: () => Promise.resolve(),
  };
  const first = new ListedEngine(ownName(speaker.name, engines), external, clock, health);
  const chain = openTtsChain({ clock, observer, firstAudioLimitMs, engines: [first, ...engines] });
  return { ...speaker, synthesize: (spoken, signal) => chain.synthesize({ ...spoken, voice: null }, signal) };
}

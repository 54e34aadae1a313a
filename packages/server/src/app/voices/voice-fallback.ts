/**
 * External voices of a deployment that has a list of voices: the list takes over a sentence of an external voice that
 * fails, as it does for its own first voice.
 */

import type { Clock } from "../../pacing/clock.ts";
import { originOf } from "../../ports/engine-origin.ts";
import type { TtsEngine } from "../../ports/tts.ts";
import type { Speaker } from "../../ports/voices.ts";
import type { Breaker } from "../../providers/engine-chain/breaker.ts";
import type { ListObserver } from "../../providers/engine-chain/engine-list.ts";
import { ListedEngine, ownName } from "../../providers/engine-chain/listed-engine.ts";
import { openTtsChain } from "../../providers/engine-chain/tts-chain.ts";

export interface VoiceFallback {
  /** The voices of the deployment, in their order. */
  readonly engines: readonly ListedEngine<TtsEngine>[];
  readonly clock: Clock;
  readonly observer: ListObserver;
  readonly firstAudioLimitMs: number;
}

/**
 * The speaker, followed by the voices of the deployment.
 * @param health of the voice, which its calls share; unset: of this speaker alone
 */
export function withFallback(
  speaker: Speaker,
  { engines, clock, observer, firstAudioLimitMs }: VoiceFallback,
  health?: Map<string, Breaker>,
): Speaker {
  const external: TtsEngine = {
    ...originOf(speaker),
    voices: [],
    synthesize: (request, signal) => speaker.synthesize(request, signal),
    speaks: (language) => speaker.speaks(language),
    close: () => Promise.resolve(),
  };
  const first = new ListedEngine(ownName(speaker.name, engines), external, clock, health);
  const chain = openTtsChain({ clock, observer, firstAudioLimitMs, engines: [first, ...engines] });
  return { ...speaker, synthesize: (spoken, signal) => chain.synthesize({ ...spoken, voice: null }, signal) };
}

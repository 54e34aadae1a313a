/**
 * The health of external voices, shared by the calls of this process: a voice whose vendor fails is not waited for by
 * each call anew.
 */

import { createHash } from "node:crypto";
import { throwIfAborted } from "../../pacing/abort.ts";
import type { Clock } from "../../pacing/clock.ts";
import { errorOf } from "../../pacing/error-text.ts";
import type { PlannedExternalVoice } from "../../plan/voice-plan.ts";
import { EngineFailure } from "../../ports/engine-failure.ts";
import type { Speaker } from "../../ports/voices.ts";
import { Breaker, type Use } from "../../providers/engine-chain/breaker.ts";
import { shortText } from "../../providers/engine-chain/listed-engine.ts";

/** A call gives a silent voice up after 4 s, counted from a little earlier than here. Interruptions come sooner. */
const SILENT_MS = 3_000;
/** Voices whose health is kept, some 300 bytes each. The one that was used longest ago makes room. */
export const KEPT_VOICES = 1_000;

export interface VoiceHealth {
  /** One account's requests say nothing about those of another one, even to the same voice. */
  of(accountId: string, voice: Pick<PlannedExternalVoice, "provider" | "key" | "settings">): SharedHealth;
}

export function createVoiceHealth(clock: Pick<Clock, "nowMs">): VoiceHealth {
  /** The one that was used last is the last one. */
  const byVoice = new Map<string, SharedHealth>();
  return {
    of(accountId, { provider, key, settings }) {
      // Settings of a generic voice may have keys in them.
      const name = digestOf(JSON.stringify([accountId, provider, key, settings]));
      const health = byVoice.get(name) ?? new SharedHealth(clock);
      byVoice.delete(name);
      byVoice.set(name, health);
      const [oldest] = byVoice.keys();
      if (byVoice.size > KEPT_VOICES && oldest !== undefined) byVoice.delete(oldest);
      return health;
    },
  };
}

/** Of one voice of one account. */
export class SharedHealth {
  /** For a list of engines that the voice is the first of; it has one entry, with the empty name. */
  readonly breakers = new Map<string, Breaker>();
  readonly #clock: Pick<Clock, "nowMs">;
  /** Of the key that the vendor is asked with; null: none is known yet. */
  #keyDigest: string | null = null;

  constructor(clock: Pick<Clock, "nowMs">) {
    this.#clock = clock;
  }

  get nowMs(): number {
    return this.#clock.nowMs();
  }

  /**
   * The vendor is asked with this key from now on: failures with another one say nothing about it.
   * @param key a secret, of which only a digest is kept; empty: there is none
   */
  useKey(key: string): void {
    const digest = digestOf(key);
    if (this.#keyDigest !== null && this.#keyDigest !== digest) this.breakers.clear();
    this.#keyDigest = digest;
  }

  /**
   * One sentence begins that no other voice takes over.
   * @param vendor for people
   * @throws EngineFailure, with `isPermanent` so that the call takes its default voice at once, while the voice is out
   */
  begin(vendor: string): Use {
    const breaker = this.breakers.get("") ?? new Breaker(this.#clock);
    this.breakers.set("", breaker);
    if (breaker.state === "open") throw outage(vendor, breaker.lastError);
    return breaker.begin();
  }
}

/** The same voice, which fails at once while it is out. For a voice that no list of engines follows. */
export function withHealth(speaker: Speaker, health: SharedHealth): Speaker {
  return {
    ...speaker,
    async *synthesize(spoken, signal) {
      throwIfAborted(signal);
      const use = health.begin(speaker.name);
      const fromMs = health.nowMs;
      let hadAudio = false;
      try {
        for await (const part of speaker.synthesize(spoken, signal)) {
          hadAudio ||= part.type === "audio";
          yield part;
        }
        use.succeeded();
      } catch (error) {
        if (!signal.aborted) use.failed(errorOf(error));
        throw error;
      } finally {
        // Its reader has left it, or the call was interrupted: what was settled before stays.
        left(use, hadAudio, health.nowMs - fromMs);
      }
    },
  };
}

/** The call gave the sentence up, with or without audio: a vendor that was silent for long has failed. */
function left(use: Use, hadAudio: boolean, waitedMs: number): void {
  if (hadAudio) use.succeeded();
  else if (waitedMs < SILENT_MS) use.dropped();
  else
    use.failed(new EngineFailure(`nothing came for ${String(Math.round(waitedMs))} ms`, { type: "timeout" }));
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}

function outage(vendor: string, last: Error | null): EngineFailure {
  const why = last === null ? "" : `: ${shortText(last)}`;
  const type = last instanceof EngineFailure ? last.type : null;
  return new EngineFailure(`${vendor} has failed in the last requests${why}`, { isPermanent: true, type });
}

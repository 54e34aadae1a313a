/**
 * Who speaks in calls: the deployment's engine, or the adapter of a vendor with the account's key or the deployment's. The
 * adapters keep connections by themselves, so nothing is open here.
 */

import type { VoiceKind } from "@parley/schema";
import { abortError, throwIfAborted } from "../../pacing/abort.ts";
import type { ExternalVoiceSettings, PlannedExternalVoice } from "../../plan/voice-plan.ts";
import { deploymentSpeaker } from "../../ports/deployment-speaker.ts";
import { EngineFailure } from "../../ports/engine-failure.ts";
import type { VoiceProvider, VoiceUse } from "../../ports/voice-provider.ts";
import type { Speaker, SpeakerOrigin, Voices, WantedVoice } from "../../ports/voices.ts";
import { meteredSpeech } from "../../providers/engine-meter/metered-tts.ts";
import { withoutSecrets } from "../../voices/secret-texts.ts";
import type { EngineMeter } from "../costs/engine-meter.ts";
import { withFallback, type VoiceFallback } from "./voice-fallback.ts";
import { withHealth, type SharedHealth, type VoiceHealth } from "./voice-health.ts";
import type { VoiceKeys } from "./voice-keys.ts";
import type { VoiceProviders } from "./voice-providers.ts";

export interface VoicesParts {
  readonly providers: VoiceProviders;
  readonly keys: VoiceKeys;
  /** Null: each request is made, whatever became of those before, as for previews. */
  readonly health: VoiceHealth | null;
  /** What takes over from an external voice that fails. Unset or null: nothing does by itself. */
  readonly fallback?: () => VoiceFallback | null;
  /** Counts what the vendors are asked for. Unset: nobody does. */
  readonly meter?: Pick<EngineMeter, "of">;
}

export function createVoices({ providers, keys, health, fallback = () => null, meter }: VoicesParts): Voices {
  return {
    speakerFor(wanted) {
      const { voice, deployment } = wanted;
      if (voice.kind === "deployment") return deploymentSpeaker(deployment, voice.name);
      const provider = providers[voice.provider];
      const shared = health?.of(wanted.accountId, voice) ?? null;
      const speaker =
        provider === undefined
          ? missingSpeaker(voice.provider)
          : counted(externalSpeaker(provider, { keys, health: shared }, voice, wanted), provider, meter);
      const next = fallback();
      if (next !== null) return withFallback(speaker, next, shared?.breakers);
      return shared === null ? speaker : withHealth(speaker, shared);
    },
    originOf(voice) {
      if (voice.kind === "deployment") return null;
      const provider = providers[voice.provider];
      return provider === undefined ? { name: voice.provider } : originOf(provider, voice.settings);
    },
  };
}

/** The fetch of the key is a part of the request: one without a key has failed. Metrics name the vendor, not the voice. */
function counted(speaker: Speaker, { name }: VoiceProvider, meter: VoicesParts["meter"]): Speaker {
  if (meter === undefined) return speaker;
  const model = speaker.model ?? null;
  const own = meter.of({ kind: "tts", engine: name, provider: name, model, isLocal: false });
  return {
    ...speaker,
    synthesize: (spoken, signal) =>
      meteredSpeech({
        meter: own,
        listener: spoken.meter,
        signal,
        text: spoken.text,
        start: () => speaker.synthesize(spoken, signal),
      }),
  };
}

/** A call of a version with more adapters, which waited for its join while the service was replaced. */
function missingSpeaker(kind: VoiceKind): Speaker {
  return {
    name: kind,
    prepare: () => {},
    // eslint-disable-next-line require-yield -- it fails before its first part
    async *synthesize() {
      throw new EngineFailure(`this version has no adapter for voices of ${kind}`, { isPermanent: true });
    },
    speaks: () => true,
  };
}

interface SpeakerParts extends Pick<VoicesParts, "keys"> {
  readonly health: SharedHealth | null;
}

function externalSpeaker(
  provider: VoiceProvider,
  { keys, health }: SpeakerParts,
  voice: PlannedExternalVoice,
  { accountId, output }: WantedVoice,
): Speaker {
  const { settings } = voice;
  const need = { accountId, provider: voice.provider, key: voice.key, vendor: provider.name };
  const useOf = (key: string, language: string | null): VoiceUse => ({
    voice: settings,
    key,
    output,
    language,
  });
  const findKey = async (): Promise<string> => {
    try {
      const key = await keys.keyFor(need);
      health?.useKey(key);
      return key;
    } catch (error) {
      if (error instanceof EngineFailure && error.isPermanent) health?.useKey("");
      throw error;
    }
  };
  return {
    ...originOf(provider, settings),
    prepare(language) {
      findKey().then(
        (key) => provider.prepare(useOf(key, language)),
        // The first sentence asks again, and reports the failure.
        () => undefined,
      );
    },
    async *synthesize({ text, language }, signal) {
      throwIfAborted(signal);
      const key = await untilAborted(findKey(), signal);
      try {
        yield* provider.synthesize({ ...useOf(key, language), text }, signal);
      } catch (error) {
        if (error instanceof EngineFailure && error.isPermanent) keys.forget(need);
        throw cleaned(error, secretsOf(key, settings));
      }
    },
    // No vendor says so for each of its voices.
    speaks: () => true,
  };
}

export function originOf(provider: VoiceProvider, settings: ExternalVoiceSettings): SpeakerOrigin {
  const { name, server } = provider;
  const chosen = "model" in settings ? settings.model : "modelId" in settings ? settings.modelId : undefined;
  const model = chosen ?? provider.model;
  return { name, ...(model === undefined ? {} : { model }), ...(server === undefined ? {} : { server }) };
}

/** The rest of the wait goes on without a listener, and ends with the store's own limits. */
async function untilAborted<Value>(waiting: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(abortError());
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([waiting, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/** Adapters leave keys out of their errors; a vendor may spell one in a way that an adapter does not know. */
export function cleaned(error: unknown, secrets: readonly string[]): unknown {
  if (!(error instanceof Error)) return error;
  const message = withoutSecrets(error.message, secrets);
  if (message === error.message) return error;
  if (!(error instanceof EngineFailure)) return new Error(message);
  const { isPermanent, type } = error;
  return new EngineFailure(message, { isPermanent, type });
}

/** What no answer, event or log line may contain. */
export function secretsOf(key: string, settings: ExternalVoiceSettings): readonly string[] {
  const headers = "headers" in settings ? Object.values(settings.headers ?? {}) : [];
  // `Bearer 0123` is also secret without its first word.
  return [key, ...headers, ...headers.flatMap((value) => value.split(" ").slice(1))];
}

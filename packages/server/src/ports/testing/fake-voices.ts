/** Fake voices of calls: the deployment's engine as it is given, and a fake vendor for each kind of external voice. */

import type { VoiceKind } from "@parley/schema";
import type { PlannedExternalVoice } from "../../plan/voice-plan.ts";
import { deploymentSpeaker } from "../deployment-speaker.ts";
import type { ProviderVoice, VoiceUse } from "../voice-provider.ts";
import type { Speaker, Voices, WantedVoice } from "../voices.ts";
import {
  openFakeVoiceProvider,
  type FakeVoiceProvider,
  type FakeVoiceProviderOptions,
} from "./fake-voice-provider.ts";

export type FakeVoicesOptions = Omit<FakeVoiceProviderOptions<VoiceKind>, "kind">;

export interface FakeVoices extends Voices {
  /** The fake vendor of this kind. */
  provider(kind: VoiceKind): FakeVoiceProvider<VoiceKind>;
}

/** The key that fake vendors get, whoever's it is. */
const FAKE_KEY = "fake-key";

export function openFakeVoices(options: FakeVoicesOptions = {}): FakeVoices {
  const providers = new Map<VoiceKind, FakeVoiceProvider<VoiceKind>>();
  const providerOf = (kind: VoiceKind): FakeVoiceProvider<VoiceKind> => {
    const known = providers.get(kind) ?? openFakeVoiceProvider<VoiceKind>({ ...options, kind });
    providers.set(kind, known);
    return known;
  };
  return {
    provider: providerOf,
    speakerFor: (wanted) =>
      wanted.voice.kind === "deployment"
        ? deploymentSpeaker(wanted.deployment, wanted.voice.name)
        : externalSpeaker(providerOf(wanted.voice.provider), wanted.voice, wanted),
    originOf: (voice) => (voice.kind === "deployment" ? null : { name: providerOf(voice.provider).name }),
  };
}

function externalSpeaker(
  provider: FakeVoiceProvider<VoiceKind>,
  { settings }: PlannedExternalVoice,
  { output }: WantedVoice,
): Speaker {
  const use: Omit<VoiceUse, "language"> = { voice: settings satisfies ProviderVoice, key: FAKE_KEY, output };
  return {
    name: provider.name,
    prepare: (language) => provider.prepare({ ...use, language }),
    async *synthesize(spoken, signal) {
      yield* provider.synthesize({ ...use, ...spoken }, signal);
    },
    speaks: () => true,
  };
}

/** Looks up the records that the voice of a call or stage may refer to, and no others. */

import type { VoiceKind } from "@parley/schema";
import type { Aliases } from "../../plan/name-aliases.ts";
import type { Available, KnownVoice, OwnVoice, VoiceKeys } from "../../plan/availability.ts";

export interface VoiceSources {
  /** Public voices. */
  readonly voices: () => readonly KnownVoice[];
  /** Voices of the account with this id or name. */
  readonly findVoices: (accountId: string, wanted: string) => Promise<readonly OwnVoice[]>;
  /** The account's own keys come before those of the deployment. */
  readonly voiceKeys: (accountId: string) => Promise<VoiceKeys>;
  /** The kinds of voices that this version can speak with. */
  readonly spokenKinds: () => ReadonlySet<VoiceKind>;
  /** Names that `model` may take, `default` among them. */
  readonly models: () => readonly string[];
  /** Further names of public voices and of models. */
  readonly aliases: Aliases;
  /** Whether a model is given the user's voice. Unset: none is. */
  readonly takesAudio?: (model: string) => boolean;
}

export interface RequestedVoice {
  readonly voice?: string | undefined;
  readonly externalVoice?: object | undefined;
}

const NO_KEYS: VoiceKeys = new Map();

export async function availableFor(
  accountId: string,
  { voice, externalVoice }: RequestedVoice,
  sources: VoiceSources,
): Promise<Available> {
  const ownVoices = voice === undefined ? [] : await sources.findVoices(accountId, voice);
  const needsKeys = externalVoice !== undefined || ownVoices.length > 0;
  const voiceKeys = needsKeys ? await sources.voiceKeys(accountId) : NO_KEYS;
  return {
    voices: sources.voices(),
    ownVoices,
    voiceKeys,
    spokenKinds: sources.spokenKinds(),
    models: sources.models(),
    aliases: sources.aliases,
    ...(sources.takesAudio === undefined ? {} : { takesAudio: sources.takesAudio }),
  };
}

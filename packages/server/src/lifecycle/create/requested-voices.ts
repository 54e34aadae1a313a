/** Looks up the records that the voice of a call or stage may refer to, and no others. */

import type { Aliases } from "../../plan/name-aliases.ts";
import type { Available, KnownVoice, OwnVoice } from "../../plan/availability.ts";

export interface VoiceSources {
  /** Public voices. */
  readonly voices: () => readonly KnownVoice[];
  /** Voices of the account with this id or name. */
  readonly findVoices: (accountId: string, wanted: string) => Promise<readonly OwnVoice[]>;
  /** Providers of voices for which the account has a key. */
  readonly voiceKeys: (accountId: string) => Promise<ReadonlySet<string>>;
  /** Names that `model` may take, `default` among them. */
  readonly models: () => readonly string[];
  /** Further names of public voices and of models. */
  readonly aliases: Aliases;
}

export interface RequestedVoice {
  readonly voice?: string | undefined;
  readonly externalVoice?: object | undefined;
}

const NO_KEYS: ReadonlySet<string> = new Set();

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
    models: sources.models(),
    aliases: sources.aliases,
  };
}

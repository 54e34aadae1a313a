/** Looks up what a call or stage may mean by its voice, and only that. */

import type { Available, KnownVoice, OwnVoice } from "../call/availability.ts";

export interface VoiceSources {
  /** Those of everybody. */
  readonly voices: () => readonly KnownVoice[];
  /** Those of the account with this id or name. */
  readonly findVoices: (accountId: string, wanted: string) => Promise<readonly OwnVoice[]>;
  /** Providers of voices for which the account has a key. */
  readonly voiceKeys: (accountId: string) => Promise<ReadonlySet<string>>;
  /** Names that `model` may take, `default` among them. */
  readonly models: () => readonly string[];
}

export interface AskedVoice {
  readonly voice?: string | undefined;
  readonly externalVoice?: object | undefined;
}

const NO_KEYS: ReadonlySet<string> = new Set();

export async function availableFor(
  accountId: string,
  { voice, externalVoice }: AskedVoice,
  sources: VoiceSources,
): Promise<Available> {
  const ownVoices = voice === undefined ? [] : await sources.findVoices(accountId, voice);
  const needsKeys = externalVoice !== undefined || ownVoices.length > 0;
  const voiceKeys = needsKeys ? await sources.voiceKeys(accountId) : NO_KEYS;
  return { voices: sources.voices(), ownVoices, voiceKeys, models: sources.models() };
}

/** Keys of accounts at voice providers. */

import { VOICE_PROVIDERS, type VoiceProvider } from "@parley/schema";
import { sql } from "kysely";
import { inTransaction, type Db } from "./db.ts";

/** Null: no key. */
export type TtsKeyPrefixes = Readonly<Record<VoiceProvider, string | null>>;

export interface NewTtsKey {
  /** The secret as it is given to the provider, or the document it is made from. */
  readonly key: string;
  /** What answers show. */
  readonly prefix: string;
}

/** Null removes a key; what is absent stays. */
export type TtsKeyChanges = Partial<Readonly<Record<VoiceProvider, NewTtsKey | null>>>;

export async function getTtsKeyPrefixes(db: Db, accountId: string): Promise<TtsKeyPrefixes> {
  const read = await sql<{ provider: string; prefix: string }>`
    select provider, prefix from tts_api_keys where account_id = ${accountId}`.execute(db.query);
  const prefixes = new Map(read.rows.map(({ provider, prefix }) => [provider, prefix]));
  const entries = VOICE_PROVIDERS.map((provider) => [provider, prefixes.get(provider) ?? null]);
  return Object.fromEntries(entries) as TtsKeyPrefixes;
}

/** All changes or none. */
export async function setTtsKeys(db: Db, accountId: string, changes: TtsKeyChanges): Promise<TtsKeyPrefixes> {
  return inTransaction(db, async (tx) => {
    // In the order of the list, so that two changes at once do not wait for each other's rows.
    for (const provider of VOICE_PROVIDERS) {
      const change = changes[provider];
      if (change === null) {
        await sql`
          delete from tts_api_keys where account_id = ${accountId} and provider = ${provider}`.execute(
          tx.query,
        );
      } else if (change !== undefined) {
        const sealed = tx.sealer.seal(change.key, keyContext(accountId, provider));
        await sql`
          insert into tts_api_keys (account_id, provider, prefix, sealed_key)
          values (${accountId}, ${provider}, ${change.prefix}, ${sealed})
          on conflict (account_id, provider) do update set prefix = excluded.prefix,
            sealed_key = excluded.sealed_key`.execute(tx.query);
      }
    }
    return getTtsKeyPrefixes(tx, accountId);
  });
}

/** The key itself, for use inside the service. Null: the account has none for this provider. */
export async function openTtsKey(db: Db, accountId: string, provider: VoiceProvider): Promise<string | null> {
  const read = await sql<{ sealedKey: string }>`
    select sealed_key as "sealedKey" from tts_api_keys
    where account_id = ${accountId} and provider = ${provider}`.execute(db.query);
  const row = read.rows[0];
  return row === undefined ? null : db.sealer.open(row.sealedKey, keyContext(accountId, provider));
}

function keyContext(accountId: string, provider: VoiceProvider): string {
  return `tts_api_keys:${accountId}:${provider}`;
}

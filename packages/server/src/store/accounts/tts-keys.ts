/** Keys of accounts at voice providers. */

import { VOICE_PROVIDERS, type VoiceProvider } from "@parley/schema";
import { sql } from "kysely";
import { inTransaction, type Db } from "../database/db.ts";

/** Null: no key. */
export type TtsKeyPrefixes = Readonly<Record<VoiceProvider, string | null>>;

export interface NewTtsKey {
  /** The secret as it is given to the provider, or the document it is made from. */
  readonly key: string;
  /** What answers show. */
  readonly prefix: string;
}

/** Null removes a key; an absent key stays as it is. */
export type TtsKeyChanges = Partial<Readonly<Record<VoiceProvider, NewTtsKey | null>>>;

export async function getTtsKeyPrefixes(db: Db, accountId: string): Promise<TtsKeyPrefixes> {
  const keys = await db.query
    .selectFrom("tts_api_keys")
    .select(["provider", "prefix"])
    .where("account_id", "=", accountId)
    .execute();
  const prefixes = new Map(keys.map(({ provider, prefix }) => [provider, prefix]));
  const entries = VOICE_PROVIDERS.map((provider) => [provider, prefixes.get(provider) ?? null]);
  return Object.fromEntries(entries) as TtsKeyPrefixes;
}

/** The key with which to ask the provider; null: the account has none. */
export async function getTtsKey(db: Db, accountId: string, provider: VoiceProvider): Promise<string | null> {
  const stored = await db.query
    .selectFrom("tts_api_keys")
    .select("sealed_key")
    .where("account_id", "=", accountId)
    .where("provider", "=", provider)
    .executeTakeFirst();
  return stored === undefined ? null : db.sealer.open(stored.sealed_key, keyContext(accountId, provider));
}

/** All changes or none. */
export async function setTtsKeys(db: Db, accountId: string, changes: TtsKeyChanges): Promise<TtsKeyPrefixes> {
  return inTransaction(db, async (tx) => {
    // In a fixed order, so that two concurrent changes cannot deadlock.
    for (const provider of VOICE_PROVIDERS) {
      const change = changes[provider];
      if (change === null) {
        await tx.query
          .deleteFrom("tts_api_keys")
          .where("account_id", "=", accountId)
          .where("provider", "=", provider)
          .execute();
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

function keyContext(accountId: string, provider: VoiceProvider): string {
  return `tts_api_keys:${accountId}:${provider}`;
}

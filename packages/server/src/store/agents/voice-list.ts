/** Lists of voices, private and public ones together. */

import { sql, type RawBuilder } from "kysely";
import type { Db } from "../database/db.ts";
import { toJsonText } from "../database/json-text.ts";
import { readPage, type PageQuery, type PageRows } from "../database/page.ts";
import { likePattern, searchText } from "../database/search-text.ts";
import { languageKey, toVoiceRow, voiceSearchText, type VoiceColumns, type VoiceRow } from "./voices.ts";

export interface PublicVoice {
  readonly voiceId: string;
  readonly name: string;
  readonly description: string;
  /** BCP 47. Null: not limited to one language. */
  readonly primaryLanguage: string | null;
}

/** All that are set must hold. */
export interface VoiceFilter {
  readonly ownership?: "public" | "private" | undefined;
  /** Whether the deployment pays for it: public voices, and those of `includedKinds`. */
  readonly included?: boolean | undefined;
  /** Kinds of private voices that are spoken with a key of the deployment. */
  readonly includedKinds?: readonly string[] | undefined;
  /** A language tag in any case; also matches narrower tags. */
  readonly primaryLanguage?: string | undefined;
  /** Any of these; public voices have none. */
  readonly kinds?: readonly string[] | undefined;
  /** Part of the name or the description, whatever its case. */
  readonly search?: string | undefined;
}

/** Greater than any time in ms of a four-digit year (14 digits). The sum of two is still an exact number. */
const LAST_MS = 99_999_999_999_999;

/** Private voices first, newest first; then public ones in the order of their engine. */
function listedVoices(accountId: string, publicVoices: readonly PublicVoice[]): RawBuilder<unknown> {
  const given = toJsonText(
    publicVoices.map(({ voiceId, name, description, primaryLanguage }, index) => ({
      id: voiceId,
      name,
      search_text: voiceSearchText(name, description),
      description,
      primary_language: primaryLanguage,
      language_key: languageKey(primaryLanguage),
      place: publicVoices.length - index,
    })),
  );
  return sql`(
    select id, name, search_text, description, primary_language, language_key, kind, document, sealed_secrets,
      false as is_public, ${LAST_MS}::bigint + (extract(epoch from created_at) * 1000)::bigint as place
    from voices where account_id = ${accountId}
    union all
    select id, name, search_text collate "C", description, primary_language, language_key collate "C", null, null,
      null, true, place
    from json_to_recordset(${given}::json) as given (id uuid, name text, search_text text, description text,
      primary_language text, language_key text, place bigint)
  ) as listed`;
}

export async function listVoices(
  db: Db,
  accountId: string,
  publicVoices: readonly PublicVoice[],
  filter: VoiceFilter,
  page: PageQuery,
): Promise<PageRows<VoiceRow>> {
  const read = await readPage<VoiceColumns>(
    db,
    {
      columns: sql`listed.id as "voiceId", listed.name, listed.description,
        listed.primary_language as "primaryLanguage", listed.kind, listed.document,
        listed.sealed_secrets as "sealedSecrets"`,
      from: listedVoices(accountId, publicVoices),
      where: [sql`true`, ...conditions(filter)],
      sort: sql`listed.place`,
      sortType: "bigint",
      id: sql`listed.id`,
      idType: "uuid",
      descending: true,
    },
    page,
  );
  return { ...read, rows: read.rows.map((columns) => toVoiceRow(db, columns)) };
}

function conditions(filter: VoiceFilter): RawBuilder<unknown>[] {
  const { ownership, included, includedKinds = [], primaryLanguage, kinds, search } = filter;
  const found: RawBuilder<unknown>[] = [];
  if (included !== undefined) {
    // The kind of a public voice is null, and `true or null` is true.
    found.push(sql`(listed.is_public or listed.kind = any(${[...includedKinds]}::text[])) = ${included}`);
  }
  if (ownership !== undefined) found.push(sql`listed.is_public = ${ownership === "public"}`);
  if (primaryLanguage !== undefined) {
    const tag = primaryLanguage.toLowerCase();
    // `%` and `_` are no letters of a tag, and `likePattern` begins with `%`: only its escaping is wanted.
    const narrower = `${likePattern(tag).slice(1, -1)}-%`;
    found.push(sql`(listed.language_key = ${tag} or listed.language_key like ${narrower})`);
  }
  if (kinds !== undefined) found.push(sql`listed.kind = any(${[...kinds]}::text[])`);
  if (search !== undefined) {
    found.push(sql`listed.search_text like ${likePattern(searchText([search]).normalize("NFC"))}`);
  }
  return found;
}

/** Private voices of accounts. Public voices belong to the deployment's engine; callers pass them in for lists. */

import { randomUUID } from "node:crypto";
import { type ExternalVoice, type VoiceKind, voiceKindOf } from "@parley/schema";
import { sql } from "kysely";
import { creationTime } from "../database/creation-time.ts";
import { inTransaction, type Db } from "../database/db.ts";
import { toJsonText, toStorableText } from "../database/json-text.ts";
import { documentForAnswer, openDocument, sealDocument, type SealedDocument } from "../secrets/redaction.ts";
import { restoreMasked } from "../secrets/restore-masked.ts";
import { searchText } from "../database/search-text.ts";
import { MaskedValueError } from "../database/store-errors.ts";
import { selectList, type Selected } from "../database/select-list.ts";

export interface VoiceRow {
  readonly voiceId: string;
  readonly name: string;
  readonly description: string | null;
  readonly primaryLanguage: string | null;
  /** Null: a public voice. */
  readonly kind: VoiceKind | null;
  /** Header values masked; null for a public voice. */
  readonly definition: Readonly<Record<string, unknown>> | null;
}

export interface NewVoice {
  readonly name: string;
  readonly description: string | null;
  readonly primaryLanguage: string | null;
  readonly definition: ExternalVoice;
}

/** An absent member stays as it is. */
export type VoiceChange = { readonly [K in keyof NewVoice]?: NewVoice[K] | undefined };

/** @throws MaskedValueError when a value is one that only an answer can hold. */
export async function createVoice(db: Db, accountId: string, voice: NewVoice): Promise<VoiceRow> {
  const voiceId = randomUUID();
  const stored = sealed(db, voiceId, voice, null);
  await sql`
    insert into voices (id, account_id, name, search_text, description, primary_language, language_key, kind,
      created_at, document, sealed_secrets)
    values (${voiceId}, ${accountId}, ${stored.name}, ${stored.searchText}, ${stored.description},
      ${stored.primaryLanguage}, ${languageKey(stored.primaryLanguage)}, ${stored.kind}, ${creationTime()},
      ${stored.document}, ${stored.sealedSecrets})`.execute(db.query);
  return toVoiceRow(db, { ...stored, voiceId, document: stored.stored });
}

export async function getVoice(db: Db, accountId: string, voiceId: string): Promise<VoiceRow | null> {
  const columns = await readVoice(db, accountId, voiceId);
  return columns === null ? null : toVoiceRow(db, columns);
}

/**
 * A masked value stands for the stored value that it masks. Null: the account has no such voice.
 * @throws MaskedValueError when a masked value has no stored value.
 */
export async function changeVoice(
  db: Db,
  accountId: string,
  voiceId: string,
  change: VoiceChange,
): Promise<VoiceRow | null> {
  return inTransaction(db, async (tx) => {
    // Locked, so that masked values of concurrent changes stand for the values of the previous change.
    await sql`select id from voices where id = ${voiceId} and account_id = ${accountId} for update`.execute(
      tx.query,
    );
    const present = await readVoice(tx, accountId, voiceId);
    if (present === null) return null;
    const before = openDefinition(tx, present);
    const voice = { ...present, definition: before, ...definedOf(change) };
    const stored = sealed(tx, voiceId, voice, before);
    await sql`
      update voices set name = ${stored.name}, search_text = ${stored.searchText},
        description = ${stored.description}, primary_language = ${stored.primaryLanguage},
        language_key = ${languageKey(stored.primaryLanguage)}, kind = ${stored.kind},
        document = ${stored.document}, sealed_secrets = ${stored.sealedSecrets}
      where id = ${voiceId} and account_id = ${accountId}`.execute(tx.query);
    return toVoiceRow(tx, { ...stored, voiceId, document: stored.stored });
  });
}

/** Running calls keep their voice. False: the account has no such voice. */
export async function deleteVoice(db: Db, accountId: string, voiceId: string): Promise<boolean> {
  const deleted = await db.query
    .deleteFrom("voices")
    .where("id", "=", voiceId)
    .where("account_id", "=", accountId)
    .executeTakeFirst();
  return deleted.numDeletedRows === 1n;
}

export interface FoundVoice {
  readonly voiceId: string;
  readonly name: string;
  readonly kind: VoiceKind;
  /** With its secrets. */
  readonly definition: ExternalVoice;
}

const foundColumns = selectList("voices", {
  voiceId: "id",
  name: "name",
  kind: "kind",
  document: "document",
  sealedSecrets: "sealed_secrets",
});

/** Names are not unique. The caller needs to know only whether there is more than one. */
const MAX_FOUND_VOICES = 3;

/** The private voice with this id (lower case; null: none), and those with exactly this name. */
export async function findVoices(
  db: Db,
  accountId: string,
  wanted: { readonly id: string | null; readonly name: string },
): Promise<readonly FoundVoice[]> {
  const read = await sql<Selected<typeof foundColumns>>`
    select ${foundColumns} from voices
    where account_id = ${accountId} and (id = ${wanted.id}::uuid or name = ${toStorableText(wanted.name)})
    order by id = ${wanted.id}::uuid desc nulls last, created_at limit ${MAX_FOUND_VOICES}`.execute(db.query);
  return read.rows.map(({ voiceId, name, kind, ...stored }) => ({
    voiceId,
    name,
    kind,
    definition: openDefinition(db, { voiceId, ...stored }),
  }));
}

/** What a voice needs to be heard. Null: the account has no such voice. */
export async function getSpokenVoice(
  db: Db,
  accountId: string,
  voiceId: string,
): Promise<{ readonly definition: ExternalVoice; readonly primaryLanguage: string | null } | null> {
  const columns = await readVoice(db, accountId, voiceId);
  if (columns === null) return null;
  return { definition: openDefinition(db, columns), primaryLanguage: columns.primaryLanguage };
}

export interface VoiceColumns extends Omit<VoiceRow, "definition"> {
  readonly document: Record<string, unknown> | null;
  readonly sealedSecrets: string | null;
}

const voiceColumns = selectList("voices", {
  voiceId: "id",
  name: "name",
  description: "description",
  primaryLanguage: "primary_language",
  kind: "kind",
  document: "document",
  sealedSecrets: "sealed_secrets",
});

async function readVoice(db: Db, accountId: string, voiceId: string): Promise<VoiceColumns | null> {
  const read = await sql<Selected<typeof voiceColumns>>`
    select ${voiceColumns} from voices where id = ${voiceId} and account_id = ${accountId}`.execute(db.query);
  return read.rows[0] ?? null;
}

export function toVoiceRow(db: Db, columns: VoiceColumns): VoiceRow {
  const { voiceId, name, description, primaryLanguage, kind, document, sealedSecrets } = columns;
  const row = { voiceId, name, description, primaryLanguage, kind };
  if (document === null) return { ...row, definition: null };
  const shown = documentForAnswer(db.sealer, document, sealedSecrets, voiceContext(voiceId));
  return { ...row, definition: shown["definition"] as Record<string, unknown> };
}

/** Stored documents have passed the schema. */
function openDefinition(
  db: Db,
  { voiceId, document, sealedSecrets }: Pick<VoiceColumns, "voiceId" | "document" | "sealedSecrets">,
): ExternalVoice {
  const opened = openDocument(db.sealer, document ?? {}, sealedSecrets, voiceContext(voiceId));
  return opened["definition"] as ExternalVoice;
}

interface StoredVoice extends SealedDocument, Omit<NewVoice, "definition"> {
  readonly kind: VoiceKind;
  readonly searchText: string;
}

function sealed(db: Db, voiceId: string, voice: NewVoice, before: ExternalVoice | null): StoredVoice {
  const { definition } = voice;
  const restored = restoreMasked({ definition }, before === null ? null : { definition: before });
  if (restored.unresolved.length > 0) throw new MaskedValueError(restored.unresolved);
  const document = JSON.parse(toJsonText(restored.document)) as object;
  const name = toStorableText(voice.name);
  const description = voice.description === null ? null : toStorableText(voice.description);
  return {
    ...sealDocument(db.sealer, document, voiceContext(voiceId)),
    kind: voiceKindOf(definition),
    name,
    description,
    primaryLanguage: voice.primaryLanguage,
    searchText: voiceSearchText(name, description),
  };
}

export function voiceSearchText(name: string, description: string | null): string {
  return searchText(description === null ? [name] : [name, description]).normalize("NFC");
}

/** What filters by language compare. */
export function languageKey(primaryLanguage: string | null): string | null {
  return primaryLanguage?.toLowerCase() ?? null;
}

function definedOf(change: VoiceChange): Partial<NewVoice> {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
}

function voiceContext(voiceId: string): string {
  return `voices:${voiceId}`;
}

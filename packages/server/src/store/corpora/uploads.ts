/** Uploaded documents until a source takes them: the address that accepts a file, and what became of it. */

import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { creationTime } from "../database/creation-time.ts";
import { databaseTime, laterBy, type SqlTime } from "../database/database-time.ts";
import { inTransaction, type Db } from "../database/db.ts";
import { toJsonText, toStorableText } from "../database/json-text.ts";
import { checkCorpusLimits, type CorpusLimits } from "./account-limits.ts";

/** An upload address accepts a file for this long. */
export const UPLOAD_LIMIT_MS = 300_000;
/** A document that no source has taken is deleted after this time. */
const UNUSED_LIMIT_MS = 24 * 3_600_000;
const UNUSED_AT_ONCE = 500;

export interface NewUpload {
  readonly mimeType: string;
  /** Null: none was given. */
  readonly fileName: string | null;
  /** SHA-256 of the secret part of the address, in hexadecimal digits. */
  readonly tokenHash: string;
}

/**
 * Null: the account has no such corpus.
 * @throws CorpusLimitError
 */
export async function createUpload(
  db: Db,
  accountId: string,
  corpusId: string,
  { mimeType, fileName, tokenHash }: NewUpload,
  limits: CorpusLimits,
): Promise<{ readonly documentId: string } | null> {
  return inTransaction(db, async (tx) => {
    const found = await sql`select id from corpora where id = ${corpusId} and account_id = ${accountId}
      for key share`.execute(tx.query);
    if (found.rows.length === 0) return null;
    await checkCorpusLimits(tx, accountId, { documents: 1, bytes: 0 }, limits);
    const documentId = randomUUID();
    const name = fileName === null ? null : toStorableText(fileName);
    await sql`
      insert into corpus_documents (id, corpus_id, account_id, mime_type, metadata, size_bytes, created_at, file_name,
        title, status, upload_token, upload_until)
      values (${documentId}, ${corpusId}, ${accountId}, ${mimeType},
        ${toJsonText(name === null ? {} : { title: name })}::json, 0, ${creationTime()}, ${name}, ${name}, 'expected',
        ${tokenHash}, ${laterBy(databaseTime, UPLOAD_LIMIT_MS)})`.execute(tx.query);
    return { documentId };
  });
}

export interface ExpectedUpload {
  readonly documentId: string;
  readonly accountId: string;
  readonly mimeType: string;
  readonly isExpired: boolean;
  /** A source has taken the document. */
  readonly isTaken: boolean;
}

/** By the address alone, which is as secret as a key. Null: there is no such address. */
export async function findUpload(
  db: Db,
  tokenHash: string,
  time: SqlTime = databaseTime,
): Promise<ExpectedUpload | null> {
  const read = await sql<ExpectedUpload>`
    select id as "documentId", account_id as "accountId", mime_type as "mimeType", upload_until < ${time} as "isExpired",
      source_id is not null as "isTaken"
    from corpus_documents where upload_token = ${tokenHash}`.execute(db.query);
  return read.rows[0] ?? null;
}

/** Where the file will be; null: in the bucket. */
export type FilePlace = { readonly nodeId: string } | null;

/**
 * Before the file is written, so that it is removed with the document even when the process ends meanwhile. Its size
 * counts from now on, so that uploads at the same time do not exceed the limit together.
 * False: a source has taken the document, or it is gone.
 * @throws CorpusLimitError
 */
export async function beginUpload(
  db: Db,
  { accountId, documentId }: Pick<ExpectedUpload, "accountId" | "documentId">,
  file: { readonly sizeBytes: number; readonly place: FilePlace },
  limits: CorpusLimits,
): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    await checkCorpusLimits(tx, accountId, { documents: 0, bytes: file.sizeBytes }, limits);
    const begun = await sql`
      update corpus_documents set status = 'expected', content_hash = null, size_bytes = ${file.sizeBytes},
        file_node = ${file.place?.nodeId ?? null}, file_is_shared = ${file.place === null}
      where id = ${documentId} and account_id = ${accountId} and source_id is null returning id`.execute(
      tx.query,
    );
    return begun.rows.length === 1;
  });
}

/** After the file was written. False: the document is gone. */
export async function finishUpload(
  db: Db,
  { accountId, documentId }: Pick<ExpectedUpload, "accountId" | "documentId">,
  file: { readonly sizeBytes: number; readonly contentHash: string },
): Promise<boolean> {
  const finished = await sql`
    update corpus_documents set status = 'uploaded', size_bytes = ${file.sizeBytes}, content_hash = ${file.contentHash}
    where id = ${documentId} and account_id = ${accountId} and source_id is null
      and status in ('expected', 'uploaded')
    returning id`.execute(db.query);
  return finished.rows.length === 1;
}

export async function hasDocument(db: Db, documentId: string): Promise<boolean> {
  const read = await sql`select 1 from corpus_documents where id = ${documentId}`.execute(db.query);
  return read.rows.length > 0;
}

/** Deletes documents that no source has taken. True: there may be more. */
export async function sweepUnusedUploads(db: Db, time: SqlTime = databaseTime): Promise<boolean> {
  const deleted = await sql`
    delete from corpus_documents where id in (
      select id from corpus_documents where source_id is null and created_at < ${laterBy(time, -UNUSED_LIMIT_MS)}
      limit ${UNUSED_AT_ONCE} for update skip locked)
    returning id`.execute(db.query);
  return deleted.rows.length === UNUSED_AT_ONCE;
}

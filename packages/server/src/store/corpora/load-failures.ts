/** Documents and pages of a source that could not be loaded, each with its reason. */

import { sql } from "kysely";
import type { Db } from "../database/db.ts";
import { readPage, type PageQuery, type PageRows } from "../database/page.ts";

export interface LoadFailureRow {
  readonly failureId: string;
  /** Null: a page that has no document. */
  readonly documentId: string | null;
  readonly url: string | null;
  readonly fileName: string | null;
  readonly code: string;
  readonly message: string;
  readonly createdAt: string;
}

/** Newest first. */
export async function listLoadFailures(
  db: Db,
  accountId: string,
  sourceId: string,
  page: PageQuery,
): Promise<PageRows<LoadFailureRow>> {
  const documents = sql`
    select id::text as id, id as document_id, url, file_name, failure_code, failure,
      coalesce(loaded_at, created_at) as created_at, account_id, source_id
    from corpus_documents where failure_code is not null`;
  const pages = sql`
    select id::text, null::uuid, url, null, failure_code, failure, created_at, account_id, source_id
    from corpus_pages where state = 'failed' and failure_code is not null and not exists (
      select 1 from corpus_documents as document
      where document.source_id = corpus_pages.source_id and document.url = corpus_pages.url)`;
  return readPage<LoadFailureRow>(
    db,
    {
      columns: sql`id as "failureId", document_id as "documentId", url, file_name as "fileName",
        failure_code as code, failure as message, created_at as "createdAt"`,
      from: sql`(${documents} union all ${pages}) as failures`,
      where: [sql`account_id = ${accountId}`, sql`source_id = ${sourceId}`],
      sort: sql`created_at`,
      sortType: "timestamptz",
      id: sql`id`,
      idType: "text",
      descending: true,
    },
    page,
  );
}

/** Corpora with chunks, as loads leave them. */

import { createHash, randomUUID } from "node:crypto";
import { sql } from "kysely";
import { createCorpus } from "../corpora/corpora.ts";
import { wordsOfText } from "../corpora/words.ts";
import type { Db } from "../database/db.ts";

export interface TestChunk {
  readonly text: string;
  readonly headingPath?: readonly string[];
  readonly page?: number;
}

export interface TestDocument {
  readonly title?: string;
  readonly url?: string;
  /** BCP 47. */
  readonly language?: string | null;
  readonly chunks: readonly (string | TestChunk)[];
}

export interface LoadedCorpus {
  readonly accountId: string;
  readonly corpusId: string;
  readonly sourceId: string;
  readonly documentIds: readonly string[];
}

/** A corpus with one loaded source. */
export async function loadCorpus(
  db: Db,
  accountId: string,
  documents: readonly TestDocument[],
): Promise<LoadedCorpus> {
  const { corpusId } = await createCorpus(db, accountId, { name: "Documents", description: null });
  const sourceId = randomUUID();
  const now = new Date();
  await sql`insert into corpus_sources (id, corpus_id, account_id, kind, spec, created_at, load_requested_at,
      loaded_at, loaded_generation)
    values (${sourceId}, ${corpusId}, ${accountId}, 'upload', '{}', ${now}, ${now}, ${now}, 1)`.execute(
    db.query,
  );
  await sql`update corpora set ready_at = ${now} where id = ${corpusId}`.execute(db.query);
  const documentIds: string[] = [];
  const corpus = { accountId, corpusId, sourceId };
  for (const document of documents) documentIds.push(await addDocument(db, corpus, document));
  return { ...corpus, documentIds };
}

export async function addDocument(
  db: Db,
  { accountId, corpusId, sourceId }: Pick<LoadedCorpus, "accountId" | "corpusId" | "sourceId">,
  { title, url, language = "en", chunks }: TestDocument,
): Promise<string> {
  const documentId = randomUUID();
  const now = new Date();
  await sql`insert into corpus_documents (id, corpus_id, account_id, source_id, mime_type, metadata, size_bytes,
      chunks_count, chunks_version, created_at, title, url, language, status, loaded_at, generation)
    values (${documentId}, ${corpusId}, ${accountId}, ${sourceId}, 'text/plain', '{}', 1, ${chunks.length}, 1, ${now},
      ${title ?? null}, ${url ?? null}, ${language}, 'ready', ${now}, 1)`.execute(db.query);
  for (const [position, given] of chunks.entries()) {
    const { text, headingPath = [], page = null } = typeof given === "string" ? { text: given } : given;
    const words = [...headingPath, text].join("\n");
    const hash = createHash("sha256").update(words).digest("hex");
    await sql`insert into corpus_chunks (account_id, corpus_id, source_id, document_id, position, heading_path, page,
        text, tokens, language, content_hash, words)
      values (${accountId}, ${corpusId}, ${sourceId}, ${documentId}, ${position}, ${JSON.stringify(headingPath)}::json,
        ${page}, ${text}, ${Math.ceil(text.length / 4)}, ${language}, ${hash}, ${wordsOfText(language, words)})`.execute(
      db.query,
    );
  }
  return documentId;
}

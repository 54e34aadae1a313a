/** The words of a question as full-text search sees them. */

import { sql } from "kysely";
import type { Db } from "../../database/db.ts";
import { toStorableText } from "../../database/json-text.ts";

/** A word of the question in all dictionaries of the corpus. */
export interface QueryTerm {
  /** At least one; a chunk has the word if it has one of them. */
  readonly lexemes: readonly string[];
}

/** Longer questions have no more than this many different words that count; the first ones are taken. */
export const MAX_TERMS = 24;
/** Words that a dictionary leaves out, such as "the", are left out. */
export async function termsOf(
  db: Db,
  dictionaries: readonly string[],
  question: string,
): Promise<readonly QueryTerm[]> {
  if (dictionaries.length === 0) return [];
  const read = await sql<{ lexemes: string[] }>`
    select json_agg(distinct lexeme) as lexemes from (
      select unnest(word.positions) as place, word.lexeme
      from unnest(${[...dictionaries]}::text[]) as dictionary,
        unnest(to_tsvector(dictionary::regconfig, ${toStorableText(question)})) as word
    ) as words
    group by place order by place`.execute(db.query);
  const known = new Set<string>();
  const terms: QueryTerm[] = [];
  for (const { lexemes } of read.rows) {
    const fresh = lexemes.filter((lexeme) => !known.has(lexeme));
    if (fresh.length === 0) continue;
    for (const lexeme of fresh) known.add(lexeme);
    terms.push({ lexemes: fresh });
    if (terms.length === MAX_TERMS) break;
  }
  return terms;
}

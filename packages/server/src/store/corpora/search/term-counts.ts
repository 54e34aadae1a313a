/**
 * How many chunks of a corpus have a word. Counting a common word takes longest, and common words are the same from question
 * to question, so those are remembered for a while. Others are counted each time: a new chunk may have them.
 */

import { sql, type RawBuilder } from "kysely";
import type { Db } from "../../database/db.ts";
import type { CorpusSize } from "./corpus-size.ts";
import type { QueryTerm } from "./query-terms.ts";

/** How long a count is used again. */
const FRESH_MS = 600_000;
/** A corpus of whose chunks this share has come or gone since then is counted anew. */
const CHANGED_SHARE = 0.1;
/** Common words that are remembered, those used last; about 2 MB. */
const MAX_REMEMBERED = 10_000;

interface Counted {
  readonly atMs: number;
  /** Of the corpus at that time. */
  readonly of: CountedSize;
}

type CountedSize = Pick<CorpusSize, "chunks" | "changed">;

export interface TermCountsOptions {
  /** Counting ends there: a word that so many chunks have is common. */
  readonly mostCounted: number;
  readonly conditionOf: (corpusId: string, term: QueryTerm) => RawBuilder<unknown>;
}

export interface TermCounts {
  /** In the order of the terms. `size`: that of the corpus now. */
  read(db: Db, corpusId: string, terms: readonly QueryTerm[], size: CountedSize): Promise<readonly number[]>;
}

export function openTermCounts(
  { mostCounted, conditionOf }: TermCountsOptions,
  nowMs: () => number,
): TermCounts {
  const common = new Map<string, Counted>();
  const countOf = (corpusId: string, term: QueryTerm, place: number) => sql`
    select ${place}::integer as place, count(*) as chunks from (
      select 1 from corpus_chunks where ${conditionOf(corpusId, term)} limit ${mostCounted}
    ) as counted`;
  const isFresh = ({ atMs, of }: Counted, { chunks, changed }: CountedSize): boolean => {
    // Deletions of whole documents change the number of chunks alone, and replaced chunks only the number of changes.
    const most = of.chunks * CHANGED_SHARE;
    return nowMs() - atMs < FRESH_MS && Math.abs(chunks - of.chunks) <= most && changed - of.changed <= most;
  };
  const keyOf = (corpusId: string, { lexemes }: QueryTerm): string => `${corpusId} ${lexemes.join(" ")}`;
  const remember = (key: string, counted: Counted): void => {
    common.delete(key);
    common.set(key, counted);
    const oldest = common.keys().next();
    if (common.size > MAX_REMEMBERED && oldest.done !== true) common.delete(oldest.value);
  };
  return {
    read: async (db, corpusId, terms, size) => {
      const isKnown = terms.map((term) => {
        const key = keyOf(corpusId, term);
        const counted = common.get(key);
        if (counted === undefined || !isFresh(counted, size)) return false;
        remember(key, counted);
        return true;
      });
      const counts = terms.flatMap((term, place) =>
        isKnown[place] === true ? [] : [countOf(corpusId, term, place)],
      );
      const read =
        counts.length === 0
          ? { rows: [] }
          : await sql<{ place: number; chunks: number }>`${sql.join(counts, sql` union all `)}`.execute(
              db.query,
            );
      const found = new Map(read.rows.map(({ place, chunks: count }) => [place, count]));
      return terms.map((term, place) => {
        if (isKnown[place] === true) return mostCounted;
        const count = found.get(place) ?? 0;
        if (count >= mostCounted) remember(keyOf(corpusId, term), { atMs: nowMs(), of: size });
        return count;
      });
    },
  };
}

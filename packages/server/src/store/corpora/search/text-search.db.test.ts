import { sql } from "kysely";
import { expect, it } from "vitest";
import { addDocument, loadCorpus } from "../../testing/corpora.ts";
import { describeOnBothDatabases, newAccount } from "../../testing/databases.ts";
import { searchText } from "./text-search.ts";

/** So many that a word in a quarter of them is not weighed chunk by chunk. */
const CHUNKS = 12_400;

describeOnBothDatabases("full text in a large corpus", (current) => {
  it("weighs rare words more than common ones, and finds what has common words alone", async () => {
    const { db } = current();
    const corpus = await loadCorpus(db, await newAccount(db), []);
    const documentId = await addDocument(db, corpus, { chunks: ["The sauna opens at four."] });
    for (let from = 1; from <= CHUNKS; from += 400)
      await sql`
        insert into corpus_chunks (account_id, corpus_id, source_id, document_id, position, heading_path, text, tokens,
          language, content_hash, words)
        select ${corpus.accountId}, ${corpus.corpusId}, ${corpus.sourceId}, ${documentId}, place, '[]', 'a text', 10, 'en',
          '', to_tsvector('english', case
            when place <= 20 then 'guests reserve skates'
            when place <= 40 then 'skates'
            when place <= 6200 then 'guests reserve rooms'
            else 'visitors book their rooms' end)
        from generate_series(${from}::integer, ${from + 399}::integer) as place`.execute(db.query);
    await sql`update corpus_documents set chunks_count = ${CHUNKS + 1} where id = ${documentId}`.execute(
      db.query,
    );
    const search = (question: string) => searchText(db, corpus.corpusId, question, 50);
    const skates = await search("Do guests reserve skates?");
    expect(skates).toHaveLength(40);
    // Those with the common words as well come first.
    const [first, last] = [skates.slice(0, 20), skates.slice(20)];
    expect(first.map(({ coverage }) => coverage)).toEqual(first.map(() => 1));
    expect(Math.max(...last.map(({ coverage }) => coverage))).toBeLessThan(1);
    // All words are common, and no chunk has all of them. The second time the counts are remembered.
    for (const question of ["guests reserve visitors", "guests reserve visitors", "rooms"])
      expect(await search(question)).toHaveLength(50);
    expect(await search("sauna")).toHaveLength(1);
    expect(await search("helicopter")).toHaveLength(0);
    // What is rare is counted each time: a new chunk is found at once.
    await addDocument(db, corpus, { chunks: ["A helicopter lands behind the house."] });
    expect(await search("helicopter")).toHaveLength(1);
  });

  it("finds the words of its own corpus, however many chunks of others have them", async () => {
    const { db } = current();
    const accountId = await newAccount(db);
    const [mine, other] = [
      await loadCorpus(db, accountId, [{ chunks: ["Dogs are welcome.", "Breakfast is free."] }]),
      await loadCorpus(db, accountId, [{ chunks: ["Dogs bark.", "Dogs sleep.", "Cats are welcome."] }]),
    ];
    const found = await Promise.all(
      [mine, other].map(async ({ corpusId }) => (await searchText(db, corpusId, "dogs", 10)).length),
    );
    expect(found).toEqual([1, 2]);
  });

  it("finds nothing of another corpus where the keys of their words are the same", async () => {
    const { db } = current();
    const functions = await sql<{ definition: string }>`
      select pg_get_functiondef(oid) as definition from pg_proc
      where proname in ('corpus_word_key', 'corpus_word_keys')`.execute(db.query);
    expect(functions.rows).toHaveLength(2);
    try {
      await sql`create or replace function corpus_word_key(corpus uuid, lexeme text) returns bigint
        language sql immutable strict as $$ select 7::bigint $$`.execute(db.query);
      await sql`create or replace function corpus_word_keys(corpus uuid, words tsvector) returns bigint[]
        language sql immutable strict cost 10000 as $$ select array[7::bigint] $$`.execute(db.query);
      const accountId = await newAccount(db);
      const mine = await loadCorpus(db, accountId, [{ chunks: ["Dogs are welcome."] }]);
      await loadCorpus(db, accountId, [{ chunks: ["Dogs bark.", "Dogs sleep."] }]);
      expect(await searchText(db, mine.corpusId, "dogs", 10)).toHaveLength(1);
    } finally {
      for (const { definition } of functions.rows) await sql.raw(definition).execute(db.query);
    }
  });
});

import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { expect, it } from "vitest";
import { EngineFailure } from "../../ports/engine-failure.ts";
import type { Embedder } from "../../ports/corpora/embedder.ts";
import { openFakeEmbedder, type FakeEmbedder } from "../../ports/corpora/testing/fake-embedder.ts";
import { claimIndex, releaseIndex } from "../../store/corpora/indexing.ts";
import { inTransaction } from "../../store/database/db.ts";
import { addDocument, loadCorpus, type LoadedCorpus } from "../../store/testing/corpora.ts";
import { describeOnBothDatabases, newAccount } from "../../store/testing/databases.ts";
import { beginIndexing, embedChunksHandler, queueMissingVectors } from "./embed-chunks.ts";
import { chunksChanged } from "./index-corpus.ts";

const never = new AbortController().signal;

describeOnBothDatabases("the index of a corpus", (current) => {
  /** Jobs that were queued: their corpora, and whether they begin later. */
  const queued: { readonly corpusId: string; readonly isLater: boolean }[] = [];
  const jobs = {
    send: (_tx: unknown, _job: unknown, data: object, options?: { readonly startAfterMs?: number }) => {
      const corpusId = "corpusId" in data ? String(data.corpusId) : "";
      queued.push({ corpusId, isLater: options?.startAfterMs !== undefined });
      return Promise.resolve();
    },
    wake: () => undefined,
  };
  const queuedFor = ({ corpusId }: LoadedCorpus) =>
    queued.filter((job) => job.corpusId === corpusId).map(({ isLater }) => isLater);
  const change = ({ accountId, corpusId }: LoadedCorpus) =>
    inTransaction(current().db, (tx) => chunksChanged(tx, jobs, { accountId, corpusId }));
  const textsOf = ({ requests }: FakeEmbedder) => requests.flatMap(({ texts }) => texts);

  const run = (
    embedder: Embedder | null,
    { accountId, corpusId }: LoadedCorpus,
    { jobId = randomUUID(), nowMs = () => 0 }: { jobId?: string; nowMs?: () => number } = {},
  ) =>
    embedChunksHandler({
      db: current().db,
      jobs,
      embedder,
      support: { kind: "scan", reason: "a test" },
      textOf: ({ text }) => text,
      log: { warn: () => undefined },
      nowMs,
    })({ jobId, data: { accountId, corpusId }, signal: never });

  const corpusOf = async (documents: readonly (readonly string[])[]) => {
    const { db } = current();
    return loadCorpus(
      db,
      await newAccount(db),
      documents.map((chunks) => ({ chunks })),
    );
  };

  it("has one job in the queue, however many documents change, and another one once that has begun", async () => {
    const corpus = await corpusOf([["One."]]);
    expect([await change(corpus), await change(corpus), await change(corpus)]).toEqual([true, false, false]);
    await run(openFakeEmbedder({ basis: "queue" }), corpus);
    expect([await change(corpus), await change(corpus)]).toEqual([true, false]);
    expect(queuedFor(corpus)).toEqual([false, false]);
    // Without a model the job has nothing to do, and the next change queues it again.
    await run(null, corpus);
    expect(await change(corpus)).toBe(true);
  });

  it("looks at the documents that have changed alone", async () => {
    const { db } = current();
    const corpus = await corpusOf([["One.", "Two."], ["Three."]]);
    const embedder = openFakeEmbedder({ basis: "changed" });
    await run(embedder, corpus);
    expect(textsOf(embedder).toSorted()).toEqual(["One.", "Three.", "Two."]);
    // A chunk without a vector in a document that has not changed is not looked for.
    await sql`insert into corpus_chunks (account_id, corpus_id, source_id, document_id, position, heading_path, text, tokens,
        content_hash, words)
      values (${corpus.accountId}, ${corpus.corpusId}, ${corpus.sourceId}, ${corpus.documentIds[1]}, 1, '[]', 'Four.', 1, '',
        '')`.execute(db.query);
    await addDocument(db, corpus, { chunks: ["Five."] });
    await run(embedder, corpus);
    expect(textsOf(embedder).slice(3)).toEqual(["Five."]);
    await sql`update corpus_documents set chunks_version = chunks_version + 1, chunks_count = 2
      where id = ${corpus.documentIds[1]}`.execute(db.query);
    await run(embedder, corpus);
    expect(textsOf(embedder).slice(4)).toEqual(["Four."]);
    const counts = await sql<{ vectors: number }>`select vectors_count as vectors from corpus_documents
      where corpus_id = ${corpus.corpusId}`.execute(db.query);
    expect(counts.rows.map(({ vectors }) => vectors).toSorted((a, b) => a - b)).toEqual([1, 2, 2]);
  });

  it("is made by one job at a time, and another one tries again later", async () => {
    const { db } = current();
    const corpus = await corpusOf([["One."]]);
    const embedder = openFakeEmbedder({ basis: "claimed" });
    expect(await claimIndex(db, corpus, "first")).toBe("claimed");
    await run(embedder, corpus, { jobId: "second" });
    expect([textsOf(embedder), queuedFor(corpus)]).toEqual([[], [true]]);
    // The same job goes on after it was cut off.
    expect(await claimIndex(db, corpus, "first")).toBe("claimed");
    await releaseIndex(db, corpus.corpusId, "first");
    await run(embedder, corpus, { jobId: "second" });
    expect(textsOf(embedder)).toEqual(["One."]);
    expect(await claimIndex(db, { ...corpus, accountId: randomUUID() }, "third")).toBe("gone");
  });

  it("leaves the rest to the next job when its time is over", async () => {
    const corpus = await corpusOf([["One.", "Two."], ["Three."]]);
    const embedder = openFakeEmbedder({ basis: "late", maxTexts: 1 });
    let ms = 0;
    const nowMs = () => (ms += 61_000);
    for (let jobs_ = 1; jobs_ <= 4; jobs_ += 1) {
      await run(embedder, corpus, { nowMs });
      expect(queuedFor(corpus)).toHaveLength(Math.min(jobs_, 3));
    }
    expect(textsOf(embedder).toSorted()).toEqual(["One.", "Three.", "Two."]);
  });

  it("does not ask again for a chunk that the server refuses, and fails where it refuses all", async () => {
    const { db } = current();
    const corpus = await corpusOf([["poison", "One."]]);
    const fake = openFakeEmbedder({ basis: "refused" });
    const refuse = (refused: (text: string) => boolean): Embedder => ({
      ...fake,
      embed: async (texts, ...rest) => {
        const vectors = await fake.embed(texts, ...rest);
        if (texts.some(refused)) throw new EngineFailure("the server answered 400", { type: "400" });
        return vectors;
      },
    });
    const picky = refuse((text) => text === "poison");
    await run(picky, corpus);
    const asked = fake.requests.length;
    await sql`update corpus_documents set chunks_version = chunks_version + 1
      where corpus_id = ${corpus.corpusId}`.execute(db.query);
    await run(picky, corpus);
    expect(fake.requests).toHaveLength(asked);
    const many = await corpusOf([Array.from({ length: 12 }, (_, place) => `Rule ${String(place)}.`)]);
    await expect(
      run(
        refuse(() => true),
        many,
      ),
    ).rejects.toThrow("refuses every text");
    // Nothing was noted as tried.
    await run(fake, many);
    const counts = await sql<{ vectors: number }>`select vectors_count as vectors from corpus_documents
      where corpus_id = ${many.corpusId}`.execute(db.query);
    expect(counts.rows).toEqual([{ vectors: 12 }]);
    // Many bad chunks in a row keep no other document from its vectors.
    const odd = await corpusOf([Array.from({ length: 12 }, (_, place) => `odd ${String(place)}`), ["Two."]]);
    await run(
      refuse((text) => text.startsWith("odd")),
      odd,
    );
    const others = await sql<{ vectors: number }>`select vectors_count as vectors from corpus_documents
      where corpus_id = ${odd.corpusId} order by vectors_count`.execute(db.query);
    expect(others.rows).toEqual([{ vectors: 0 }, { vectors: 1 }]);
  });

  it("is queued again at the start and where its job was given up, and said to be gone without a model", async () => {
    const { db } = current();
    const corpus = await corpusOf([["One."]]);
    const embedder = openFakeEmbedder({ basis: "given up" });
    await queueMissingVectors({ db, jobs, embedder });
    await beginIndexing({ db, jobs, embedder });
    expect(queuedFor(corpus)).toEqual([false]);
    // The job has not begun for more than an hour, so it is lost.
    await sql`update corpora set index_queued_until = index_queued_until - interval '61 minutes'
      where id = ${corpus.corpusId}`.execute(db.query);
    await queueMissingVectors({ db, jobs, embedder });
    await queueMissingVectors({ db, jobs, embedder });
    expect(queuedFor(corpus)).toEqual([false, false]);
    await run(embedder, corpus);
    await beginIndexing({ db, jobs, embedder });
    expect(queuedFor(corpus)).toHaveLength(2);
    await beginIndexing({ db, jobs, embedder: null });
    const read = await sql<{ vectors: number }>`select vectors_count as vectors from corpus_documents
      where corpus_id = ${corpus.corpusId}`.execute(db.query);
    expect(read.rows).toEqual([{ vectors: 0 }]);
    // The vectors are there, so that they are only counted.
    await run(embedder, corpus);
    expect(textsOf(embedder)).toEqual(["One."]);
  });
});

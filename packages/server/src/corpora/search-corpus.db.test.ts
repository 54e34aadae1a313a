import { sql } from "kysely";
import { afterEach, expect, it } from "vitest";
import { EngineFailure } from "../ports/engine-failure.ts";
import { openFakeEmbedder, type FakeEmbedderOptions } from "../ports/corpora/testing/fake-embedder.ts";
import { openFakeReranker } from "../ports/corpora/testing/fake-reranker.ts";
import type { Embedder } from "../ports/corpora/embedder.ts";
import { embedChunksHandler } from "../jobs/corpora/embed-chunks.ts";
import { getCorpus } from "../store/corpora/corpora.ts";
import { listOpenQuestions } from "../store/corpora/search/open-questions.ts";
import { openVectorStore, type VectorStore } from "../store/corpora/vectors/vector-store.ts";
import { deleteCorpus } from "../store/corpora/corpora.ts";
import { listVectorModels, type VectorSupport } from "../store/corpora/vectors/vector-models.ts";
import { addDocument, loadCorpus, type LoadedCorpus } from "../store/testing/corpora.ts";
import { describeOnBothDatabases, newAccount } from "../store/testing/databases.ts";
import { openCurrentVectors } from "./current-vectors.ts";
import { openCorpusSearch, textOf, type CorpusSearchDeps } from "./search-corpus.ts";
import type { CorpusAnswer, CorpusHit } from "./search-types.ts";

const never = new AbortController().signal;
const FIRST_PAGE = { after: null, direction: "forward", limit: 10 } as const;
const silent = { warn: () => undefined };

const HOTEL = [
  {
    title: "House rules",
    url: "https://hotel.example/rules",
    chunks: [
      { text: "Breakfast is served from seven to ten in the garden room.", headingPath: ["Meals"], page: 2 },
      { text: "Dinner is served from six to nine.", headingPath: ["Meals"] },
      "The swimming pool is open from May to September.",
      "Dogs are welcome and cost ten euros a night.",
      "Cars may be parked behind the house for free.",
    ],
  },
  { title: "Hausordnung", language: "de", chunks: ["Die Sauna öffnet um vier Uhr nachmittags."] },
];

function hitsOf(answer: CorpusAnswer): readonly CorpusHit[] {
  if (answer.kind !== "found") throw new Error(`the search ended as ${answer.kind}`);
  return answer.hits;
}

describeOnBothDatabases("a search in a corpus", (current) => {
  const opened: VectorStore[] = [];
  afterEach(async () => {
    for (const vectors of opened.splice(0)) await vectors.close();
  });

  async function open(
    embedder: Embedder | null,
    changes: Partial<CorpusSearchDeps> = {},
    support?: VectorSupport,
  ) {
    const { db } = current();
    const now = { ms: 0 };
    const options = { nowMs: () => now.ms, ...(support === undefined ? {} : { support }) };
    const vectors = await openVectorStore(db, () => undefined, options);
    opened.push(vectors);
    const present = openCurrentVectors(db, embedder, () => now.ms, vectors.support);
    const search = openCorpusSearch({
      db,
      vectors,
      embedder,
      reranker: null,
      ...present,
      queriesPerMinute: 0,
      log: silent,
      nowMs: () => now.ms,
      ...changes,
    });
    const ask = (
      { accountId, corpusId }: Pick<LoadedCorpus, "accountId" | "corpusId">,
      question: string,
      more: { readonly maxResults?: number; readonly minimumScore?: number } = {},
    ) =>
      search({ accountId, corpusId, question, maxResults: 5, minimumScore: 0, callId: null, ...more }, never);
    const jobs = { send: () => Promise.resolve(), wake: () => undefined };
    const index = async ({ accountId, corpusId }: LoadedCorpus) => {
      const handler = embedChunksHandler({
        db,
        jobs,
        embedder,
        support: vectors.support,
        textOf,
        log: silent,
        nowMs: () => 0,
      });
      await handler({ jobId: "1", data: { accountId, corpusId }, signal: never });
      now.ms += 60_000;
    };
    return { ask, index, vectors, now };
  }

  async function hotel(): Promise<LoadedCorpus> {
    const { db } = current();
    return loadCorpus(db, await newAccount(db), HOTEL);
  }

  it("by full text finds words in the forms and languages of the documents", async () => {
    const corpus = await hotel();
    const { ask } = await open(null);
    for (const [question, wanted] of [
      ["When is the breakfast serving?", "Breakfast is served"],
      ["what does a dog cost", "Dogs are welcome"],
      ["Wann öffnet die Sauna?", "Die Sauna öffnet"],
      ["swim", "The swimming pool"],
    ] as const) {
      const [best] = hitsOf(await ask(corpus, question));
      expect(best?.text).toContain(wanted);
      expect(best).toMatchObject({ textRank: 1, vectorRank: null, fusedRank: null });
    }
    const [breakfast] = hitsOf(await ask(corpus, "breakfast"));
    expect(breakfast).toMatchObject({
      title: "House rules",
      url: "https://hotel.example/rules",
      page: 2,
      headingPath: ["Meals"],
      sourceId: corpus.sourceId,
      documentId: corpus.documentIds[0],
    });
    const stats = await getCorpus(current().db, corpus.accountId, corpus.corpusId);
    expect(stats).toMatchObject({ chunksCount: 6, vectorsCount: 0 });
  });

  it.each([
    "",
    "   ",
    "?!",
    "'",
    "\\",
    "a | b & !c:*",
    "\u0000",
    "the of and",
    "🏊".repeat(500),
    "x".repeat(9_999),
  ])("takes %j for a question", async (question) => {
    const corpus = await hotel();
    const { ask } = await open(openFakeEmbedder());
    expect((await ask(corpus, question)).kind).toBe("found");
  });

  it("scores from 0 to 1, never rising, and leaves out what is below the minimum", async () => {
    const corpus = await hotel();
    const { ask, index } = await open(openFakeEmbedder());
    await index(corpus);
    const hits = hitsOf(await ask(corpus, "When is breakfast served?", { maxResults: 6 }));
    expect(hits).toHaveLength(6);
    const scores = hits.map(({ score }) => score);
    for (const score of scores) {
      expect(score).toBeGreaterThanOrEqual(0);
      expect(score).toBeLessThanOrEqual(1);
    }
    expect(scores).toEqual(scores.toSorted((a, b) => b - a));
    const [first = 0, second = 0] = scores;
    expect(first).toBeGreaterThan(second);
    const above = hitsOf(
      await ask(corpus, "When is breakfast served?", { minimumScore: (first + second) / 2 }),
    );
    expect(above).toHaveLength(1);
    expect(hitsOf(await ask(corpus, "When is breakfast served?", { maxResults: 2 }))).toHaveLength(2);
  });

  const SWIMMING: FakeEmbedderOptions = {
    synonyms: [
      ["pool", "bathing"],
      ["open", "allowed"],
    ],
  };
  const SCAN: VectorSupport = { kind: "scan", reason: "a test wants it" };

  it.each<[string, VectorSupport | undefined]>([
    ["as the database allows", undefined],
    ["by comparing all vectors", SCAN],
  ])("by vectors finds other words of the same meaning, %s", async (how, support) => {
    const corpus = await hotel();
    // A model of its own: the way of storing belongs to it.
    const { ask, index } = await open(openFakeEmbedder({ ...SWIMMING, basis: how }), {}, support);
    await index(corpus);
    const stats = await getCorpus(current().db, corpus.accountId, corpus.corpusId);
    expect(stats).toMatchObject({ chunksCount: 6, vectorsCount: 6 });
    const [best] = hitsOf(await ask(corpus, "bathing allowed"));
    expect(best).toMatchObject({ vectorRank: 1, textRank: null });
    expect(best?.text).toContain("swimming pool");
    await addDocument(current().db, corpus, { chunks: ["Bathing towels are in the wardrobe."] });
    await index(corpus);
    const later = hitsOf(await ask(corpus, "bathing towels", { maxResults: 20 }));
    expect(later[0]?.text).toContain("towels");
    expect(later).toHaveLength(7);
  });

  it("embeds nothing twice, and goes on where it was cut off", async () => {
    const { db } = current();
    const corpus = await loadCorpus(db, await newAccount(db), [
      { chunks: Array.from({ length: 50 }, (_, index) => `Rule number ${String(index)}.`) },
    ]);
    let failAt = 2;
    const embedder = openFakeEmbedder({
      basis: "once",
      failure: () => ((failAt -= 1) === 0 ? new EngineFailure("the server answered 500") : null),
    });
    const { index } = await open(embedder);
    await expect(index(corpus)).rejects.toThrow("500");
    await index(corpus);
    await index(corpus);
    const embedded = embedder.requests
      .filter(({ kind }) => kind === "document")
      .flatMap(({ texts }) => texts);
    // One request failed, and was sent again.
    expect(embedded).toHaveLength(50 + embedder.maxTexts);
    expect(new Set(embedded).size).toBe(50);
    expect(await getCorpus(db, corpus.accountId, corpus.corpusId)).toMatchObject({ vectorsCount: 50 });
  });

  it("leaves a chunk out that the server refuses, and takes a shorter text for one that is too long", async () => {
    const { db } = current();
    const long = "breakfast ".repeat(300);
    const corpus = await loadCorpus(db, await newAccount(db), [{ chunks: ["poison", long, "dinner"] }]);
    const fake = openFakeEmbedder({ basis: "refusing" });
    const embedder: Embedder = {
      ...fake,
      embed: async (texts, ...rest) => {
        if (texts.some((text) => text === "poison" || text.length > 2_000))
          throw new EngineFailure("the embedding server answered 400", { type: "400" });
        return fake.embed(texts, ...rest);
      },
    };
    const { ask, index } = await open(embedder);
    await index(corpus);
    expect(await getCorpus(db, corpus.accountId, corpus.corpusId)).toMatchObject({ vectorsCount: 2 });
    expect(hitsOf(await ask(corpus, "breakfast"))[0]).toMatchObject({ text: long, vectorRank: 1 });
    expect(hitsOf(await ask(corpus, "poison"))[0]).toMatchObject({ text: "poison", vectorRank: null });
  });

  it("goes on with the vectors of the earlier model until all new ones are there", async () => {
    const { db } = current();
    const corpus = await hotel();
    const before = await open(openFakeEmbedder({ model: "first", basis: "switch" }));
    await before.index(corpus);
    const fresh = openFakeEmbedder({ model: "second", basis: "switch", dimensions: 96 });
    const asked: (string | undefined)[] = [];
    const first = openFakeEmbedder({ model: "first", basis: "switch" });
    const embedder: Embedder = {
      ...fresh,
      embed: (texts, kind, signal, model) => {
        if (kind === "query") asked.push(model);
        return (model === "first" ? first : fresh).embed(texts, kind, signal);
      },
    };
    const after = await open(embedder);
    expect(hitsOf(await after.ask(corpus, "breakfast"))[0]).toMatchObject({ vectorRank: 1 });
    await after.index(corpus);
    expect(hitsOf(await after.ask(corpus, "breakfast"))[0]).toMatchObject({ vectorRank: 1 });
    expect(asked).toEqual(["first", "second"]);
    expect(await getCorpus(db, corpus.accountId, corpus.corpusId)).toMatchObject({ vectorsCount: 6 });
  });

  it("answers by full text while the embedder fails, and says so", async () => {
    const corpus = await hotel();
    let isDown = false;
    const embedder = openFakeEmbedder({
      basis: "failing",
      failure: () => (isDown ? new EngineFailure("the server answered 503") : null),
    });
    const { ask, index } = await open(embedder);
    await index(corpus);
    isDown = true;
    const answer = await ask(corpus, "breakfast");
    expect(answer).toMatchObject({ notes: { vectors: "the server answered 503" } });
    expect(hitsOf(answer)[0]).toMatchObject({ textRank: 1, vectorRank: null });
  });

  it("ranks again where there is a reranker, and keeps the order where that fails", async () => {
    const corpus = await hotel();
    let isDown = false;
    const reranker = openFakeReranker({ failure: () => (isDown ? new EngineFailure("answered 500") : null) });
    const { ask } = await open(null, { reranker });
    const [best] = hitsOf(await ask(corpus, "served from six to nine"));
    expect(best?.text).toContain("Dinner");
    expect(best?.fusedRank).not.toBeNull();
    isDown = true;
    const answer = await ask(corpus, "served from six to nine");
    expect(answer).toMatchObject({ notes: { reranker: "answered 500" } });
    expect(hitsOf(answer)[0]?.fusedRank).toBeNull();
  });

  it("finds nothing of other corpora and other accounts, and no corpus that is deleted", async () => {
    const { db } = current();
    const [mine, other] = [await hotel(), await hotel()];
    const { ask, index } = await open(openFakeEmbedder());
    await index(mine);
    await index(other);
    const hits = hitsOf(await ask(mine, "breakfast", { maxResults: 20 }));
    expect(new Set(hits.map(({ documentId }) => documentId))).toEqual(new Set(mine.documentIds));
    expect(await ask({ ...other, accountId: mine.accountId }, "breakfast")).toEqual({ kind: "no_corpus" });
    await deleteCorpus(db, mine.accountId, mine.corpusId);
    expect(await ask(mine, "breakfast")).toEqual({ kind: "no_corpus" });
  });

  it("passes over the chunks of deleted documents before they are removed", async () => {
    const { db } = current();
    const corpus = await loadCorpus(db, await newAccount(db), [
      { chunks: Array.from({ length: 60 }, (_, place) => `Breakfast is served in room ${String(place)}.`) },
    ]);
    const stays = await addDocument(db, corpus, { chunks: ["Breakfast and dinner for guests are free."] });
    for (const support of [undefined, SCAN]) {
      const { ask, index } = await open(openFakeEmbedder({ basis: `deleted ${support?.kind}` }), {}, support);
      await index(corpus);
      await sql`delete from corpus_documents where corpus_id = ${corpus.corpusId} and id <> ${stays}`.execute(
        db.query,
      );
      const hits = hitsOf(await ask(corpus, "breakfast", { maxResults: 20 }));
      expect(hits.map(({ documentId, textRank, vectorRank }) => [documentId, textRank, vectorRank])).toEqual([
        [stays, 1, 1],
      ]);
    }
  });

  it("makes all vectors anew when the model has other dimensions under the same name", async () => {
    const { db } = current();
    const corpus = await hotel();
    const sizes = [64, 96, 64];
    const models: (number | undefined)[] = [];
    for (const dimensions of sizes) {
      const { ask, index, now } = await open(openFakeEmbedder({ basis: "other size", dimensions }));
      // A search notices the change, or the next document does.
      if (dimensions === 96) await ask(corpus, "breakfast");
      else await addDocument(db, corpus, { chunks: [`Parking costs ${String(models.length)} euros.`] });
      now.ms += 60_000;
      await index(corpus);
      const hits = hitsOf(await ask(corpus, "breakfast", { maxResults: 20 }));
      expect(hits[0]).toMatchObject({ vectorRank: 1 });
      const row = await getCorpus(db, corpus.accountId, corpus.corpusId);
      expect(row?.vectorsCount).toBe(row?.chunksCount);
      const [newest] = (await listVectorModels(db)).filter(({ basis }) => basis === "other size");
      models.push(newest?.dimensions);
    }
    expect(models).toEqual(sizes);
  });

  it("lists the questions without an answer, each once, those asked last first", async () => {
    const { db } = current();
    const corpus = await hotel();
    const { ask } = await open(null);
    for (const question of ["Is there a gym?", "breakfast", "Can I rent skis?", "is there a GYM?"])
      await ask(corpus, question);
    const list = await listOpenQuestions(db, corpus.accountId, corpus.corpusId, FIRST_PAGE);
    expect(list.rows.map(({ question, asked, bestScore }) => [question, asked, bestScore])).toEqual([
      ["is there a GYM?", 2, 0],
      ["Can I rent skis?", 1, 0],
    ]);
  });

  it("is limited for each account, and says when to try again", async () => {
    const [corpus, other] = [await hotel(), await hotel()];
    const { ask, now } = await open(null, { queriesPerMinute: 2 });
    for (let count = 0; count < 2; count += 1) expect((await ask(corpus, "dogs")).kind).toBe("found");
    expect(await ask(corpus, "dogs")).toMatchObject({ kind: "too_many", retryAfterMs: 30_000 });
    expect((await ask(other, "dogs")).kind).toBe("found");
    now.ms += 30_000;
    expect((await ask(corpus, "dogs")).kind).toBe("found");
  });
});

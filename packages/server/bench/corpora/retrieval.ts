/**
 * `npm run bench:retrieval`: how often the section that answers a question is among the first results, by full text
 * alone, by vectors alone, and by both. The vectors are those of an analysis of the corpus itself (`lsa.ts`). Weights of
 * scores are fitted on one half of the questions; all published figures are of the other half.
 */

import { openCorpusSearch, textOf } from "../../src/corpora/search-corpus.ts";
import { fuse } from "../../src/corpora/fusion.ts";
import { FAR, nearnessOf, relevanceOf } from "../../src/corpora/relevance.ts";
import { embedChunksHandler } from "../../src/jobs/corpora/embed-chunks.ts";
import { searchText, type TextHit } from "../../src/store/corpora/search/text-search.ts";
import type { NearChunks } from "../../src/store/corpora/vectors/near-vectors.ts";
import { openVectorStore } from "../../src/store/corpora/vectors/vector-store.ts";
import { listVectorModels } from "../../src/store/corpora/vectors/vector-models.ts";
import { createAccount } from "../../src/store/accounts/accounts.ts";
import { loadCorpus } from "../../src/store/testing/corpora.ts";
import { openBenchStore } from "../jobs-store.ts";
import { publish } from "../report.ts";
import { meanWithInterval } from "./intervals.ts";
import { fitLogistic, type Example } from "./logistic.ts";
import { openLsaEmbedder } from "./lsa.ts";
import { readChunks, readQuestions, type Question } from "./question-set.ts";

const never = new AbortController().signal;
const CANDIDATES = 50;
const WAYS = ["full text", "vectors", "fused"] as const;
type Way = (typeof WAYS)[number];

interface Asked {
  readonly question: Question;
  readonly byText: readonly TextHit[];
  readonly near: NearChunks;
}

const documents = readChunks();
const questions = readQuestions();
const sections = new Set([...documents.values()].flat().map(({ section }) => section));
for (const { answer, text } of questions)
  if (!sections.has(answer)) throw new Error(`no section ${answer} answers: ${text}`);

const store = await openBenchStore("embedded");
const { db } = store;
const { accountId } = await createAccount(db, "bench");
const corpus = await loadCorpus(
  db,
  accountId,
  [...documents].map(([title, chunks]) => ({ title, chunks })),
);
const embedder = openLsaEmbedder([...documents.values()].flat().map(textOf));
const vectors = await openVectorStore(db, console.error);
const jobs = { send: () => Promise.resolve(), wake: () => undefined };
const index = embedChunksHandler({
  db,
  jobs,
  embedder,
  support: vectors.support,
  textOf,
  log: console,
  nowMs: Date.now,
});
await index({ jobId: "1", data: corpus, signal: never });
const [model] = await listVectorModels(db);
if (model === undefined) throw new Error("there are no vectors");

/** The section of each chunk, by its place: chunk ids are given in the order of the documents. */
const order = [...documents.values()].flat();
const { rows } = await db.query
  .selectFrom("corpus_chunks")
  .select(["chunk_id"])
  .where("corpus_id", "=", corpus.corpusId)
  .orderBy("chunk_id")
  .execute()
  .then((read) => ({ rows: read }));
const sectionOf = new Map(rows.map(({ chunk_id: id }, place) => [id, order[place]?.section ?? ""]));

const asked: Asked[] = [];
for (const question of questions) {
  const [vector] = await embedder.embed([question.text], "query", never);
  if (vector === undefined) throw new Error("a question has no vector");
  asked.push({
    question,
    byText: await searchText(db, corpus.corpusId, question.text, CANDIDATES),
    near: await vectors.near(model, { corpusId: corpus.corpusId, vector, limit: CANDIDATES }, never),
  });
}

function ranked({ byText, near }: Asked, way: Way): readonly number[] {
  const texts = byText.map(({ chunkId }) => chunkId);
  const nearest = near.near.map(({ chunkId }) => chunkId);
  if (way === "full text") return texts;
  return way === "vectors" ? nearest : fuse(texts, nearest).map(({ chunkId }) => chunkId);
}

/** The place of the answer among the sections found, from 1; 0: it was not found. */
function placeOf(one: Asked, way: Way): number {
  const found = [...new Set(ranked(one, way).map((id) => sectionOf.get(id)))];
  return found.indexOf(one.question.answer) + 1;
}

function share(values: readonly number[]): string {
  return (values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)).toFixed(3);
}

/** One row for each way of searching. */
function rowsOf(name: string, of: readonly Asked[]): string {
  const groups = [...Map.groupBy(of, ({ question }) => question.answer).values()];
  return WAYS.map((way) => {
    const places = groups.map((group) => group.map((one) => placeOf(one, way)));
    const recall = meanWithInterval(places.map((group) => group.map((place) => Number(isWithin(place, 5)))));
    const gain = meanWithInterval(
      places.map((group) => group.map((place) => (isWithin(place, 10) ? 1 / Math.log2(1 + place) : 0))),
    );
    return `| ${name} | ${String(of.length)} | ${way} | ${recall} | ${gain} |`;
  }).join("\n");
}

const isWithin = (place: number, first: number): boolean => place >= 1 && place <= first;

interface Labelled {
  readonly rank: number;
  readonly coverage: number;
  readonly nearness: number;
  readonly isRelevant: boolean;
}

/** The first hits of the fused order with what is known about them. */
function labelled(one: Asked, way: "full text" | "fused"): readonly Labelled[] {
  const coverages = new Map(one.byText.map(({ chunkId, coverage }) => [chunkId, coverage]));
  const cosines = new Map(one.near.near.map(({ chunkId, cosine }) => [chunkId, cosine]));
  return ranked(one, way)
    .slice(0, 10)
    .map((id, place) => {
      const cosine = cosines.get(id);
      return {
        rank: place + 1,
        coverage: coverages.get(id) ?? 0,
        nearness: cosine === undefined ? FAR : Math.max(FAR, nearnessOf(cosine, one.near.background)),
        isRelevant: sectionOf.get(id) === one.question.answer,
      };
    });
}

function fitted(way: "full text" | "fused"): string {
  const examples: Example[] = asked
    .filter(({ question }) => question.isDevelopment)
    .flatMap((one) => labelled(one, way))
    .map(({ coverage, nearness, rank, isRelevant }) => ({
      features: way === "fused" ? [1, coverage, 1 / rank, nearness] : [1, coverage, 1 / rank],
      isRelevant,
    }));
  return fitLogistic(examples)
    .map((weight) => weight.toFixed(2))
    .join(", ");
}

function calibration(of: readonly Asked[]): string {
  const scored = of
    .flatMap((one) => labelled(one, "fused"))
    .map(({ coverage, nearness, rank, isRelevant }) => ({
      score: relevanceOf({ coverage, nearness, rank }),
      isRelevant,
    }));
  const bounds = [0, 0.1, 0.25, 0.5, 0.75, 1.01];
  return bounds
    .slice(0, -1)
    .map((from, place) => {
      const to = bounds[place + 1] ?? 1;
      const within = scored.filter(({ score }) => score >= from && score < to);
      const mean = share(within.map(({ score }) => score));
      const right = share(within.map(({ isRelevant }) => (isRelevant ? 1 : 0)));
      return `| ${String(from)} to ${String(Math.min(1, to))} | ${String(within.length)} | ${mean} | ${right} |`;
    })
    .join("\n");
}

console.log(`weights of full text alone (constant, coverage, place): ${fitted("full text")}`);
console.log(`weights of both (constant, coverage, place, nearness): ${fitted("fused")}`);
for (const one of asked.filter((each) => each.question.isDevelopment && placeOf(each, "fused") === 0))
  console.log(`not found: ${one.question.text} (${one.question.answer})`);

const test = asked.filter(({ question }) => !question.isDevelopment);
const found = openCorpusSearch({
  db,
  vectors,
  embedder,
  reranker: null,
  modelFor: () => Promise.resolve(model),
  queriesPerMinute: 0,
  log: console,
  nowMs: () => performance.now(),
});
const times: number[] = [];
for (const { question } of asked) {
  const startedMs = performance.now();
  const more = { maxResults: 5, minimumScore: 1e-9, callId: null };
  await found({ ...corpus, ...more, question: question.text }, never);
  times.push(performance.now() - startedMs);
}
const middle = times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;

await publish(
  "retrieval",
  `${String(order.length)} chunks of ${String(documents.size)} documents; ${String(questions.length)} questions, of which \
the ${String(test.length)} of the table were used for nothing else. Which these are is decided by a hash of their \
answer. Sections are counted, not chunks. The intervals are of 2,000 draws of the sections (bootstrap). A whole search \
takes ${middle.toFixed(0)} ms (median).

| Questions | Number | Found by | recall@5 (95 %) | nDCG@10 (95 %) |
| --- | --- | --- | --- | --- |
${rowsOf("all", test)}
${rowsOf(
  "in the words of the section",
  test.filter(({ question }) => !question.isParaphrase),
)}
${rowsOf(
  "in other words",
  test.filter(({ question }) => question.isParaphrase),
)}

Scores of the first ten hits of each of these questions:

| Score | Hits | Mean score | Share that answers |
| --- | --- | --- | --- |
${calibration(test)}`,
);
await vectors.close();
await store.close();

import { afterAll, beforeAll, expect, it } from "vitest";
import type { CorpusAnswer, CorpusHit, CorpusQuestion } from "../../corpora/search-types.ts";
import { MAX_OPEN_QUESTIONS, noteOpenQuestion } from "../../store/corpora/search/open-questions.ts";
import { describeOnBothDatabases } from "../../store/testing/databases.ts";
import { type Client, newClient, openTestServer } from "../testing/http-fixture.ts";
import type { HttpServer } from "../deps.ts";

const ID = "0e9f3a52-5b4e-4b57-9d0c-8e8b0a3c9f11";

const hit: CorpusHit = {
  chunkId: 1,
  text: "Breakfast is served at seven.",
  headingPath: ["Meals"],
  page: 2,
  sourceId: ID,
  documentId: ID,
  url: "https://hotel.example/rules",
  title: null,
  score: 0.75,
  textRank: 1,
  vectorRank: null,
  fusedRank: null,
};

const found = (...hits: CorpusHit[]): CorpusAnswer => ({
  kind: "found",
  hits,
  notes: { vectors: null, reranker: null },
});

describeOnBothDatabases("queries of corpora", (current) => {
  let server: HttpServer;
  let client: Client;
  let corpusUrl = "";
  let corpusId = "";
  let answer: CorpusAnswer = found();
  const asked: CorpusQuestion[] = [];
  beforeAll(async () => {
    const searchCorpus = async (question: CorpusQuestion) => {
      asked.push(question);
      return answer;
    };
    server = await openTestServer(current(), { searchCorpus });
    client = await newClient(server, current().db);
    corpusId = String((await client.post("/api/corpora", { name: "A" })).json["corpusId"]);
    corpusUrl = `/api/corpora/${corpusId}`;
  });
  afterAll(async () => server.close());

  it("answer with passages and where they are from", async () => {
    answer = found(hit);
    const { status, json } = await client.post(`${corpusUrl}/query`, { query: "breakfast" });
    expect([status, json]).toEqual([
      200,
      [
        {
          content: "Breakfast is served at seven.",
          score: 0.75,
          citation: {
            sourceId: ID,
            documentId: ID,
            publicUrl: "https://hotel.example/rules",
            title: null,
          },
        },
      ],
    ]);
    expect(asked.at(-1)).toMatchObject({ corpusId, question: "breakfast", maxResults: 5, callId: null });
    await client.post(`${corpusUrl}/query`, { query: "x", maxResults: 20 });
    expect(asked.at(-1)).toMatchObject({ maxResults: 20 });
  });

  it("explain how each passage was found where this is wanted", async () => {
    answer = found(hit);
    const { json } = await client.post(`${corpusUrl}/query`, { query: "breakfast", explain: true });
    expect(json).toMatchObject([
      { ranking: { textRank: 1, vectorRank: null, fusedRank: null, headingPath: ["Meals"], page: 2 } },
    ]);
  });

  it.each<[CorpusAnswer, number, string]>([
    [{ kind: "no_corpus" }, 404, "not_found"],
    [{ kind: "initializing" }, 409, "conflict"],
    [
      { kind: "too_many", reason: "The account may search 1 time a minute.", retryAfterMs: 1_500 },
      429,
      "rate_limited",
    ],
  ])("are refused with %j", async (refusal, status, code) => {
    answer = refusal;
    const response = await client.post(`${corpusUrl}/query`, { query: "x" });
    expect([response.status, response.json["code"]]).toEqual([status, code]);
    expect(response.headers["retry-after"]).toBe(status === 429 ? "2" : undefined);
  });

  it.each([
    {},
    { query: "" },
    { query: "x".repeat(10_001) },
    { query: "x", maxResults: 0 },
    { query: "x", maxResults: 21 },
  ])("are refused with the body %j", async (body) => {
    expect((await client.post(`${corpusUrl}/query`, body)).status).toBe(400);
  });

  it("leave the questions without an answer, bounded in number, until they are deleted", async () => {
    const { db } = current();
    const { accountId } = asked[0] ?? { accountId: "" };
    for (let number = 0; number < MAX_OPEN_QUESTIONS + 3; number += 1) {
      const question = `Question ${String(number)}?`;
      await noteOpenQuestion(db, { accountId, corpusId, question, bestScore: 0.125, callId: null });
    }
    const list = `${corpusUrl}/open_questions`;
    const { json } = await client.get(`${list}?pageSize=1`);
    expect(json).toMatchObject({
      total: MAX_OPEN_QUESTIONS,
      results: [{ question: `Question ${String(MAX_OPEN_QUESTIONS + 2)}?`, asked: 1, bestScore: 0.125 }],
    });
    const stranger = await newClient(server, db);
    expect((await stranger.get(list)).status).toBe(404);
    expect((await stranger.delete(list)).status).toBe(404);
    expect((await client.delete(list)).status).toBe(204);
    expect((await client.get(list)).json).toMatchObject({ total: 0, results: [] });
  });
});

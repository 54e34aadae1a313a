import { expect, it } from "vitest";
import { loadConfig } from "../config.ts";

const EMBEDDINGS = { EMBEDDINGS_BASE_URL: "http://127.0.0.1:8080/v1/", EMBEDDINGS_MODEL: "small" };

it("has no models unless they are named", () => {
  expect(loadConfig({}).retrieval).toEqual({ embeddings: null, reranker: null, queriesPerMinute: 600 });
  // The shared key is not a reason to send documents anywhere.
  expect(loadConfig({ OPENAI_API_KEY: "sk-1" }).retrieval.embeddings).toBeNull();
});

it("takes a server, its model, its key and the prefixes as they are", () => {
  const { retrieval } = loadConfig({
    ...EMBEDDINGS,
    EMBEDDINGS_API_KEY: "k",
    EMBEDDINGS_QUERY_PREFIX: "query: ",
    RERANK_BASE_URL: "http://127.0.0.1:8081",
    RERANK_MODEL: "ranks",
    CORPUS_QUERIES_PER_MINUTE: "0",
  });
  expect(retrieval).toEqual({
    embeddings: {
      baseUrl: "http://127.0.0.1:8080/v1",
      model: "small",
      apiKey: "k",
      documentPrefix: "",
      queryPrefix: "query: ",
    },
    reranker: { baseUrl: "http://127.0.0.1:8081", model: "ranks", apiKey: null },
    queriesPerMinute: 0,
  });
});

it.each([
  [{ EMBEDDINGS_MODEL: "small" }, "EMBEDDINGS_BASE_URL is required together with EMBEDDINGS_MODEL"],
  [
    { EMBEDDINGS_BASE_URL: "http://127.0.0.1/v1" },
    "EMBEDDINGS_MODEL is required together with EMBEDDINGS_BASE_URL",
  ],
  [{ RERANK_API_KEY: "k" }, "RERANK_BASE_URL is required together with RERANK_API_KEY"],
  [{ ...EMBEDDINGS, EMBEDDINGS_API_KEY: "two words" }, "EMBEDDINGS_API_KEY must be printable ASCII"],
  [{ ...EMBEDDINGS, EMBEDDINGS_BASE_URL: "localhost" }, "EMBEDDINGS_BASE_URL must be an http or https URL"],
  [{ CORPUS_QUERIES_PER_MINUTE: "-1" }, "CORPUS_QUERIES_PER_MINUTE must be a whole number"],
])("refuses %j", (env, sentence) => {
  expect(() => loadConfig(env)).toThrow(sentence);
});

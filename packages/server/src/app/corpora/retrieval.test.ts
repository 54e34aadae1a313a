import { expect, it } from "vitest";
import { retrievalLine } from "./retrieval.ts";

const embeddings = {
  baseUrl: "http://127.0.0.1:8080/v1",
  model: "small",
  apiKey: "key-0123456789",
  documentPrefix: "",
  queryPrefix: "",
};
const reranker = { baseUrl: "http://127.0.0.1:8081/v1", model: "ranks", apiKey: "key-9876543210" };
const pgvector = { kind: "pgvector", version: "0.8.1" } as const;
const scan = { kind: "scan", reason: "this PostgreSQL has no pgvector" } as const;

it.each([
  [
    { embeddings: null, reranker: null },
    pgvector,
    "corpora: full text alone; set EMBEDDINGS_BASE_URL and EMBEDDINGS_MODEL to search by meaning as well",
  ],
  [
    { embeddings, reranker: null },
    pgvector,
    "corpora: full text, and vectors of small at http://127.0.0.1:8080/v1 with the index of pgvector 0.8.1",
  ],
  [
    { embeddings, reranker },
    scan,
    "corpora: full text, and vectors of small at http://127.0.0.1:8080/v1 by comparing all vectors of a corpus, because " +
      "this PostgreSQL has no pgvector; ranked again by ranks at http://127.0.0.1:8081/v1",
  ],
])("the start says how corpora are searched: %#", (settings, support, line) => {
  expect(retrievalLine(settings, { support })).toBe(line);
});

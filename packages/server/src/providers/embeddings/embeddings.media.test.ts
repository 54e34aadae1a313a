import { afterEach, describe, expect, it } from "vitest";
import { describeEmbedderConformance } from "../../ports/corpora/testing/embedder-conformance.ts";
import { openFakeEmbedder } from "../../ports/corpora/testing/fake-embedder.ts";
import { openFakeReranker } from "../../ports/corpora/testing/fake-reranker.ts";
import { describeRerankerConformance } from "../../ports/corpora/testing/reranker-conformance.ts";
import { openLocalServer, type LocalHandler, type LocalServer } from "../../ports/testing/local-server.ts";
import { openHttpReranker } from "./http-reranker.ts";
import { openOpenAiEmbedder, type OpenAiEmbedderOptions } from "./openai-embedder.ts";

const KEY = "key-0123456789";
const never = new AbortController().signal;
const servers: LocalServer[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function serve(handler: LocalHandler): Promise<LocalServer> {
  const server = await openLocalServer(handler);
  servers.push(server);
  return server;
}

const words = openFakeEmbedder({ maxTexts: 1_000 });

/** A server of the protocol: its vectors are those of the words, longer than 1 and in another order. */
const embeddings: LocalHandler = async ({ body }, response) => {
  const { input } = JSON.parse(body) as { readonly input: string[] };
  const vectors = await words.embed(input, "document", never);
  const data = vectors.map((vector, index) => ({
    object: "embedding",
    index,
    embedding: Array.from(vector, (number) => number * 3),
  }));
  response.end(JSON.stringify({ object: "list", data: data.toReversed(), model: "m" }));
};

/** It quotes what it was sent. */
const refuse =
  (status: number): LocalHandler =>
  ({ body, headers }, response) => {
    response.writeHead(status, { "retry-after": "0" });
    response.end(JSON.stringify({ error: { message: `${body} ${String(headers.authorization)}` } }));
  };

async function embedderFor(handler: LocalHandler, changes: Partial<OpenAiEmbedderOptions> = {}) {
  const { baseUrl } = await serve(handler);
  return openOpenAiEmbedder({ baseUrl, apiKey: KEY, model: "m", ...changes });
}

describeEmbedderConformance("an OpenAI-compatible server", {
  open: () => embedderFor(embeddings),
  openFailing: () => embedderFor(refuse(400)),
  secrets: [KEY],
});

const ranks: LocalHandler = async ({ body }, response) => {
  const { query, documents } = JSON.parse(body) as { readonly query: string; readonly documents: string[] };
  const scores = await openFakeReranker().rerank(query, documents, never);
  const results = scores.map((score, index) => ({ index, relevance_score: score }));
  response.end(
    JSON.stringify({ results: results.toSorted((a, b) => b.relevance_score - a.relevance_score) }),
  );
};

async function rerankerFor(handler: LocalHandler) {
  const { baseUrl } = await serve(handler);
  return openHttpReranker({ baseUrl, apiKey: KEY, model: "r" });
}

describeRerankerConformance("a reranking server", {
  open: () => rerankerFor(ranks),
  openFailing: () => rerankerFor(refuse(500)),
  secrets: [KEY],
});

describe("an OpenAI-compatible embedder", () => {
  it("sends the key, the model and the prefix of the kind to the path of the protocol", async () => {
    const server = await serve(embeddings);
    const embedder = openOpenAiEmbedder({
      baseUrl: `${server.baseUrl}/`,
      apiKey: KEY,
      model: "m",
      documentPrefix: "passage: ",
      queryPrefix: "query: ",
    });
    await embedder.embed(["a"], "document", never);
    await embedder.embed(["b"], "query", never, "other");
    expect(server.requests.map(({ path }) => path)).toEqual(["/v1/embeddings", "/v1/embeddings"]);
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(server.requests.map(({ body }) => JSON.parse(body) as object)).toEqual([
      { model: "m", input: ["passage: a"], encoding_format: "float" },
      { model: "other", input: ["query: b"], encoding_format: "float" },
    ]);
    expect(embedder.basis).not.toContain(KEY);
  });

  it.each([429, 500, 503])("tries again after %i for documents, and not for a question", async (status) => {
    let failures = 0;
    const server = await serve((request, response) => {
      if (failures === 1) return embeddings(request, response);
      failures += 1;
      return refuse(status)(request, response);
    });
    const embedder = openOpenAiEmbedder({ baseUrl: server.baseUrl, apiKey: KEY, model: "m" });
    expect(await embedder.embed(["a"], "document", never)).toHaveLength(1);
    expect(server.requests).toHaveLength(2);
    failures = 0;
    await expect(embedder.embed(["a"], "query", never)).rejects.toThrow(String(status));
    expect(server.requests).toHaveLength(3);
  });

  it("does not try a wrong key again, and says that it is permanent", async () => {
    const server = await serve(refuse(401));
    const embedder = openOpenAiEmbedder({ baseUrl: server.baseUrl, apiKey: KEY, model: "m" });
    await expect(embedder.embed(["a"], "document", never)).rejects.toMatchObject({ isPermanent: true });
    expect(server.requests).toHaveLength(1);
  });

  it.each<[string, unknown]>([
    ["no JSON", "<html>"],
    ["an error with status 200", { error: { message: "overloaded" } }],
    ["too few vectors", { data: [{ index: 0, embedding: [1] }] }],
    [
      "an index twice",
      {
        data: [
          { index: 0, embedding: [1] },
          { index: 0, embedding: [1] },
        ],
      },
    ],
    [
      "different sizes",
      {
        data: [
          { index: 0, embedding: [1] },
          { index: 1, embedding: [1, 2] },
        ],
      },
    ],
    [
      "no dimensions",
      {
        data: [
          { index: 0, embedding: [] },
          { index: 1, embedding: [] },
        ],
      },
    ],
    ["a million entries", { data: Array.from({ length: 1_000_000 }, () => 0) }],
    [
      "no numbers",
      {
        data: [
          { index: 0, embedding: ["a"] },
          { index: 1, embedding: [null] },
        ],
      },
    ],
    [
      "too many dimensions",
      { data: [0, 1].map((index) => ({ index, embedding: Array.from({ length: 4_001 }, () => 1) })) },
    ],
  ])("refuses an answer with %s", async (_what, answer) => {
    const embedder = await embedderFor((_request, response) => {
      response.end(typeof answer === "string" ? answer : JSON.stringify(answer));
    });
    await expect(embedder.embed(["a", "b"], "query", never)).rejects.toMatchObject({
      type: "invalid_answer",
    });
  });

  it("tells a text whose vector is zero from an answer that is not valid", async () => {
    const embedder = await embedderFor((_request, response) => {
      response.end(JSON.stringify({ data: [0, 1].map((index) => ({ index, embedding: [index, 0] })) }));
    });
    await expect(embedder.embed(["a", "b"], "query", never)).rejects.toMatchObject({ type: "no_direction" });
  });

  it("gives a server up that never answers, and one that sends without end", async () => {
    const timeoutsMs = { document: 50, query: 50 };
    const silent = await embedderFor(() => undefined, { timeoutsMs });
    await expect(silent.embed(["a"], "query", never)).rejects.toMatchObject({ type: "timeout" });
    const endless = await embedderFor((_request, response) => {
      const piece = Buffer.alloc(1_048_576, 32);
      const send = (): void => {
        while (!response.destroyed && response.write(piece)) continue;
      };
      response.on("drain", send);
      send();
    });
    await expect(endless.embed(["a"], "query", never)).rejects.toThrow("longer than");
  });

  it("does not follow a redirect with its key", async () => {
    const embedder = await embedderFor((_request, response) => {
      response.writeHead(307, { location: "http://127.0.0.1:1/v1/embeddings" });
      response.end();
    });
    await expect(embedder.embed(["a"], "query", never)).rejects.toThrow("cannot be reached");
  });

  it.each([
    ["ftp://127.0.0.1/v1", KEY, "m", "not an http"],
    ["http://user:pass@127.0.0.1/v1", KEY, "m", "password"],
    ["http://127.0.0.1/v1", "two words", "m", "API key"],
    ["http://127.0.0.1/v1", KEY, " ", "no name"],
  ])("refuses the settings %s, %s, %j", (baseUrl, apiKey, model, why) => {
    expect(() => openOpenAiEmbedder({ baseUrl, apiKey, model })).toThrow(why);
  });
});

describe("a reranker", () => {
  it.each<[string, LocalHandler, number[]]>([
    [
      "a list of scores",
      (_request, response) => void response.end('[{"index":1,"score":0.9},{"index":0,"score":0.1}]'),
      [0.1, 0.9],
    ],
    [
      "logarithms of odds",
      (_request, response) =>
        void response.end('{"results":[{"index":0,"relevance_score":-4},{"index":1,"relevance_score":4}]}'),
      [0.018, 0.982],
    ],
  ])("takes %s", async (_what, handler, wanted) => {
    const reranker = await rerankerFor(handler);
    const scores = await reranker.rerank("q", ["a", "b"], never);
    expect(scores.map((score) => Number(score.toFixed(3)))).toEqual(wanted);
  });

  it("refuses an answer without some of the scores", async () => {
    const reranker = await rerankerFor((_request, response) => {
      response.end('{"results":[{"index":1,"relevance_score":0.5}]}');
    });
    await expect(reranker.rerank("q", ["a", "b"], never)).rejects.toMatchObject({ type: "invalid_answer" });
  });
});

/** What one account has in its corpora, for another one that knows all of its ids. */

import { corpusQueryRoutes, corpusRoutes } from "@parley/schema";
import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { beforeAll, expect, it } from "vitest";
import { openCorpusSearch } from "../../corpora/search-corpus.ts";
import { openVectorStore } from "../../store/corpora/vectors/vector-store.ts";
import { loadCorpus, type LoadedCorpus } from "../../store/testing/corpora.ts";
import { describeOnBothDatabases } from "../../store/testing/databases.ts";
import { createFakeCorpusFiles } from "../../ports/corpora/testing/fake-corpus-files.ts";
import type { CorpusActions, HttpServer } from "../deps.ts";
import { corpusSamples } from "../testing/samples/corpora.ts";
import { type Client, newClient, openTestServer, send } from "../testing/http-fixture.ts";

const ROUTES = Object.entries({ ...corpusRoutes, ...corpusQueryRoutes }).filter(([, { path }]) =>
  path.includes("{corpus_id}"),
);

type Ids = Pick<LoadedCorpus, "corpusId" | "sourceId"> & { readonly documentId: string };

describeOnBothDatabases("corpora of another account", (current) => {
  let server: HttpServer;
  let owner: Client;
  let stranger: Client;
  let theirs: Ids;
  let own: Ids;

  beforeAll(async () => {
    const { db } = current();
    const files = createFakeCorpusFiles();
    const corpora: CorpusActions = {
      limits: { documentsPerAccount: 100, bytesPerAccount: 1_000 },
      filePlace: { nodeId: "node-a" },
      files,
      queueLoad: () => Promise.resolve(),
      wakeLoads: () => undefined,
    };
    const searchCorpus = openCorpusSearch({
      db,
      vectors: await openVectorStore(db, () => undefined),
      embedder: null,
      reranker: null,
      modelFor: () => Promise.resolve(null),
      queriesPerMinute: 0,
      log: { warn: () => undefined },
      nowMs: () => performance.now(),
    });
    server = await openTestServer(current(), { corpora, searchCorpus });
    [owner, stranger] = [await newClient(server, db), await newClient(server, db)];
    const load = async (client: Client): Promise<Ids> => {
      const loaded = await loadCorpus(db, client.accountId, [{ chunks: ["Breakfast is at seven."] }]);
      const spec = JSON.stringify({ documentIds: loaded.documentIds });
      await sql`update corpus_sources set spec = ${spec}::json where id = ${loaded.sourceId}`.execute(
        db.query,
      );
      return { ...loaded, documentId: loaded.documentIds[0] ?? "" };
    };
    [theirs, own] = [await load(owner), await load(stranger)];
  });

  const pathOf = (path: string, { corpusId, sourceId, documentId }: Ids): string =>
    path
      .replace("{corpus_id}", corpusId)
      .replace("{source_id}", sourceId)
      .replace("{document_id}", documentId);
  const ask = async (client: Client, [name, { method, path }]: (typeof ROUTES)[number], ids: Ids) => {
    const body = corpusSamples.bodies?.[name as keyof typeof corpusSamples.bodies];
    return send(server, method, pathOf(path, ids), {
      headers: { "x-api-key": client.key },
      ...(body === undefined ? (method === "GET" || method === "DELETE" ? {} : { body: {} }) : { body }),
    });
  };
  const everythingOf = async (client: Client, ids: Ids): Promise<unknown[]> => {
    const reads = ROUTES.filter(([, { method }]) => method === "GET");
    const answers = [];
    for (const route of reads) answers.push(await ask(client, route, ids));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    return answers.map(({ json }) => json);
  };

  it("is neither shown nor changed by any route, also below a corpus of one's own", async () => {
    const before = await everythingOf(owner, theirs);
    expect(JSON.stringify(before)).toContain("Breakfast is at seven.");
    for (const route of ROUTES) {
      const mixed = [
        theirs,
        ...(route[1].path.includes("{source_id}") ? [{ ...theirs, corpusId: own.corpusId }] : []),
      ];
      if (route[1].path.includes("{document_id}"))
        mixed.push({ ...theirs, corpusId: own.corpusId, sourceId: own.sourceId });
      for (const ids of mixed) {
        const { status, json } = await ask(stranger, route, ids);
        expect([route[0], status, json["code"]]).toEqual([route[0], 404, "not_found"]);
        expect(JSON.stringify(json)).not.toContain("Breakfast");
      }
    }
    expect(await everythingOf(owner, theirs)).toEqual(before);
  });

  it("is found by no query, while the same query finds one's own", async () => {
    const query = (client: Client, corpusId: string) =>
      client.post(`/api/corpora/${corpusId}/query`, { query: "breakfast" });
    expect((await query(stranger, theirs.corpusId)).status).toBe(404);
    expect((await query(stranger, own.corpusId)).json).toMatchObject([
      { citation: { documentId: own.documentId } },
    ]);
  });

  it("has uploads that no source of another account takes, and addresses that open nothing else", async () => {
    const made = await owner.post(`/api/corpora/${theirs.corpusId}/uploads`, { mimeType: "text/plain" });
    const { pathname } = new URL(String(made.json["presignedUrl"]));
    const put = (headers: Record<string, string>, method = "PUT") =>
      server.inject({
        method,
        url: pathname,
        headers: { "content-type": "text/plain", ...headers },
        ...(method === "PUT" ? { body: Buffer.from("One.") } : {}),
      });
    // The address is the permission: a key beside it, of whatever account, changes nothing.
    expect((await put({ "x-api-key": stranger.key })).status).toBe(200);
    expect((await put({ "x-api-key": stranger.key }, "GET")).status).toBe(405);
    const upload = { upload: { documentIds: [String(made.json["documentId"])] } };
    for (const body of [upload, { advanced: { documents: [{ documentId: made.json["documentId"] }] } }]) {
      const refused = await stranger.post(`/api/corpora/${own.corpusId}/sources`, body);
      expect([refused.status, JSON.stringify(refused.json["errors"])]).toEqual([
        400,
        expect.stringContaining("is not a document of this corpus that this source can use") as string,
      ]);
    }
    const patched = await stranger.patch(`/api/corpora/${own.corpusId}/sources/${own.sourceId}`, upload);
    expect(patched.status).toBe(400);
    expect((await owner.post(`/api/corpora/${theirs.corpusId}/sources`, upload)).status).toBe(201);
    expect((await put({})).status).toBe(409);
    expect((await stranger.get(`/api/corpora/${randomUUID()}`)).status).toBe(404);
  });
});

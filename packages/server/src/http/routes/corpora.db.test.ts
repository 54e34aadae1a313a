import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { beforeEach, expect, it } from "vitest";
import { describeOnBothDatabases } from "../../store/testing/databases.ts";
import type { HttpServer } from "../deps.ts";
import { type Client, newClient, openTestServer, type Reply } from "../testing/http-fixture.ts";

type Json = Record<string, unknown>;

const crawl = { startUrls: ["https://hotel.example/", "http://inn.example/a?b"], maxDepth: 2 };
const empty = { status: "CORPUS_STATUS_EMPTY", lastUpdated: null, numChunks: 0, numDocs: 0, numVectors: 0 };
const initializing = { ...empty, status: "CORPUS_STATUS_INITIALIZING" };
const waiting = { status: "SOURCE_STATUS_INITIALIZING", lastUpdated: null, numDocs: 0 };

describeOnBothDatabases("corpora", (current) => {
  let server: HttpServer;
  let client: Client;
  let corpusUrl: string;
  let sourcesUrl: string;

  beforeEach(async () => {
    server = await openTestServer(current(), {
      refusedTarget: (target) => (target.includes("127.0.0.1") ? "address not allowed" : null),
    });
    client = await newClient(server, current().db);
    const made = await client.post("/api/corpora", { name: "Rules", description: "Of the house." });
    corpusUrl = `/api/corpora/${String(made.json["corpusId"])}`;
    sourcesUrl = `${corpusUrl}/sources`;
  });

  const errorsOf = ({ json }: Reply): unknown =>
    (json["errors"] as { field: string; message: string }[] | undefined)?.map(
      ({ field, message }) => `${field}: ${message}`,
    );
  const addSource = async (body: object = { crawl }): Promise<Json> => {
    const { status, json } = await client.post(sourcesUrl, body);
    expect([status, json["errors"]]).toEqual([201, undefined]);
    return json;
  };
  /** A document as loading will store it. */
  const addDocument = async (sourceId: string | null): Promise<string> => {
    const id = randomUUID();
    await sql`
      insert into corpus_documents (id, corpus_id, account_id, source_id, mime_type, metadata, size_bytes,
        chunks_count, vectors_count, created_at)
      values (${id}, ${corpusUrl.slice(-36)}, ${client.accountId}, ${sourceId}, 'text/plain', '{"title": "T"}',
        9007199254740991, 2, 3, ${new Date()})`.execute(current().db.query);
    return id;
  };

  it("are created, read, listed, changed and deleted", async () => {
    const made = (await client.get(corpusUrl)).json;
    expect(made).toMatchObject({ name: "Rules", description: "Of the house.", stats: empty });
    const unnamed = await client.post("/api/corpora");
    const unnamedId = String(unnamed.json["corpusId"]);
    expect([unnamed.status, unnamed.headers["location"]]).toEqual([
      201,
      `https://voice.example/api/corpora/${unnamedId}`,
    ]);
    expect(unnamed.json).toMatchObject({ name: null, description: null });
    expect((await client.get("/api/corpora")).json["results"]).toEqual([unnamed.json, made]);
    expect((await client.patch(corpusUrl, made)).json).toEqual(made);
    expect((await client.patch(corpusUrl, { name: "Other" })).json).toEqual({ ...made, name: "Other" });
    expect((await client.patch(corpusUrl, { description: null })).json).toEqual({
      ...made,
      name: "Other",
      description: null,
    });
    expect((await client.put(corpusUrl, { description: "D" })).json).toMatchObject({
      name: null,
      description: "D",
    });
    const { sourceId } = await addSource();
    expect((await client.delete(corpusUrl)).status).toBe(204);
    for (const reply of [
      await client.get(corpusUrl),
      await client.put(corpusUrl),
      await client.patch(corpusUrl),
      await client.delete(corpusUrl),
      await client.get(sourcesUrl),
      await client.post(sourcesUrl, { crawl }),
      await client.get(`${sourcesUrl}/${String(sourceId)}`),
    ]) {
      expect(reply.status).toBe(404);
    }
  });

  it("are refused with names that are too long or empty", async () => {
    const body = { name: "x".repeat(201), description: "y".repeat(2001), colour: 1 };
    const problems = [
      "colour: is not a known field",
      "name: must have at most 200 characters",
      "description: must have at most 2000 characters",
    ];
    expect(errorsOf(await client.post("/api/corpora", body))).toEqual(problems);
    expect(errorsOf(await client.patch(corpusUrl, body))).toEqual(problems);
    expect(errorsOf(await client.post("/api/corpora", { name: "" }))).toEqual(["name: must not be empty"]);
    const control = ["name: must not contain control characters"];
    for (const at of ["/api/corpora", sourcesUrl]) {
      const source = at === sourcesUrl ? { loadSpec: crawl } : {};
      expect(errorsOf(await client.post(at, { ...source, name: "  " }))).toEqual(["name: must not be blank"]);
      expect(errorsOf(await client.post(at, { ...source, name: "a\u0007" }))).toEqual(control);
    }
    expect(errorsOf(await client.patch(corpusUrl, { name: "\n a" }))).toEqual(control);
  });

  it("keep sources, which wait to be loaded", async () => {
    const made = await client.post(sourcesUrl, { name: "Pages", loadSpec: crawl });
    const { sourceId } = made.json;
    const url = `${sourcesUrl}/${String(sourceId)}`;
    expect(made.headers["location"]).toBe(`https://voice.example${url}`);
    expect(made.json).toEqual({
      corpusId: corpusUrl.slice(-36),
      sourceId,
      created: expect.any(String) as string,
      name: "Pages",
      description: null,
      stats: waiting,
      crawl,
    });
    expect((await client.get(url)).json).toEqual(made.json);
    const second = await addSource();
    expect((await client.get(sourcesUrl)).json["results"]).toEqual([second, made.json]);
    expect((await client.get(corpusUrl)).json["stats"]).toEqual(initializing);
    expect((await client.patch(url, made.json)).json).toEqual(made.json);
    expect((await client.put(url, made.json)).json).toEqual(made.json);
    const other = {
      startUrls: ["https://other.example/"],
      relevantDocumentTypes: { exclude: { mimeTypes: ["image/*"] } },
    };
    expect((await client.patch(url, { crawl: other, name: null })).json).toEqual({
      ...made.json,
      name: null,
      crawl: other,
    });
    expect((await client.patch(url, { loadSpec: crawl })).json).toMatchObject({ crawl });
    expect((await client.put(url, { crawl: other })).json).toMatchObject({ name: null, crawl: other });
    expect((await client.delete(url)).status).toBe(204);
    expect((await client.get(url)).status).toBe(404);
    const elsewhere = await client.post("/api/corpora");
    const wrong = `/api/corpora/${String(elsewhere.json["corpusId"])}/sources/${String(second["sourceId"])}`;
    expect([(await client.get(wrong)).status, (await client.delete(wrong)).status]).toEqual([404, 404]);
  });

  it("have at most 20 sources", async () => {
    for (let count = 0; count < 20; count += 1) await addSource();
    const reply = await client.post(sourcesUrl, { crawl });
    expect([reply.status, errorsOf(reply)]).toEqual([
      400,
      [": is one source too many: a corpus has at most 20"],
    ]);
  });

  it.each([
    [{}, [": must have exactly one of crawl, upload, advanced, loadSpec"]],
    [
      { crawl, loadSpec: crawl },
      [": must have exactly one of crawl, upload, advanced, loadSpec; it has crawl and loadSpec"],
    ],
    [{ crawl: { startUrls: [] } }, ["crawl.startUrls: must have at least 1 entry"]],
    [
      { crawl: { startUrls: ["ftp://a.example"] } },
      ["crawl.startUrls.0: must be a URL that begins with http:// or https://"],
    ],
    [
      { loadSpec: { startUrls: ["https://a.example", "http://127.0.0.1/"] } },
      ["loadSpec.startUrls.1: is not allowed: address not allowed"],
    ],
    [
      { crawl: { ...crawl, maxDepth: 21, maxDocuments: 201, maxDocumentBytes: 10_485_761 } },
      [
        "crawl.maxDepth: must be a whole number from 1 to 20",
        "crawl.maxDocuments: must be a whole number from 1 to 200",
        "crawl.maxDocumentBytes: must be a whole number from 1 to 10485760",
      ],
    ],
    [
      { crawl: { ...crawl, relevantDocumentTypes: { include: { mimeTypes: ["html"] } } } },
      ["crawl.relevantDocumentTypes.include.mimeTypes.0: must be a type such as text/html"],
    ],
    [
      { upload: { documentIds: [randomUUID()] } },
      ["upload.documentIds.0: is not a document of this corpus that this source can use"],
    ],
    [
      { advanced: { documents: [{ documentId: randomUUID(), exampleQueries: ["When?"] }] } },
      ["advanced.documents.0.documentId: is not a document of this corpus that this source can use"],
    ],
  ])("have no source %j", async (body, problems) => {
    expect(errorsOf(await client.post(sourcesUrl, body))).toEqual(problems);
    expect((await client.get(sourcesUrl)).json["total"]).toBe(0);
  });

  it("keep the kind of a source", async () => {
    const url = `${sourcesUrl}/${String((await addSource())["sourceId"])}`;
    const upload = { documentIds: [randomUUID()] };
    const problem = ["upload: must not be given: the source has crawl, and keeps its kind"];
    expect(errorsOf(await client.patch(url, { upload }))).toEqual(problem);
    expect(errorsOf(await client.put(url, { upload }))).toEqual(problem);
    expect(errorsOf(await client.patch(url, { crawl, upload }))).toEqual([
      ": must have at most one of crawl, upload, advanced",
    ]);
    expect(errorsOf(await client.patch(url, { crawl: null }))).toEqual(["crawl: must not be null"]);
  });

  it("count documents, each of one source", async () => {
    const [first, second] = [await addDocument(null), await addDocument(null)];
    const source = await addSource({ upload: { documentIds: [first, second] } });
    expect(source).toMatchObject({ stats: { ...waiting, numDocs: 2 } });
    const url = `${sourcesUrl}/${String(source["sourceId"])}`;
    expect(errorsOf(await client.post(sourcesUrl, { upload: { documentIds: [second] } }))).toEqual([
      "upload.documentIds.0: is not a document of this corpus that this source can use",
    ]);
    expect((await client.get(corpusUrl)).json["stats"]).toEqual({
      status: "CORPUS_STATUS_INITIALIZING",
      lastUpdated: null,
      numChunks: 4,
      numDocs: 2,
      numVectors: 6,
    });
    const document = {
      corpusId: corpusUrl.slice(-36),
      sourceId: source["sourceId"],
      documentId: second,
      created: expect.any(String) as string,
      mimeType: "text/plain",
      metadata: { title: "T" },
      sizeBytes: "9007199254740991",
    };
    expect((await client.get(`${url}/documents/${second}`)).json).toEqual(document);
    expect((await client.get(`${url}/documents`)).json).toMatchObject({ total: 2 });
    expect((await client.patch(url, { upload: { documentIds: [second] } })).json).toMatchObject({
      stats: { numDocs: 1 },
    });
    expect((await client.get(`${url}/documents`)).json["results"]).toEqual([document]);
    expect((await client.get(`${url}/documents/${first}`)).status).toBe(404);
    const loadedAt = new Date("2030-01-01T00:00:00.000Z");
    await sql`update corpus_sources set loaded_at = ${loadedAt}, loaded_generation = generation
      where id = ${source["sourceId"]}`.execute(current().db.query);
    const lastUpdated = loadedAt.toISOString();
    expect((await client.get(url)).json["stats"]).toEqual({
      status: "SOURCE_STATUS_READY",
      lastUpdated,
      numDocs: 1,
    });
    expect((await client.get(corpusUrl)).json["stats"]).toMatchObject({
      status: "CORPUS_STATUS_READY",
      lastUpdated,
    });
  });
});

import { sql } from "kysely";
import { beforeEach, expect, it } from "vitest";
import { createFakeCorpusFiles } from "../../ports/corpora/testing/fake-corpus-files.ts";
import { describeOnBothDatabases } from "../../store/testing/databases.ts";
import type { CorpusActions, HttpServer } from "../deps.ts";
import { type Client, newClient, openTestServer } from "../testing/http-fixture.ts";

const LIMITS = { documentsPerAccount: 3, bytesPerAccount: 100 };

describeOnBothDatabases("upload addresses", (current) => {
  let server: HttpServer;
  let client: Client;
  let uploadsUrl: string;
  let sourcesUrl: string;
  let queued: string[];
  let corpusUrl: string;
  /** What happens while a file is written. */
  let meanwhile: () => Promise<unknown>;
  const files = createFakeCorpusFiles();

  beforeEach(async () => {
    queued = [];
    meanwhile = () => Promise.resolve();
    const corpora: CorpusActions = {
      limits: LIMITS,
      filePlace: { nodeId: "node-a" },
      files: {
        remove: (...of) => files.remove(...of),
        write: async (...file) => {
          await meanwhile();
          await files.write(...file);
        },
      },
      queueLoad: (_tx, { sourceId }) => {
        queued.push(sourceId);
        return Promise.resolve();
      },
      wakeLoads: () => undefined,
    };
    server = await openTestServer(current(), { corpora });
    client = await newClient(server, current().db);
    const made = await client.post("/api/corpora", { name: "Rules" });
    corpusUrl = `/api/corpora/${String(made.json["corpusId"])}`;
    uploadsUrl = `${corpusUrl}/uploads`;
    sourcesUrl = `${corpusUrl}/sources`;
  });

  interface Address {
    readonly documentId: string;
    readonly path: string;
  }
  const address = async (body: object = { mimeType: "text/plain", fileName: "a.txt" }): Promise<Address> => {
    const { status, json } = await client.post(uploadsUrl, body);
    expect([status, json["errors"]]).toEqual([201, undefined]);
    const url = String(json["presignedUrl"]);
    expect(url).toMatch(/^https:\/\/voice\.example\/corpus_uploads\/[\w-]{54}$/);
    return { documentId: String(json["documentId"]), path: new URL(url).pathname };
  };
  const put = async (path: string, body: string, type = "text/plain") => {
    const headers = { "content-type": type };
    return (await server.inject({ method: "PUT", url: path, headers, body: Buffer.from(body) })).status;
  };

  it("accept a file of the type that was announced, without a key, until a source has it", async () => {
    const { documentId, path } = await address({ mimeType: "Text/Plain; charset=utf-8", fileName: "a.txt" });
    const source = { upload: { documentIds: [documentId] } };
    expect((await client.post(sourcesUrl, source)).status).toBe(400);
    expect(await put(path, "one", "application/pdf")).toBe(415);
    expect(await put(path, "")).toBe(400);
    expect(await put(path, "one")).toBe(200);
    expect(await put(path, "two")).toBe(200);
    expect(
      new TextDecoder().decode((await files.read(documentId, 9, new AbortController().signal)) ?? undefined),
    ).toBe("two");
    const made = await client.post(sourcesUrl, source);
    expect([made.status, queued]).toEqual([201, [made.json["sourceId"]]]);
    expect(await put(path, "three")).toBe(409);
    const url = `${sourcesUrl}/${String(made.json["sourceId"])}`;
    expect((await client.get(`${url}/documents/${documentId}`)).json).toMatchObject({
      mimeType: "text/plain",
      metadata: { title: "a.txt" },
      sizeBytes: "3",
    });
    await client.patch(url, {});
    expect(queued).toHaveLength(2);
  });

  it("are for one document, and for five minutes", async () => {
    const { documentId, path } = await address();
    expect(await put(`${path}x`, "one")).toBe(404);
    expect(await put(`${path.slice(0, -1)}${path.endsWith("A") ? "B" : "A"}`, "one")).toBe(404);
    await sql`update corpus_documents set upload_until = statement_timestamp() - interval '1 second'
      where id = ${documentId}`.execute(current().db.query);
    expect(await put(path, "one")).toBe(410);
  });

  it("exist for types that can be read", async () => {
    const refused = await client.post(uploadsUrl, { mimeType: "image/png" });
    expect([refused.status, refused.json["errors"]]).toEqual([
      400,
      [
        {
          field: "mimeType",
          message:
            "must be the type of a doc, docx, txt, md, ppt, pptx, pdf, epub, html, csv file, such as application/pdf",
        },
      ],
    ]);
    const stranger = await newClient(server, current().db);
    expect((await stranger.post(uploadsUrl, { mimeType: "text/plain" })).status).toBe(404);
  });

  it("end at the limits of the account", async () => {
    const addresses = [await address(), await address(), await address()];
    const fourth = await client.post(uploadsUrl, { mimeType: "text/plain" });
    expect([fourth.status, fourth.json["detail"]]).toEqual([
      409,
      "An account stores at most 3 documents in its corpora. Delete sources first.",
    ]);
    expect(await put(addresses[0]?.path ?? "", "x".repeat(60))).toBe(200);
    expect(await put(addresses[1]?.path ?? "", "x".repeat(60))).toBe(409);
    expect(await put(addresses[1]?.path ?? "", "x".repeat(40))).toBe(200);
  });

  it("count for the limit while their file is written, and leave no file of a corpus that is deleted then", async () => {
    const [first, second] = [await address(), await address()];
    meanwhile = async () => {
      meanwhile = () => Promise.resolve();
      expect(await put(second.path, "x".repeat(60))).toBe(409);
      expect((await client.delete(corpusUrl)).status).toBe(204);
    };
    expect(await put(first.path, "x".repeat(60))).toBe(409);
    expect(files.names()).not.toContain(first.documentId);
  });
});

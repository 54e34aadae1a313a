import { createHash, randomUUID } from "node:crypto";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { readAllowedTargets } from "../../net/address-filter.ts";
import { openGuardedClient } from "../../net/guarded-fetch.ts";
import { createFakeCorpusFiles } from "../../ports/corpora/testing/fake-corpus-files.ts";
import { createFakeDocumentReader } from "../../ports/corpora/testing/fake-document-reader.ts";
import { listChunks } from "../../store/corpora/chunks.ts";
import { removeDeletedChunks } from "../../store/corpora/chunks-to-remove.ts";
import { createCorpus, getCorpus } from "../../store/corpora/corpora.ts";
import {
  createSource,
  deleteSource,
  getSource,
  listDocuments,
  type NewSource,
  updateSource,
} from "../../store/corpora/corpus-sources.ts";
import { listLoadFailures } from "../../store/corpora/load-failures.ts";
import { claimLoad, listStalledLoads } from "../../store/corpora/loads.ts";
import { beginUpload, createUpload, finishUpload, sweepUnusedUploads } from "../../store/corpora/uploads.ts";
import { fixedTime } from "../../store/database/database-time.ts";
import { describeOnBothDatabases, newAccount } from "../../store/testing/databases.ts";
import { removeCorpusFiles } from "../../upkeep/corpora.ts";
import { loadSource, queueStalledLoads, type LoadSourceDeps } from "./load-source.ts";
import { openSite, type Site } from "./testing/site.ts";

const NODE = "node-a";
const LIMITS = { documentsPerAccount: 1_000, bytesPerAccount: 1_000_000 };
const never = new AbortController().signal;
const page = { limit: 100, after: null, direction: "forward" } as const;
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

describeOnBothDatabases("loads of sources", (current) => {
  let site: Site;
  let accountId: string;
  let corpusId: string;
  let changes: number;
  let sent: number;
  const files = createFakeCorpusFiles();

  beforeAll(async () => {
    site = await openSite();
  });
  afterAll(() => site.close());
  beforeEach(async () => {
    changes = 0;
    sent = 0;
    site.pages.clear();
    site.requested.length = 0;
    const { db } = current();
    accountId = await newAccount(db);
    ({ corpusId } = await createCorpus(db, accountId, { name: "Rules", description: null }));
  });

  const deps = (more: Partial<LoadSourceDeps> = {}): LoadSourceDeps => ({
    db: current().db,
    jobs: {
      send: () => {
        sent += 1;
        return Promise.resolve();
      },
      wake: () => undefined,
    },
    nodeId: NODE,
    files,
    reader: createFakeDocumentReader(),
    client: openGuardedClient({ allowed: readAllowedTargets("127.0.0.1") }),
    limits: LIMITS,
    crawlDelayMs: 0,
    stopping: never,
    chunksChanged: () => {
      changes += 1;
      return Promise.resolve(() => undefined);
    },
    log: quiet,
    nowMs: Date.now,
    ...more,
  });
  const load = (sourceId: string, more: Partial<LoadSourceDeps> = {}, jobId = randomUUID()): Promise<void> =>
    loadSource(deps(more))({ jobId, data: { accountId, sourceId }, signal: never });

  async function upload(text: string): Promise<string> {
    const { db } = current();
    const tokenHash = createHash("sha256").update(randomUUID()).digest("hex");
    const made = await createUpload(
      db,
      accountId,
      corpusId,
      { mimeType: "text/plain", fileName: "a.txt", tokenHash },
      LIMITS,
    );
    const documentId = made?.documentId ?? "";
    const bytes = new TextEncoder().encode(text);
    const sizeBytes = bytes.byteLength;
    await beginUpload(db, { accountId, documentId }, { sizeBytes, place: { nodeId: NODE } }, LIMITS);
    await files.write(documentId, bytes, never);
    const contentHash = createHash("sha256").update(bytes).digest("hex");
    await finishUpload(db, { accountId, documentId }, { sizeBytes, contentHash });
    return documentId;
  }
  async function addSource(source: Pick<NewSource, "kind" | "spec" | "documentIds">): Promise<string> {
    const row = await createSource(current().db, accountId, corpusId, {
      name: null,
      description: null,
      ...source,
    });
    return row?.sourceId ?? "";
  }
  const addUploads = (documentIds: readonly string[]): Promise<string> =>
    addSource({ kind: "upload", spec: { documentIds }, documentIds });
  const addCrawl = (spec: object = {}): Promise<string> =>
    addSource({ kind: "crawl", spec: { startUrls: [`${site.url}/`], ...spec }, documentIds: [] });
  const reload = async (sourceId: string, decided: Partial<NewSource> = {}): Promise<void> => {
    await updateSource(current().db, accountId, corpusId, sourceId, (present) => ({
      ...present,
      documentIds: [],
      ...decided,
    }));
  };
  const statuses = async (sourceId: string): Promise<unknown[]> => {
    const { db } = current();
    const source = await getSource(db, accountId, corpusId, sourceId);
    const corpus = await getCorpus(db, accountId, corpusId);
    const short = (status: string | undefined): string => status?.replace(/^.*STATUS_/, "") ?? "none";
    return [short(source?.status), short(corpus?.status), corpus?.documentsCount, corpus?.chunksCount];
  };
  const textsOf = async (documentId: string): Promise<string[]> =>
    (await listChunks(current().db, accountId, documentId, page)).rows.map(({ text }) => text);
  /** Without the chunks of deleted documents. */
  const chunkIds = async (): Promise<number[]> => {
    for (let isLeft = true; isLeft;) isLeft = await removeDeletedChunks(current().db);
    return (
      await sql<{
        id: number;
      }>`select chunk_id as id from corpus_chunks where corpus_id = ${corpusId} order by 1`.execute(
        current().db.query,
      )
    ).rows.map(({ id }) => id);
  };
  const failuresOf = async (sourceId: string): Promise<unknown[]> =>
    (await listLoadFailures(current().db, accountId, sourceId, page)).rows
      .map(({ url, code }) => [url === null ? "file" : url.slice(site.url.length), code])
      .toSorted(([one = ""], [other = ""]) => one.localeCompare(other));
  const pagesOf = async (sourceId: string): Promise<string[]> =>
    (await listDocuments(current().db, accountId, sourceId, page)).rows
      .map(({ metadata }) => String(metadata["publicUrl"]).slice(site.url.length))
      .toSorted();

  it("go from INITIALIZING to READY, with the chunks of each document in their order", async () => {
    const documents = [await upload("# Rules\n\nBe quiet.\n\nBe kind."), await upload("One.")];
    expect((await getCorpus(current().db, accountId, corpusId))?.status).toBe("CORPUS_STATUS_EMPTY");
    const sourceId = await addUploads(documents);
    expect(await statuses(sourceId)).toEqual(["INITIALIZING", "INITIALIZING", 0, 0]);
    await load(sourceId);
    expect(await statuses(sourceId)).toEqual(["READY", "READY", 2, 3]);
    expect(await textsOf(documents[0] ?? "")).toEqual(["Be quiet.", "Be kind."]);
    expect([changes, sent, await failuresOf(sourceId)]).toEqual([2, 0, []]);
    const words = await sql<{ found: number }>`select count(*) as found from corpus_chunks
      where corpus_id = ${corpusId} and words @@ to_tsquery('english', 'rule & quietly')`.execute(
      current().db.query,
    );
    expect(words.rows[0]?.found).toBe(1);
  });

  it("list what cannot be read with its reason, and are done nevertheless", async () => {
    const sourceId = await addUploads([await upload("Good."), await upload("   ")]);
    await load(sourceId);
    expect(await statuses(sourceId)).toEqual(["READY", "READY", 1, 1]);
    expect(await failuresOf(sourceId)).toEqual([["file", "no_text"]]);
    const nothing = await addUploads([await upload(" ")]);
    await deleteSource(current().db, accountId, corpusId, sourceId);
    expect(await statuses(nothing)).toEqual(["INITIALIZING", "INITIALIZING", 0, 0]);
    await load(nothing);
    expect(await statuses(nothing)).toEqual(["READY", "EMPTY", 0, 0]);
  });

  it("keep the chunks of unchanged documents, also while they are UPDATING", async () => {
    const [first, second] = [await upload("One.\n\nTwo."), await upload("Three.")];
    const sourceId = await addSource({
      kind: "advanced",
      spec: { documents: [{ documentId: first, exampleQueries: ["Which?"] }, { documentId: second }] },
      documentIds: [first, second],
    });
    await load(sourceId);
    const before = await chunkIds();
    changes = 0;
    await reload(sourceId);
    expect(await statuses(sourceId)).toEqual(["UPDATING", "UPDATING", 2, 3]);
    await load(sourceId);
    expect([await chunkIds(), changes]).toEqual([before, 0]);
    expect(await statuses(sourceId)).toEqual(["READY", "READY", 2, 3]);
    const { rows } = await listDocuments(current().db, accountId, sourceId, page);
    expect(rows.find(({ documentId }) => documentId === first)?.metadata).toMatchObject({
      exampleQueries: ["Which?"],
    });
    await reload(sourceId, { spec: { documents: [{ documentId: second }] }, documentIds: [second] });
    await load(sourceId);
    expect(await statuses(sourceId)).toEqual(["READY", "READY", 1, 1]);
    expect(files.names()).toContain(first);
    await removeCorpusFiles({ db: current().db, nodeId: NODE, files, logger: quiet }, never);
    expect(files.names()).not.toContain(first);
    expect(files.names()).toContain(second);
  });

  it("go on with another job after a crash, and write nothing for one that was overtaken", async () => {
    const documents = [await upload("One."), await upload("Two."), await upload("Three.")];
    const sourceId = await addUploads(documents);
    const reader = createFakeDocumentReader();
    let read = 0;
    const crashing = {
      ...reader,
      read: async (...input: Parameters<typeof reader.read>) => {
        read += 1;
        if (read === 2) throw new Error("the machine stops");
        return reader.read(...input);
      },
    };
    await expect(load(sourceId, { reader: crashing })).rejects.toThrow("the machine stops");
    expect(await statuses(sourceId)).toEqual(["INITIALIZING", "INITIALIZING", 1, 1]);
    const overtaken = {
      ...reader,
      read: async (...input: Parameters<typeof reader.read>) => {
        await reload(sourceId);
        return reader.read(...input);
      },
    };
    await load(sourceId, { reader: overtaken });
    expect(await statuses(sourceId)).toEqual(["INITIALIZING", "INITIALIZING", 1, 1]);
    await load(sourceId);
    expect(await statuses(sourceId)).toEqual(["READY", "READY", 3, 3]);
    expect(await failuresOf(sourceId)).toEqual([]);
  });

  it("give up a document that has ended the process five times", async () => {
    const [good, bad] = [await upload("Good."), await upload("Bad.")];
    const sourceId = await addUploads([good, bad]);
    await sql`update corpus_documents set attempts = 5 where id = ${bad}`.execute(current().db.query);
    await load(sourceId);
    expect(await statuses(sourceId)).toEqual(["READY", "READY", 1, 1]);
    expect(await failuresOf(sourceId)).toEqual([["file", "reader_ended"]]);
  });

  it("belong to one job at a time, and are queued again when no job has them", async () => {
    const { db } = current();
    const sourceId = await addUploads([await upload("One.")]);
    const [one, other] = [randomUUID(), randomUUID()];
    const later = (ms: number) => fixedTime(Date.now() + ms);
    expect(await claimLoad(db, { accountId, sourceId }, one)).not.toBeNull();
    expect(await claimLoad(db, { accountId, sourceId }, other)).toBeNull();
    expect(await claimLoad(db, { accountId, sourceId }, one)).not.toBeNull();
    const isStalled = async (ms: number): Promise<boolean> =>
      (await listStalledLoads(db, later(ms))).some((stalled) => stalled.sourceId === sourceId);
    expect([await isStalled(100_000), await isStalled(200_000)]).toEqual([false, true]);
    expect(await claimLoad(db, { accountId, sourceId }, other, later(200_000))).not.toBeNull();
    expect(await claimLoad(db, { accountId: randomUUID(), sourceId }, other)).toBeNull();
  });

  it("are queued again once, and not with every sweep while the queue is long", async () => {
    const { db } = current();
    const sourceId = await addUploads([await upload("One.")]);
    await sql`update corpus_sources set load_requested_at = statement_timestamp() - interval '2 minutes'
      where id = ${sourceId}`.execute(db.query);
    const queued: string[] = [];
    const jobs: LoadSourceDeps["jobs"] = {
      send: (_tx, _job, data) => {
        if ("sourceId" in data) queued.push(String(data.sourceId));
        return Promise.resolve();
      },
      wake: () => undefined,
    };
    await queueStalledLoads(db, jobs);
    await queueStalledLoads(db, jobs);
    expect(queued.filter((id) => id === sourceId)).toHaveLength(1);
    expect(await claimLoad(db, { accountId, sourceId }, randomUUID())).not.toBeNull();
  });

  it("are left to the next start when the service stops", async () => {
    const sourceId = await addUploads([await upload("One."), await upload("Two.")]);
    const stopping = new AbortController();
    const reader = createFakeDocumentReader();
    const stopped = {
      ...reader,
      read: (...input: Parameters<typeof reader.read>) => {
        stopping.abort(new Error("the service is stopping"));
        return reader.read(...input);
      },
    };
    await load(sourceId, { reader: stopped, stopping: stopping.signal });
    expect([sent, await statuses(sourceId)]).toEqual([1, ["INITIALIZING", "INITIALIZING", 0, 0]]);
    await load(sourceId);
    expect(await statuses(sourceId)).toEqual(["READY", "READY", 2, 2]);
  });

  it("wait for the node that has the file", async () => {
    const sourceId = await addUploads([await upload("One.")]);
    await load(sourceId, { nodeId: "node-b" });
    expect([sent, await statuses(sourceId)]).toEqual([1, ["INITIALIZING", "INITIALIZING", 0, 0]]);
    await load(sourceId, { nodeId: "node-b", nowMs: () => Date.now() + 3_600_000 });
    expect(await failuresOf(sourceId)).toEqual([["file", "file_missing"]]);
  });

  it("crawl breadth first on one host, within depth and number, past robots.txt", async () => {
    site.pages.set("/robots.txt", { type: "text/plain", body: "User-agent: *\nDisallow: /private" });
    site.pages.set("/", {
      body: "Home.\n\n-> /a\n\n-> /private\n\n-> http://other.example/\n\n-> /b#x\n\n-> /p.png",
    });
    site.pages.set("/a", { body: "A.\n\n-> /deep\n\n-> /" });
    site.pages.set("/b", { body: "B." });
    site.pages.set("/deep", { body: "Deep.\n\n-> /deeper" });
    site.pages.set("/deeper", { body: "Deeper." });
    const sourceId = await addCrawl();
    await load(sourceId);
    expect(await pagesOf(sourceId)).toEqual(["/", "/a", "/b", "/deep"]);
    expect(site.requested).toEqual(["/robots.txt", "/", "/sitemap.xml", "/a", "/b", "/deep"]);
    expect([await statuses(sourceId), await failuresOf(sourceId)]).toEqual([["READY", "READY", 4, 4], []]);
    const small = await addCrawl({ maxDepth: 1 });
    await load(small);
    expect(await pagesOf(small)).toEqual(["/"]);
    const few = await addCrawl({ maxDocuments: 2 });
    await load(few);
    expect(await pagesOf(few)).toHaveLength(2);
  });

  it("store each page once: behind redirects, canonical addresses and sitemaps", async () => {
    site.pages.set("/", { body: "Home.\n\n-> /old\n\n-> /copy" });
    site.pages.set("/old", { status: 301, location: "/new" });
    site.pages.set("/new", { body: "New." });
    site.pages.set("/copy", { body: "Copied.\n\n= /original" });
    site.pages.set("/original", { body: "Original." });
    site.pages.set("/sitemap.xml", { type: "application/xml", body: "-> /listed\n\n-> /new" });
    site.pages.set("/listed", { body: "Listed." });
    const sourceId = await addCrawl();
    await load(sourceId);
    expect(await pagesOf(sourceId)).toEqual(["/", "/listed", "/new", "/original"]);
    expect(await failuresOf(sourceId)).toEqual([]);
  });

  it("list pages that fail, and keep what was loaded before unless it is gone", async () => {
    site.pages.set("/", { body: "Home.\n\n-> /a\n\n-> /b\n\n-> /c\n\n-> /elsewhere" });
    for (const name of ["a", "b", "c"]) site.pages.set(`/${name}`, { body: `Page ${name}.` });
    site.pages.set("/elsewhere", { status: 302, location: "http://127.0.0.1:8081/" });
    const sourceId = await addCrawl();
    await load(sourceId);
    expect(await pagesOf(sourceId)).toEqual(["/", "/a", "/b", "/c"]);
    expect(await failuresOf(sourceId)).toEqual([["/elsewhere", "redirected_elsewhere"]]);
    const before = await chunkIds();
    site.pages.set("/a", { status: 500 });
    site.pages.set("/b", { status: 404 });
    site.pages.set("/", { body: "Home.\n\n-> /a\n\n-> /b" });
    await reload(sourceId);
    await load(sourceId);
    // Nothing links to the third page any more.
    expect(await pagesOf(sourceId)).toEqual(["/", "/a"]);
    expect(await failuresOf(sourceId)).toEqual([
      ["/a", "http_status"],
      ["/b", "not_found"],
    ]);
    const after = await chunkIds();
    expect(after).toHaveLength(2);
    expect(before).toEqual(expect.arrayContaining(after));
  });

  it("request nothing where robots.txt cannot be read, and stop at the limits of the account", async () => {
    site.pages.set("/robots.txt", { status: 503 });
    site.pages.set("/", { body: "Home.\n\n-> /a" });
    site.pages.set("/a", { body: "A." });
    const sourceId = await addCrawl({ maxDepth: 1 });
    await load(sourceId);
    expect(site.requested).toEqual(["/robots.txt"]);
    expect(await failuresOf(sourceId)).toEqual([["/", "robots_unavailable"]]);
    expect(await statuses(sourceId)).toEqual(["READY", "EMPTY", 0, 0]);
    site.pages.delete("/robots.txt");
    await reload(sourceId, { spec: { startUrls: [`${site.url}/`], maxDepth: 2 } });
    await load(sourceId, { limits: { ...LIMITS, documentsPerAccount: 1 } });
    expect(await failuresOf(sourceId)).toEqual([["/a", "account_documents"]]);
  });

  it("delete what nobody uses: uploads after a day, and everything with the corpus", async () => {
    const { db } = current();
    const unused = await upload("Unused.");
    const sourceId = await addUploads([await upload("Used.")]);
    await load(sourceId);
    await sweepUnusedUploads(db, fixedTime(Date.now() + 23 * 3_600_000));
    const isThere = async (id: string): Promise<boolean> =>
      (await sql`select 1 from corpus_documents where id = ${id}`.execute(db.query)).rows.length === 1;
    expect(await isThere(unused)).toBe(true);
    await sweepUnusedUploads(db, fixedTime(Date.now() + 25 * 3_600_000));
    expect(await isThere(unused)).toBe(false);
    await sql`delete from accounts where id = ${accountId}`.execute(db.query);
    expect(await chunkIds()).toEqual([]);
    await removeCorpusFiles({ db, nodeId: NODE, files, logger: quiet }, never);
    expect(files.names()).not.toContain(unused);
  });
});

import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { expect, it } from "vitest";
import { LoadLostError } from "../database/store-errors.ts";
import { describeOnBothDatabases, newAccount } from "../testing/databases.ts";
import { removeDeletedChunks } from "./chunks-to-remove.ts";
import { createCorpus, deleteCorpus } from "./corpora.ts";
import { createSource } from "./corpus-sources.ts";
import { makePageDocument } from "./crawl-pages.ts";
import { failDocument, READING_VERSION, storeReading } from "./documents.ts";
import { claimLoad, inLoad, type Load } from "./loads.ts";

/** More than one transaction has, on any machine. */
const MANY = 300;

describeOnBothDatabases("the chunks of a document", (current) => {
  async function begin() {
    const { db } = current();
    const accountId = await newAccount(db);
    const { corpusId } = await createCorpus(db, accountId, { name: null, description: null });
    const spec = { name: null, description: null, kind: "crawl", spec: {}, documentIds: [] } as const;
    const source = await createSource(db, accountId, corpusId, spec);
    const load = await claimLoad(db, { accountId, sourceId: source?.sourceId ?? "" }, randomUUID());
    if (load === null) throw new Error("the source has no load");
    const documentId = await inLoad(db, load, (tx) => makePageDocument(tx, load, "http://a/", "text/plain"));
    return { load, documentId };
  }

  const texts = (name: string, count = MANY): string[] =>
    Array.from({ length: count }, (_, place) => `${name} ${String(place)}.`);

  const store = (
    { load, documentId }: { readonly load: Load; readonly documentId: string },
    chunks: readonly string[],
    finish: () => Promise<void> = () => Promise.resolve(),
    signal: AbortSignal = new AbortController().signal,
  ) =>
    storeReading(
      current().db,
      load,
      { documentId, url: null },
      {
        mimeType: "text/plain",
        sizeBytes: 1,
        contentHash: "hash",
        title: null,
        description: null,
        published: null,
        language: "en",
        exampleQueries: [],
        chunks: chunks.map((text) => ({ headingPath: [], page: null, text, tokens: 1 })),
      },
      { finish, signal },
    );
  const crash = (): Promise<void> => Promise.reject(new Error("the machine stops"));

  async function stored(documentId: string) {
    const read = await sql<{ id: number; position: number; text: string }>`
      select chunk_id as id, position, text from corpus_chunks where document_id = ${documentId}
      order by position, chunk_id`.execute(current().db.query);
    return read.rows;
  }
  async function document(documentId: string) {
    const read = await sql`select status, chunks_count as chunks, reading_version as reading,
      chunks_version as version from corpus_documents where id = ${documentId}`.execute(current().db.query);
    return read.rows[0];
  }
  const textsOf = (rows: readonly { readonly text: string }[]) => rows.map(({ text }) => text);

  it("are stored in portions, and after a crash what is missing is written", async () => {
    const place = await begin();
    const wanted = texts("Rule");
    await expect(store(place, wanted, crash)).rejects.toThrow("the machine stops");
    const before = await stored(place.documentId);
    expect(before.length).toBeGreaterThan(0);
    expect(before.length).toBeLessThan(MANY);
    expect(await document(place.documentId)).toMatchObject({ status: "uploaded", chunks: 0, reading: 0 });
    await store(place, wanted);
    const after = await stored(place.documentId);
    expect(textsOf(after)).toEqual(wanted);
    expect(after.map(({ position }) => position)).toEqual(wanted.map((_, index) => index));
    const ids = new Set(after.map(({ id }) => id));
    expect(before.filter(({ id }) => !ids.has(id))).toEqual([]);
    expect(await document(place.documentId)).toEqual({
      status: "ready",
      chunks: MANY,
      reading: READING_VERSION,
      version: 1,
    });
  });

  it("that a changed document has again keep their rows, in the new order", async () => {
    const place = await begin();
    const first = texts("Rule", 40);
    await store(place, [...first, "Twice.", "Twice."]);
    const idOf = new Map((await stored(place.documentId)).map(({ text, id }) => [text, id]));
    const changed = ["New.", ...first.slice(20).toReversed(), "Twice.", "Last.", ...first.slice(5, 10)];
    await store(place, changed);
    const after = await stored(place.documentId);
    expect(textsOf(after)).toEqual(changed);
    const kept = after.filter(({ text }) => text.startsWith("Rule"));
    expect(kept.map(({ id }) => id)).toEqual(kept.map(({ text }) => idOf.get(text)));
    // Nothing came or went.
    await store(place, changed);
    expect(await document(place.documentId)).toMatchObject({ chunks: changed.length, version: 2 });
  });

  it("are those of the last reading, also when an earlier one was cut off", async () => {
    const place = await begin();
    const old = texts("Old");
    await store(place, old);
    await expect(store(place, texts("New"), crash)).rejects.toThrow("the machine stops");
    // No load takes the document for unchanged.
    expect(await document(place.documentId)).toMatchObject({ status: "ready", reading: 0 });
    await store(place, old);
    expect(textsOf(await stored(place.documentId))).toEqual(old);
  });

  it("are written by the last attempt of a job alone, and by none that is aborted", async () => {
    const { db } = current();
    const place = await begin();
    await expect(
      store(place, texts("Rule"), undefined, AbortSignal.abort(new Error("late"))),
    ).rejects.toThrow("late");
    const { accountId, sourceId, jobId } = place.load;
    const again = await claimLoad(db, { accountId, sourceId }, jobId);
    if (again === null) throw new Error("the job has lost its load");
    await expect(store(place, texts("Rule"))).rejects.toBeInstanceOf(LoadLostError);
    expect(await stored(place.documentId)).toEqual([]);
    await store({ ...place, load: again }, texts("Rule"));
    expect(await stored(place.documentId)).toHaveLength(MANY);
  });

  it("go when it cannot be read any more, and when it is deleted with its corpus", async () => {
    const { db } = current();
    const [failing, deleted, other] = [await begin(), await begin(), await begin()];
    for (const place of [failing, deleted, other]) await store(place, texts("Rule"));
    const failure = { code: "damaged", message: "It is damaged." };
    const changed = await failDocument(db, failing.load, failing.documentId, failure, (_tx, chunks) =>
      Promise.resolve(chunks),
    );
    expect([changed, await stored(failing.documentId)]).toEqual([MANY, []]);
    expect(await document(failing.documentId)).toMatchObject({ status: "failed", chunks: 0 });
    const { accountId, corpusId } = deleted.load;
    expect(await deleteCorpus(db, accountId, corpusId)).toBe(true);
    expect(await stored(deleted.documentId)).toHaveLength(MANY);
    for (let isLeft = true; isLeft;) isLeft = await removeDeletedChunks(db);
    expect(await stored(deleted.documentId)).toEqual([]);
    expect(await stored(other.documentId)).toHaveLength(MANY);
  });
});

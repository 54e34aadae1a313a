import { sql } from "kysely";
import { expect, it } from "vitest";
import { unitVector } from "../../../ports/corpora/embedder.ts";
import { addDocument, loadCorpus } from "../../testing/corpora.ts";
import { describeOnBothDatabases, newAccount } from "../../testing/databases.ts";
import { ensureVectorModel, type VectorModel } from "./vector-models.ts";
import { CorpusTooLargeError, SCAN_MEMORY_BYTES, VectorScan } from "./vector-scan.ts";
import { addVectors } from "./vectors.ts";

const never = new AbortController().signal;

function vectorOf(...numbers: number[]): Float32Array {
  const vector = unitVector(numbers);
  if (vector === null) throw new Error("no direction");
  return vector;
}

describeOnBothDatabases("a comparison of all vectors", (current) => {
  async function corpusOf(vectors: readonly Float32Array[], dimensions = 3) {
    const { db } = current();
    const corpus = await loadCorpus(db, await newAccount(db), [
      { chunks: vectors.map((_, index) => `chunk ${String(index)}`) },
    ]);
    const model = await ensureVectorModel(db, { model: "m", basis: "scan" }, dimensions, "bytes");
    const read = await sql<{ id: number }>`
      select chunk_id as id from corpus_chunks where corpus_id = ${corpus.corpusId} order by chunk_id`.execute(
      db.query,
    );
    const ids = read.rows.map(({ id }) => id);
    await addVectors(
      db,
      model,
      corpus.corpusId,
      vectors.flatMap((vector, place) => {
        const chunkId = ids[place];
        return chunkId === undefined ? [] : [{ chunkId, vector }];
      }),
    );
    return { ...corpus, model, ids };
  }

  const three = () => corpusOf([vectorOf(1, 0, 0), vectorOf(0, 1, 0), vectorOf(1, 1, 0)]);

  it("finds the nearest, without chunks that were deleted since", async () => {
    const { db } = current();
    const { corpusId, model, ids } = await three();
    const now = { ms: 0 };
    const scan = new VectorScan(
      db,
      () => undefined,
      () => now.ms,
    );
    const search = { corpusId, vector: vectorOf(1, 0.1, 0), limit: 2 };
    const first = await scan.near(model, search, never);
    expect(first.near.map(({ chunkId }) => chunkId)).toEqual([ids[0], ids[2]]);
    expect(first.background.count).toBe(3);
    await sql`delete from corpus_chunks where chunk_id = ${ids[0]}`.execute(db.query);
    now.ms += 60_000;
    const second = await scan.near(model, search, never);
    expect(second.near.map(({ chunkId }) => chunkId)).toEqual([ids[2], ids[1]]);
    await scan.close();
  });

  it("serves searches at the same time, and several corpora", async () => {
    const [one, other] = [await three(), await three()];
    const scan = new VectorScan(
      current().db,
      () => undefined,
      () => 0,
    );
    const vector = vectorOf(0, 1, 0);
    const found = await Promise.all(
      [one, other, one, other].map(({ corpusId, model }) =>
        scan.near(model, { corpusId, vector, limit: 1 }, never),
      ),
    );
    expect(found.map(({ near }) => near[0]?.chunkId)).toEqual([
      one.ids[1],
      other.ids[1],
      one.ids[1],
      other.ids[1],
    ]);
    await scan.close();
  });

  it("refuses a corpus beyond its memory, and a vector of another size", async () => {
    const { corpusId, model } = await three();
    const scan = new VectorScan(
      current().db,
      () => undefined,
      () => 0,
    );
    const huge: VectorModel = { ...model, dimensions: SCAN_MEMORY_BYTES };
    const search = { corpusId, vector: vectorOf(1, 0, 0), limit: 1 };
    await expect(scan.near(huge, search, never)).rejects.toBeInstanceOf(CorpusTooLargeError);
    await expect(scan.near({ ...model, dimensions: 4 }, search, never)).rejects.toThrow("another size");
    // It can be used afterwards.
    expect((await scan.near(model, search, never)).near).toHaveLength(1);
    await scan.close();
  });

  it("loads a corpus again that another one has displaced", async () => {
    const corpora = [await three(), await three(), await three()];
    // Room for one of them.
    const scan = new VectorScan(
      current().db,
      () => undefined,
      () => 0,
      { memoryBytes: 100 },
    );
    const vector = vectorOf(0, 1, 0);
    for (const { corpusId, model, ids } of [...corpora, ...corpora]) {
      const { near, background } = await scan.near(model, { corpusId, vector, limit: 1 }, never);
      expect([near[0]?.chunkId, background.count]).toEqual([ids[1], 3]);
    }
    // At the same time each is found, or refused because the others need the room: never empty.
    const outcomes = await Promise.all(
      corpora.map(({ corpusId, model, ids }) =>
        scan.near(model, { corpusId, vector, limit: 1 }, never).then(
          ({ near }) => near[0]?.chunkId === ids[1],
          (error: unknown) => String(error).includes("need the memory"),
        ),
      ),
    );
    expect(outcomes).toEqual([true, true, true]);
    await scan.close();
  });

  it("holds few corpora, also of those without vectors", async () => {
    const { db } = current();
    const [empty, ...others] = [await corpusOf([]), await three(), await three()];
    const scan = new VectorScan(
      db,
      () => undefined,
      () => 0,
      { corpora: 2 },
    );
    const search = async ({ corpusId, model }: Pick<typeof empty, "corpusId" | "model">) =>
      (await scan.near(model, { corpusId, vector: vectorOf(1, 0, 0), limit: 9 }, never)).near.length;
    expect(await search(empty)).toBe(0);
    await addDocument(db, empty, { chunks: ["A new chunk."] });
    const added = await sql<{ id: number }>`
      select chunk_id as id from corpus_chunks where corpus_id = ${empty.corpusId}`.execute(db.query);
    const vectors = added.rows.map(({ id }) => ({ chunkId: id, vector: vectorOf(1, 0, 0) }));
    await addVectors(db, empty.model, empty.corpusId, vectors);
    // What is held is fresh.
    expect(await search(empty)).toBe(0);
    for (const other of others) expect(await search(other)).toBe(3);
    // It was displaced by two others.
    expect(await search(empty)).toBe(1);
    await scan.close();
  });

  it("is aborted, and fails when it is closed", async () => {
    const { corpusId, model } = await three();
    const scan = new VectorScan(
      current().db,
      () => undefined,
      () => 0,
    );
    const search = { corpusId, vector: vectorOf(1, 0, 0), limit: 1 };
    const aborting = new AbortController();
    const aborted = scan.near(model, search, aborting.signal);
    aborting.abort();
    await expect(aborted).rejects.toMatchObject({ name: "AbortError" });
    await scan.close();
  });

  it("writes no vector twice, and none of a chunk that is gone", async () => {
    const { db } = current();
    const { corpusId, model, ids } = await three();
    const again = ids.map((chunkId) => ({ chunkId, vector: vectorOf(1, 2, 3) }));
    expect(
      await addVectors(db, model, corpusId, [...again, { chunkId: 2 ** 40, vector: vectorOf(1, 0, 0) }]),
    ).toBe(0);
    const other = await three();
    // Of another corpus.
    expect(
      await addVectors(
        db,
        model,
        corpusId,
        other.ids.map((chunkId) => ({ chunkId, vector: vectorOf(1, 0, 0) })),
      ),
    ).toBe(0);
  });
});

import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { expect, it } from "vitest";
import type { Db } from "../database/db.ts";
import { LoadLostError } from "../database/store-errors.ts";
import { addDocument, loadCorpus } from "../testing/corpora.ts";
import { describeOnBothDatabases, newAccount } from "../testing/databases.ts";
import { createCorpus, getCorpus } from "./corpora.ts";
import { createSource, deleteSource, updateSource } from "./corpus-sources.ts";
import { addPages, makePageDocument } from "./crawl-pages.ts";
import { emptyCorpus } from "./empty-corpus.ts";
import { claimIndex, noteIndexQueued, releaseIndex } from "./indexing.ts";
import { claimLoad, finishLoad, inLoad, type Load } from "./loads.ts";
import { createUpload } from "./uploads.ts";

const LIMITS = { documentsPerAccount: 1_000_000, bytesPerAccount: 1_000_000 };
const CRAWL = { name: null, description: null, kind: "crawl", spec: {}, documentIds: [] } as const;
/** Of each kind of work, at the same time. */
const WORKERS = 3;
const ROUNDS = 25;

describeOnBothDatabases("loads and changes of one corpus", (current) => {
  async function newCorpus() {
    const { db } = current();
    const accountId = await newAccount(db);
    const { corpusId } = await createCorpus(db, accountId, { name: null, description: null });
    return { db, accountId, corpusId };
  }

  it("at the same time never wait for each other in a circle", async () => {
    const { db, accountId, corpusId } = await newCorpus();
    const sourceIds: string[] = [];
    for (let worker = 0; worker < WORKERS; worker += 1)
      sourceIds.push((await createSource(db, accountId, corpusId, CRAWL))?.sourceId ?? "");
    // A transaction that the database has aborted is run again, and so is this.
    let [runs, transactions] = [0, 0];
    const counted = <Result>(work: () => Promise<Result>): Promise<Result> => {
      runs += 1;
      return work();
    };

    async function loadAgainAndAgain(sourceId: string): Promise<void> {
      let load: Load | null = null;
      for (let round = 0; round < ROUNDS; round += 1) {
        load ??= await claimLoad(db, { accountId, sourceId }, randomUUID());
        if (load === null) continue;
        const held = load;
        const isLast = round % 5 === 4;
        const work = async (tx: Db): Promise<void> => {
          const urls = [`https://a.example/${String(round)}`];
          await addPages(tx, held, urls, { depth: 1, maxPages: 50 });
          await makePageDocument(tx, held, urls[0] ?? "", "text/plain");
          await noteIndexQueued(tx, corpusId, 1);
          if (isLast) await finishLoad(tx, held);
        };
        try {
          await inLoad(db, held, (tx) => counted(() => work(tx)));
          transactions += 1;
          if (isLast) load = null;
        } catch (error) {
          if (!(error instanceof LoadLostError)) throw error;
          load = null;
        }
      }
    }
    async function changeAgainAndAgain(sourceId: string): Promise<void> {
      for (let round = 0; round < ROUNDS; round += 1) {
        await updateSource(db, accountId, corpusId, sourceId, () => {
          runs += 1;
          return CRAWL;
        });
        transactions += 1;
      }
    }
    async function indexAgainAndAgain(): Promise<void> {
      for (let round = 0; round < ROUNDS; round += 1) {
        const jobId = randomUUID();
        await claimIndex(db, { accountId, corpusId }, jobId);
        await releaseIndex(db, corpusId, jobId);
      }
    }
    async function addAndDelete(): Promise<void> {
      for (let round = 0; round < ROUNDS; round += 1) {
        const source = await createSource(db, accountId, corpusId, CRAWL);
        await deleteSource(db, accountId, corpusId, source?.sourceId ?? "");
      }
    }
    await Promise.all([
      ...sourceIds.flatMap((id) => [loadAgainAndAgain(id), changeAgainAndAgain(id)]),
      indexAgainAndAgain(),
      addAndDelete(),
    ]);
    expect(runs).toBe(transactions);
  }, 120_000);

  it("end with what was emptied, and leave other corpora alone", async () => {
    const { db, accountId, corpusId } = await newCorpus();
    const other = await loadCorpus(db, accountId, [{ chunks: ["One."] }]);
    const source = await createSource(db, accountId, corpusId, CRAWL);
    const sourceId = source?.sourceId ?? "";
    const load = await claimLoad(db, { accountId, sourceId }, randomUUID());
    if (load === null) throw new Error("the source has no load");
    const corpus = { accountId, corpusId, sourceId };
    const documentIds = [
      await addDocument(db, corpus, { chunks: ["Two.", "Three."] }),
      await addDocument(db, corpus, { chunks: ["Four."] }),
    ];
    const upload = { mimeType: "text/plain", fileName: null };
    for (const tokenHash of ["a", "b", "c"])
      await createUpload(
        db,
        accountId,
        corpusId,
        { ...upload, tokenHash: `${corpusId} ${tokenHash}` },
        LIMITS,
      );
    await emptyCorpus(db, randomUUID(), corpusId);
    expect(await getCorpus(db, accountId, corpusId)).toMatchObject({ documentsCount: 2 });
    await emptyCorpus(db, accountId, corpusId);
    expect(await getCorpus(db, accountId, corpusId)).toMatchObject({
      documentsCount: 0,
      status: "CORPUS_STATUS_EMPTY",
    });
    const left = await sql<{ sources: number; documents: number }>`
      select (select count(*) from corpus_sources where corpus_id = ${corpusId}) as sources,
        (select count(*) from corpus_documents where corpus_id = ${corpusId}) as documents`.execute(db.query);
    expect(left.rows).toEqual([{ sources: 0, documents: 0 }]);
    await expect(inLoad(db, load, () => Promise.resolve())).rejects.toBeInstanceOf(LoadLostError);
    const queued = await sql<{ id: string }>`select document_id as id from corpus_chunks_to_remove
      where corpus_id = ${corpusId}`.execute(db.query);
    expect(queued.rows.map(({ id }) => id).toSorted()).toEqual(documentIds.toSorted());
    expect(await getCorpus(db, accountId, other.corpusId)).toMatchObject({ documentsCount: 1 });
  });
});

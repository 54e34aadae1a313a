/**
 * `npm run crash -- --corpora`: kills a service at random moments while it loads documents, crawls a site and makes
 * vectors. Afterwards every document must have each of its chunks once and in order, every chunk the vector of its
 * text, every status must be READY, and the statistics must be right. CRASH_KILLS, CRASH_DATABASE (postgresql or
 * embedded) and CRASH_SEED change the run. Returns the faults.
 */

import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createDatabase } from "../../bench/jobs-store.ts";
import { restOf, startChildService, type ChildService } from "../../demo/child-service.ts";
import { openSite, type Site } from "../../src/jobs/corpora/testing/site.ts";
import { Draw } from "../../sim/draw.ts";
import {
  DOCUMENTS,
  faultsOfFiles,
  isReady,
  PAGES,
  paragraphsOf,
  settled,
  type Made,
  type Source,
} from "./expected-corpus.ts";
import { openSlowEmbedder } from "./slow-embedder.ts";
import { faultsOfVectors } from "./stored-vectors.ts";

const KEY = "crashTst.abcdefghijklmnopqrstuvwxyzABCDEF";
/** The whole service with fakes of the engines of calls, which play no part here and take seconds of each start. */
const PROGRAM = fileURLToPath(new URL("../../bench/bench-service.ts", import.meta.url));
/** Thirty starts follow each other, on a machine that may do other work: one that takes long is no fault. */
const START_LIMIT_MS = 300_000;

/** How often a kill met work. */
interface Met {
  loading: number;
  embedding: number;
}

export async function crashCorpora({
  kills,
  isEmbedded,
  seed,
  log,
}: {
  readonly kills: number;
  readonly isEmbedded: boolean;
  readonly seed: number;
  readonly log: (line: string) => void;
}): Promise<string[]> {
  const draw = new Draw(seed);
  const dataDir = await mkdtemp(join(tmpdir(), "parley-crash-corpora-"));
  const database = isEmbedded ? null : await createDatabase();
  const [site, embedder] = [await openSite(), await openSlowEmbedder()];
  const secretsKey = new Uint8Array(randomBytes(32));
  const env = {
    API_KEY: KEY,
    SECRETS_KEY: Buffer.from(secretsKey).toString("base64"),
    ALLOW_PRIVATE_TARGETS: "127.0.0.1",
    CRAWL_DELAY_MS: "20",
    LOG_LEVEL: "fatal",
    ...embedder.env,
    ...(database === null ? {} : { DATABASE_URL: database.url }),
  };
  const start = (): Promise<ChildService> =>
    startChildService({ dataDir, env, program: PROGRAM, readyLimitMs: START_LIMIT_MS });
  writePages(site, 0);
  let running = await start();
  // Also where this program is interrupted: nothing that it started keeps running.
  process.once("exit", () => signalled(running));
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
  try {
    let made = await fill(running, site.url);
    const met: Met = { loading: 0, embedding: 0 };
    for (let kill = 1; kill <= kills; kill += 1) {
      // A job that was cut off goes on after some 15 s, so some services live longer.
      await pause(draw.unit() * (draw.unit() < 0.25 ? 20_000 : 2_500));
      if (!(await isReady(running, made))) met.loading += 1;
      if (embedder.pending() > 0) met.embedding += 1;
      await killed(running);
      running = await start();
      // There is something to lose at every kill: new pages, and sometimes new documents in place of the old ones.
      if (draw.unit() < 0.5) {
        writePages(site, kill);
        made = await reload(running, made, { version: kill, withUploads: draw.unit() < 0.3 });
      }
      log(
        `corpora: kill ${String(kill)} of ${String(kills)}, ${String(met.loading)} met a load, ${String(met.embedding)} a request for vectors`,
      );
    }
    const faults = await settled(running, made);
    faults.push(...(await faultsOfFiles(join(dataDir, "corpora"))));
    await running.stop();
    const databaseUrl = database?.url ?? null;
    return [...faults, ...(await faultsOfVectors({ dataDir, databaseUrl, secretsKey }, made.corpusId))];
  } finally {
    await running.stop();
    await Promise.all([site.close(), embedder.close()]);
    await database?.drop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

function signalled({ pid }: ChildService): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended already.
  }
}

/** The pages of the site, all of them new: a load reads each again, and their chunks need new vectors. */
function writePages(site: Site, version: number): void {
  for (let page = 0; page < PAGES; page += 1) {
    const links = [page * 2 + 1, page * 2 + 2]
      .filter((next) => next < PAGES)
      .map((next) => `<a href="/p${String(next)}">next</a>`)
      .join(" ");
    const body = paragraphsOf(`page${String(page)}v${String(version)}`)
      .map((text) => `<p>${text}</p>`)
      .join("");
    site.pages.set(page === 0 ? "/" : `/p${String(page)}`, {
      body: `<html lang="en"><body>${body}${links}</body></html>`,
    });
  }
}

async function killed(service: ChildService): Promise<void> {
  process.kill(service.pid, "SIGKILL");
  await service.exited;
}

/** An upload source with all documents, and a crawl of the site. */
async function fill(service: ChildService, siteUrl: string): Promise<Made> {
  const rest = restOf(service);
  const { corpusId } = await rest<{ corpusId: string }>("POST", "/api/corpora", { name: "Crash" });
  const corpusUrl = `/api/corpora/${corpusId}`;
  const uploads = await addUploads(service, corpusUrl, 0);
  const crawl = { startUrls: [`${siteUrl}/`], maxDepth: 20 };
  const { sourceId } = await rest<{ sourceId: string }>("POST", `${corpusUrl}/sources`, { crawl });
  return { corpusId, corpusUrl, uploads, crawl: { sourceId, documents: PAGES, version: 0 } };
}

async function addUploads(service: ChildService, corpusUrl: string, version: number): Promise<Source> {
  const rest = restOf(service);
  const documentIds: string[] = [];
  for (let index = 0; index < DOCUMENTS; index += 1) {
    const upload = { mimeType: "text/plain", fileName: `d${String(index)}.txt` };
    const made = await rest<{ documentId: string; presignedUrl: string }>(
      "POST",
      `${corpusUrl}/uploads`,
      upload,
    );
    const path = new URL(made.presignedUrl).pathname;
    const body = paragraphsOf(`document${String(index)}v${String(version)}`).join("\n\n");
    const answer = await fetch(`${service.baseUrl}${path}`, {
      method: "PUT",
      headers: { "content-type": "text/plain" },
      body,
    });
    if (!answer.ok) throw new Error(`an upload was answered with ${String(answer.status)}`);
    documentIds.push(made.documentId);
  }
  const { sourceId } = await rest<{ sourceId: string }>("POST", `${corpusUrl}/sources`, {
    upload: { documentIds },
  });
  return { sourceId, documents: DOCUMENTS, version };
}

/** `withUploads`: new documents replace the uploaded ones; otherwise those are only loaded again. */
async function reload(
  service: ChildService,
  { corpusId, corpusUrl, uploads, crawl: { sourceId } }: Made,
  { version, withUploads }: { readonly version: number; readonly withUploads: boolean },
): Promise<Made> {
  const rest = restOf(service);
  await rest("PATCH", `${corpusUrl}/sources/${sourceId}`, {});
  const crawl = { sourceId, documents: PAGES, version };
  const uploadsUrl = `${corpusUrl}/sources/${uploads.sourceId}`;
  await rest(withUploads ? "DELETE" : "PATCH", uploadsUrl, withUploads ? undefined : {});
  return {
    corpusId,
    corpusUrl,
    crawl,
    uploads: withUploads ? await addUploads(service, corpusUrl, version) : uploads,
  };
}

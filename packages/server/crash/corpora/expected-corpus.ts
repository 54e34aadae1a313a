/** What a corpus must be after all kills. */

import { readdir } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { restOf, type ChildService } from "../../demo/child-service.ts";

/** Documents of the upload source, and pages of the site. */
export const DOCUMENTS = 40;
export const PAGES = 60;
/** Paragraphs of a document; each is longer than half a chunk, so it is a chunk of its own. */
const PARAGRAPHS = 12;
/**
 * From the last kill until everything is loaded. A lost job is noticed after half a minute; one that was cut off eleven
 * times is given up, and its load is queued again after three minutes.
 */
const SETTLE_LIMIT_MS = 600_000;
const FILES_LIMIT_MS = 60_000;

export interface Source {
  readonly sourceId: string;
  readonly documents: number;
  /** Part of the marks of its documents, so that older ones are noticed. */
  readonly version: number;
}

export interface Made {
  readonly corpusId: string;
  readonly corpusUrl: string;
  readonly uploads: Source;
  readonly crawl: Source;
}

interface Stats {
  readonly status: string;
  readonly numChunks: number;
  readonly numDocs: number;
  readonly numVectors: number;
}

interface Page<Row> {
  readonly results: readonly Row[];
  readonly total: number;
}

/** Each paragraph begins with its mark, and has some 200 tokens. */
export function paragraphsOf(name: string): string[] {
  return Array.from(
    { length: PARAGRAPHS },
    (_, index) =>
      `${name}x${String(index)} ${"begins a paragraph about the rules of the house. ".repeat(14)}`,
  );
}

async function statsOf(service: ChildService, { corpusUrl }: Made): Promise<Stats> {
  return (await restOf(service)<{ stats: Stats }>("GET", corpusUrl)).stats;
}

export async function isReady(service: ChildService, made: Made): Promise<boolean> {
  return (await statsOf(service, made)).status === "CORPUS_STATUS_READY";
}

/** Waits until everything is READY and has its vectors, and returns what is wrong then. */
export async function settled(service: ChildService, made: Made): Promise<string[]> {
  const chunks = (DOCUMENTS + PAGES) * PARAGRAPHS;
  const expected: Stats = {
    status: "CORPUS_STATUS_READY",
    numChunks: chunks,
    numDocs: DOCUMENTS + PAGES,
    numVectors: chunks,
  };
  const deadline = performance.now() + SETTLE_LIMIT_MS;
  let stats = await statsOf(service, made);
  const isSettled = (): boolean =>
    stats.status === expected.status && stats.numVectors === expected.numVectors;
  while (!isSettled() && performance.now() < deadline) {
    await pause(500);
    stats = await statsOf(service, made);
  }
  const faults = Object.entries(expected)
    .filter(([name, value]) => stats[name as keyof Stats] !== value)
    .map(([name, value]) => `${name} is ${String(stats[name as keyof Stats])} instead of ${String(value)}`);
  for (const source of [made.uploads, made.crawl]) faults.push(...(await faultsOf(service, made, source)));
  return faults;
}

async function faultsOf(
  service: ChildService,
  { corpusUrl }: Made,
  { sourceId, documents, version }: Source,
): Promise<string[]> {
  const rest = restOf(service);
  const url = `${corpusUrl}/sources/${sourceId}`;
  const faults: string[] = [];
  const source = await rest<{ stats: { status: string; numDocs: number } }>("GET", url);
  if (source.stats.status !== "SOURCE_STATUS_READY") faults.push(`${sourceId} is ${source.stats.status}`);
  if (source.stats.numDocs !== documents)
    faults.push(`${sourceId} has ${String(source.stats.numDocs)} documents instead of ${String(documents)}`);
  const failures = await rest<Page<{ code: string }>>("GET", `${url}/failures`);
  for (const { code } of failures.results) faults.push(`${sourceId} has the failure ${code}`);
  const names = new Set<string>();
  const all = await rest<Page<{ documentId: string }>>("GET", `${url}/documents?pageSize=100`);
  for (const { documentId } of all.results) {
    const chunks = await rest<Page<{ text: string }>>(
      "GET",
      `${url}/documents/${documentId}/chunks?pageSize=100`,
    );
    const marks = chunks.results.map(({ text }) => text.split(" ", 1)[0] ?? "");
    const name = marks[0]?.split("x", 1)[0] ?? "nothing";
    if (names.has(name)) faults.push(`${name} is stored twice`);
    if (!name.endsWith(`v${String(version)}`))
      faults.push(`${name} is older than version ${String(version)}`);
    names.add(name);
    const expected = paragraphsOf(name).map((text) => text.split(" ", 1)[0]);
    if (marks.join() !== expected.join()) faults.push(`${documentId} has the chunks ${marks.join()}`);
  }
  return faults;
}

/** The files of documents that were replaced are removed within some ten seconds. */
export async function faultsOfFiles(dir: string): Promise<string[]> {
  const deadline = performance.now() + FILES_LIMIT_MS;
  for (;;) {
    const files = (await readdir(dir)).length;
    if (files === DOCUMENTS) return [];
    if (performance.now() > deadline) return [`${String(files)} files instead of ${String(DOCUMENTS)}`];
    await pause(500);
  }
}

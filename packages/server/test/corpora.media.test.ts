/** Corpora in the whole service: files and sites become chunks through the real jobs, readers and files. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openSite, type Site } from "../src/jobs/corpora/testing/site.ts";
import { readAllowedTargets } from "../src/net/address-filter.ts";
import { SAMPLES } from "../src/providers/readers/testing/samples.ts";
import { openRunningService, type RunningService } from "./running-service.ts";

interface Page<Row> {
  readonly results: readonly Row[];
  readonly total: number;
}

interface Source {
  readonly sourceId: string;
  readonly stats: { readonly status: string; readonly numDocs: number };
}

interface ChunkRecord {
  readonly text: string;
  readonly headingPath: readonly string[];
}

const LIMIT = { timeout: 120_000, interval: 100 };

describe("corpora of the whole service", () => {
  let service: RunningService;
  let site: Site;
  let corpusUrl: string;

  beforeAll(async () => {
    site = await openSite();
    service = await openRunningService({
      allowPrivateTargets: readAllowedTargets("127.0.0.1"),
      crawlDelayMs: 0,
    });
    const made = await service.ask<{ corpusId: string }>("POST", "/api/corpora", { name: "Rules" });
    corpusUrl = `/api/corpora/${made.body.corpusId}`;
  });
  afterAll(async () => {
    await service.close();
    await site.close();
  });

  async function upload(mimeType: string, bytes: Uint8Array): Promise<string> {
    const made = await service.ask<{ documentId: string; presignedUrl: string }>(
      "POST",
      `${corpusUrl}/uploads`,
      { mimeType },
    );
    expect(made.status).toBe(201);
    const { documentId, presignedUrl } = made.body;
    expect(presignedUrl.startsWith(service.url)).toBe(true);
    const sent = await fetch(presignedUrl, {
      method: "PUT",
      headers: { "content-type": mimeType },
      body: Buffer.from(bytes),
    });
    expect([sent.status, await sent.text()]).toEqual([200, ""]);
    return documentId;
  }

  /** Waits until it is loaded. */
  async function addSource(spec: object): Promise<{ readonly url: string; readonly source: Source }> {
    const made = await service.ask<Source>("POST", `${corpusUrl}/sources`, spec);
    expect(made.status).toBe(201);
    const url = `${corpusUrl}/sources/${made.body.sourceId}`;
    const status = async (): Promise<string> => (await service.get<Source>(url)).stats.status;
    await expect.poll(status, LIMIT).toBe("SOURCE_STATUS_READY");
    return { url, source: await service.get<Source>(url) };
  }
  async function textOf(url: string): Promise<string> {
    const { results } = await service.get<Page<{ documentId: string }>>(`${url}/documents?pageSize=100`);
    const pages = await Promise.all(
      results.map(({ documentId }) =>
        service.get<Page<ChunkRecord>>(`${url}/documents/${documentId}/chunks`),
      ),
    );
    return pages
      .flatMap((page) => page.results.flatMap((chunk) => [...chunk.headingPath, chunk.text]))
      .join("\n");
  }

  test("a file of each kind becomes chunks, and a broken one a failure", { timeout: 180_000 }, async () => {
    const documentIds: string[] = [];
    for (const { mimeType, bytes } of SAMPLES) documentIds.push(await upload(mimeType, bytes));
    documentIds.push(await upload("application/pdf", new TextEncoder().encode("not a PDF")));
    const { url, source } = await addSource({ upload: { documentIds } });
    expect(source.stats.numDocs).toBe(SAMPLES.length);
    expect((await textOf(url)).match(/Breakfast/g)?.length).toBeGreaterThanOrEqual(SAMPLES.length);
    const failures = await service.get<Page<{ code: string; documentId: string }>>(`${url}/failures`);
    expect(failures.results).toMatchObject([{ code: "damaged", documentId: documentIds.at(-1) }]);
    const corpus = await service.get<{ stats: { status: string; numChunks: number } }>(corpusUrl);
    expect(corpus.stats.status).toBe("CORPUS_STATUS_READY");
    expect(corpus.stats.numChunks).toBeGreaterThanOrEqual(SAMPLES.length);
    expect((await service.ask("DELETE", url)).status).toBe(204);
    expect(await service.get(corpusUrl)).toMatchObject({
      stats: { status: "CORPUS_STATUS_EMPTY", numChunks: 0 },
    });
  });

  test("a site becomes chunks, each page once", { timeout: 180_000 }, async () => {
    const page = (title: string, links: readonly string[]) => ({
      type: "text/html; charset=utf-8",
      body: `<html lang="en"><head><title>${title}</title></head><body><h1>${title}</h1>
        <p>This page is about ${title}, and says a few words about it for guests.</p>
        ${links.map((link) => `<a href="${link}">next</a>`).join(" ")}</body></html>`,
    });
    site.pages.set("/", page("the house", ["/prices", "/moved"]));
    site.pages.set("/prices", page("prices", ["/"]));
    site.pages.set("/moved", { status: 302, location: "/garden" });
    site.pages.set("/garden", page("the garden", ["/missing"]));
    const { url, source } = await addSource({ crawl: { startUrls: [`${site.url}/`] } });
    expect(source.stats.numDocs).toBe(3);
    const text = await textOf(url);
    for (const title of ["the house", "prices", "the garden"])
      expect(text).toContain(`This page is about ${title}`);
    const failures = await service.get<Page<{ code: string; publicUrl: string }>>(`${url}/failures`);
    expect(failures.results).toMatchObject([{ code: "not_found", publicUrl: `${site.url}/missing` }]);
  });

  test("no secret of an upload address is in the log", () => {
    const lines = service.linesLogged.filter((line) => line.includes("/corpus_uploads/"));
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) expect(line).toContain("/corpus_uploads/***");
  });
});

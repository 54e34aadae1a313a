/** Sites that would never end a crawl, or lead it where it may not go. */

import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { readAllowedTargets } from "../../../net/address-filter.ts";
import { openGuardedClient, RequestTimedOut } from "../../../net/guarded-fetch.ts";
import { createFakeCorpusFiles } from "../../../ports/corpora/testing/fake-corpus-files.ts";
import { createFakeDocumentReader } from "../../../ports/corpora/testing/fake-document-reader.ts";
import { createCorpus } from "../../../store/corpora/corpora.ts";
import { createSource, getSource, listDocuments } from "../../../store/corpora/corpus-sources.ts";
import { listLoadFailures } from "../../../store/corpora/load-failures.ts";
import { describeOnBothDatabases, newAccount } from "../../../store/testing/databases.ts";
import { loadSource } from "../load-source.ts";
import { openSite, type Site, type SitePage } from "../testing/site.ts";
import { MAX_ROBOTS_BYTES } from "./robots.ts";

const never = new AbortController().signal;
const all = { limit: 100, after: null, direction: "forward" } as const;
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
/** The fewest pages that a crawl may request. */
const MAX_PAGES = 50;
/** `/robots.txt`, and `/sitemap.xml` where there is none, are requested beside the pages. */
const MAX_REQUESTS = MAX_PAGES + 2;

describeOnBothDatabases("hostile sites", (current) => {
  let site: Site;
  /** Another server of the same machine, which the source does not name. */
  let inner: Site;
  let made: (path: string) => SitePage | null;
  beforeAll(async () => {
    site = await openSite((path) => made(path));
    inner = await openSite(() => ({ body: "Secret." }));
  });
  afterAll(async () => {
    await site.close();
    await inner.close();
  });
  beforeEach(() => {
    made = () => null;
    site.pages.clear();
    site.requested.length = 0;
  });

  interface Loaded {
    readonly status: string | undefined;
    /** Paths. */
    readonly documents: readonly string[];
    readonly failures: readonly (readonly [path: string, code: string])[];
  }
  const client = openGuardedClient({ allowed: readAllowedTargets("127.0.0.1") });

  async function crawled(
    spec: object = {},
    request: Pick<typeof client, "request"> = client,
  ): Promise<Loaded> {
    const { db } = current();
    const accountId = await newAccount(db);
    const { corpusId } = await createCorpus(db, accountId, { name: "Hostile", description: null });
    const made = await createSource(db, accountId, corpusId, {
      name: null,
      description: null,
      kind: "crawl",
      spec: { startUrls: [`${site.url}/`], maxDocuments: 5, maxDepth: 20, ...spec },
      documentIds: [],
    });
    const sourceId = made?.sourceId ?? "";
    const load = loadSource({
      db,
      jobs: { send: () => Promise.resolve(), wake: () => undefined },
      nodeId: "node-a",
      files: createFakeCorpusFiles(),
      reader: createFakeDocumentReader(),
      client: request,
      limits: { documentsPerAccount: 1_000, bytesPerAccount: 10_000_000 },
      crawlDelayMs: 0,
      stopping: never,
      chunksChanged: () => Promise.resolve(() => undefined),
      log: quiet,
      nowMs: () => 0,
    });
    await load({ jobId: randomUUID(), data: { accountId, sourceId }, signal: never });
    const path = (url: unknown): string => String(url).slice(site.url.length);
    const { rows: documents } = await listDocuments(db, accountId, sourceId, all);
    const { rows: failures } = await listLoadFailures(db, accountId, sourceId, all);
    return {
      status: (await getSource(db, accountId, corpusId, sourceId))?.status,
      documents: documents.map(({ metadata }) => path(metadata["publicUrl"])).toSorted(),
      failures: failures
        .map(({ url, code }) => [path(url), code] as const)
        .toSorted(([one], [other]) => one.localeCompare(other)),
    };
  }

  const numberIn = (path: string): number => Number(/\d+/.exec(path)?.[0] ?? 0);

  it("with links without end are left after the documents that are wanted", async () => {
    made = (path) =>
      path === "/robots.txt" || path.endsWith(".xml")
        ? null
        : {
            body: `Page ${path}.\n\n-> /p${String(numberIn(path) * 2 + 1)}\n\n-> /p${String(numberIn(path) * 2 + 2)}`,
          };
    const { status, documents, failures } = await crawled();
    expect([status, documents.length, failures]).toEqual(["SOURCE_STATUS_READY", 5, []]);
    expect(site.requested.length).toBeLessThanOrEqual(7);
  });

  it.each<[string, (path: string) => SitePage | null]>([
    ["canonical addresses", (path) => ({ body: `Text.\n\n= /c${String(numberIn(path) + 1)}` })],
    ["redirects", (path) => ({ status: 302, location: `/r${String(numberIn(path) + 1)}` })],
    [
      "lists of sitemaps",
      (path) =>
        path.endsWith(".xml")
          ? {
              type: "application/xml",
              body: [1, 2, 3].map((one) => `-> /s${String(numberIn(path) * 3 + one)}.xml`).join("\n\n"),
            }
          : null,
    ],
    [
      "pages that are not there",
      (path) =>
        path === "/"
          ? { body: Array.from({ length: 5_000 }, (_, place) => `-> /p${String(place)}`).join("\n\n") }
          : null,
    ],
  ])("with %s without end are left after so many requests", async (_what, page) => {
    made = (path) => (path === "/robots.txt" ? null : page(path));
    const { status, documents } = await crawled();
    expect([status, documents.length <= 1]).toEqual(["SOURCE_STATUS_READY", true]);
    // A page may redirect three times.
    expect(site.requested.length).toBeLessThanOrEqual(MAX_REQUESTS * 4);
    expect(new Set(site.requested).size).toBeGreaterThan(1);
  });

  it("whose redirects go in a circle have a reason, and pages that name each other are stored once", async () => {
    site.pages.set("/", { body: "Home.\n\n-> /a\n\n-> /one\n\n-> /page\n\n-> /ok" });
    site.pages.set("/a", { status: 302, location: "/b" });
    site.pages.set("/b", { status: 302, location: "/a" });
    site.pages.set("/one", { body: "One.\n\n= /two" });
    site.pages.set("/two", { body: "Two.\n\n= /one" });
    // As sites do that name the address with http, which redirects to the one with https.
    site.pages.set("/page", { body: "Page.\n\n= /old" });
    site.pages.set("/old", { status: 301, location: "/page" });
    site.pages.set("/ok", { body: "Good." });
    const { status, documents, failures } = await crawled();
    expect([status, documents]).toEqual(["SOURCE_STATUS_READY", ["/", "/ok", "/page", "/two"]]);
    expect(failures).toEqual([["/a", "too_many_redirects"]]);
  });

  it("redirect to no page that their rules forbid", async () => {
    site.pages.set("/robots.txt", { type: "text/plain", body: "User-agent: *\nDisallow: /private" });
    site.pages.set("/", { body: "Home.\n\n-> /one\n\n-> /two" });
    for (const path of ["/one", "/two"]) site.pages.set(path, { status: 302, location: "/private" });
    site.pages.set("/private", { body: "Private." });
    expect((await crawled()).documents).toEqual(["/"]);
    expect(site.requested).toContain("/two");
    expect(site.requested).not.toContain("/private");
  });

  it("whose rules for crawlers are too long are not requested", async () => {
    const rules = `User-agent: *\nDisallow: /\n#${"x".repeat(MAX_ROBOTS_BYTES)}`;
    site.pages.set("/robots.txt", { type: "text/plain", body: rules });
    site.pages.set("/", { body: "Home." });
    const { documents, failures } = await crawled({ maxDepth: 1 });
    expect([documents, failures]).toEqual([[], [["/", "robots_unavailable"]]]);
    expect(site.requested).toEqual(["/robots.txt"]);
  });

  it("that never end an answer, or send more than is taken, have a reason", async () => {
    site.pages.set("/", { body: "Home.\n\n-> /slow\n\n-> /large\n\n-> /ok" });
    site.pages.set("/large", { body: "x".repeat(2_000) });
    site.pages.set("/ok", { body: "Good." });
    const slow: Pick<typeof client, "request"> = {
      request: (request, signal) =>
        request.url.endsWith("/slow")
          ? Promise.reject(new RequestTimedOut(30_000))
          : client.request(request, signal),
    };
    const { documents, failures } = await crawled({ maxDocumentBytes: 1_000 }, slow);
    expect(documents).toEqual(["/", "/ok"]);
    expect(failures).toEqual([
      ["/large", "too_large"],
      ["/slow", "timeout"],
    ]);
  });

  it("lead to no other server by links, redirects, canonical addresses, sitemaps or rules", async () => {
    inner.requested.length = 0;
    site.pages.set("/robots.txt", { type: "text/plain", body: `Sitemap: ${inner.url}/sitemap.xml` });
    site.pages.set("/sitemap.xml", {
      type: "application/xml",
      body: `-> ${inner.url}/more.xml\n\n-> ${inner.url}/listed\n\n-> /listed`,
    });
    site.pages.set("/", { body: `Home.\n\n-> ${inner.url}/linked\n\n-> /moved\n\n-> /twice\n\n-> /copy` });
    site.pages.set("/moved", { status: 301, location: `${inner.url}/moved` });
    site.pages.set("/twice", { status: 301, location: "/moved" });
    site.pages.set("/copy", { body: `Copy.\n\n= ${inner.url}/original` });
    site.pages.set("/listed", { body: "Listed." });
    const { documents, failures } = await crawled();
    expect(documents).toEqual(["/", "/copy", "/listed"]);
    expect(failures).toEqual([
      ["/moved", "redirected_elsewhere"],
      ["/twice", "redirected_elsewhere"],
    ]);
    expect(inner.requested).toEqual([]);
  });

  it("at addresses of this machine are not requested unless they are listed", async () => {
    site.pages.set("/", { body: "Home." });
    const { documents, failures } = await crawled({}, openGuardedClient({ allowed: readAllowedTargets("") }));
    expect([documents, failures]).toEqual([[], [["/", "address_refused"]]]);
    expect(site.requested).toEqual([]);
  });
});

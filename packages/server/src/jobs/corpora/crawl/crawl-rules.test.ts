import { expect, test } from "vitest";
import { crawlRules, followedLinks, isSameHost, pageUrl } from "./crawl-rules.ts";
import { openHostPace } from "./host-pace.ts";
import { openRobots } from "./robots.ts";

test("links are followed to the same host only, and to what may be a document", () => {
  const links = [
    "https://hotel.example/a",
    "https://hotel.example/a#part",
    "http://hotel.example/b.pdf",
    "https://hotel.example:8443/",
    "https://sub.hotel.example/",
    "https://other.example/",
    "https://hotel.example/p.PNG",
    "https://user:secret@hotel.example/",
    `https://hotel.example/${"x".repeat(2_000)}`,
  ];
  expect(followedLinks(links, "https://hotel.example/")).toEqual([
    "https://hotel.example/a",
    "http://hotel.example/b.pdf",
  ]);
  expect(pageUrl("ftp://hotel.example/")).toBeNull();
  expect(isSameHost(new URL("http://a.example"), new URL("https://A.example/x"))).toBe(true);
});

test("types are wanted by lists with a star", () => {
  const { isRelevant, maxDepth, maxDocuments, maxPages } = crawlRules({
    startUrls: ["https://hotel.example/"],
    maxDocuments: 20,
    relevantDocumentTypes: {
      include: { mimeTypes: ["text/*", "Application/PDF"] },
      exclude: { mimeTypes: ["text/csv"] },
    },
  });
  const types = ["text/html", "text/csv", "application/pdf", "application/msword"];
  expect(types.map(isRelevant)).toEqual([true, false, true, false]);
  expect([maxDepth, maxDocuments, maxPages]).toEqual([3, 20, 100]);
});

test("requests to one host keep their distance, those to another do not wait", async () => {
  let nowMs = 0;
  const waits: number[] = [];
  const pace = openHostPace(
    () => nowMs,
    (ms) => {
      waits.push(ms);
      nowMs += ms;
      return Promise.resolve();
    },
  );
  const never = new AbortController().signal;
  await pace.turn("a.example", 500, never);
  await pace.turn("b.example", 500, never);
  await pace.turn("a.example", 500, never);
  nowMs += 200;
  await pace.turn("a.example", 500, never);
  expect(waits).toEqual([500, 300]);
});

test("the rules of a host are read once, and refuse everything while they cannot be read", async () => {
  let asked = 0;
  const page = (text: string) => ({
    kind: "page" as const,
    url: "https://hotel.example/robots.txt",
    mimeType: "text/plain",
    charset: null,
    bytes: new TextEncoder().encode(text),
  });
  const robots = openRobots(() => {
    asked += 1;
    const lines = [
      "User-agent: ParleyCrawler",
      "Disallow: /private",
      "Crawl-delay: 3600",
      "Sitemap: https://hotel.example/s.xml",
    ];
    return Promise.resolve(page(lines.join("\n")));
  });
  const rules = await robots.rulesFor("https://hotel.example/a");
  await robots.rulesFor("https://hotel.example/b");
  expect(asked).toBe(1);
  expect([
    rules.mayRequest?.("https://hotel.example/a"),
    rules.mayRequest?.("https://hotel.example/private/x"),
  ]).toEqual([true, false]);
  expect([rules.delayMs, rules.sitemaps]).toEqual([10_000, ["https://hotel.example/s.xml"]]);
  const outcomes = [
    ["gone", "not_found", "The server answered with HTTP 404.", true],
    ["failed", "http_status", "The server answered with HTTP 403.", true],
    ["failed", "http_status", "The server answered with HTTP 503.", false],
    ["failed", "timeout", "The server did not answer within 30 seconds.", false],
  ] as const;
  for (const [kind, code, message, isAllowed] of outcomes) {
    const other = openRobots(() => Promise.resolve({ kind, failure: { code, message } }));
    expect((await other.rulesFor("https://hotel.example/")).mayRequest !== null).toBe(isAllowed);
  }
});

test("rules that would take long to compare are not compared", async () => {
  const rulesOf = async (text: string) =>
    openRobots(() =>
      Promise.resolve({
        kind: "page",
        url: "https://hotel.example/robots.txt",
        mimeType: "text/plain",
        charset: null,
        bytes: new TextEncoder().encode(text),
      }),
    ).rulesFor("https://hotel.example/");
  const mayRequest = async (text: string) =>
    (await rulesOf(text)).mayRequest?.("https://hotel.example/private/a");
  const others = Array.from({ length: 20_000 }, (_, index) => `User-agent: a${String(index)}\n`).join("");
  // The package alone would store 400 million rules.
  expect(await mayRequest(`${others}User-agent: *\n${"Disallow: /private\n".repeat(4_000)}`)).toBe(false);
  expect(await mayRequest(`${others}${"Disallow: /private\n".repeat(20_000)}`)).toBe(true);
  expect(await mayRequest(`User-agent: *\n${"Disallow: /x\n".repeat(6_000)}`)).toBeUndefined();
  expect(await mayRequest(`User-agent: *\nDisallow: /${"*a".repeat(20_000)}`)).toBeUndefined();
  const groups =
    "User-agent: other\nUser-agent: parleycrawler/2 # us\nDisallow: /p*e/\n\nUser-agent: *\nAllow: /\n";
  expect(await mayRequest(groups)).toBe(false);
});

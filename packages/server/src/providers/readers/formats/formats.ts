/** The formats that are read, by the types that documents have. Each loads its library when it is first needed. */

import type { ReadFormat } from "./parsed.ts";

type Load = () => Promise<ReadFormat>;

const html: Load = async () => (await import("./html.ts")).readHtml;
const text: Load = async () => (await import("./plain-text.ts")).readText;
const markdown: Load = async () => (await import("./markdown.ts")).readMarkdown;
const sitemap: Load = async () => (await import("./plain-text.ts")).readSitemap;

export const FORMATS: ReadonlyMap<string, Load> = new Map([
  ["application/pdf", async () => (await import("./pdf.ts")).readPdf],
  ["application/msword", async () => (await import("./old-office.ts")).readDoc],
  ["application/vnd.ms-powerpoint", async () => (await import("./old-office.ts")).readPpt],
  [
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    async () => (await import("./office.ts")).readDocx,
  ],
  [
    "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    async () => (await import("./office.ts")).readPptx,
  ],
  ["application/epub+zip", async () => (await import("./epub.ts")).readEpub],
  ["text/html", html],
  ["application/xhtml+xml", html],
  ["text/plain", text],
  ["text/markdown", markdown],
  ["text/x-markdown", markdown],
  ["text/csv", async () => (await import("./plain-text.ts")).readCsv],
  ["application/xml", sitemap],
  ["text/xml", sitemap],
]);

import { zipSync } from "fflate";
import { afterAll, describe, expect, it, test } from "vitest";
import {
  READ_FAILURES,
  UnreadableDocument,
  type DocumentToRead,
} from "../../ports/corpora/document-reader.ts";
import { describeDocumentReaderConformance } from "../../ports/corpora/testing/document-reader-conformance.ts";
import { startReaderProcess } from "./child/reader-process.ts";
import { openDocumentReader } from "./document-reader.ts";
import { damagedVariant } from "./testing/damage.ts";
import { SAMPLES, type Sample } from "./testing/samples.ts";

/** Of each kind; `npm run fuzz -- --side readers` reads 1,000. */
const DAMAGED = 25;
const LIMIT_MS = 120_000;
const TEXTS: ReadonlySet<Sample["kind"]> = new Set(["txt", "md", "html", "csv"]);

const never = new AbortController().signal;
const reader = openDocumentReader();
afterAll(() => reader.close());

const toRead = ({ bytes, mimeType }: Pick<Sample, "bytes" | "mimeType">): DocumentToRead => ({
  bytes,
  mimeType,
  charset: null,
  url: null,
});
const failureOf = (document: DocumentToRead, from = reader): Promise<unknown> =>
  from.read(document, never).then(
    () => null,
    (error: unknown) => error,
  );
const sampleOf = (kind: Sample["kind"]): Sample => {
  const found = SAMPLES.find((sample) => sample.kind === kind);
  if (found === undefined) throw new Error(`there is no sample of ${kind}`);
  return found;
};

describeDocumentReaderConformance("the process", () => openDocumentReader());

describe("each kind of document", () => {
  it.each(SAMPLES)("$kind has its text in chunks", { timeout: LIMIT_MS }, async (sample) => {
    const { chunks, language } = await reader.read(toRead(sample), never);
    const text = chunks.map((chunk) => [...chunk.headingPath, chunk.text].join("\n")).join("\n");
    expect(text).toContain("Breakfast");
    expect(text).toMatch(/7 to 10|12 euros/);
    expect(sample.kind === "csv" ? "en" : language).toMatch(/^en/);
  });

  it("has headings, tables and pages where the format has them", { timeout: LIMIT_MS }, async () => {
    const pathsOf = async (kind: Sample["kind"]) =>
      (await reader.read(toRead(sampleOf(kind)), never)).chunks.map(({ headingPath, page }) => ({
        headingPath,
        page,
      }));
    expect(await pathsOf("docx")).toContainEqual({ headingPath: ["House rules", "Breakfast"], page: null });
    expect(await pathsOf("html")).toContainEqual({ headingPath: ["House rules", "Prices"], page: null });
    expect(await pathsOf("pdf")).toContainEqual({ headingPath: ["House rules", "Departure"], page: 2 });
    for (const kind of ["ppt", "pptx"] as const) {
      expect((await pathsOf(kind)).map(({ page }) => page)).toEqual([1, 2]);
    }
    const { chunks } = await reader.read(toRead(sampleOf("md")), never);
    expect(chunks.at(-1)?.text).toContain("Room | Price\nSingle | 80 euros");
  });

  it.each(SAMPLES)("$kind ends with a reason when it is damaged", { timeout: LIMIT_MS }, async (sample) => {
    for (let seed = 1; seed <= DAMAGED; seed += 1) {
      const failure = await failureOf(toRead({ ...sample, bytes: damagedVariant(sample.bytes, seed) }));
      if (failure === null) continue;
      expect(failure).toBeInstanceOf(UnreadableDocument);
      expect(READ_FAILURES).toContain((failure as UnreadableDocument).code);
    }
    // The process goes on, or another one has taken its place.
    expect(await failureOf(toRead(sample))).toBeNull();
  });
});

describe("files that are made to do harm", () => {
  const docx = (entries: Record<string, Uint8Array>): DocumentToRead =>
    toRead({ mimeType: sampleOf("docx").mimeType, bytes: zipSync(entries, { level: 9 }) });

  test("that unpack to much more than they are", { timeout: LIMIT_MS }, async () => {
    const bomb = docx({
      "[Content_Types].xml": new Uint8Array(8),
      "word/document.xml": new Uint8Array(200_000_000),
    });
    expect(bomb.bytes.byteLength).toBeLessThan(1_000_000);
    expect(await failureOf(bomb)).toMatchObject({ code: "too_large" });
  });

  test("with ten thousands of parts", { timeout: LIMIT_MS }, async () => {
    const many = Object.fromEntries(
      Array.from({ length: 10_001 }, (_, part) => [`p${String(part)}`, new Uint8Array(0)]),
    );
    expect(await failureOf(docx(many))).toMatchObject({ code: "too_large" });
  });

  test("that are encrypted", { timeout: LIMIT_MS }, async () => {
    const ole = sampleOf("doc").bytes;
    expect(await failureOf(toRead({ mimeType: sampleOf("docx").mimeType, bytes: ole }))).toMatchObject({
      code: "encrypted",
    });
  });

  test("that are nested twenty thousand times", { timeout: LIMIT_MS }, async () => {
    const bytes = new TextEncoder().encode(`<p>${"<div>".repeat(20_000)}deep${"</div>".repeat(20_000)}`);
    const failure = await failureOf(toRead({ mimeType: "text/html", bytes }));
    expect(failure === null || failure instanceof UnreadableDocument).toBe(true);
    const quotes = new TextEncoder().encode(`${">".repeat(20_000)} deep`);
    const other = await failureOf(toRead({ mimeType: "text/markdown", bytes: quotes }));
    expect(other === null || other instanceof UnreadableDocument).toBe(true);
    expect(await failureOf(toRead(sampleOf("txt")))).toBeNull();
  });

  it.each(SAMPLES)(
    "$kind files that are announced as another type end, and no binary file becomes text",
    { timeout: LIMIT_MS },
    async ({ kind, bytes }) => {
      const isText = TEXTS.has(kind);
      for (const other of SAMPLES.filter((sample) => sample.kind !== kind)) {
        const failure = await failureOf(toRead({ mimeType: other.mimeType, bytes }));
        if (failure === null && isText && TEXTS.has(other.kind)) continue;
        expect([other.kind, failure]).toEqual([other.kind, expect.any(UnreadableDocument) as unknown]);
        expect(["damaged", "encrypted", "no_text"]).toContain((failure as UnreadableDocument).code);
      }
    },
  );

  test("that take too long", { timeout: LIMIT_MS }, async () => {
    const hasty = openDocumentReader({ timeoutMs: 1 });
    try {
      expect(await failureOf(toRead(sampleOf("pdf")), hasty)).toMatchObject({ code: "too_slow" });
    } finally {
      await hasty.close();
    }
  });

  test("that take too much memory, after which the next one is read", { timeout: LIMIT_MS }, async () => {
    let starts = 0;
    const small = openDocumentReader({
      start: (listener) => {
        starts += 1;
        // A process of Node has some 50 MB, so the first one is ended at once.
        return startReaderProcess(listener, starts === 1 ? 1_000_000 : undefined);
      },
    });
    try {
      const bytes = new TextEncoder().encode("<p>a word</p>".repeat(300_000));
      expect(await failureOf(toRead({ mimeType: "text/html", bytes }), small)).toMatchObject({
        code: "too_much_memory",
      });
      expect(await failureOf(toRead(sampleOf("txt")), small)).toBeNull();
      expect(starts).toBe(2);
    } finally {
      await small.close();
    }
  });

  test("that end the process", { timeout: LIMIT_MS }, async () => {
    const pids: number[] = [];
    const killed = openDocumentReader({
      start: (listener) => {
        const started = startReaderProcess(listener);
        if (pids.push(started.pid ?? 0) === 1) process.kill(started.pid ?? 0, "SIGKILL");
        return started;
      },
    });
    try {
      expect(await failureOf(toRead(sampleOf("txt")), killed)).toMatchObject({ code: "reader_ended" });
      expect(await failureOf(toRead(sampleOf("txt")), killed)).toBeNull();
    } finally {
      await killed.close();
    }
  });
});

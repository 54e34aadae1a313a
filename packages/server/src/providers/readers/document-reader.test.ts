import { expect, test } from "vitest";
import type { DocumentToRead, ReadDocument } from "../../ports/corpora/document-reader.ts";
import type { ReaderProcess, ReaderProcessListener } from "./child/reader-process.ts";
import { openDocumentReader } from "./document-reader.ts";

const never = new AbortController().signal;

const documentOf = (text: string, ownerId: string): DocumentToRead => ({
  bytes: new TextEncoder().encode(text),
  mimeType: "text/plain",
  charset: null,
  url: null,
  ownerId,
});

/** Processes that answer when they are told to. */
function processes() {
  const begun: string[] = [];
  const answers = new Map<string, () => void>();
  const seen: object[] = [];
  const start = (listener: ReaderProcessListener): ReaderProcess => ({
    pid: 1,
    send: ({ id, document }) => {
      const name = new TextDecoder().decode(document.bytes);
      begun.push(name);
      seen.push(document);
      const read: ReadDocument = {
        title: name,
        description: null,
        published: null,
        language: null,
        chunks: [],
        links: [],
        canonicalUrl: null,
        isHidden: false,
      };
      answers.set(name, () => listener.heard({ type: "read", id, document: read }));
    },
    end: () => Promise.resolve(),
  });
  return { begun, seen, start, answer: (name: string) => answers.get(name)?.() };
}

test("a slow document of one account delays its own ones, and not those of another account", async () => {
  const { begun, seen, start, answer } = processes();
  const reader = openDocumentReader({ start });
  const read = (name: string, ownerId: string) => reader.read(documentOf(name, ownerId), never);
  const all = [read("slow", "a"), read("next", "a"), read("b1", "b"), read("b2", "b")];
  await expect.poll(() => begun, { timeout: 30_000 }).toEqual(["slow", "b1"]);
  answer("b1");
  await expect.poll(() => begun, { timeout: 30_000 }).toEqual(["slow", "b1", "b2"]);
  answer("b2");
  answer("slow");
  await expect.poll(() => begun, { timeout: 30_000 }).toEqual(["slow", "b1", "b2", "next"]);
  answer("next");
  expect((await Promise.all(all)).map(({ title }) => title)).toEqual(["slow", "next", "b1", "b2"]);
  // The process does not need to know whose document it reads.
  expect(seen.some((document) => "ownerId" in document)).toBe(false);
  await reader.close();
});

test("one process is enough while one document is read at a time", async () => {
  const { begun, start, answer } = processes();
  let starts = 0;
  const reader = openDocumentReader({
    start: (listener) => {
      starts += 1;
      return start(listener);
    },
  });
  for (const name of ["one", "two", "three"]) {
    const reading = reader.read(documentOf(name, name), never);
    await expect.poll(() => begun.at(-1), { timeout: 30_000 }).toBe(name);
    answer(name);
    await reading;
  }
  expect(starts).toBe(1);
  await reader.close();
});

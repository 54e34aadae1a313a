import { expect, test } from "vitest";
import { bodyOf, draftOf, NEW_SOURCE, sourceFaults, uploadedIn, withDocument } from "./source-draft.ts";

const RECORD = {
  corpusId: "c",
  sourceId: "s",
  created: "2026-11-21T10:00:00.000Z",
  stats: { status: "SOURCE_STATUS_INITIALIZING" as const, lastUpdated: null, numDocs: 0 },
};

test.each([
  {
    name: "Pages",
    crawl: {
      startUrls: ["https://a.example/"],
      maxDepth: 2,
      relevantDocumentTypes: { include: { mimeTypes: ["text/html", "text/*"] } },
    },
  },
  { name: "Files", description: "Old ones", upload: { documentIds: ["d1", "d2"] } },
  { name: "Asked", advanced: { documents: [{ documentId: "d1", exampleQueries: ["When?", "Where?"] }] } },
])("a source comes back as it was: $name", (fields) => {
  const { name, description = null, ...spec } = fields;
  expect(bodyOf(draftOf({ ...RECORD, name, description, ...spec }))).toEqual(fields);
});

test("an uploaded document takes the place of an empty field", () => {
  const one = withDocument({ ...NEW_SOURCE, kind: "upload" }, "d1");
  expect([one.documentIds, uploadedIn(one)]).toEqual([["d1"], 1]);
  const two = withDocument(
    { ...NEW_SOURCE, kind: "advanced", documents: [{ documentId: "d1", queries: "q" }] },
    "d2",
  );
  expect(bodyOf(two)).toEqual({
    advanced: {
      documents: [
        { documentId: "d1", exampleQueries: ["q"] },
        { documentId: "d2", exampleQueries: [] },
      ],
    },
  });
});

test("addresses and numbers are checked before they are sent", () => {
  const draft = {
    ...NEW_SOURCE,
    startUrls: ["https://a.example", "nowhere"],
    maxDepth: "0",
    maxDocuments: "x",
  };
  expect(sourceFaults(draft).map(({ field }) => field)).toEqual([
    "crawl.startUrls.1",
    "crawl.maxDepth",
    "crawl.maxDocuments",
  ]);
  expect(sourceFaults({ ...draft, kind: "upload", documentIds: ["d1"] })).toEqual([]);
  const none = [" "];
  expect(sourceFaults({ ...draft, kind: "upload", documentIds: none })).toMatchObject([
    { field: "upload.documentIds" },
  ]);
  expect(sourceFaults({ ...draft, kind: "advanced" })).toMatchObject([{ field: "advanced.documents" }]);
});

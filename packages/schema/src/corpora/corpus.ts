/** Corpora: documents that agents can search, and the sources that they come from. */

import { z } from "zod";
import { ignoring, name, nullUnlessVendor, text, Timestamp, Uuid, wholeNumber } from "../values/fields.ts";
import { url } from "../values/http-parts.ts";
import { withExactlyOne } from "../values/one-of.ts";

const MAX_NAME_LENGTH = 200;
const MAX_DESCRIPTION_LENGTH = 2000;
export const MAX_SOURCES = 20;
export const MAX_DOCUMENTS = 200;
export const MAX_DOCUMENT_BYTES = 10 * 1024 * 1024;
const MAX_START_URLS = 100;
const MAX_CRAWL_DEPTH = 20;
/** Limits the text that is compared with each document. */
const MAX_MIME_TYPES = 100;
/** Limits what is stored with one document of a source. */
const MAX_EXAMPLE_QUERIES = 100;
export const MAX_QUERY_RESULTS = 20;
export const DEFAULT_QUERY_RESULTS = 5;

const Name = name(MAX_NAME_LENGTH);
/** Earlier versions stored blank names. */
const StoredName = text(1, MAX_NAME_LENGTH);
const Description = text(0, MAX_DESCRIPTION_LENGTH);

const Count = z.int().min(0);

export const CorpusStatus = z.enum([
  "CORPUS_STATUS_EMPTY",
  "CORPUS_STATUS_INITIALIZING",
  "CORPUS_STATUS_READY",
  "CORPUS_STATUS_UPDATING",
]);
export type CorpusStatus = z.output<typeof CorpusStatus>;

const CorpusStats = z.strictObject({
  status: CorpusStatus.describe(
    "INITIALIZING until a source has been loaded for the first time. EMPTY if it then has no documents.",
  ),
  lastUpdated: nullUnlessVendor(Timestamp),
  numChunks: Count,
  numDocs: Count,
  numVectors: Count,
});

/** A corpus as the API returns it. */
export const Corpus = z.strictObject({
  corpusId: Uuid,
  created: Timestamp,
  name: nullUnlessVendor(StoredName),
  description: nullUnlessVendor(Description),
  stats: CorpusStats,
});
export type Corpus = z.output<typeof Corpus>;

const CORPUS_READ_ONLY = ["corpusId", "created", "stats"];

/** The body that creates or replaces a corpus. */
export const CorpusWrite = ignoring(
  z.strictObject({ name: Name.optional(), description: Description.optional() }),
  CORPUS_READ_ONLY,
).meta({ examples: [{ name: "House rules", description: "What guests ask about." }] });
export type CorpusWrite = z.output<typeof CorpusWrite>;

/** The body that changes a corpus; null clears a field. */
export const CorpusPatch = ignoring(
  z.strictObject({ name: Name.nullable().optional(), description: Description.nullable().optional() }),
  CORPUS_READ_ONLY,
);
export type CorpusPatch = z.output<typeof CorpusPatch>;

const MIME_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]*\/(?:[a-z0-9][a-z0-9!#$&^_.+-]*|\*)$/i;
const MimeType = z.string().max(255).regex(MIME_TYPE, { error: "must be a type such as text/html" });
const MimeTypes = z.strictObject({ mimeTypes: z.array(MimeType).max(MAX_MIME_TYPES) });

/** Web pages, crawled from `startUrls`. */
export const CrawlSpec = z.strictObject({
  startUrls: z
    .array(url(["http", "https"]))
    .min(1)
    .max(MAX_START_URLS),
  maxDepth: wholeNumber(1, MAX_CRAWL_DEPTH).optional().describe("1: only the `startUrls`."),
  maxDocuments: wholeNumber(1, MAX_DOCUMENTS).optional(),
  maxDocumentBytes: wholeNumber(1, MAX_DOCUMENT_BYTES).optional().describe("Larger documents are skipped."),
  relevantDocumentTypes: z
    .strictObject({ include: MimeTypes.optional(), exclude: MimeTypes.optional() })
    .optional(),
});
export type CrawlSpec = z.output<typeof CrawlSpec>;

/** Uploaded documents. */
export const UploadSpec = z.strictObject({ documentIds: z.array(Uuid).min(1).max(MAX_DOCUMENTS) });
export type UploadSpec = z.output<typeof UploadSpec>;

/** Uploaded documents, each with questions that it answers. */
export const AdvancedSpec = z.strictObject({
  documents: z
    .array(
      z.strictObject({
        documentId: Uuid,
        exampleQueries: z.array(text(1, 1000)).max(MAX_EXAMPLE_QUERIES).optional(),
      }),
    )
    .min(1)
    .max(MAX_DOCUMENTS),
});
export type AdvancedSpec = z.output<typeof AdvancedSpec>;

export const SOURCE_KINDS = ["crawl", "upload", "advanced"] as const;
export type SourceKind = (typeof SOURCE_KINDS)[number];

export const SourceStatus = z.enum([
  "SOURCE_STATUS_INITIALIZING",
  "SOURCE_STATUS_READY",
  "SOURCE_STATUS_UPDATING",
]);
export type SourceStatus = z.output<typeof SourceStatus>;

const SourceStats = z.strictObject({
  status: SourceStatus.describe(
    "INITIALIZING until it has been loaded for the first time, even if loading has not started.",
  ),
  lastUpdated: nullUnlessVendor(Timestamp),
  numDocs: Count,
});

/** A source as the API returns it. */
export const CorpusSource = z.strictObject({
  corpusId: Uuid,
  sourceId: Uuid,
  created: Timestamp,
  name: nullUnlessVendor(StoredName),
  description: nullUnlessVendor(Description),
  stats: SourceStats,
  crawl: CrawlSpec.optional(),
  upload: UploadSpec.optional(),
  advanced: AdvancedSpec.optional(),
});
export type CorpusSource = z.output<typeof CorpusSource>;

const SOURCE_READ_ONLY = ["corpusId", "sourceId", "created", "stats"];

const specs = {
  crawl: CrawlSpec.optional(),
  upload: UploadSpec.optional(),
  advanced: AdvancedSpec.optional(),
  loadSpec: CrawlSpec.optional().describe("Older spelling of `crawl`."),
};

/** The body that creates or replaces a source. */
export const CorpusSourceWrite = ignoring(
  withExactlyOne(z.strictObject({ name: Name.optional(), description: Description.optional(), ...specs }), [
    "crawl",
    "upload",
    "advanced",
    "loadSpec",
  ]),
  SOURCE_READ_ONLY,
).meta({ examples: [{ name: "Our pages", crawl: { startUrls: ["https://hotel.example/"], maxDepth: 2 } }] });
export type CorpusSourceWrite = z.output<typeof CorpusSourceWrite>;

/** The body that changes a source. Its kind cannot change. */
export const CorpusSourcePatch = ignoring(
  z.strictObject({
    name: Name.nullable().optional(),
    description: Description.nullable().optional(),
    ...specs,
  }),
  SOURCE_READ_ONLY,
);
export type CorpusSourcePatch = z.output<typeof CorpusSourcePatch>;

const CorpusDocumentMetadata = z.strictObject({
  publicUrl: z.string().optional(),
  language: z.string().optional(),
  title: z.string().optional(),
  description: z.string().optional(),
  published: Timestamp.optional(),
  exampleQueries: z.array(z.string()).optional(),
});

/** A document as the API returns it. */
export const CorpusDocument = z.strictObject({
  corpusId: Uuid,
  sourceId: Uuid,
  documentId: Uuid,
  created: Timestamp,
  mimeType: z.string(),
  metadata: CorpusDocumentMetadata,
  sizeBytes: z
    .string()
    .regex(/^\d+$/)
    .meta({ examples: ["20480"] })
    .describe("A whole number, as text."),
});
export type CorpusDocument = z.output<typeof CorpusDocument>;

/** A part of a document that searches find. */
export const CorpusChunk = z.strictObject({
  chunkId: z
    .string()
    .regex(/^\d+$/)
    .meta({ examples: ["42"] })
    .describe("A whole number, as text."),
  position: Count.describe("From 0, in the order of the document."),
  headingPath: z.array(z.string()).describe("The headings above the text, outermost first."),
  page: z.int().min(1).nullable().describe("Null: the document has no pages."),
  text: z.string(),
  tokens: Count.describe("An estimate."),
});
export type CorpusChunk = z.output<typeof CorpusChunk>;

/** A document or page that could not be loaded. */
export const CorpusFailure = z.strictObject({
  documentId: Uuid.nullable().describe("Null: a page of which nothing is stored."),
  publicUrl: z.string().nullable(),
  fileName: z.string().nullable(),
  code: z.string().describe("Such as `encrypted`, `damaged` or `not_found`."),
  message: z.string(),
  created: Timestamp,
});
export type CorpusFailure = z.output<typeof CorpusFailure>;

/** Types of documents that can be uploaded, by the usual ending of their file name. */
export const UPLOAD_TYPES = {
  doc: "application/msword",
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  txt: "text/plain",
  md: "text/markdown",
  ppt: "application/vnd.ms-powerpoint",
  pptx: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
  pdf: "application/pdf",
  epub: "application/epub+zip",
  html: "text/html",
  csv: "text/csv",
} as const;

/** The type without parameters, in lower case. */
export function mediaTypeOf(text: string): string {
  return (text.split(";", 1)[0] ?? "").trim().toLowerCase();
}

/** One of the types, with parameters or without. */
const UPLOAD_TYPE = new RegExp(
  `^(${Object.values(UPLOAD_TYPES)
    .map((type) => type.replace(/[.+]/g, String.raw`\$&`))
    .join("|")})( *;.*)?$`,
  "i",
);

export const CorpusUploadsRequest = z
  .strictObject({
    mimeType: z
      .string()
      .min(1)
      .max(255)
      .regex(UPLOAD_TYPE, {
        error: `must be the type of a ${Object.keys(UPLOAD_TYPES).join(", ")} file, such as application/pdf`,
      }),
    fileName: z.string().max(255).meta({ default: "" }).optional(),
  })
  .meta({ examples: [{ mimeType: "application/pdf", fileName: "rules.pdf" }] });

export const CorpusUploadsResponse = z.strictObject({
  documentId: Uuid,
  presignedUrl: url(["http", "https"]).describe("Upload the document here with PUT, within 5 minutes."),
});

/** Sources of a corpus in the form, and as the API takes them. */

import type { Corpus, CorpusSource, CorpusSourceWrite, CrawlSpec } from "@parley/schema";
import type { Tone } from "../../ui/display.tsx";
import type { FieldFault } from "../../ui/field-errors.tsx";

interface State {
  readonly label: string;
  readonly tone: Tone;
}

export const CORPUS_STATES: Readonly<Record<Corpus["stats"]["status"], State>> = {
  CORPUS_STATUS_EMPTY: { label: "Empty", tone: "plain" },
  CORPUS_STATUS_INITIALIZING: { label: "Loading", tone: "caller" },
  CORPUS_STATUS_READY: { label: "Ready", tone: "good" },
  CORPUS_STATUS_UPDATING: { label: "Updating", tone: "warn" },
};

export const SOURCE_STATES: Readonly<Record<CorpusSource["stats"]["status"], State>> = {
  SOURCE_STATUS_INITIALIZING: { label: "Loading", tone: "caller" },
  SOURCE_STATUS_READY: { label: "Ready", tone: "good" },
  SOURCE_STATUS_UPDATING: { label: "Updating", tone: "warn" },
};

/** The name, or a placeholder without one. */
export function nameOf(name: string | null, id: string): string {
  return name ?? `Unnamed (${id.slice(0, 8)})`;
}

export const KINDS = [
  { value: "crawl", label: "Web pages" },
  { value: "upload", label: "Uploaded documents" },
  { value: "advanced", label: "Uploaded documents with example questions" },
] as const;
export type Kind = (typeof KINDS)[number]["value"];

export function kindOf({ upload, advanced }: Pick<CorpusSource, "upload" | "advanced">): Kind {
  if (upload !== undefined) return "upload";
  return advanced === undefined ? "crawl" : "advanced";
}

export interface SourceDraft {
  readonly name: string;
  readonly description: string;
  readonly kind: Kind;
  readonly startUrls: readonly string[];
  /** Numbers as typed; empty: unset. */
  readonly maxDepth: string;
  readonly maxDocuments: string;
  readonly maxDocumentBytes: string;
  /** Comma-separated types. */
  readonly include: string;
  readonly exclude: string;
  readonly documentIds: readonly string[];
  readonly documents: readonly { readonly documentId: string; readonly queries: string }[];
  /** File names of documents that were uploaded here, by their ids. */
  readonly names: Readonly<Record<string, string>>;
}

export const NEW_SOURCE: SourceDraft = {
  name: "",
  description: "",
  kind: "crawl",
  startUrls: ["https://"],
  maxDepth: "",
  maxDocuments: "",
  maxDocumentBytes: "",
  include: "",
  exclude: "",
  documentIds: [],
  documents: [],
  names: {},
};

/** Documents that the draft names. */
export function uploadedIn({ kind, documentIds, documents }: SourceDraft): number {
  const ids = kind === "upload" ? documentIds : documents.map(({ documentId }) => documentId);
  return ids.filter((id) => id.trim() !== "").length;
}

/** Adds an uploaded document, in place of the first empty field. */
export function withDocument(draft: SourceDraft, documentId: string): SourceDraft {
  if (draft.kind === "upload") {
    return { ...draft, documentIds: [...draft.documentIds.filter((id) => id.trim() !== ""), documentId] };
  }
  const named = draft.documents.filter((document) => document.documentId.trim() !== "");
  return { ...draft, documents: [...named, { documentId, queries: "" }] };
}

export function draftOf(source: CorpusSource): SourceDraft {
  const { crawl, upload, advanced } = source;
  const types = crawl?.relevantDocumentTypes;
  return {
    ...NEW_SOURCE,
    name: source.name ?? "",
    description: source.description ?? "",
    kind: kindOf(source),
    ...(crawl === undefined ? {} : { startUrls: crawl.startUrls }),
    maxDepth: textOf(crawl?.maxDepth),
    maxDocuments: textOf(crawl?.maxDocuments),
    maxDocumentBytes: textOf(crawl?.maxDocumentBytes),
    include: types?.include?.mimeTypes.join(", ") ?? "",
    exclude: types?.exclude?.mimeTypes.join(", ") ?? "",
    ...(upload === undefined ? {} : { documentIds: upload.documentIds }),
    ...(advanced === undefined
      ? {}
      : {
          documents: advanced.documents.map(({ documentId, exampleQueries = [] }) => ({
            documentId,
            queries: exampleQueries.join("\n"),
          })),
        }),
  };
}

const LIMITS = { maxDepth: 20, maxDocuments: 200, maxDocumentBytes: 10 * 1024 * 1024 } as const;

export function sourceFaults(draft: SourceDraft): FieldFault[] {
  if (draft.kind !== "crawl") {
    const field = draft.kind === "upload" ? "upload.documentIds" : "advanced.documents";
    return uploadedIn(draft) > 0 ? [] : [{ field, message: "must have at least one document" }];
  }
  const names = ["maxDepth", "maxDocuments", "maxDocumentBytes"] as const;
  const numbers = names
    .filter((name) => {
      const number = Number(draft[name]);
      return draft[name] !== "" && !(Number.isInteger(number) && number >= 1 && number <= LIMITS[name]);
    })
    .map((name) => ({
      field: `crawl.${name}`,
      message: `must be a whole number from 1 to ${String(LIMITS[name])}`,
    }));
  const addresses = draft.startUrls.flatMap((url, index) =>
    URL.canParse(url)
      ? []
      : [
          {
            field: `crawl.startUrls.${String(index)}`,
            message: "must be a URL such as https://hotel.example/",
          },
        ],
  );
  return [...addresses, ...numbers];
}

export function bodyOf(draft: SourceDraft): CorpusSourceWrite {
  const { name, description, kind, documentIds, documents } = draft;
  const named = {
    ...(name.trim() === "" ? {} : { name: name.trim() }),
    ...(description.trim() === "" ? {} : { description: description.trim() }),
  };
  if (kind === "crawl") return { ...named, crawl: crawlOf(draft) };
  if (kind === "upload") return { ...named, upload: { documentIds: partsOf(documentIds.join("\n"), "\n") } };
  const asked = documents.map(({ documentId, queries }) => ({
    documentId: documentId.trim(),
    exampleQueries: partsOf(queries, "\n"),
  }));
  return { ...named, advanced: { documents: asked } };
}

function crawlOf({
  startUrls,
  maxDepth,
  maxDocuments,
  maxDocumentBytes,
  include,
  exclude,
}: SourceDraft): CrawlSpec {
  const included = partsOf(include, ",");
  const excluded = partsOf(exclude, ",");
  const types = {
    ...(included.length === 0 ? {} : { include: { mimeTypes: included } }),
    ...(excluded.length === 0 ? {} : { exclude: { mimeTypes: excluded } }),
  };
  return {
    startUrls: startUrls.map((url) => url.trim()),
    ...(maxDepth === "" ? {} : { maxDepth: Number(maxDepth) }),
    ...(maxDocuments === "" ? {} : { maxDocuments: Number(maxDocuments) }),
    ...(maxDocumentBytes === "" ? {} : { maxDocumentBytes: Number(maxDocumentBytes) }),
    ...(Object.keys(types).length === 0 ? {} : { relevantDocumentTypes: types }),
  };
}

function partsOf(text: string, between: string): string[] {
  return text
    .split(between)
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

function textOf(number: number | undefined): string {
  return number === undefined ? "" : String(number);
}

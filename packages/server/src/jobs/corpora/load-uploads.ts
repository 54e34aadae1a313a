/** Loads the uploaded documents of a source, one after the other. */

import { createHash } from "node:crypto";
import { MAX_DOCUMENT_BYTES } from "@parley/schema";
import { UnreadableDocument } from "../../ports/corpora/document-reader.ts";
import {
  confirmDocument,
  failDocument,
  forgetAttempt,
  nextDocument,
  noteAttempt,
  READING_VERSION,
  storeReading,
  type LoadFailure,
  type LoadingDocument,
} from "../../store/corpora/documents.ts";
import { inLoad, type Load } from "../../store/corpora/loads.ts";
import { CUT_OFF, MAX_ATTEMPTS, type LoadDeps, type Progress } from "./load-deps.ts";

/** The node that has a file may be starting again; after this time the file counts as lost. */
const ELSEWHERE_LIMIT_MS = 30 * 60_000;

const MISSING: LoadFailure = {
  code: "file_missing",
  message: "The uploaded file is not there any more. Upload the document again.",
};

export async function loadUploads(
  deps: LoadDeps,
  load: Load,
  { untilMs, signal }: { readonly untilMs: number; readonly signal: AbortSignal },
): Promise<Progress> {
  for (;;) {
    signal.throwIfAborted();
    const document = await nextDocument(deps.db, load);
    if (document === null) return "done";
    if (deps.nowMs() >= untilMs) return "more";
    if (!(await loadDocument(deps, load, document, signal))) return "elsewhere";
  }
}

/** False: another node has the file. */
async function loadDocument(
  deps: LoadDeps,
  load: Load,
  document: LoadingDocument,
  signal: AbortSignal,
): Promise<boolean> {
  const { documentId } = document;
  const exampleQueries = exampleQueriesOf(load, documentId);
  if (document.status === "ready" && document.readingVersion === READING_VERSION) {
    await inLoad(deps.db, load, (tx) => confirmDocument(tx, load, documentId, exampleQueries));
    return true;
  }
  if (document.attempts >= MAX_ATTEMPTS) {
    await fail(deps, load, documentId, CUT_OFF);
    return true;
  }
  if (!document.fileIsShared && document.fileNode !== deps.nodeId) {
    if (deps.nowMs() - Date.parse(load.requestedAt) < ELSEWHERE_LIMIT_MS) return false;
    await fail(deps, load, documentId, MISSING);
    return true;
  }
  const bytes = await deps.files.read(documentId, MAX_DOCUMENT_BYTES, signal);
  if (bytes === null) {
    await fail(deps, load, documentId, MISSING);
    return true;
  }
  await inLoad(deps.db, load, (tx) => noteAttempt(tx, documentId));
  await readAndStore(deps, load, { document, bytes, exampleQueries, signal });
  return true;
}

interface FileToRead {
  readonly document: LoadingDocument;
  readonly bytes: Uint8Array;
  readonly exampleQueries: readonly string[];
  readonly signal: AbortSignal;
}

async function readAndStore(
  deps: LoadDeps,
  load: Load,
  { document, bytes, exampleQueries, signal }: FileToRead,
): Promise<void> {
  const { documentId, mimeType } = document;
  try {
    const read = await deps.reader.read(
      { bytes, mimeType, charset: null, url: null, ownerId: load.accountId },
      signal,
    );
    const reading = {
      ...read,
      mimeType,
      sizeBytes: bytes.byteLength,
      contentHash: createHash("sha256").update(bytes).digest("hex"),
      title: read.title ?? document.fileName,
      exampleQueries,
    };
    const wake = await storeReading(deps.db, load, document, reading, {
      signal,
      finish: async (tx, changed) => (changed > 0 ? deps.chunksChanged(tx, load, changed) : null),
    });
    wake?.();
  } catch (error) {
    if (error instanceof UnreadableDocument) return fail(deps, load, documentId, error);
    // The machine or the database failed, and not the document.
    await inLoad(deps.db, load, (tx) => forgetAttempt(tx, documentId)).catch(() => undefined);
    throw error;
  }
}

async function fail(
  deps: LoadDeps,
  load: Load,
  documentId: string,
  { code, message }: LoadFailure,
): Promise<void> {
  const wake = await failDocument(deps.db, load, documentId, { code, message }, async (tx, changed) =>
    changed > 0 ? deps.chunksChanged(tx, load, changed) : null,
  );
  wake?.();
  deps.log.info(
    { sourceId: load.sourceId, documentId, failure: code },
    "a document of a corpus cannot be loaded",
  );
}

/** The questions that the source names for the document. */
function exampleQueriesOf({ kind, spec }: Load, documentId: string): readonly string[] {
  if (kind !== "advanced" || !Array.isArray(spec["documents"])) return [];
  const documents = spec["documents"] as readonly {
    documentId: string;
    exampleQueries?: readonly string[];
  }[];
  return documents.find((document) => document.documentId.toLowerCase() === documentId)?.exampleQueries ?? [];
}

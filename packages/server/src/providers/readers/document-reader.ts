/**
 * Reads documents in two processes. Documents of one account are read one after the other: a bad one takes up to a minute,
 * and the other process is free for the other accounts meanwhile.
 */

import {
  UnreadableDocument,
  type DocumentReader,
  type DocumentToRead,
  type ReadDocument,
} from "../../ports/corpora/document-reader.ts";
import { openKeyedSemaphore } from "../../pacing/semaphore.ts";
import { FORMATS } from "./formats/formats.ts";
import { ProcessReader, type DocumentReaderOptions } from "./process-reader.ts";

/** Each takes up to 1.5 GiB, and a whole core while it reads. */
const PROCESSES = 2;
/** Documents that wait; loads of sources read one document each at a time. */
const MAX_WAITING = 100;

export function openDocumentReader(options: DocumentReaderOptions = {}): DocumentReader {
  const mimeTypes: ReadonlySet<string> = new Set(FORMATS.keys());
  const readers = Array.from({ length: PROCESSES }, () => new ProcessReader(options));
  // The one that was used last comes first, so that the process of the other one ends where one is enough.
  const free = [...readers];
  const semaphore = openKeyedSemaphore({
    permits: PROCESSES,
    permitsPerKey: 1,
    limit: { most: MAX_WAITING, refusal: "too many documents wait to be read" },
  });
  const readNext = async (document: DocumentToRead, signal: AbortSignal): Promise<ReadDocument> => {
    const reader = free.pop();
    if (reader === undefined) throw new Error("no process is free for a document");
    try {
      return await reader.read(document, signal);
    } finally {
      free.push(reader);
    }
  };
  return {
    mimeTypes,
    read: async ({ ownerId = "", ...document }, signal) => {
      if (!mimeTypes.has(document.mimeType)) {
        const message = `Documents of the type ${document.mimeType} cannot be read.`;
        throw new UnreadableDocument("unsupported_type", message);
      }
      return semaphore(ownerId, () => readNext(document, signal));
    },
    close: async () => {
      await Promise.all(readers.map((reader) => reader.close()));
    },
  };
}

/**
 * Files of uploaded documents in the bucket that all nodes share. Files that were written before the bucket was set are
 * still read from the folder of their node, and removed there.
 */

import type { CorpusFiles } from "../../ports/corpora/corpus-files.ts";
import { openS3Objects, type S3Target } from "../s3/s3-objects.ts";

/** Ids are UUIDs; other texts could name other objects of the bucket. */
const FILE_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** `prefix` is that of every key in the bucket; empty, or with a slash at its end. */
export function openS3CorpusFiles(
  local: Pick<CorpusFiles, "read" | "remove">,
  target: S3Target & { readonly prefix: string },
): CorpusFiles {
  const objects = openS3Objects(target);
  const keyOf = (documentId: string): string => {
    if (!FILE_ID.test(documentId)) throw new RangeError("not a document id");
    return `${target.prefix}corpora/${documentId}`;
  };
  return {
    isShared: true,
    write: (documentId, bytes, signal) => objects.put(keyOf(documentId), bytes, signal),
    async read(documentId, maxBytes, signal) {
      const object = await objects.read(keyOf(documentId));
      if (object === null) return local.read(documentId, maxBytes, signal);
      const parts: Uint8Array[] = [];
      let length = 0;
      // Leaving the loop early cancels the stream and frees the connection.
      for await (const part of object.stream) {
        signal.throwIfAborted();
        length += part.byteLength;
        if (length > maxBytes) throw new RangeError("the file is too large");
        parts.push(part);
      }
      return Buffer.concat(parts);
    },
    async remove(documentId, signal) {
      await objects.remove(keyOf(documentId), signal);
      await local.remove(documentId, signal);
    },
  };
}

/** Files in memory, for tests of what uses the port. */

import type { CorpusFiles } from "../corpus-files.ts";

export function createFakeCorpusFiles(): CorpusFiles & { readonly names: () => string[] } {
  const files = new Map<string, Uint8Array>();
  return {
    isShared: false,
    names: () => [...files.keys()],
    write(documentId, bytes) {
      files.set(documentId, Uint8Array.from(bytes));
      return Promise.resolve();
    },
    read(documentId, maxBytes) {
      const bytes = files.get(documentId) ?? null;
      if (bytes !== null && bytes.byteLength > maxBytes)
        return Promise.reject(new RangeError("the file is too large"));
      return Promise.resolve(bytes);
    },
    remove(documentId) {
      files.delete(documentId);
      return Promise.resolve();
    },
  };
}

/** Entries of a ZIP file, within limits. */

import { unzipSync, type UnzipFileInfo } from "fflate";
import { UnreadableDocument } from "../../../ports/corpora/document-reader.ts";
import { damaged } from "./parsed.ts";

/** Of all entries that are read. A text of this size would exceed the limit of text as well. */
const MAX_UNPACKED_BYTES = 64 * 1024 * 1024;
/** A book with a file for each page has 2,000. */
const MAX_ENTRIES = 10_000;

/**
 * Unpacks the entries whose names are wanted. The library gives each entry a buffer of the size that the file states
 * and never writes beyond it, so the sizes that it states limit the memory.
 *
 * @throws UnreadableDocument
 */
export function unzip(bytes: Uint8Array, isWanted: (name: string) => boolean): Map<string, Uint8Array> {
  let entries = 0;
  let stated = 0;
  const filter = ({ name, originalSize }: UnzipFileInfo): boolean => {
    entries += 1;
    if (entries > MAX_ENTRIES) throw new UnreadableDocument("too_large", "The file has too many parts.");
    if (!isWanted(name)) return false;
    stated += originalSize;
    if (stated > MAX_UNPACKED_BYTES) {
      throw new UnreadableDocument("too_large", "The file is too large when it is unpacked.");
    }
    return true;
  };
  try {
    return new Map(Object.entries(unzipSync(bytes, { filter })));
  } catch (error) {
    if (error instanceof UnreadableDocument) throw error;
    throw damaged("it is not a complete archive");
  }
}

/** @throws UnreadableDocument where the entry is missing */
export function needEntry(entries: ReadonlyMap<string, Uint8Array>, name: string): Uint8Array {
  const bytes = entries.get(name);
  if (bytes === undefined) throw damaged("a part of it is missing");
  return bytes;
}

/** The path that `target`, relative to the folder of `from`, names within an archive; null: it is outside. */
export function pathFrom(from: string, target: string): string | null {
  const base = `zip:///${from}`;
  if (!URL.canParse(target, base)) return null;
  const url = new URL(target, base);
  if (url.protocol !== "zip:" || url.host !== "") return null;
  try {
    return decodeURIComponent(url.pathname.slice(1));
  } catch {
    return null;
  }
}

/** EPUB 2 and 3: the pages of the spine, in their order. */

import type { Block } from "../chunks/blocks.ts";
import { UnreadableDocument } from "../../../ports/corpora/document-reader.ts";
import { decodeText } from "./decode-text.ts";
import { elements, parseXml, textOf } from "./dom.ts";
import { blocksOfWholeHtml, dateOf } from "./html.ts";
import { damaged, encrypted, type Input, type Parsed } from "./parsed.ts";
import { needEntry, pathFrom, unzip } from "./unzip.ts";

const MAX_PAGES = 2_000;
const TEXT_NAMES = /\.(?:xml|opf|xhtml|html?|ncx)$/i;

export function readEpub({ bytes }: Input): Parsed {
  const entries = unzip(bytes, (name) => TEXT_NAMES.test(name));
  const textOfEntry = (name: string): string => decodeText(needEntry(entries, name), null);
  const locked = lockedPaths(entries);
  const root = elements(parseXml(textOfEntry("META-INF/container.xml")), "rootfile")[0]?.getAttribute(
    "full-path",
  );
  if (root === null || root === undefined) throw damaged("its package is not named");
  const book = parseXml(textOfEntry(root));
  const pages = new Map<string, string>();
  for (const item of elements(book, "item")) {
    const path = pathFrom(root, item.getAttribute("href") ?? "");
    if (path !== null) pages.set(item.getAttribute("id") ?? "", path);
  }
  const spine = elements(book, "itemref").flatMap(
    (item) => pages.get(item.getAttribute("idref") ?? "") ?? [],
  );
  if (spine.length > MAX_PAGES)
    throw new UnreadableDocument("too_many_pages", `The book has more than ${String(MAX_PAGES)} parts.`);
  if (spine.some((path) => locked.has(path))) throw encrypted();
  const blocks = spine
    .filter((path) => TEXT_NAMES.test(path))
    .flatMap((path): Block[] => blocksOfWholeHtml(textOfEntry(path)));
  return {
    blocks,
    title: textOf(elements(book, "dc:title")[0]),
    description: textOf(elements(book, "dc:description")[0]),
    language: textOf(elements(book, "dc:language")[0]),
    published: dateOf(textOf(elements(book, "dc:date")[0])),
  };
}

/** Parts that a reader needs a key for. Fonts are also listed there, which do not matter. */
function lockedPaths(entries: ReadonlyMap<string, Uint8Array>): ReadonlySet<string> {
  const list = entries.get("META-INF/encryption.xml");
  if (list === undefined) return new Set();
  const document = parseXml(decodeText(list, null));
  const references = [...elements(document, "CipherReference"), ...elements(document, "enc:CipherReference")];
  return new Set(references.flatMap((reference) => pathFrom("", reference.getAttribute("URI") ?? "") ?? []));
}

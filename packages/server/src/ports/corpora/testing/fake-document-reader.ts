/** A reader of plain text, for tests of what uses the port: a chunk for each paragraph, `# ` begins a heading. */

import {
  UnreadableDocument,
  type Chunk,
  type DocumentReader,
  type ReadDocument,
} from "../document-reader.ts";

const TYPES = new Set(["text/plain", "text/html", "application/xml"]);

export function createFakeDocumentReader(): DocumentReader {
  return {
    mimeTypes: TYPES,
    read({ bytes, mimeType, url }, signal) {
      return new Promise((resolve) => {
        signal.throwIfAborted();
        if (!TYPES.has(mimeType))
          throw new UnreadableDocument(
            "unsupported_type",
            `Documents of the type ${mimeType} cannot be read.`,
          );
        resolve(readText(new TextDecoder().decode(bytes), url));
      });
    },
    close: () => Promise.resolve(),
  };
}

/** `-> address` is a link, and `= address` the address that the page names as its own. */
function readText(text: string, url: string | null): ReadDocument {
  const chunks: Chunk[] = [];
  const links: string[] = [];
  let heading: string | null = null;
  let canonicalUrl: string | null = null;
  for (const paragraph of text.split("\n\n").map((part) => part.trim())) {
    if (paragraph.startsWith("# ")) heading = paragraph.slice(2);
    else if (paragraph.startsWith("-> ")) links.push(new URL(paragraph.slice(3), url ?? undefined).href);
    else if (paragraph.startsWith("= ")) canonicalUrl = new URL(paragraph.slice(2), url ?? undefined).href;
    else if (paragraph !== "") {
      const headingPath = heading === null ? [] : [heading];
      chunks.push({ headingPath, page: null, text: paragraph, tokens: paragraph.split(/\s+/).length });
    }
  }
  if (chunks.length === 0 && links.length === 0) {
    throw new UnreadableDocument("no_text", "The document has no text.");
  }
  const title = heading;
  return {
    title,
    description: null,
    published: null,
    language: "en",
    chunks,
    links,
    canonicalUrl,
    isHidden: false,
  };
}

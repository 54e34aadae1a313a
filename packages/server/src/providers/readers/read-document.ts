/** Reads a document in this process, without limits of time and memory. Runs in the process of the reader. */

import { detect } from "tinyld";
import {
  UnreadableDocument,
  type Chunk,
  type DocumentToRead,
  type ReadDocument,
} from "../../ports/corpora/document-reader.ts";
import { oneLine } from "./chunks/blocks.ts";
import { makeChunks } from "./chunks/make-chunks.ts";
import { FORMATS } from "./formats/formats.ts";
import type { Parsed } from "./formats/parsed.ts";

/** Text of one document: six times the Bible's letters would be 20 million; a manual of 1,000 pages has 3 million. */
const MAX_TEXT_CHARS = 4_000_000;
const MAX_CHUNKS = 10_000;
const MAX_TITLE_CHARS = 300;
const MAX_DESCRIPTION_CHARS = 2_000;
/** The language is found by the beginning of the text, in some milliseconds. */
const DETECTED_CHARS = 4_000;
const MAX_LANGUAGE_CHARS = 35;

/** @throws UnreadableDocument */
export async function readDocument(document: DocumentToRead): Promise<ReadDocument> {
  const load = FORMATS.get(document.mimeType);
  if (load === undefined) {
    throw new UnreadableDocument(
      "unsupported_type",
      `Documents of the type ${document.mimeType} cannot be read.`,
    );
  }
  const readFormat = await load();
  try {
    return toDocument(await readFormat(document));
  } catch (error) {
    if (error instanceof UnreadableDocument) throw error;
    // A library met what it does not expect. Its message may have text of the document.
    const detail =
      error instanceof RangeError ? "it is nested too deeply or too large" : "its parts do not fit together";
    throw new UnreadableDocument("damaged", `The file is damaged: ${detail}.`);
  }
}

function toDocument(parsed: Parsed): ReadDocument {
  const language = languageOf(parsed.language ?? null) ?? detected(parsed);
  const chars = parsed.blocks.reduce(
    (sum, block) => sum + (block.kind === "table" ? block.rows.join("").length : block.text.length),
    0,
  );
  if (chars > MAX_TEXT_CHARS)
    throw new UnreadableDocument(
      "too_much_text",
      `The text has more than ${String(MAX_TEXT_CHARS)} characters.`,
    );
  const chunks = makeChunks(parsed.blocks, language);
  checkChunks(chunks, parsed.isList === true);
  return {
    title: short(parsed.title, MAX_TITLE_CHARS),
    description: short(parsed.description, MAX_DESCRIPTION_CHARS),
    published: parsed.published ?? null,
    language,
    chunks,
    links: parsed.links ?? [],
    canonicalUrl: parsed.canonicalUrl ?? null,
    isHidden: parsed.isHidden ?? false,
  };
}

function checkChunks(chunks: readonly Chunk[], isList: boolean): void {
  if (chunks.length === 0 && !isList) {
    throw new UnreadableDocument("no_text", "The document has no text; text in pictures is not read.");
  }
  if (chunks.length > MAX_CHUNKS)
    throw new UnreadableDocument("too_much_text", `The text has more than ${String(MAX_CHUNKS)} parts.`);
}

function short(text: string | null | undefined, maxChars: number): string | null {
  const line = oneLine(text ?? "");
  return line === "" ? null : line.slice(0, maxChars).toWellFormed();
}

/** A tag that a document states, such as `en_US`; null: it is none. */
function languageOf(tag: string | null): string | null {
  if (tag === null || tag.length > MAX_LANGUAGE_CHARS) return null;
  try {
    return Intl.getCanonicalLocales(tag.trim().replaceAll("_", "-"))[0] ?? null;
  } catch {
    return null;
  }
}

function detected({ blocks }: Parsed): string | null {
  let text = "";
  for (const block of blocks) {
    text += `${block.kind === "table" ? block.rows.join("\n") : block.text}\n`;
    if (text.length > DETECTED_CHARS) break;
  }
  const language = detect(text.slice(0, DETECTED_CHARS));
  return language === "" ? null : language;
}

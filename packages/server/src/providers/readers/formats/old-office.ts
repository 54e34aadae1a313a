/** Binary documents of Office 97 to 2003: DOC through word-extractor, PPT through the records of its stream. */

import { find, read as readOle, type CFB$Container } from "cfb";
import WordExtractor from "word-extractor";
import { oneLine, type Block } from "../chunks/blocks.ts";
import { UnreadableDocument } from "../../../ports/corpora/document-reader.ts";
import { damaged, encrypted, type Input, type Parsed } from "./parsed.ts";
import { paragraphsOf } from "./plain-text.ts";
import { withFirstLineAsTitle } from "./slides.ts";
import { textsOfSlides } from "./ppt-records.ts";

/** In the header of the stream `WordDocument` ([MS-DOC] 2.5.2): the flags, and of these fEncrypted. */
const FLAGS_AT = 0x0a;
const IS_ENCRYPTED = 0x0100;

function openOle(bytes: Uint8Array): CFB$Container {
  try {
    return readOle(Buffer.from(bytes), { type: "buffer" });
  } catch {
    throw damaged("it is not a complete file of this type");
  }
}

function stream(file: CFB$Container, name: string): Buffer {
  const entry = find(file, name);
  if (entry === null || entry.size === 0) throw damaged("a part of it is missing");
  return Buffer.from(entry.content as Uint8Array);
}

export async function readDoc({ bytes }: Input): Promise<Parsed> {
  const words = stream(openOle(bytes), "WordDocument");
  if (words.length > FLAGS_AT + 1 && (words.readUInt16LE(FLAGS_AT) & IS_ENCRYPTED) !== 0) throw encrypted();
  const document = await new WordExtractor().extract(Buffer.from(bytes)).catch(() => {
    throw damaged("its text cannot be found");
  });
  // A paragraph of Word is a line; cells of tables are separated by tabs.
  const text = [document.getBody(), document.getFootnotes(), document.getEndnotes()].join("\n");
  return { blocks: paragraphsOf(text.replaceAll(/\r\n?|\n/g, "\n\n").replaceAll("\t", " | ")) };
}

/** The stream `Current User` of an encrypted presentation has this in place of its usual mark ([MS-PPT] 2.3.2). */
const ENCRYPTED_MARK = 0xf3d1c4df;
const MARK_AT = 12;
const MAX_SLIDES = 2_000;

export function readPpt({ bytes }: Input): Parsed {
  const file = openOle(bytes);
  const user = find(file, "Current User")?.content;
  if (user !== undefined && user.length >= MARK_AT + 4) {
    if (Buffer.from(user as Uint8Array).readUInt32LE(MARK_AT) === ENCRYPTED_MARK) throw encrypted();
  }
  const slides = textsOfSlides(stream(file, "PowerPoint Document"));
  if (slides.length > MAX_SLIDES)
    throw new UnreadableDocument("too_many_pages", `The file has more than ${String(MAX_SLIDES)} slides.`);
  const blocks = slides.flatMap((texts, index) => {
    const page = index + 1;
    const slide = texts.flatMap(({ isTitle, text }): Block[] => {
      if (isTitle) return [{ kind: "heading", level: 1, text: oneLine(text), page }];
      // Paragraphs end with a carriage return, lines within them with a vertical tab.
      return paragraphsOf(text.replaceAll("\r", "\n\n").replaceAll("\v", "\n"), page);
    });
    return texts.some(({ isTitle }) => isTitle) ? slide : withFirstLineAsTitle(slide);
  });
  return { blocks };
}

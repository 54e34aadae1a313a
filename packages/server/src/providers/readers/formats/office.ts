/** Documents of Office since 2007: DOCX through mammoth, and slides of PPTX. */

import mammoth from "mammoth";
import { oneLine, type Block } from "../chunks/blocks.ts";
import { withFirstLineAsTitle } from "./slides.ts";
import { UnreadableDocument } from "../../../ports/corpora/document-reader.ts";
import { elements, parseXml, textOf, type DomElement } from "./dom.ts";
import { blocksOfWholeHtml } from "./html.ts";
import { encrypted, type Input, type Parsed } from "./parsed.ts";
import { needEntry, pathFrom, unzip } from "./unzip.ts";

/** Beginning of an OLE file, in which Office puts a document with a password. */
const OLE = [0xd0, 0xcf, 0x11, 0xe0];
const MAX_SLIDES = 2_000;

function refuseEncrypted(bytes: Uint8Array): void {
  if (OLE.every((byte, index) => bytes[index] === byte)) throw encrypted();
}

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

function propertiesOf(entries: ReadonlyMap<string, Uint8Array>): Pick<Parsed, "title" | "language"> {
  const core = entries.get("docProps/core.xml");
  if (core === undefined) return {};
  const document = parseXml(text(core));
  return {
    title: textOf(elements(document, "dc:title")[0]),
    language: textOf(elements(document, "dc:language")[0]),
  };
}

export async function readDocx({ bytes }: Input): Promise<Parsed> {
  refuseEncrypted(bytes);
  // Also limits what mammoth unpacks.
  const entries = unzip(bytes, (name) => !name.startsWith("word/media/"));
  needEntry(entries, "[Content_Types].xml");
  // Pictures are not read.
  const convertImage = mammoth.images.imgElement(() => Promise.resolve({ src: "" }));
  const { value } = await mammoth.convertToHtml({ buffer: Buffer.from(bytes) }, { convertImage });
  return { blocks: blocksOfWholeHtml(value), ...propertiesOf(entries) };
}

export function readPptx({ bytes }: Input): Parsed {
  refuseEncrypted(bytes);
  const isPart = (name: string): boolean =>
    /^(?:docProps\/core\.xml|ppt\/(?:_rels\/)?presentation\.xml(?:\.rels)?|ppt\/slides\/[^/]+\.xml)$/.test(
      name,
    );
  const entries = unzip(bytes, isPart);
  const blocks = slidePaths(entries).flatMap((path, index) =>
    blocksOfSlide(parseXml(text(needEntry(entries, path))), index + 1),
  );
  return { blocks, ...propertiesOf(entries) };
}

/** In the order of the presentation. */
function slidePaths(entries: ReadonlyMap<string, Uint8Array>): string[] {
  const relations = new Map<string, string>();
  const relationsXml = parseXml(text(needEntry(entries, "ppt/_rels/presentation.xml.rels")));
  for (const relation of elements(relationsXml, "Relationship")) {
    const path = pathFrom("ppt/presentation.xml", relation.getAttribute("Target") ?? "");
    if (path !== null) relations.set(relation.getAttribute("Id") ?? "", path);
  }
  const slides = elements(parseXml(text(needEntry(entries, "ppt/presentation.xml"))), "p:sldId");
  if (slides.length > MAX_SLIDES)
    throw new UnreadableDocument("too_many_pages", `The file has more than ${String(MAX_SLIDES)} slides.`);
  return slides.flatMap((slide) => relations.get(slide.getAttribute("r:id") ?? "") ?? []);
}

function blocksOfSlide(slide: DomElement, page: number): Block[] {
  const titles: Block[] = [];
  const others: Block[] = [];
  for (const shape of elements(slide, "p:sp")) {
    const kind = elements(shape, "p:ph")[0]?.getAttribute("type") ?? "";
    const lines = linesOf(shape);
    if (lines.length === 0) continue;
    if (kind === "title" || kind === "ctrTitle")
      titles.push({ kind: "heading", level: 1, text: lines.join(" "), page });
    else others.push(...lines.map((line): Block => ({ kind: "paragraph", text: line, page })));
  }
  for (const table of elements(slide, "a:tbl")) {
    const rows = elements(table, "a:tr").map((row) =>
      elements(row, "a:tc")
        .map((cell) => linesOf(cell).join(" "))
        .join(" | "),
    );
    others.push({ kind: "table", rows, page });
  }
  return titles.length > 0 ? [...titles, ...others] : withFirstLineAsTitle(others);
}

function linesOf(parent: DomElement): string[] {
  return elements(parent, "a:p")
    .map((paragraph) =>
      oneLine(
        elements(paragraph, "a:t")
          .map((run) => run.textContent ?? "")
          .join(""),
      ),
    )
    .filter((line) => line !== "");
}

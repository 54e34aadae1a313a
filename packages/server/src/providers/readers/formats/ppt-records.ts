/** Texts in the records of a PowerPoint 97 stream ([MS-PPT] 2.3 and 2.9). */

import { UnreadableDocument } from "../../../ports/corpora/document-reader.ts";

export interface SlideText {
  readonly isTitle: boolean;
  readonly text: string;
}

const SLIDE = 0x03ee;
const SLIDE_LIST = 0x0ff0;
const SLIDE_PERSIST = 0x03f3;
const TEXT_HEADER = 0x0f9f;
const TEXT_CHARS = 0x0fa0;
const TEXT_BYTES = 0x0fa8;
/** Drawings, among them the text boxes of a slide; all of them are containers. */
const DRAWINGS: ReadonlySet<number> = new Set([0x040c, 0xf002, 0xf003, 0xf004, 0xf00d]);

const HEADER_BYTES = 8;
const IS_CONTAINER = 0xf;
const SLIDES_OF_LIST = 0;
const TITLES: ReadonlySet<number> = new Set([0, 6]);
/** Groups of shapes within groups. */
const MAX_DEPTH = 60;
/** Records of a file of 10 MiB are at most 1.3 million. */
const MAX_RECORDS = 2_000_000;

interface PptRecord {
  readonly isContainer: boolean;
  readonly instance: number;
  readonly type: number;
  readonly from: number;
  readonly to: number;
}

/** A list of texts for each slide: those of its outline, then those of its text boxes. */
export function textsOfSlides(stream: Buffer): SlideText[][] {
  const outlines: SlideText[][] = [];
  const boxes: SlideText[][] = [];
  const counter = { records: 0 };
  walk(stream, 0, stream.length, 0, counter, (record) => {
    if (record.type === SLIDE_LIST && record.instance === SLIDES_OF_LIST) {
      outlines.push(...outlineOf(stream, record, counter));
      return false;
    }
    if (record.type === SLIDE) {
      boxes.push(textsIn(stream, record, counter));
      return false;
    }
    return record.isContainer;
  });
  const slides = Math.max(outlines.length, boxes.length);
  return Array.from({ length: slides }, (_, index) => [...(outlines[index] ?? []), ...(boxes[index] ?? [])]);
}

function outlineOf(stream: Buffer, list: PptRecord, counter: { records: number }): SlideText[][] {
  const slides: SlideText[][] = [];
  let isTitle = false;
  walk(stream, list.from, list.to, 0, counter, (record) => {
    if (record.type === SLIDE_PERSIST) slides.push([]);
    if (record.type === TEXT_HEADER) isTitle = isTitleHeader(stream, record);
    const text = textOf(stream, record);
    if (text !== null) slides.at(-1)?.push({ isTitle, text });
    return false;
  });
  return slides;
}

function textsIn(stream: Buffer, slide: PptRecord, counter: { records: number }): SlideText[] {
  const texts: SlideText[] = [];
  let isTitle = false;
  walk(stream, slide.from, slide.to, 0, counter, (record) => {
    if (record.type === TEXT_HEADER) isTitle = isTitleHeader(stream, record);
    const text = textOf(stream, record);
    if (text !== null) texts.push({ isTitle, text });
    return DRAWINGS.has(record.type);
  });
  return texts;
}

/** Calls `visit` for each record; it returns whether to go into the record. Damaged lengths end the walk. */
function walk(
  stream: Buffer,
  from: number,
  to: number,
  depth: number,
  counter: { records: number },
  visit: (record: PptRecord) => boolean,
): void {
  if (depth > MAX_DEPTH) throw new UnreadableDocument("damaged", "The file is nested too deeply to be read.");
  for (let at = from; at + HEADER_BYTES <= to;) {
    counter.records += 1;
    if (counter.records > MAX_RECORDS)
      throw new UnreadableDocument("too_large", "The file has too many parts.");
    const options = stream.readUInt16LE(at);
    const end = at + HEADER_BYTES + stream.readUInt32LE(at + 4);
    if (end > to) return;
    const record: PptRecord = {
      isContainer: (options & 0xf) === IS_CONTAINER,
      instance: options >> 4,
      type: stream.readUInt16LE(at + 2),
      from: at + HEADER_BYTES,
      to: end,
    };
    if (visit(record)) walk(stream, record.from, record.to, depth + 1, counter, visit);
    at = end;
  }
}

function isTitleHeader(stream: Buffer, { from, to }: PptRecord): boolean {
  return to - from >= 4 && TITLES.has(stream.readUInt32LE(from));
}

/** Null: the record has no text. */
function textOf(stream: Buffer, { type, from, to }: PptRecord): string | null {
  if (type === TEXT_CHARS) return stream.toString("utf16le", from, to).toWellFormed();
  // The low bytes of UTF-16.
  return type === TEXT_BYTES ? stream.toString("latin1", from, to) : null;
}

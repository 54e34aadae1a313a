/**
 * Splits streamed text into the segments that are synthesized one by one. Pure and independent of how the stream was
 * chunked: a boundary counts only once the characters that could refute it are there. Rule R14 of SPEC.md.
 */

import { nextId, type Draft } from "../draft.ts";
import type { Segment } from "../state.ts";

/** Longest segment: about 20 s of speech, the most synthesis that an interruption wastes. */
export const SEGMENT_MAX_CHARS = 300;
/** The first segment may end at a clause from here on: shorter pieces sound chopped, longer ones delay the voice. */
export const FIRST_CLAUSE_MIN_CHARS = 32;
/** A cut of over-long text prefers a clause or a word end, but not one so early that tiny pieces remain. */
const LONG_CUT_MIN_CHARS = 100;

const SPEAKABLE = /[\p{L}\p{N}]/u;
const CLOSERS = `"'”’»)]}*_`;
const WIDE_CLOSERS = "」』”’）】》";
const WIDE_STOPS = "。！？｡";
const CLAUSE_MARKS = ",;:—–";
const WIDE_CLAUSE_MARKS = "，、；：";

/** Never the end of a sentence when followed by a point; lower case, inner points included. */
const ABBREVIATIONS = new Set(
  (
    "mr mrs ms mx dr prof st sr jr rev gen col capt lt sgt hon gov sen rep mt vs approx dept est fig vol cf al " +
    "e.g i.e n.b ca z.b d.h u.a o.ä bzw nr hr fr str evtl ggf inkl zzgl mme mlle mm av sra srta ud uds núm pág dott sig"
  ).split(" "),
);

export interface CutText {
  /** White space between the piece before and this one, as it is shown: "" or " ". */
  readonly lead: string;
  readonly text: string;
}

/** Whether text has anything that a voice could say. */
export function isSpeakable(text: string): boolean {
  return SPEAKABLE.test(text);
}

/**
 * Takes every finished segment off the front of `buffer`. `first`: nothing of the reply was cut before. `last`: no
 * more text follows, so the rest is cut as well; what cannot be spoken is then dropped.
 */
export function cutSegments(
  buffer: string,
  { first, last }: { readonly first: boolean; readonly last: boolean },
): { readonly segments: readonly CutText[]; readonly rest: string } {
  const segments: CutText[] = [];
  let rest = buffer;
  while (rest !== "") {
    const text = rest.trimStart();
    const end = segmentEnd(text, { first: first && segments.length === 0, last });
    if (end === null) break;
    const piece = text.slice(0, end).trimEnd();
    if (isSpeakable(piece)) {
      const opens = first && segments.length === 0;
      segments.push({ lead: !opens && text.length < rest.length ? " " : "", text: piece });
    }
    rest = text.slice(end);
  }
  return { segments, rest };
}

type Verdict = number | "no" | "wait";

/** Length of the first segment, or null while it is open. */
function segmentEnd(text: string, { first, last }: { readonly first: boolean; readonly last: boolean }) {
  let speakable = false;
  for (let at = 0; at < text.length && at < SEGMENT_MAX_CHARS; at += 1) {
    const char = text.charAt(at);
    speakable ||= isSpeakable(wholeChar(text, at));
    if (!speakable) continue;
    const verdict = boundaryAt(text, at, char, { first, last });
    if (verdict === "wait") return null;
    if (verdict !== "no") return verdict;
  }
  if (text.length > SEGMENT_MAX_CHARS) return longCut(text);
  return last ? text.length : null;
}

function boundaryAt(
  text: string,
  at: number,
  char: string,
  { first, last }: { readonly first: boolean; readonly last: boolean },
): Verdict {
  // The line end stays with what follows, which is then shown apart from what was before.
  if (char === "\n") return at;
  if (WIDE_STOPS.includes(char)) return wideStop(text, at, last);
  if (".!?…".includes(char)) return stop(text, at, last);
  if (!first || at + 1 < FIRST_CLAUSE_MIN_CHARS) return "no";
  if (WIDE_CLAUSE_MARKS.includes(char)) return at + 1;
  if (!CLAUSE_MARKS.includes(char)) return "no";
  if (at + 1 === text.length) return last ? "no" : "wait";
  return isSpace(text.charAt(at + 1)) ? at + 1 : "no";
}

function wideStop(text: string, at: number, last: boolean): Verdict {
  let end = at + 1;
  while (end < text.length && (WIDE_STOPS + WIDE_CLOSERS).includes(text.charAt(end))) end += 1;
  return end === text.length && !last ? "wait" : end;
}

/** A run of stops, its closing quotes, white space, and a character that shows that a new sentence begins. */
function stop(text: string, at: number, last: boolean): Verdict {
  // Only the first of a run is judged, else "?!" would be judged twice.
  if (at > 0 && ".!?…".includes(text.charAt(at - 1))) return "no";
  let end = at;
  while (end < text.length && (".!?…" + WIDE_STOPS).includes(text.charAt(end))) end += 1;
  const marks = text.slice(at, end);
  while (end < text.length && (CLOSERS + WIDE_CLOSERS).includes(text.charAt(end))) end += 1;
  const quoted = end > at + marks.length;
  if (end === text.length) return last ? end : "wait";
  if (isWide(text.charAt(end))) return end;
  if (!isSpace(text.charAt(end))) return "no";
  let next = end;
  while (next < text.length && isSpace(text.charAt(next)) && text.charAt(next) !== "\n") next += 1;
  if (text.charAt(next) === "\n") return end;
  if (next === text.length) return last ? end : "wait";
  if (marks === "." && isAbbreviation(text, at)) return "no";
  const continues = /\p{Ll}/u.test(wholeChar(text, next));
  if (continues && (quoted || /^\.+$|…/.test(marks))) return "no";
  return end;
}

function isAbbreviation(text: string, stopAt: number): boolean {
  let start = stopAt;
  while (start > 0 && /[\p{L}\p{N}\p{M}.]/u.test(text.charAt(start - 1))) start -= 1;
  const word = text.slice(start, stopAt);
  // "1. Milk": the number of a list item, only where a segment begins.
  if (/^\d{1,2}$/.test(word)) return start === 0;
  // "J. Smith", but not "So am I."
  if (/^\p{Lu}$/u.test(word)) return word !== "I";
  return ABBREVIATIONS.has(word.toLowerCase());
}

function longCut(text: string): number {
  const head = text.slice(0, SEGMENT_MAX_CHARS);
  let space = 0;
  for (let at = head.length - 1; at >= LONG_CUT_MIN_CHARS; at -= 1) {
    if (!isSpace(head.charAt(at))) {
      if (WIDE_CLAUSE_MARKS.includes(head.charAt(at))) return at + 1;
      continue;
    }
    if (CLAUSE_MARKS.includes(head.charAt(at - 1))) return at;
    if (space === 0) space = at;
  }
  if (space > 0) return space;
  return isLowSurrogate(text, SEGMENT_MAX_CHARS) ? SEGMENT_MAX_CHARS - 1 : SEGMENT_MAX_CHARS;
}

/**
 * Rounds a heard position to a word boundary: a word that was begun counts whole, white space after the last word not
 * at all. Scripts without spaces are cut where they are.
 */
export function heardEnd(text: string, heardChars: number): number {
  let end = Math.max(0, Math.min(heardChars, text.length));
  while (end > 0 && isSpace(text.charAt(end - 1))) end -= 1;
  if (end === 0 || end === text.length) return end;
  if (isLowSurrogate(text, end)) end += 1;
  if (isWide(text.charAt(end - 1))) return end;
  while (end < text.length && !isSpace(text.charAt(end)) && !isWide(text.charAt(end))) end += 1;
  return end;
}

/** Words with the white space before them; together they are the text. */
export function wordsOf(text: string): readonly string[] {
  return text.match(/\s*\S+/gu) ?? [];
}

function wholeChar(text: string, at: number): string {
  return String.fromCodePoint(text.codePointAt(at) ?? 0);
}

function isSpace(char: string): boolean {
  return /\s/u.test(char);
}

function isLowSurrogate(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff;
}

/** CJK symbols, kana, ideographs, hangul and full-width forms: text that runs on without spaces. */
function isWide(char: string): boolean {
  const code = char.charCodeAt(0);
  return (
    (code >= 0x2e80 && code <= 0x9fff) ||
    (code >= 0xf900 && code <= 0xfaff) ||
    (code >= 0xff00 && code <= 0xffef)
  );
}

/** A piece of a reply that waits to be synthesized. */
export function newSegment(draft: Draft, said: Pick<Segment, "lead" | "text" | "tones">): Segment {
  const { lead, text, tones } = said;
  const segmentId = nextId(draft, "segment");
  return {
    segmentId,
    lead,
    text,
    tones,
    status: "waiting",
    attempts: 0,
    voice: null,
    silent: false,
    durationMs: 0,
    playedMs: 0,
    heardChars: 0,
  };
}

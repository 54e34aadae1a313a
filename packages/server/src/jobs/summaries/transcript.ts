/** Renders a call as text for a model: one line of JSON per message, so that words of a caller cannot imitate ours. */

import type { CallToSummarize, SpokenMessage } from "../../store/calls/call-transcripts.ts";

/** Share of the beginning; the rest is for the end, which has the result of the call. */
const SHARE_OF_BEGINNING = 0.25;

type Words = Pick<CallToSummarize, "beginning" | "end" | "leftOut">;

/**
 * At most `limitBytes` long. A longer call has its beginning and its end in whole messages, and a line says how many
 * were left out between them; a single message that is longer than its share is cut.
 */
export function transcriptText({ beginning, end, leftOut }: Words, limitBytes: number): string {
  const said = [...beginning, ...end].filter(({ text }) => text.trim() !== "");
  const lines = said.map(lineOf);
  const noteBytes = bytesOf(noteLine(Number.MAX_SAFE_INTEGER));
  if (leftOut === 0 && sum(lines) <= limitBytes) return lines.join("");
  const room = Math.max(0, limitBytes - noteBytes);
  // Messages that were not read lie between the two parts, so neither part extends over them.
  const gap = leftOut === 0 ? null : beginning.filter(({ text }) => text.trim() !== "").length;
  const head = fitting(said.slice(0, gap ?? undefined), room * SHARE_OF_BEGINNING, "first");
  const tail = fitting(
    said.slice(Math.max(head.length, gap ?? 0)).toReversed(),
    room - sum(head),
    "last",
  ).toReversed();
  const missing = said.length + leftOut - head.length - tail.length;
  return [...head, ...(missing === 0 ? [] : [noteLine(missing)]), ...tail].join("");
}

/** The first of `messages` that fit, at least one of them, which may be cut. */
function fitting(messages: readonly SpokenMessage[], roomBytes: number, part: "first" | "last"): string[] {
  const lines: string[] = [];
  let rest = roomBytes;
  for (const message of messages) {
    const line = lineOf(message);
    if (bytesOf(line) > rest) break;
    lines.push(line);
    rest -= bytesOf(line);
  }
  const [only] = messages;
  if (lines.length > 0 || only === undefined) return lines;
  const cut = cutToFit(only, roomBytes, part);
  return cut === null ? [] : [cut];
}

/** Halves the text until it fits. */
function cutToFit(message: SpokenMessage, roomBytes: number, part: "first" | "last"): string | null {
  for (let length = message.text.length >> 1; length > 0; length >>= 1) {
    const text = part === "first" ? `${message.text.slice(0, length)}…` : `…${message.text.slice(-length)}`;
    const line = lineOf({ role: message.role, text: text.toWellFormed() });
    if (bytesOf(line) <= roomBytes) return line;
  }
  return null;
}

function lineOf({ role, text }: SpokenMessage): string {
  return toLine({ [role === "user" ? "caller" : "agent"]: text.trim() });
}

function noteLine(leftOut: number): string {
  return toLine({ note: `${String(leftOut)} messages are left out here` });
}

/** Removes `<`, so that nothing in a line can end the transcript. */
function toLine(value: object): string {
  return `${JSON.stringify(value).replaceAll("<", "\\u003c")}\n`;
}

function sum(lines: readonly string[]): number {
  return lines.reduce((bytes, line) => bytes + bytesOf(line), 0);
}

function bytesOf(text: string): number {
  return Buffer.byteLength(text);
}

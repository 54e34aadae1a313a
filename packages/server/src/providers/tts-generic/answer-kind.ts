/** How the answer of a generic voice is read: by its definition, and where that says nothing by its Content-Type. */

import type { GenericVoice } from "./request.ts";

export type AnswerKind =
  /** The body is audio: WAV, or headerless samples. `contentType` as `readSpeechBody` takes it. */
  | { readonly kind: "audio"; readonly contentType: string | null }
  | { readonly kind: "json" }
  /** One JSON document in each line, or in each server-sent event. */
  | { readonly kind: "lines" }
  /** Text that is no JSON. */
  | { readonly kind: "text"; readonly mediaType: string };

const LINES: ReadonlySet<string> = new Set([
  "application/jsonl",
  "application/x-jsonl",
  "application/jsonlines",
  "application/x-jsonlines",
  "application/ndjson",
  "application/x-ndjson",
  "text/event-stream",
]);

export function answerKind({ responseMimeType }: GenericVoice, contentType: string | null): AnswerKind {
  const mediaType = (responseMimeType ?? contentType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (LINES.has(mediaType)) return { kind: "lines" };
  if (mediaType === "application/json" || mediaType.endsWith("+json")) return { kind: "json" };
  if (mediaType.startsWith("text/") || mediaType.endsWith("xml")) return { kind: "text", mediaType };
  // The rate is a parameter of the Content-Type, whatever the definition calls the type.
  const rate = /;.*/.exec(contentType ?? "")?.[0] ?? "";
  return { kind: "audio", contentType: mediaType === "" ? null : `${mediaType}${rate}` };
}

/** What was said so far, put together from transcript messages. */

import type { OutputMedium, Role, TranscriptMessage } from "./messages.ts";

/** One utterance. A new object whenever it has changed. */
export interface Transcript {
  /** Its place in the conversation, from 0. */
  readonly ordinal: number;
  readonly role: Role;
  /** `voice`: it was spoken; `text`: it was typed or written. */
  readonly medium: OutputMedium;
  readonly text: string;
  /** Nothing of it changes any more. An agent that was interrupted ends with what was heard. */
  readonly final: boolean;
}

/** Utterances kept: an hour of quick talk has about 1,500. The oldest go first. */
export const MAX_TRANSCRIPTS = 5_000;

/**
 * The list after a message, or the same list where it changes nothing. Messages of one ordinal may come in pieces, and
 * pieces may be missing after a reconnect; an utterance that was cut before its first word leaves its ordinal to the
 * next one.
 */
export function withTranscript(
  transcripts: readonly Transcript[],
  message: TranscriptMessage,
): readonly Transcript[] {
  const { ordinal, role, medium, final } = message;
  const at = transcripts.findLastIndex((one) => one.ordinal <= ordinal);
  const known = transcripts[at]?.ordinal === ordinal ? transcripts[at] : undefined;
  // Who is late with a piece of what is final has nothing to add.
  if (known?.final === true && !final) return transcripts;
  const before = known !== undefined && known.role === role ? known.text : "";
  const text = message.text ?? `${before}${message.delta ?? ""}`;
  const changed: Transcript = { ordinal, role, medium, text: before === "" ? text.trimStart() : text, final };
  if (known === undefined) return transcripts.toSpliced(at + 1, 0, changed).slice(-MAX_TRANSCRIPTS);
  if (same(known, changed)) return transcripts;
  return transcripts.with(at, changed);
}

function same(a: Transcript, b: Transcript): boolean {
  return a.text === b.text && a.final === b.final && a.role === b.role && a.medium === b.medium;
}

/** Assembles the utterances of a call from transcript messages. */

import type { OutputMedium, Role, TranscriptMessage } from "./messages.ts";

/** One utterance. Each change makes a new object. */
export interface Transcript {
  /** Its position in the conversation, from 0. */
  readonly ordinal: number;
  readonly role: Role;
  /** `voice`: it was spoken; `text`: it was typed or written. */
  readonly medium: OutputMedium;
  readonly text: string;
  /** It no longer changes. An interrupted agent utterance ends with what was heard. */
  readonly final: boolean;
}

/** Most stored utterances: an hour of fast talk has about 1,500. The oldest are dropped first. */
export const MAX_TRANSCRIPTS = 5_000;

/**
 * The list after a message, or the same list if nothing changes. Messages of one ordinal may arrive in pieces, and
 * pieces may be missing after a reconnect. An utterance that was cut before its first word passes its ordinal to the
 * next one.
 */
export function withTranscript(
  transcripts: readonly Transcript[],
  message: TranscriptMessage,
): readonly Transcript[] {
  const { ordinal, role, medium, final } = message;
  const at = transcripts.findLastIndex((one) => one.ordinal <= ordinal);
  const known = transcripts[at]?.ordinal === ordinal ? transcripts[at] : undefined;
  // A late piece of a final utterance adds nothing.
  if (known?.final === true && !final) return transcripts;
  const before = known !== undefined && known.role === role ? known.text : "";
  // Early words that turned out to be none are taken back.
  if (message.text === "" && !final) {
    return known !== undefined && known.role === role ? transcripts.toSpliced(at, 1) : transcripts;
  }
  const text = message.text ?? `${before}${message.delta ?? ""}`;
  const changed: Transcript = { ordinal, role, medium, text: before === "" ? text.trimStart() : text, final };
  if (known === undefined) return transcripts.toSpliced(at + 1, 0, changed).slice(-MAX_TRANSCRIPTS);
  if (same(known, changed)) return transcripts;
  return transcripts.with(at, changed);
}

function same(a: Transcript, b: Transcript): boolean {
  return a.text === b.text && a.final === b.final && a.role === b.role && a.medium === b.medium;
}

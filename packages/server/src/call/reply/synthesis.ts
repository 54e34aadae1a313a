/** Requests segments from the voice, again where it fails. Rules R25, R26a and R112 of SPEC.md. */

import { emit, updateReply, type Draft } from "../draft.ts";
import {
  hasSpareSpeech,
  loseVoice,
  noteFailure,
  recordOldVoiceFailure,
  takeNotice,
} from "../life/engines.ts";
import { sentencesFor } from "../sentences.ts";
import type { Segment } from "../state.ts";
import type { VoicePlan } from "../../plan/voice-plan.ts";

/** Each segment is requested twice from the voice; then its place is silent. */
const VOICED_ATTEMPTS = 2;

/** @param text what is heard, where that is not the text of the segment */
export function synthesize(draft: Draft, segment: Segment, silent: boolean, text = segment.text): void {
  const { reply, stage } = draft.state;
  if (reply === null) return;
  const { segmentId } = segment;
  const { voice } = stage;
  changeSegment(draft, segmentId, { status: "requested", attempts: segment.attempts + 1, voice, silent });
  emit(draft, {
    type: "synthesize",
    replyId: reply.replyId,
    segmentId,
    text,
    voice,
    languageHint: stage.languageHint,
    silent,
    ...(segment.tones === null ? {} : { tones: segment.tones }),
  });
}

export function changeSegment(draft: Draft, segmentId: number, changes: Partial<Segment>): void {
  const segments = draft.state.reply?.segments ?? [];
  updateReply(draft, {
    segments: segments.map((segment) =>
      segment.segmentId === segmentId ? { ...segment, ...changes } : segment,
    ),
  });
}

interface VoiceFailure {
  readonly error: string;
  readonly permanent?: true;
  readonly exhausted?: true;
}

/**
 * Retries the voice once, then requests silence in its place; the words are still sent as transcript. Where every voice
 * of a list has failed, the user is asked for patience instead, once.
 */
export function failSegment(draft: Draft, segment: Segment, failure: VoiceFailure): void {
  const { error, permanent, exhausted } = failure;
  noteVoiceFailure(draft, segment, error, permanent);
  const { stage, engines } = draft.state;
  if (permanent === true && engines.tts.lost) return;
  if (segment.silent) changeSegment(draft, segment.segmentId, { status: "played" });
  else if (!isSameVoice(segment.voice, stage.voice)) {
    if (isAtVoice(draft, segment)) synthesize(draft, { ...segment, attempts: 0 }, false);
  } else if (exhausted === true && mayAskForPatience(draft)) {
    const { moment } = sentencesFor(stage.languageHint);
    synthesize(draft, { ...segment, attempts: VOICED_ATTEMPTS }, false, moment);
  } else synthesize(draft, segment, segment.attempts >= VOICED_ATTEMPTS);
}

/** By content: a state that was stored and read has copies. */
function isSameVoice(one: VoicePlan | null, other: VoicePlan | null): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

function mayAskForPatience(draft: Draft): boolean {
  return hasSpareSpeech(draft.state) && takeNotice(draft, "tts");
}

/** Whether it is still requested from the voice that it had: the loss of that voice may have moved it. */
function isAtVoice({ state }: Draft, { segmentId, voice }: Segment): boolean {
  return (
    state.reply?.segments.some((one) => one.segmentId === segmentId && isSameVoice(one.voice, voice)) ?? false
  );
}

/** Where the failure costs the call its voice, the one in its place says what was requested and did not begin. */
export function noteVoiceFailure(draft: Draft, segment: Segment, error: string, isPermanent = false): void {
  const { voice } = draft.state.stage;
  if (!isSameVoice(segment.voice, voice)) {
    recordOldVoiceFailure(draft, error);
    return;
  }
  noteFailure(draft, "tts", error, "error");
  if (isPermanent && isSameVoice(draft.state.stage.voice, voice)) loseVoice(draft);
  if (isSameVoice(draft.state.stage.voice, voice)) return;
  const owed = (draft.state.reply?.segments ?? []).filter(
    (one) => one.status === "requested" && isSameVoice(one.voice, voice) && !one.silent && one.tones === null,
  );
  for (const one of owed) synthesize(draft, { ...one, attempts: 0 }, false);
}

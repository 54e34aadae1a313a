/** One attempt to render one segment. */

import type { Resampler } from "../../media/resample.ts";

export interface Attempt {
  readonly replyId: number;
  readonly segmentId: number;
  readonly abort: AbortController;
  resampler: Resampler | null;
  /** Parts not yet resampled to the transport's rate. */
  readonly waiting: Int16Array[];
  /** Audio received, in ms. */
  receivedMs: number;
  begun: boolean;
  /** Its audio was rendered before. */
  readonly prepared: boolean;
  /** Whether more is to come, and if not, whether the text was rendered to its end. */
  stage: "coming" | "whole" | "broken";
}

export function newAttempt(replyId: number, segmentId: number, prepared: boolean): Attempt {
  return {
    replyId,
    segmentId,
    abort: new AbortController(),
    resampler: null,
    waiting: [],
    receivedMs: 0,
    begun: false,
    prepared,
    stage: "coming",
  };
}

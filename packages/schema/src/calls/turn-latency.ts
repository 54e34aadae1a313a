/** How long the answer to a spoken turn took: extras of the call event `turn.completed`. */

/** Milliseconds after the caller's speech ended (negative: before); null where the step did not happen. */
export interface TurnLatency {
  readonly turnId: number;
  readonly endOfTurnMs: number;
  readonly transcriptFinalMs: number | null;
  readonly firstTokenMs: number | null;
  readonly firstSentenceMs: number | null;
  readonly firstAudioMs: number | null;
  readonly firstPlayedMs: number | null;
  readonly speculative: boolean;
}

/** Port for turn detectors, which judge whether a user who has paused has finished. */

export interface TurnQuestion {
  /** The words so far; empty when nothing was understood. */
  readonly text: string;
  /** What the agent said last; empty: nothing yet. */
  readonly agentText: string;
  /** BCP 47 or null. */
  readonly language: string | null;
  /** Up to the last 8 s of the utterance, 16 kHz mono; null for a detector that does not listen. */
  readonly audio: Int16Array | null;
}

export interface TurnJudgement {
  /** 0 (certainly goes on) to 1 (certainly finished). */
  readonly finished: number;
}

export interface TurnDetector {
  /** For logs and records only. Different from those of the other detectors. */
  readonly name: string;
  /** It judges the audio of the utterance; false: the words only. The engine weighs the two kinds differently. */
  readonly listens: boolean;
  /** Why it has no opinions now; null while it can have them. It may recover: `/readyz` reports it until then. */
  readonly unusable?: () => string | null;
  /** Null: no opinion. Rejects on a failure or when aborted; the call then continues without an opinion. */
  judge(question: TurnQuestion, signal: AbortSignal): Promise<TurnJudgement | null>;
  close(): Promise<void>;
}

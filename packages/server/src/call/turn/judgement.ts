/** The opinion of one turn detector on the current revision. */
export interface Judgement {
  /** Name of the turn detector. */
  readonly by: string;
  /** True: the detector used the audio of the utterance; false: only its words. */
  readonly listens: boolean;
  /** Probability that the user has finished, 0 to 1. */
  readonly finished: number;
}

/** What a voice's process is asked, and what it answers. */

export interface SpokenText {
  readonly text: string;
  /** From 0. */
  readonly speaker: number;
}

export interface SpokenPiece {
  /** Mono. */
  readonly samples: Int16Array;
  readonly sampleRateHz: number;
}

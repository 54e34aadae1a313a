/** Messages between a page and its audio thread. */

export const CAPTURE = "parley-capture";
export const PLAYOUT = "parley-playout";

export interface CaptureOptions {
  /** Rate of the output frames, each 20 ms of 16-bit samples as an ArrayBuffer. Any message ends the processor. */
  readonly rateHz: number;
}

export interface PlayoutOptions {
  /** Rate of the input frames. */
  readonly rateHz: number;
}

/** 16-bit samples, or a command: drop audio that has not been played, or end. */
export type PlayoutMessage = ArrayBuffer | "clear" | "close";

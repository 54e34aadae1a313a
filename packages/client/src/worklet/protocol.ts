/** What a page and its audio thread say to each other. */

export const CAPTURE = "parley-capture";
export const PLAYOUT = "parley-playout";

export interface CaptureOptions {
  /** Of the frames that come out, each 20 ms of 16-bit samples as an ArrayBuffer. Any message ends the processor. */
  readonly rateHz: number;
}

export interface PlayoutOptions {
  /** Of the frames that go in. */
  readonly rateHz: number;
}

/** 16-bit samples; or to drop what was not played; or to end. */
export type PlayoutMessage = ArrayBuffer | "clear" | "close";

/**
 * Port for one connected medium of one call. Audio is mono s16 at the transport's own rates; the runner resamples and
 * paces. Implementations never buffer audio beyond the socket's own buffer, except what fills up a message where a
 * carrier wants long ones.
 */

import type { ServerDataMessage } from "@parley/schema";

export type TransportProblem =
  /** A binary frame with an odd byte count; the odd byte was dropped. */
  | "odd_bytes"
  /** A binary frame longer than one second of audio; the whole frame was dropped. */
  | "frame_too_long"
  /** The socket's send buffer passed its limit; outgoing audio is being dropped. */
  | "congested"
  /** A carrier's message that cannot be read; it was dropped. */
  | "malformed_message"
  /** A carrier's message about another stream; it was dropped. */
  | "foreign_stream"
  /** A carrier's audio of no or half samples, or of more than a second; it was dropped. */
  | "wrong_audio"
  /** Keys came faster than anyone presses them; they were dropped. */
  | "too_many_digits"
  /** The carrier reported that it could not use something that was sent. */
  | "carrier_error";

export interface TransportListener {
  /** Valid only during the call; copy what is kept. */
  audio(samples: Int16Array): void;
  /** A text frame, not yet parsed; `tooLong` when it passed the message limit and `text` was cut off. */
  data(text: string, tooLong: boolean): void;
  problem(problem: TransportProblem): void;
  /** The user pressed a key: one of 0-9 * # A-D. */
  digit(key: string): void;
  /** What was sent before the mark of this position has been played. Not called for marks before a `clearAudio`. */
  played(position: number): void;
  /**
   * The connection is gone. `regular`: the other side hung up (close 1000, 1001, 1005). Otherwise it was lost and may
   * come back. Called exactly once, also after `close`.
   */
  closed(regular: boolean, code: number): void;
}

export interface Transport {
  readonly inputSampleRateHz: number;
  readonly outputSampleRateHz: number;
  /**
   * How the medium plays audio. `mulaw`: as G.711 with 8 kHz; voices are asked for that where they have it. `sendAudio`
   * takes samples in any case. Unset: `pcm`.
   */
  readonly outputEncoding?: "pcm" | "mulaw";
  /** How far ahead of real time audio may be sent, in ms; never below 20. */
  readonly aheadMs: number;
  /** Wait for the return of a lost connection, where it differs from the plan's. */
  readonly graceMs?: number | null;
  /** Keys come by `digit`, and their tones may be in the audio as well. Unset: no keys come. */
  readonly signalsDigits?: boolean;
  /** Sends one frame at `outputSampleRateHz`; returns false when it was dropped. */
  sendAudio(frame: Int16Array): boolean;
  /**
   * Asks to be told by `played` when the audio sent so far has been played. `position` ascends. Without it, what is
   * sent counts as played as the clock passes it.
   */
  mark?(position: number): void;
  /**
   * Audio that was sent and not played is dropped by the other side. `tail`, a frame, ends what it is playing without a
   * click; media that send long messages leave it out. Without this, the client gets a message.
   */
  clearAudio?(tail: Int16Array): void;
  /** Plays keys (0-9 * # A-D) by a means of the medium. Without it, they are tones in the audio. */
  sendDigits?(digits: string): void;
  sendData(message: ServerDataMessage): void;
  /**
   * Whether the other side is alive: true at once when it sent something within `limitMs`, otherwise when it answers
   * within `limitMs` from now.
   */
  probe(limitMs: number): Promise<boolean>;
  /** Closes with a websocket-style code and detaches within a bounded time even if the peer is silent. Idempotent. */
  close(code: number, reason: string): void;
}

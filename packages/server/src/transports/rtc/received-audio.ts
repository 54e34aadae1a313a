/** What comes by RTP, as samples: put in order, decoded, and made up where it is missing. */

import { RtpOrder, type RtpPiece } from "../../media/rtp-order.ts";

/** Decodes one stream; `piece` is the packet that the payload is of. */
export interface PieceDecoder {
  decode(payload: Uint8Array, piece: RtpPiece): Int16Array;
  conceal(frames: number, next: Uint8Array, piece: RtpPiece): Int16Array[];
}

export class ReceivedAudio {
  readonly #order: RtpOrder;

  /**
   * @param take the next samples of the stream; valid only during the call
   * @param frameTicks ticks of the RTP clock in 20 ms, where they are not those of Opus
   */
  constructor(decoder: PieceDecoder, take: (samples: Int16Array) => void, frameTicks?: number) {
    const given = (samples: Int16Array): void => {
      if (samples.length > 0) take(samples);
    };
    this.#order = new RtpOrder(
      {
        packet: (payload, piece) => given(decoder.decode(payload, piece)),
        lost: (frames, next, piece) => {
          for (const made of decoder.conceal(frames, next, piece)) given(made);
        },
      },
      frameTicks,
    );
  }

  push(piece: RtpPiece, nowMs: number): void {
    this.#order.push(piece, nowMs);
  }

  /** Time went on. Call it at least every `ORDER_WAIT_MS` while nothing comes. */
  tick(nowMs: number): void {
    this.#order.tick(nowMs);
  }
}

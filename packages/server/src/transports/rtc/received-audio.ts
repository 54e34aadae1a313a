/** What comes by RTP, as samples: put in order, decoded, and made up where it is missing. */

import { RtpOrder, type RtpPiece } from "../../media/rtp-order.ts";
import type { OpusCodec } from "./opus.ts";

export class ReceivedAudio {
  readonly #order: RtpOrder;

  /** @param take the next samples of the stream; valid only during the call */
  constructor(codec: Pick<OpusCodec, "decode" | "conceal">, take: (samples: Int16Array) => void) {
    const given = (samples: Int16Array): void => {
      if (samples.length > 0) take(samples);
    };
    this.#order = new RtpOrder({
      packet: (payload) => given(codec.decode(payload)),
      lost: (frames, next) => {
        for (const made of codec.conceal(frames, next)) given(made);
      },
    });
  }

  push(piece: RtpPiece, nowMs: number): void {
    this.#order.push(piece, nowMs);
  }

  /** Time went on. Call it at least every `ORDER_WAIT_MS` while nothing comes. */
  tick(nowMs: number): void {
    this.#order.tick(nowMs);
  }
}

/** Opus at the rate of the call: both of a call's codecs, mono, 20 ms frames. */

import {
  Application,
  createDecoder,
  createEncoder,
  loadLibopus,
  type OpusDecoderHandle,
  type OpusEncoderHandle,
  Signal,
} from "libopus-wasm";
import { frameSamples } from "../../media/frame.ts";
import type { AudioCodec } from "./codec.ts";
import { OPUS_RATE_HZ } from "./leg.ts";

const FRAME = frameSamples(OPUS_RATE_HZ);

/** Transparent for wideband speech. */
const BITRATE = 32_000;
/** Of 10: half the work of the highest, and no difference that is heard at this rate. */
const COMPLEXITY = 5;
/**
 * The loss for which packets carry their predecessor (in-band FEC). At 5 % and less the codec leaves it out in most of
 * its modes; at 10 %, in the mode for speech, a single lost packet is back at a tenth of the error of a guess.
 */
const EXPECTED_LOSS_PERCENT = 10;

/** What is no Opus is concealed like a lost packet. */
export type OpusCodec = AudioCodec;

/** Compiles the module, once. */
export async function warmOpus(): Promise<void> {
  await loadLibopus();
}

export async function openOpus(): Promise<OpusCodec> {
  const encoder = await createEncoder({
    channels: 1,
    sampleRate: OPUS_RATE_HZ,
    frameSize: FRAME,
    bitrate: BITRATE,
    complexity: COMPLEXITY,
    // Other modes have no memory of the packet before.
    application: Application.Voip,
    signal: Signal.Voice,
    fec: true,
    packetLossPercent: EXPECTED_LOSS_PERCENT,
  });
  try {
    return new Codec(encoder, await createDecoder({ channels: 1, sampleRate: OPUS_RATE_HZ }));
  } catch (error) {
    encoder.free();
    throw error;
  }
}

class Codec implements OpusCodec {
  readonly #encoder: OpusEncoderHandle;
  readonly #decoder: OpusDecoderHandle;
  #closed = false;

  constructor(encoder: OpusEncoderHandle, decoder: OpusDecoderHandle) {
    this.#encoder = encoder;
    this.#decoder = decoder;
  }

  encode(frame: Int16Array): Uint8Array {
    return this.#encoder.encode(frame);
  }

  decode(packet: Uint8Array): Int16Array {
    try {
      return this.#decoder.decode(packet);
    } catch {
      return this.#decoder.decodePacketLoss(FRAME);
    }
  }

  conceal(frames: number, next: Uint8Array): Int16Array[] {
    const made = Array.from({ length: frames - 1 }, () => this.#decoder.decodePacketLoss(FRAME));
    try {
      made.push(this.#decoder.decode(next, { decodeFec: true, frameSize: FRAME }));
    } catch {
      made.push(this.#decoder.decodePacketLoss(FRAME));
    }
    return made;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#encoder.free();
    this.#decoder.free();
  }
}

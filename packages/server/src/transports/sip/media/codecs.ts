/** The codecs of RTP formats, and a decoder for all formats that were agreed on. */

import { Concealment } from "../../../media/concealment.ts";
import { decodeAlaw, decodeMulaw, encodeAlaw, encodeMulaw } from "../../../media/g711.ts";
import { G722Decoder, G722Encoder } from "../../../media/g722.ts";
import { Resampler } from "../../../media/resample.ts";
import type { RtpPiece } from "../../../media/rtp-order.ts";
import type { AudioCodec } from "../../rtc/codec.ts";
import { openOpus } from "../../rtc/opus.ts";
import type { PieceDecoder } from "../../rtc/received-audio.ts";
import { CODEC_RATE_HZ, type RtpCodecName, type RtpFormat } from "../../rtc/rtp-media.ts";

/** Of G.711 and G.722: 200 ms, more than any phone puts into a packet. Longer payloads are dropped. */
export const LONGEST_PAYLOAD_BYTES = 1_600;
/** RFC 6716, section 3.4: 1275 bytes for each of up to three frames of 20 ms, and some header bytes. */
const LONGEST_OPUS_BYTES = 1_500;

const NOTHING = new Int16Array(0);

interface SampleCodec {
  encode(frame: Int16Array): Uint8Array;
  decode(payload: Uint8Array): Int16Array;
}

const SAMPLE_CODECS: Readonly<Record<Exclude<RtpCodecName, "opus">, () => SampleCodec>> = {
  PCMU: () => ({ encode: encodeMulaw, decode: decodeMulaw }),
  PCMA: () => ({ encode: encodeAlaw, decode: decodeAlaw }),
  G722: () => {
    const [encoder, decoder] = [new G722Encoder(), new G722Decoder()];
    return { encode: (frame) => encoder.encode(frame), decode: (payload) => decoder.decode(payload) };
  },
};

/** With the sample rate of `CODEC_RATE_HZ`. */
export async function openCodec(name: RtpCodecName): Promise<AudioCodec> {
  if (name === "opus") return openOpus();
  return new ConcealedCodec(SAMPLE_CODECS[name](), CODEC_RATE_HZ[name]);
}

class ConcealedCodec implements AudioCodec {
  readonly #codec: SampleCodec;
  readonly #concealment: Concealment;

  constructor(codec: SampleCodec, sampleRateHz: number) {
    this.#codec = codec;
    this.#concealment = new Concealment(sampleRateHz);
  }

  encode(frame: Int16Array): Uint8Array {
    return this.#codec.encode(frame);
  }

  decode(payload: Uint8Array): Int16Array {
    if (payload.length === 0) return NOTHING;
    return this.#concealment.received(this.#codec.decode(payload));
  }

  conceal(frames: number): Int16Array[] {
    return Array.from({ length: frames }, () => this.#concealment.made());
  }

  close(): void {}
}

export function isTooLong(codec: RtpCodecName, payload: Uint8Array): boolean {
  return payload.length > (codec === "opus" ? LONGEST_OPUS_BYTES : LONGEST_PAYLOAD_BYTES);
}

interface OpenFormat {
  readonly codec: AudioCodec;
  readonly name: RtpCodecName;
  readonly resampler: Resampler | null;
}

/** All formats of a stream, at one rate. Codecs that stay keep their state. */
export class FormatDecoder implements PieceDecoder {
  readonly #rateHz: number;
  #formats = new Map<number, OpenFormat>();

  constructor(sampleRateHz: number) {
    this.#rateHz = sampleRateHz;
  }

  async agree(formats: readonly RtpFormat[]): Promise<void> {
    const next = new Map<number, OpenFormat>();
    for (const { payloadType, codec } of formats) {
      const known = this.#formats.get(payloadType);
      next.set(payloadType, known?.name === codec ? known : await this.#open(codec));
    }
    const former = [...this.#formats.values()];
    this.#formats = next;
    const kept = new Set(next.values());
    for (const format of former) if (!kept.has(format)) closeFormat(format);
  }

  nameOf(payloadType: number): RtpCodecName | null {
    return this.#formats.get(payloadType)?.name ?? null;
  }

  decode(payload: Uint8Array, { payloadType }: RtpPiece): Int16Array {
    const format = this.#formats.get(payloadType ?? -1);
    if (format === undefined) return NOTHING;
    const samples = format.codec.decode(payload);
    return format.resampler === null ? samples : format.resampler.push(samples);
  }

  conceal(frames: number, next: Uint8Array, { payloadType }: RtpPiece): Int16Array[] {
    const format = this.#formats.get(payloadType ?? -1);
    if (format === undefined) return [];
    const { resampler } = format;
    const made = format.codec.conceal(frames, next);
    return resampler === null ? made : made.map((samples) => resampler.push(samples));
  }

  close(): void {
    for (const format of this.#formats.values()) closeFormat(format);
    this.#formats.clear();
  }

  async #open(name: RtpCodecName): Promise<OpenFormat> {
    const fromHz = CODEC_RATE_HZ[name];
    const resampler = fromHz === this.#rateHz ? null : new Resampler(fromHz, this.#rateHz);
    return { codec: await openCodec(name), name, resampler };
  }
}

function closeFormat({ codec, resampler }: OpenFormat): void {
  codec.close();
  resampler?.close();
}

/** A codec with its state, for one call: 20 ms frames of mono speech at a fixed rate, both ways. */

export interface AudioCodec {
  /** A frame of 20 ms. */
  encode(frame: Int16Array): Uint8Array;
  /** One packet. The samples are valid until the next call. */
  decode(packet: Uint8Array): Int16Array;
  /** `frames` of 20 ms that are lost; some codecs find the last of them in the packet after it. */
  conceal(frames: number, next: Uint8Array): Int16Array[];
  /** Idempotent; nothing else may be called after it. */
  close(): void;
}

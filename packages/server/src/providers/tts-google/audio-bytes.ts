/** Samples of the audio bytes of one sentence, which arrive cut anywhere. Pure. */

import { decodeMulaw } from "../../media/g711.ts";
import { EngineFailure } from "../../ports/engine-failure.ts";
import type { AudioEncoding } from "./contract.ts";

/** "RIFF", a size, "WAVE". */
const SNIFF_BYTES = 12;
/** A header has 44 to 100 bytes. */
const MAX_HEADER_BYTES = 4_096;

const EMPTY = new Uint8Array(0);

export interface AudioBytes {
  /** Samples that `bytes` completed; may be none. */
  push(bytes: Uint8Array): Int16Array;
  /** What was held back. A last odd byte is dropped. */
  end(): Int16Array;
}

/**
 * Streamed audio has no header by Google's reference, but the same page says of MULAW that it comes with a WAV header:
 * one is skipped, because it would be heard as a click.
 */
export function openAudioBytes(encoding: AudioEncoding): AudioBytes {
  // Until the audio begins all that came, and then the first half of a sample.
  let held: Uint8Array = EMPTY;
  let isBegun = false;

  const decode = (bytes: Uint8Array): Int16Array => {
    if (encoding === "MULAW") return decodeMulaw(bytes);
    const length = held.length + bytes.length;
    if (length < 2) {
      if (bytes.length > 0) held = bytes;
      return new Int16Array(0);
    }
    const odd = length % 2;
    // Copied once, which aligns them: each copy of the audio makes the garbage collector, which stops all calls for some
    // milliseconds, run more often. Little-endian, like every machine that Node supports here.
    const whole = new Uint8Array(length - odd);
    whole.set(held);
    whole.set(odd === 0 ? bytes : bytes.subarray(0, -1), held.length);
    held = odd === 0 ? EMPTY : Uint8Array.from(bytes.subarray(-1));
    return new Int16Array(whole.buffer);
  };

  const begin = (isEnd: boolean): Int16Array => {
    const offset = audioOffset(held, isEnd);
    if (offset === null) return new Int16Array(0);
    isBegun = true;
    const bytes = held.subarray(offset);
    held = EMPTY;
    return decode(bytes);
  };

  return {
    push(bytes) {
      if (isBegun) return decode(bytes);
      held = held.length === 0 ? bytes : Buffer.concat([held, bytes]);
      return begin(false);
    },
    end: () => (isBegun ? new Int16Array(0) : begin(true)),
  };
}

/** Null: more bytes are needed. */
function audioOffset(bytes: Uint8Array, isEnd: boolean): number | null {
  if (bytes.length < SNIFF_BYTES) return isEnd ? 0 : null;
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.toString("latin1", 0, 4) !== "RIFF" || view.toString("latin1", 8, 12) !== "WAVE") return 0;
  let offset = SNIFF_BYTES;
  while (offset + 8 <= view.length && offset < MAX_HEADER_BYTES) {
    if (view.toString("latin1", offset, offset + 4) === "data") return offset + 8;
    const size = view.readUInt32LE(offset + 4);
    offset += 8 + size + (size % 2);
  }
  if (isEnd || offset >= MAX_HEADER_BYTES)
    throw new EngineFailure("Google answered a WAV file without audio", { type: "garbage" });
  return null;
}

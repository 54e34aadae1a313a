/**
 * The protocol between the service and its espeak-ng process, on the pipes of that process. A frame is
 *
 *     4 bytes   length of what follows, little-endian
 *     1 byte    kind
 *     4 bytes   piece that it belongs to, little-endian (0 where it belongs to none)
 *     n bytes   payload
 *
 * One piece of text at a time: the service sends `speak` and waits for `done` or `refused`.
 */

export const FRAME_KINDS = {
  /** To the process. JSON `SpeakCommand`. */
  speak: 1,
  /** Once, when the engine is loaded. JSON `ReadyReport`. */
  ready: 2,
  /** Mono s16, little-endian. */
  audio: 3,
  /** Two u32: code points before the word, and the audio position in ms at which it starts. Before its audio. */
  word: 4,
  done: 5,
  /** UTF-8: why this piece cannot be spoken. The process continues. */
  refused: 6,
  /** UTF-8: why the process cannot work at all. It exits. */
  fatal: 7,
} as const;

export interface SpeakCommand {
  /** An espeak-ng voice identifier, with a variant after a plus sign where one is wanted. */
  readonly voice: string;
  readonly wordsPerMinute: number;
  readonly text: string;
}

export interface EspeakVoice {
  readonly identifier: string;
  /** Lower-case language tags; a smaller priority is a better match for the language. */
  readonly languages: readonly { readonly name: string; readonly priority: number }[];
}

export interface ReadyReport {
  readonly sampleRateHz: number;
  readonly voices: readonly EspeakVoice[];
}

export interface Frame {
  readonly kind: number;
  readonly pieceId: number;
  readonly payload: Buffer;
}

const HEADER_BYTES = 9;
/** Limit of one frame. The list of voices has 15 KB, a piece of text 1 KB, audio 4.4 KB. */
export const MAX_FRAME_BYTES = 262_144;

export function encodeFrame(kind: number, pieceId: number, payload: Uint8Array): Buffer {
  if (payload.length > MAX_FRAME_BYTES) throw new RangeError("frame too long");
  const frame = Buffer.allocUnsafe(HEADER_BYTES + payload.length);
  frame.writeUInt32LE(HEADER_BYTES - 4 + payload.length, 0);
  frame.writeUInt8(kind, 4);
  frame.writeUInt32LE(pieceId, 5);
  frame.set(payload, HEADER_BYTES);
  return frame;
}

export function encodeText(kind: number, pieceId: number, text: string): Buffer {
  return encodeFrame(kind, pieceId, Buffer.from(text, "utf8"));
}

/** Assembles frames from arbitrary chunks of bytes. `push` throws when the other side does not use the protocol. */
export function createFrameReader(): { push(bytes: Uint8Array): Frame[] } {
  let held: Buffer = Buffer.alloc(0);
  return {
    push(bytes) {
      held = held.length === 0 ? Buffer.from(bytes) : Buffer.concat([held, bytes]);
      const frames: Frame[] = [];
      let at = 0;
      while (held.length - at >= 4) {
        const length = held.readUInt32LE(at);
        if (length < HEADER_BYTES - 4 || length > MAX_FRAME_BYTES + HEADER_BYTES)
          throw new Error(`a frame of ${String(length)} bytes is not of this protocol`);
        if (held.length - at < 4 + length) break;
        frames.push({
          kind: held.readUInt8(at + 4),
          pieceId: held.readUInt32LE(at + 5),
          payload: held.subarray(at + HEADER_BYTES, at + 4 + length),
        });
        at += 4 + length;
      }
      held = held.subarray(at);
      return frames;
    },
  };
}

/** What a caller at 8 kHz sends over each medium, as frames that are made once for all callers. */

import { encodeMulaw, MULAW_SILENCE } from "../../src/media/g711.ts";
import { clientFrame, OPCODE, writeMaskedDigits, type ClientFrame } from "./client-frames.ts";

export const LINE_RATE_HZ = 8_000;
export const FRAME_MS = 20;
const FRAME_SAMPLES = (LINE_RATE_HZ * FRAME_MS) / 1_000;

/** As long as those of the carrier. */
const STREAM_SID = `MZ${"0123456789abcdef".repeat(2)}`;
const CALL_SID = `CA${"0123456789abcdef".repeat(2)}`;
/** Numbers of messages keep their length: they start here, and a caller is gone before the next digit. */
const FIRST_NUMBER = 1_000_000;
const DIGITS = String(FIRST_NUMBER).length;
/** Messages of the service that are no audio: marks and clears are short. */
const LONGEST_COMMAND_BYTES = 150;

export interface Recorded {
  /** What the caller sends first. */
  readonly greeting: readonly Buffer[];
  /** Frames of the speech. */
  readonly speech: readonly ClientFrame[];
  readonly silence: ClientFrame;
  /** The frame to send as the `count`th of a call; 0 is the first. */
  numbered(frame: ClientFrame, count: number): Buffer;
  /** Whether a message of the service is a frame of audio. */
  isAudio(opcode: number, bytes: number): boolean;
  /** The answer to another message of the service; null: none. */
  answer(payload: Buffer): Buffer | null;
}

export type LineMedium = "telephony1" | "serverWebSocket";

export function recordedFor(medium: LineMedium, clip: Int16Array): Recorded {
  return medium === "telephony1" ? carrierRecorded(clip) : plainRecorded(clip);
}

function framesOf(clip: Int16Array): Int16Array[] {
  const frames: Int16Array[] = [];
  for (let at = 0; at < clip.length; at += FRAME_SAMPLES) {
    const frame = new Int16Array(FRAME_SAMPLES);
    frame.set(clip.subarray(at, at + FRAME_SAMPLES));
    frames.push(frame);
  }
  return frames;
}

function plainRecorded(clip: Int16Array): Recorded {
  const frameOf = (samples: Int16Array): ClientFrame =>
    clientFrame(OPCODE.binary, new Uint8Array(samples.buffer));
  return {
    greeting: [],
    speech: framesOf(clip).map(frameOf),
    silence: frameOf(new Int16Array(FRAME_SAMPLES)),
    // Nothing in it changes, so nobody writes to it while the socket has it.
    numbered: ({ bytes }) => bytes,
    isAudio: (opcode) => opcode === OPCODE.binary,
    answer: () => null,
  };
}

function carrierRecorded(clip: Int16Array): Recorded {
  const messageOf = (payload: Uint8Array): string => {
    const number = String(FIRST_NUMBER);
    const media = {
      track: "inbound",
      chunk: number,
      timestamp: number,
      payload: Buffer.from(payload).toString("base64"),
    };
    return JSON.stringify({ event: "media", sequenceNumber: number, media, streamSid: STREAM_SID });
  };
  const text = (message: string): ClientFrame => clientFrame(OPCODE.text, Buffer.from(message));
  const silent = messageOf(new Uint8Array(FRAME_SAMPLES).fill(MULAW_SILENCE));
  const places = placesOf(silent, String(FIRST_NUMBER));
  return {
    greeting: greetingOf().map((message) => text(JSON.stringify(message)).bytes),
    speech: framesOf(clip).map((samples) => text(messageOf(encodeMulaw(samples)))),
    silence: text(silent),
    numbered: ({ bytes, payloadAt }, count) => {
      const own = Buffer.from(bytes);
      const numbers = [FIRST_NUMBER + count + 1, FIRST_NUMBER + count, FIRST_NUMBER + count * FRAME_MS];
      for (const [index, at] of places.entries()) {
        writeMaskedDigits(own, { payloadAt, at, digits: DIGITS }, numbers[index] ?? 0);
      }
      return own;
    },
    isAudio: (_opcode, bytes) => bytes > LONGEST_COMMAND_BYTES,
    answer: echoed,
  };
}

/** Where a text begins in another, each time. */
function placesOf(message: string, text: string): number[] {
  const places: number[] = [];
  for (let at = message.indexOf(text); at >= 0; at = message.indexOf(text, at + 1)) places.push(at);
  return places;
}

function greetingOf(): object[] {
  const mediaFormat = { encoding: "audio/x-mulaw", sampleRate: LINE_RATE_HZ, channels: 1 };
  const start = { streamSid: STREAM_SID, callSid: CALL_SID, tracks: ["inbound"], mediaFormat };
  return [
    { event: "connected", protocol: "Call", version: "1.0.0" },
    { event: "start", sequenceNumber: "1", start, streamSid: STREAM_SID },
  ];
}

/** Marks are echoed at once: the figures are about the service, and it asks for the same number of them. */
function echoed(payload: Buffer): Buffer | null {
  const message = JSON.parse(payload.toString("utf8")) as { readonly event: string; readonly mark?: object };
  if (message.event !== "mark") return null;
  const answer = { event: "mark", sequenceNumber: "1", streamSid: STREAM_SID, mark: message.mark };
  return clientFrame(OPCODE.text, Buffer.from(JSON.stringify(answer))).bytes;
}

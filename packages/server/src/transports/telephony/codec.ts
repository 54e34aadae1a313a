/**
 * The messages of a carrier's media stream. Each carrier's file is a pure codec: text frames become events, commands
 * become text frames. What the carriers have in common is in the other files of this folder.
 */

import type { CarrierKind } from "@parley/schema";
import type { AudioFormat } from "../../media/audio-format.ts";

/** What a stream says of itself when it begins. */
export interface StreamStart {
  /** Names the stream in every message; null where the carrier names none. */
  readonly streamId: string | null;
  /** The carrier's own id of the call, for its REST interface. */
  readonly carrierCallId: string | null;
  readonly input: AudioFormat;
  readonly output: AudioFormat;
}

/** One message of a carrier. `streamId` null: the message names no stream. */
export type CarrierEvent =
  | { readonly type: "started"; readonly start: StreamStart }
  /** A start that the service cannot serve; `reason` ends a sentence that begins with "The stream". */
  | { readonly type: "unsupported"; readonly reason: string }
  /** `order` counts the messages of audio; null: they are not counted. */
  | {
      readonly type: "audio";
      readonly streamId: string | null;
      readonly order: number | null;
      readonly payload: Uint8Array;
    }
  | { readonly type: "marked"; readonly streamId: string | null; readonly name: string }
  | { readonly type: "digit"; readonly streamId: string | null; readonly key: string }
  | { readonly type: "stopped"; readonly streamId: string | null }
  /** The carrier could not use something that was sent. */
  | { readonly type: "failed" }
  /** Of no use here: a greeting, another track, an event of a later version. */
  | { readonly type: "unused" }
  | { readonly type: "malformed" };

export type CarrierCommand =
  | { readonly type: "audio"; readonly payload: Uint8Array }
  | { readonly type: "mark"; readonly name: string }
  | { readonly type: "clear" }
  | { readonly type: "digits"; readonly digits: string };

export interface CarrierCodec {
  readonly kind: CarrierKind;
  /** Bytes of one message of audio, where the carrier wants long ones; null: one message for each frame. */
  readonly messageBytes: number | null;
  /** The carrier gives up a stream on which it hears nothing in its first seconds, so silence is sent at once. */
  readonly answersAtOnce: boolean;
  /** The call goes on when the service closes its stream, unless the instructions of the call end it. */
  readonly outlivesStream: boolean;
  /** Keys are sent by a command; otherwise they are tones in the audio. */
  readonly sendsDigits: boolean;
  decode(text: string): CarrierEvent;
  /** One text frame. `digits` only where `sendsDigits`. */
  encode(command: CarrierCommand, start: StreamStart): string;
}

export const UNUSED: CarrierEvent = { type: "unused" };
export const MALFORMED: CarrierEvent = { type: "malformed" };

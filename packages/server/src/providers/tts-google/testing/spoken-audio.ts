/** The audio that the fake of Google gives for a call. */

import { encodeMulaw } from "../../../media/g711.ts";
import { wavHeader } from "../../../media/wav.ts";
import type { StreamingConfig, WholeRequest } from "../contract.ts";

export interface HeardCall {
  /** Of a stream. */
  readonly config?: StreamingConfig;
  /** Of a call with one answer. */
  readonly whole?: WholeRequest;
  readonly text: string;
}

export interface AskedAudio {
  readonly audio_encoding: string;
  readonly sample_rate_hertz: number;
  readonly speaking_rate?: number | undefined;
}

const MS_PER_CHAR = 50;

function audioOf({ config, whole }: HeardCall): AskedAudio {
  const audio = config?.streaming_audio_config ?? whole?.audio_config;
  if (audio === undefined) throw new Error("a call without a request");
  return audio;
}

/** A tone whose length says how long the text is. */
export function samplesFor(call: HeardCall, msPerChar = MS_PER_CHAR): Int16Array {
  const { sample_rate_hertz: rateHz, speaking_rate: speed = 1 } = audioOf(call);
  const length = Math.round((call.text.length * msPerChar * rateHz) / 1_000 / speed);
  return Int16Array.from({ length }, (_, index) =>
    Math.round(8_000 * Math.sin((index * 440 * 6.283) / rateHz)),
  );
}

export function audioPieces(
  call: HeardCall,
  { msPerChar, pieceBytes }: { readonly msPerChar?: number | undefined; readonly pieceBytes: number },
  withHeader: boolean,
): Buffer[] {
  const { audio_encoding: encoding, sample_rate_hertz: sampleRateHz } = audioOf(call);
  const samples = samplesFor(call, msPerChar);
  const bytes =
    encoding === "MULAW"
      ? Buffer.from(encodeMulaw(samples))
      : Buffer.from(samples.buffer, 0, samples.byteLength);
  const isWhole = call.whole !== undefined;
  const header =
    withHeader || isWhole ? wavHeader({ sampleRateHz, channels: 1 }, bytes.length) : new Uint8Array(0);
  const whole = Buffer.concat([header, bytes]);
  if (isWhole) return [whole];
  const pieces: Buffer[] = [];
  for (let at = 0; at < whole.length; at += pieceBytes) pieces.push(whole.subarray(at, at + pieceBytes));
  return pieces;
}

/**
 * The body of a transcription request (multipart/form-data, RFC 7578) as one array of bytes. Not `FormData`: fetch
 * sends that as a stream, and undici then causes an unhandled rejection when such a request is aborted early.
 */

import { randomUUID } from "node:crypto";
import { wavHeader } from "../../media/wav.ts";
import { STT_SAMPLE_RATE_HZ } from "../../ports/stt.ts";

export interface TranscriptionForm {
  readonly contentType: string;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** @param fields names and values without quotes or line breaks in the names */
export function transcriptionForm(
  samples: Int16Array,
  fields: Readonly<Record<string, string>>,
): TranscriptionForm {
  const boundary = `utterance-${randomUUID()}`;
  const part = (disposition: string): string =>
    `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n`;
  const texts = Object.entries(fields).map(
    ([name, value]) => `${part(`name="${name}"`)}Content-Type: text/plain; charset=utf-8\r\n\r\n${value}\r\n`,
  );
  const file = `${part('name="file"; filename="utterance.wav"')}Content-Type: audio/wav\r\n\r\n`;
  const header = wavHeader({ sampleRateHz: STT_SAMPLE_RATE_HZ, channels: 1 }, samples.byteLength);
  const before = Buffer.concat([Buffer.from(texts.join("") + file), header]);
  const after = Buffer.from(`\r\n--${boundary}--\r\n`);
  const body = new Uint8Array(before.byteLength + samples.byteLength + after.byteLength);
  body.set(before);
  // The samples in memory order: every supported platform is little-endian, like WAV.
  body.set(new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength), before.byteLength);
  body.set(after, before.byteLength + samples.byteLength);
  return { contentType: `multipart/form-data; boundary=${boundary}`, body };
}
